"""Two small runs of Scotch's light pair, with and without context, on real Python; tested on what reads and writes."""

import csv
import inspect
import tracemalloc
from pathlib import Path

import pytest

from cli.main import main
from tests.data_prep.datasets.corpus_trees import LICENCE, REPOSITORY, head_of, sources, write_list
from tests.search.repositories import commit

_HELD_OUT = "o/stores"
_STORES = ("data_prep/files/json_text.py", "data_prep/files/json_text.py", "data_prep/files/writing.py")


@pytest.fixture(scope="session")
def held_out() -> str:
    """The tree that is tested on."""
    return _HELD_OUT


@pytest.fixture(scope="session")
def corpus(tmp_path_factory) -> list[str]:
    """The options that name five clones."""
    folder, found = tmp_path_factory.mktemp("clones"), []
    own = {path: (REPOSITORY / path).read_bytes() for path in _STORES}
    library = {f"{each.__name__}.py": Path(inspect.getsourcefile(each)).read_bytes() for each in (tracemalloc, csv)}
    trees = {room: sources(room) for room in ("modeling", "baselines", "evaluation", "training")}
    for name, files in {**trees, "stores": {**own, **library, "LICENSE": LICENCE}}.items():
        clone = commit(folder / "o" / name, files)
        found.append((f"o/{name}", head_of(clone), clone))
    listed, root = write_list(folder / "list.txt", found), tmp_path_factory.mktemp("data")
    places = [f"--data.path={listed}", f"--data.mirrors={folder}", f"--data.root={root}"]
    return [*places, "--data.language=python", "--data.processes=1"]


@pytest.fixture(scope="session")
def small() -> list[str]:
    """The options that make a training take seconds."""
    return ["--train.epochs=2", "--train.threads=1", "--model.dim=64", "--evaluate.bootstrap_samples=200"]


@pytest.fixture(scope="session")
def runs(corpus, small, tmp_path_factory) -> list[Path]:
    """The finished runs: with context, without."""
    found = []
    for model in ("scotch_light", "scotch_light_no_context"):
        found.append(tmp_path_factory.mktemp("runs") / model)
        options = [*corpus, *small, f"--data.hold_out={_HELD_OUT}", f"--out={found[-1]}"]
        assert main(["repositories", model, *options]) == 0
    return found
