"""An evaluation that was stopped goes on where it was, and only then."""

import numpy as np
import pytest

from baselines.bm25 import Bm25, Bm25Config
from evaluation import evaluator
from evaluation.config import EvaluateConfig
from evaluation.evaluator import SavedCounts, evaluate
from modeling.ranker import Ranker
from tests.evaluation.rankers import ChosenScores
from tests.evaluation.real_data import jdk_split
from tests.odd_files import KINDS, deadline, odd_thing

CONFIG = EvaluateConfig(run_depth=3)


class StoppedError(Exception):
    """As by Ctrl-C."""


class InBlocks(Ranker):
    """BM25, one query a block; stops after some, and notes how many it was asked for."""

    def __init__(self, most: int = 100) -> None:
        self.inner, self.most, self.asked = Bm25(Bm25Config()), most, 0

    def over(self, queries, corpus):
        scores = self.inner.over(queries, corpus)
        found = np.concatenate([*scores.blocks()]) if len(queries) else np.zeros((0, len(corpus)), np.float32)
        return Stopping(found, self)


class Stopping(ChosenScores):
    def __init__(self, matrix: np.ndarray, ranker: InBlocks) -> None:
        super().__init__(matrix, 1)
        self.ranker = ranker

    def blocks(self):
        for block in super().blocks():
            if self.ranker.asked == self.ranker.most:
                raise StoppedError
            self.ranker.asked += 1
            yield block


@pytest.fixture(autouse=True)
def every_block(monkeypatch):
    monkeypatch.setattr(evaluator, "_EVERY", 0.0)


@pytest.fixture
def stopped(tmp_path) -> SavedCounts:
    kept = SavedCounts(tmp_path / "under-way", "a")
    with pytest.raises(StoppedError):
        evaluate(InBlocks(4), jdk_split(), CONFIG, progress=False, kept=kept)
    return kept


def test_it_goes_on_with_the_query_after_the_last_one_kept(stopped):
    ranker = InBlocks()
    again = evaluate(ranker, jdk_split(), CONFIG, progress=False, kept=stopped)
    whole = evaluate(InBlocks(), jdk_split(), CONFIG, progress=False)
    assert ranker.asked == len(whole.ranks) - 4
    for name in ("better", "tied", "top_codes", "top_scores"):
        assert np.array_equal(getattr(again, name), getattr(whole, name)), name


def test_the_time_before_it_was_stopped_counts(stopped):
    (file,) = stopped.path.parent.iterdir()
    with np.load(file) as kept:
        content = dict(kept)
    assert 0 < content["seconds"] < 60
    with file.open("wb") as opened:
        np.savez(opened, **{**content, "seconds": 1000.0})
    assert evaluate(InBlocks(), jdk_split(), CONFIG, progress=False, kept=stopped).score_seconds > 1000


def test_of_another_model_or_pool_nothing_is_kept(stopped):
    ranker = InBlocks()
    evaluate(ranker, jdk_split(), CONFIG, progress=False, kept=SavedCounts(stopped.path, "b"))
    assert ranker.asked == len(jdk_split())


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no archive at all"])
def test_a_damaged_file_is_as_none(stopped, content):
    (file,) = stopped.path.parent.iterdir()
    file.write_bytes(content)
    assert stopped.load() is None
    stopped.remove()
    assert not file.exists()
    stopped.remove()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_is_as_none(stopped, kind):
    (file,) = stopped.path.parent.iterdir()
    file.unlink()
    odd_thing(kind, file)
    with deadline():
        assert stopped.load() is None
