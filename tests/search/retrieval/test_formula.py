import math

import numpy as np
import pytest

from search.engine.question import RankingSettings
from search.index.read_part import length_norms
from search.retrieval.word_index import WEIGHTS, gains, idf


def test_it_is_the_formula():
    documents = [["a", "b", "a"], ["b"], ["c", "b", "b", "d"]]
    lengths = np.array([len(each) for each in documents], np.float64)
    norms = length_norms(lengths, 1.2, 0.75)
    for term in "abcd":
        holders = sum(term in each for each in documents)
        weight = math.log(1 + (3 - holders + 0.5) / (holders + 0.5))
        assert idf(np.array([holders]), 3)[0] == pytest.approx(weight)
        for row, each in enumerate(documents):
            f, norm = each.count(term), 1.2 * (1 - 0.75 + 0.75 * len(each) / lengths.mean())
            found = gains(np.array([weight]), np.array([f]), norms[[row]])
            assert found[0] == pytest.approx(weight * f / (f + norm))


def test_documents_without_words_are_no_trouble():
    assert length_norms(np.zeros(2), 1.2, 0.75).tolist() == pytest.approx([0.3, 0.3])
    assert length_norms(np.empty(0), 1.2, 0.75).tolist() == []


def test_comments_count_as_the_search_says():
    assert WEIGHTS["query"] == RankingSettings().comments
