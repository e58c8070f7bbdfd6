import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from data_prep.files.access import cache_folder
from data_prep.store.arrays import Ragged

MODEL = {"model.dim": "32", "model.num_blocks": "4", "train.epochs": "1", "train.batch_size": "16", "data.limit": "400"}


@pytest.fixture(autouse=True, scope="session")
def own_caches(compiled, tmp_path_factory):
    """Indexes go to a cache folder of the tests, and no setting of the user counts."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name)))
        compiled(cache_folder().parent)
        yield


@pytest.fixture(autouse=True)
def one_processor(monkeypatch):
    """Commands read with one process more, unless a test says how many: each takes a third of a second to start."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)


@pytest.fixture
def tree(java_folder, tmp_path) -> Path:
    """Some Java files of the JDK that a test may change."""
    root = tmp_path / "tree"
    place = root / "java/util/stream"
    place.mkdir(parents=True)
    for file in sorted((java_folder / "java.base/java/util/stream").glob("*.java"))[:12]:
        shutil.copy(file, place)
    return root


@pytest.fixture(scope="session")
def odd_rows(index):
    """The rows of an index, some of them without a name, without tokens, or without any word."""
    words = dict(index.split.words)
    for field, every in (("name", 3), ("tokens", 5), ("api", 2)):
        lists = [[] if row % every == 0 else words[field][row].tolist() for row in range(len(index))]
        words[field] = Ragged.of(lists)
    return replace(index.split, words=words)
