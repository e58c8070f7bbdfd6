"""BM25 over lists of words against its formula, and restored from its arrays."""

import math

import numpy as np
import pytest

from baselines.bm25 import TokenBm25

DOCUMENTS = [["a", "b", "b"], ["b", "c"], [], ["a"] * 5 + ["d"]]


def test_against_the_formula():
    index, average = TokenBm25(DOCUMENTS, k1=1.2, b=0.75), np.mean([len(each) for each in DOCUMENTS])
    found = index.scores(["a", "b", "b", "unknown", ""])
    for row, words in enumerate(DOCUMENTS):
        expected = 0.0
        for word in ("a", "b", "b"):
            holders, count = sum(word in each for each in DOCUMENTS), words.count(word)
            idf = math.log(1 + (len(DOCUMENTS) - holders + 0.5) / (holders + 0.5))
            expected += idf * count / (count + 1.2 * (0.25 + 0.75 * len(words) / average))
        assert found[row] == pytest.approx(expected, rel=1e-5)


def test_blocks_candidates_and_restored_arrays_agree():
    index = TokenBm25(DOCUMENTS)
    scores = index.over([["a"], ["c", "d"]])
    (block,) = scores.blocks()
    picked = scores(np.array([1]), np.array([[3, 1]]))
    assert picked.tolist() == [block[1, [3, 1]].tolist()]
    again = TokenBm25.restored([*index.terms], index.arrays, index.size)
    assert again.scores(["c", "d"]).tolist() == block[1].tolist()


def test_damaged_arrays_and_no_documents():
    index = TokenBm25(DOCUMENTS)
    with pytest.raises(ValueError, match="damaged"):
        TokenBm25.restored([*index.terms], index.arrays, 2)
    with pytest.raises(ValueError, match="damaged"):
        TokenBm25.restored(["a"], index.arrays, index.size)
    with pytest.raises(ValueError, match="there is none"):
        TokenBm25([])
    assert TokenBm25([[], []]).scores(["a"]).tolist() == [0, 0]


def test_frequent_words_score_the_same_by_all_documents_as_one_by_one(monkeypatch):
    chance = np.random.default_rng(0)
    documents = [[f"w{int(n)}" for n in chance.zipf(1.3, 20) if n < 500] for _ in range(400)]
    queries = [["w1", "w2", "w2", "w40", "w3", "w499"], ["w7"], ["w1", "unknown"]]
    index = TokenBm25(documents)
    fast = [index.scores(query) for query in (*queries, *queries)]  # the second time they are retained
    monkeypatch.setattr("baselines.bm25._WIDE_BYTES", 0)
    plain = TokenBm25(documents)
    for query, found, again in zip(queries, fast[:3], fast[3:], strict=True):
        expected = plain.scores(query)
        assert np.array_equal(found, expected)
        assert np.array_equal(again, expected)
