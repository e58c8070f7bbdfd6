"""Damage drawn at random: of a file that is not as it was written comes its own answer or one clear line.

What somebody makes up with valid checksums may be another answer: it is no other error, asks for no memory that the
file has not, and takes no time without end.
"""

import shutil
from pathlib import Path

import numpy as np
import pytest
import subjects
from damages import bounded
from subjects import (
    CheckpointFile,
    IndexFile,
    PreparedFiles,
    RunFiles,
    Subject,
    VectorsFile,
    learn,
    new_model,
    run_state,
)

from data_prep.config import DataConfig
from data_prep.pipeline.java_extraction import extract_all
from data_prep.records import SourceFile
from data_prep.store.prepared_data import open_prepared, write_prepared
from data_prep.store.tokenizing import WordTokenizer
from experiments.recipes.run_folder import RunFolder
from search.index.build import refresh
from search.index.index_file import UnusableIndexError, read_whole_head
from search.index.vector_encoding import refresh_vectors
from search.index.vectors import row_encoder
from training.checkpoint import save_weights

KINDS = {"index": 40, "vectors": 30, "weights": 20, "vocabulary": 20, "config": 30, "checkpoint": 40, "prepared": 20}
"""Kind of file -> how many damages; every second one is sealed again."""
_FILES = {
    "index": ("index",),
    "vectors": ("index.vectors",),
    "weights": ("weights.safetensors",),
    "vocabulary": ("vocabulary.json",),
    "config": ("config.json",),
}


@pytest.fixture(scope="module")
def sources(java_folder, tmp_path_factory) -> Path:
    """Some Java files of the JDK."""
    folder = tmp_path_factory.mktemp("some") / "java"
    folder.mkdir()
    for file in sorted((java_folder / "java.base/java/util/stream").glob("*.java"))[2:10]:
        shutil.copy(file, folder)
    return folder


@pytest.fixture(scope="module")
def prepared(sources, tmp_path_factory) -> Path:
    files = [SourceFile("jdk", path.name, path.read_bytes()) for path in sorted(sources.iterdir())]
    config = DataConfig(min_query_words=1, min_method_lines=1, processes=1)
    pairs = extract_all(files, config).pairs
    assert len(pairs) > 40
    folder = tmp_path_factory.mktemp("prepared") / "data"
    write_prepared(folder, {"train": pairs[10:], "valid": pairs[:5], "test": pairs[5:10]}, {"origin": "jdk"})
    return folder


@pytest.fixture(scope="module")
def tokenizer(prepared) -> WordTokenizer:
    return WordTokenizer.build(open_prepared(prepared).splits["train"], subjects.PLAN.words)


@pytest.fixture(scope="module")
def run(tokenizer, tmp_path_factory) -> Path:
    folder = RunFolder(tmp_path_factory.mktemp("run"))
    subjects.PLAN.save(folder.config)
    tokenizer.vocabularies.save(folder.vocabulary)
    save_weights(new_model(tokenizer), folder.weights, folder.made_with)
    return folder.path


@pytest.fixture(scope="module")
def index(sources, run, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("index") / "index"
    refresh(sources, path, processes=1, tell=lambda *told: pytest.fail(str(told)))
    refresh_vectors(row_encoder(run), path, lambda *told: pytest.fail(str(told)))
    return path


@pytest.fixture
def subject(request, tmp_path, prepared, tokenizer, run, index) -> Subject:
    kind, ids = request.param, tokenizer.encode(open_prepared(prepared).splits["train"])
    if kind in ("index", "vectors"):
        shutil.copytree(index.parent, tmp_path / "index")
        return (IndexFile if kind == "index" else VectorsFile)(tmp_path / "index", *_FILES[kind])
    if kind == "prepared":
        return PreparedFiles(Path(shutil.copytree(prepared, tmp_path / "data")))
    if kind == "checkpoint":
        state = run_state(tokenizer, ids)
        learn(state, ids)
        state.progress.epoch = 1
        state.progress.history.append({"epoch": 1, "loss": 0.5, "learning_rate": 1e-3, "seconds": 1.0, "mrr": 0.5})
        state.validated(0.5)
        state.save(tmp_path / "checkpoint.pt")
        return CheckpointFile(tmp_path, tokenizer, ids)
    shutil.copytree(run, tmp_path / "run")
    return RunFiles(tmp_path / "run", *_FILES[kind], ids)


@pytest.mark.parametrize("subject", KINDS, indirect=True)
def test_damage_is_told_or_changes_nothing(subject, request):
    kind = request.node.callspec.params["subject"]
    refused = {False: 0, True: 0}
    for number in range(KINDS[kind]):
        random = np.random.default_rng([number, *kind.encode()])
        sealed = bool(number % 2)
        subject.restore()
        (subject.make_up if sealed else subject.damage)(random)
        with bounded(f"{kind} {number}"):
            try:
                answer, told = subject.answer(), None
            except (ValueError, OSError) as error:
                answer, told = None, str(error)
        refused[sealed] += told is not None
        assert sealed or told or answer == subject.before, number
        assert told is None or (told and "\n" not in told), number
    assert all(many > KINDS[kind] / 8 for many in refused.values())


def test_an_index_is_not_believed_after_any_damage(index, tmp_path):
    whole, path = index.read_bytes(), tmp_path / "index"
    for number in range(100):
        random = np.random.default_rng(number)
        at, length = int(random.integers(0, len(whole))), int(random.integers(1, 100))
        spoilt = whole[:at] + random.bytes(length) + whole[at + length :]
        path.write_bytes(spoilt)
        with pytest.raises(UnusableIndexError, match="make it again by"):
            read_whole_head(path)
    path.write_bytes(whole)
    assert read_whole_head(path).rows > 100
