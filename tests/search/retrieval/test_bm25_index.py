import numpy as np
import pytest

from baselines.bm25 import Bm25, Bm25Config
from experiments.recipes.models import recipe_of
from search.files.words import terms_of
from search.index.read_part import lexical_index
from search.retrieval.word_index import WEIGHTS, Bm25Index


def test_scores_are_those_of_the_tuned_control_where_no_comment_is_read(small_data):
    split = small_data.splits["train"]
    settings = {name.removeprefix("model."): text for name, text in recipe_of("bm25_tuned").settings.items()}
    assert settings == {"k1": "2", "b": "1", "name_weight": "10", "distinct": "true", "common_words": "false"}
    control = Bm25(Bm25Config(k1=2.0, b=1.0, name_weight=10, distinct=True, common_words=False))
    expected = np.concatenate([*control.over(split, split).blocks()])
    lexical = lexical_index(split, {**WEIGHTS, "query": 0})
    queries = [split.word_list("query", row) for row in range(len(split))]
    asked = [row for row, words in enumerate(queries) if set(terms_of(words)) != set(words)]
    assert len(asked) > 100
    found = np.stack([lexical.scores(queries[row]) for row in asked])
    np.testing.assert_allclose(found, expected[asked], atol=1e-4)
    assert found.max() > 5


def test_words_of_a_comment_count_where_they_are_asked_for(small_data):
    split = small_data.splits["test"]
    with_comments, without = lexical_index(split), lexical_index(split, {**WEIGHTS, "query": 0})
    queries = [split.word_list("query", row) for row in range(len(split))]

    def best(lexical: Bm25Index) -> float:
        scores = np.stack([lexical.scores(words) for words in queries])
        return float((scores.argmax(axis=1) == np.arange(len(split))).mean())

    assert best(with_comments) > best(without) + 0.2
    assert len(with_comments.terms) > len(without.terms)


def test_unknown_words_and_an_empty_index_score_nothing(small_data):
    split = small_data.splits["test"]
    assert not lexical_index(split).scores(["qqqq"]).any()
    assert len(lexical_index(split.take(np.arange(0))).scores(["list"])) == 0


@pytest.mark.parametrize(
    ("words", "terms"),
    [(["return", "the", "lists"], ["return", "list"]), (["to", "the"], ["to", "the"]), (["list", "lists"], ["list"])],
)
def test_common_words_are_passed_over_unless_there_is_nothing_else(words, terms):
    assert terms_of(words) == terms
