"""The shipped models without torch: the scores, alignments and vectors of torch, and no import of it."""

import os
import shutil
import signal
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from bm25s.stopwords import STOPWORDS_EN

from galm.fast.kernels import one_thread_kernels
from search.files.words import STOP_WORDS
from search.models.folder import DEFAULT_BI_ENCODER, DEFAULT_MODEL
from search.models.packed import AT_ONCE, PackedLight, PackedModel, PackedReranker, scored_without_torch
from search.models.packed_model import load_model
from search.models.torch_models import ModelReranker
from search.opening import index_place

QUERIES = ["return the next element of the pipeline", "close", "zzqunknown word of nobody here", "a b c d e f g h i j"]


@pytest.fixture(params=["kernels", "numpy"])
def steps(request, monkeypatch):
    """With the kernels, and without them, as on a machine that has no C compiler."""
    if request.param == "kernels" and not one_thread_kernels():
        pytest.skip("there is no C compiler here (cc)")
    if request.param == "numpy":
        monkeypatch.setattr("galm.fast.query_scorer.one_thread_kernels", lambda: None)


@pytest.fixture(scope="module")
def packed():
    return PackedModel(DEFAULT_MODEL)


@pytest.fixture(scope="module")
def some(index, odd_rows):
    """Each seventh row of an index, and of one with odd rows, which are each second, third or fifth."""
    return [split.take(np.arange(0, len(split), 7)) for split in (index.split, odd_rows)]


@pytest.fixture(scope="module")
def of_torch(some):
    """Torch's scores of a query, for a split and some of its rows."""
    rerankers = [ModelReranker(*load_model(DEFAULT_MODEL), split) for split in some]
    return cache(lambda query, place, rows: rerankers[place].scores(query.split(), np.array(rows)))


@pytest.mark.usefixtures("steps")
@pytest.mark.parametrize("query", QUERIES)
def test_scores_are_those_of_torch(packed, some, of_torch, query):
    for place, split in enumerate(some):
        assert len(split) > AT_ONCE
        for rows in (tuple(range(len(split))), (7, 7)):
            theirs = of_torch(query, place, rows)
            assert theirs.std() > 0.05 or rows == (7, 7)
            ours = PackedReranker(packed, split).scores(query.split(), np.array(rows))
            np.testing.assert_allclose(ours, theirs, atol=2e-5)


@pytest.mark.usefixtures("steps")
@pytest.mark.parametrize("query", QUERIES)
def test_rows_that_were_prepared_have_the_same_scores(packed, some, query):
    for split in some:
        rows = np.arange(0, len(split), 2)
        prepared, alone = (PackedReranker(packed, split, for_many=many) for many in (True, False))
        assert prepared.scores(query.split(), rows).tolist() == alone.scores(query.split(), rows).tolist()


@pytest.mark.parametrize("place", ["here", "in a forked process"])
def test_scores_begun_together_are_those_of_each(packed, some, place):
    rows, asked = np.arange(len(some[0])), [query.split() for query in QUERIES]
    ours = PackedReranker(packed, some[0], for_many=True)
    wanted = [ours.scores(words, rows).tolist() for words in asked]

    def together() -> bool:
        begun = [ours.begun(words, rows) for words in asked * 25]
        found = [scores().tolist() for scores in reversed(begun)]
        return found[::-1] == wanted * 25

    assert together() if place == "here" else told_by_child(together)


def told_by_child(asked):
    """What a process tells that is forked from this one, and so has none of its other threads."""
    child = os.fork()
    if not child:
        signal.alarm(60)
        os._exit(0 if asked() else 1)
    return os.waitpid(child, 0)[1] == 0


@pytest.mark.usefixtures("steps")
def test_of_no_words_all_rows_are_equal(packed, index):
    ours = PackedReranker(packed, index.split)
    assert ours.scores([], np.array([0, 7, 200])).tolist() == [0, 0, 0]
    assert ours.scores(["close"], np.empty(0, np.int64)).tolist() == []


@pytest.mark.usefixtures("steps")
def test_alignments_are_those_of_torch(packed, index):
    ours = PackedReranker(packed, index.split)
    theirs = ModelReranker(*load_model(DEFAULT_MODEL), index.split)
    for row in (0, 11, 200):
        one, other = (each.alignment(QUERIES[0].split(), row) for each in (ours, theirs))
        assert (one.query, one.code, one.fields) == (list(other.query), list(other.code), list(other.fields))
        np.testing.assert_allclose(one.weights, other.weights, atol=1e-5)
        np.testing.assert_allclose(one.agreement, other.agreement, atol=1e-5)


def test_only_what_is_computed_here_is_taken(tmp_path):
    assert scored_without_torch(DEFAULT_MODEL)
    assert not scored_without_torch(DEFAULT_BI_ENCODER)
    assert not scored_without_torch(tmp_path)
    folder = shutil.copytree(DEFAULT_MODEL, tmp_path / "other")
    config = (folder / "config.json").read_text()
    (folder / "config.json").write_text(config.replace('"edges": "raw"', '"edges": "cosine"'))
    assert not scored_without_torch(folder)


@pytest.mark.parametrize("name", ["config.json", "words.json", "model.safetensors"])
@pytest.mark.parametrize("kind", [PackedModel, PackedLight])
def test_a_damaged_file_is_told_in_one_line(tmp_path, name, kind):
    folder = shutil.copytree(DEFAULT_MODEL if kind == PackedModel else DEFAULT_BI_ENCODER, tmp_path / "model")
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(ValueError, match=r"cannot be used|configuration of a run") as told:
        kind(folder)
    assert "\n" not in str(told.value)


def test_stop_words_are_those_of_bm25s():
    assert frozenset(STOPWORDS_EN) == STOP_WORDS


def test_a_question_imports_no_torch(tree):
    made = (
        "import sys; from cli.main import main; assert main(sys.argv[1:]) in (0, 1); "
        "dear = {'torch', 'scipy', 'bm25s', 'tree_sitter', 'jaxtyping', 'tqdm', 'numpy.ma'} & {*sys.modules}; "
        "assert not dear, dear"
    )
    indexed = "import sys; from cli.main import main; assert main(sys.argv[1:]) == 0; assert 'torch' not in sys.modules"
    for code, arguments in (
        (indexed, ["index", str(tree)]),
        (made, ["search", "close the pipeline", "--explain", "--index={}"]),
    ):
        typed = [each.format(index_place(tree)) for each in arguments]
        done = subprocess.run([sys.executable, "-c", code, *typed], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr + done.stdout
    assert "by model" in done.stdout
    assert "vectors" in done.stdout
