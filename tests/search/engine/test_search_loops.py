"""What the compiled loops of a question compute is what numpy does."""

from collections.abc import Sequence

import numpy as np
import pytest

from modeling.c_library import load_c
from search.engine.file_ranking import FileRanking, FileWeights
from search.engine.matching import Word, linked
from search.engine.signals import best_beside
from search.files.words import file_words
from search.retrieval.exact import ROUNDED
from search.retrieval.word_index import FileIndex


@pytest.fixture
def library():
    return load_c(ROUNDED) or pytest.skip("there is no C compiler")


def test_passages_are_linked_alike(monkeypatch, library):
    rng, longest = np.random.default_rng(0), 0
    for _ in range(200):
        count = int(rng.integers(1, 9))
        places, values = np.cumsum(rng.integers(0, 4, count)), np.cumsum(rng.integers(0, 2, count))
        sizes = rng.integers(0, 40, count)
        keys = [np.unique(rng.integers(0, 80, size)) + (rng.integers(0, 2) << 32) for size in sizes]
        weights = rng.choice([0.5, 1.25, 3.0], count)
        words = [Word(*each) for each in zip(places.tolist(), values.tolist(), weights.tolist(), keys, strict=True)]
        found = []
        for loops in (library, None):
            monkeypatch.setattr("search.engine.matching.search_loops", lambda loops=loops: loops)
            found.append(linked(words, 0.25))
        (keys_of_one, one), (keys_of_other, other) = found
        assert keys_of_one.tolist() == keys_of_other.tolist()
        for part in ("weights", "lengths", "firsts"):
            assert getattr(one, part).tolist() == getattr(other, part).tolist()
        longest = max(longest, int(one.lengths.max(initial=0)))
    assert longest > 3


WORDS = ["configuration", "config", "session", "sess", "request", "req", "router", "handle", "database", "db"]


def made_file(rng: np.random.Generator) -> tuple[str, bytes, Sequence[tuple[int, int]]]:
    """A path, a text of words from few, and where the comment at its beginning is; other files begin with code."""
    path = "/".join("_".join(rng.choice(WORDS, rng.integers(1, 3))) for _ in range(rng.integers(1, 4))) + ".py"
    said, code = (" ".join(rng.choice(WORDS, rng.integers(0, most))) for most in (150, 60))
    begin = int(rng.integers(0, 2)) * (len(code) + 1)
    return (
        path,
        f"{code}\n# {said}".encode() if begin else f"# {said}\n{code}".encode(),
        [(begin, begin + len(said) + 2)],
    )


def test_files_are_scored_alike(monkeypatch, library):
    rng = np.random.default_rng(0)
    paths, texts, spans = zip(*(made_file(rng) for _ in range(60)), strict=True)
    index = FileIndex.of(paths, [file_words(text, said) for text, said in zip(texts, spans, strict=True)])
    tests = rng.integers(0, 8, len(paths)) == 0
    every = FileWeights(), FileWeights(spelling=0.0)
    ranking, plain = (FileRanking(index, paths, tests, weights) for weights in every)
    differ = 0
    for _ in range(200):
        words = [str(word) for word in rng.choice([*WORDS, "nowhere"], rng.integers(1, 6))]
        found = []
        for loops in (library, None):
            monkeypatch.setattr("search.engine.file_ranking.search_loops", lambda loops=loops: loops)
            monkeypatch.setattr("search.engine.signals.search_loops", lambda loops=loops: loops)
            asked = {"query": " ".join(words), "for_tests": False, "comments": len(words) != 2}
            found.append(ranking.scores(words, **asked))
        np.testing.assert_allclose(found[0], found[1], rtol=1e-12)
        differ += not np.allclose(found[0], plain.scores(words, **asked))
    assert differ > 20


def test_the_best_of_others_is_alike(monkeypatch, library):
    rng = np.random.default_rng(0)
    for _ in range(200):
        size = int(rng.integers(0, 50))
        groups, scores = np.sort(rng.integers(0, 12, size)), rng.integers(-3, 4, size).astype(np.float64)
        found = []
        for loops in (library, None):
            monkeypatch.setattr("search.engine.signals.search_loops", lambda loops=loops: loops)
            found.append(best_beside(scores, groups).tolist())
        assert found[0] == found[1]
