"""Facts of queries: against counts by hand, against BM25, and against the kept ranks."""

import math
from dataclasses import replace

import numpy as np
import pytest

from baselines.bm25 import Bm25, Bm25Config
from data_prep.files.json_text import from_json, to_json
from data_prep.pipeline.overlap import word_sets
from data_prep.records import UNKNOWN, Method, Pair
from data_prep.store.split import Split
from evaluation.comparison import Entry, by_pool
from evaluation.config import EvaluateConfig
from evaluation.evaluator import evaluate
from evaluation.queries import (
    ASKED,
    LEAST,
    QueryFacts,
    gain,
    length_classes,
    nearest_tokens,
    overlap_classes,
    query_classes,
    query_facts,
)
from evaluation.result_store import ResultStore
from evaluation.results import DataSource, as_result, measure
from experiments.recipes.results_folder import RESULTS
from experiments.tables.query_kinds import joined_facts, saved_facts
from tests.evaluation.real_data import jdk_split
from tests.evaluation.test_results import SIZE, result


def facts_of(split: Split):
    return query_facts(split, dataset="jdk", origin="jdk-25")


def one(query: str, name: str = "", tokens: str = "", api: str = "", ast: str = ""):
    """The facts of a single query: words, distinct stems, those shared."""
    fields = dict(
        zip(("name", "tokens", "api", "ast"), map(tuple, map(str.split, (name, tokens, api, ast))), strict=True)
    )
    place = {"origin": "a", "path": "b", "start_line": 1, "end_line": 2, "type_name": "C", "kind": "method"}
    method = Method(**place, name="m", source="", documentation="", fields=fields)
    facts = facts_of(Split.of("test", [Pair(method, query, tuple(query.split()))]))
    return facts.words[0], facts.distinct[0], facts.shared[0]


@pytest.mark.parametrize(
    ("row", "words", "distinct", "shared"),
    [
        (1, 8, 8, 1),  # elements
        (3, 9, 9, 2),  # contains; list of ArrayList
        (5, 4, 4, 2),  # compares, strings
        (9, 8, 8, 2),  # unmodifiable, list
    ],
)
def test_methods_of_the_jdk_counted_by_hand(row, words, distinct, shared):
    facts = facts_of(jdk_split())
    assert (facts.words[row], facts.distinct[row], facts.shared[row]) == (words, distinct, shared)
    assert facts.lengths[row] == words
    assert facts.overlap[row] == shared / distinct


def test_forms_of_a_word_are_one_and_lost_words_are_none():
    assert one("parses parsing files", name="parse file") == (3, 2, 2)
    assert one("reads bytes", api="InputStream readAllBytes") == (2, 2, 2)
    assert one("reads bytes", tokens="readAllBytes") == (2, 2, 0)  # tokens are split when they are prepared
    assert one("reads bytes", ast="read byte") == (2, 2, 0)
    assert one(f"gets {UNKNOWN} {UNKNOWN}", tokens=UNKNOWN) == (3, 1, 0)


def test_the_nearest_training_method_is_that_of_a_loop():
    split = jdk_split()
    test, train = split.take(np.arange(8)), split.take(np.arange(4, len(split)))
    own, other = word_sets(test, "tokens"), word_sets(train, "tokens")
    best = [max((len(one & each) / len(one | each) for each in other if one | each), default=0.0) for one in own]
    assert nearest_tokens(test, train) == [math.floor(1000 * each + 1e-9) / 1000 for each in best]
    assert nearest_tokens(test, train)[4:] == [1.0] * 4


def test_a_data_set_that_has_a_test_alone_has_no_nearest_training_methods():
    split = jdk_split()
    facts = query_facts(split, dataset="csn_tabcs", origin="", train=split.take(np.arange(0)))
    assert [*facts.nearest] == []


def test_queries_of_the_same_words_have_one_number():
    place = {"origin": "a", "path": "b", "start_line": 1, "end_line": 2, "type_name": "C", "kind": "method"}
    method = Method(**place, name="m", source="", documentation="", fields={})
    queries = ["gets it", "sets it", "gets it", "gets"]
    split = Split.of("test", [Pair(method, query, tuple(query.split())) for query in queries])
    assert [*facts_of(split).texts] == [0, 1, 0, 2]


def test_queries_are_told_by_training_and_by_earlier_ablations():
    known = replace(facts([4] * 60, [4] * 60, [4] * 60), nearest=[0.499, 0.5, 0.8] * 20, read=[0, 1, 1] * 20)
    found = {(each.kind, each.label): np.flatnonzero(each.rows[:3]).tolist() for each in query_classes(known)}
    assert found["nearest training method", "below 1/2"] == [0]
    assert found["nearest training method", "1/2 to 4/5"] == [1]
    assert found["nearest training method", "4/5 or more"] == [2]
    assert found["earlier ablations", "judged on it"] == [1, 2]
    assert found["earlier ablations", "not judged on it"] == [0]


def test_a_split_without_pairs_is_refused():
    with pytest.raises(ValueError, match="one query or more"):
        facts_of(Split.of("test", []))


def test_a_query_without_known_words_overlaps_with_nothing():
    facts = replace(facts_of(jdk_split(1)), distinct=[0], shared=[0])
    assert facts.overlap.tolist() == [0.0]


def test_nothing_is_shared_where_bm25_finds_nothing():
    split, ranker = jdk_split(), Bm25(Bm25Config())
    scores = np.concatenate([*ranker.over(split, split).blocks()]).diagonal()
    assert [shared == 0 for shared in facts_of(split).shared] == (scores == 0).tolist()


def test_facts_fit_the_pool_of_the_same_words():
    split = jdk_split()
    evaluation = evaluate(Bm25(Bm25Config()), split, EvaluateConfig(), progress=False)
    facts = facts_of(split)
    source = DataSource(origin="jdk-25", fingerprint=facts.fingerprint)
    tested = measure(evaluation, data=source)
    whole, other = by_pool([("bm25", result(also={"jdk": tested}))])
    assert not facts.fits(whole)
    assert facts.fits(other)
    assert not facts_of(split.take(np.arange(9))).fits(other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"words": [1, 2]}, "four lists of the same length"),
        ({"words": [], "distinct": [], "shared": [], "files": []}, "one query or more"),
        ({"shared": [20] * 10}, "shares at most its distinct words"),
        ({"words": ["a"] * 10}, "expected a whole number"),
        ({"fingerprint": 3}, "expected a text"),
        ({"texts": [1, 2]}, "a further number for each query, or for none"),
        ({"nearest": ["a"] * 10}, "expected a number"),
    ],
)
def test_damaged_facts_are_refused_in_one_line(change, message):
    content = to_json(facts_of(jdk_split()))
    assert from_json(QueryFacts, content, "file") == facts_of(jdk_split())
    with pytest.raises(ValueError, match=message) as error:
        from_json(QueryFacts, content | change, "file")
    assert "\n" not in str(error.value)


def test_kept_facts_are_of_the_kept_results():
    """BM25 scores a method 0 and ranks it last exactly where the method has no stem of its query."""
    plain, kept = ResultStore(RESULTS / "main").get("jdk-bm25-seed0"), saved_facts(RESULTS)
    if plain is None or "jdk" not in kept:
        pytest.skip("needs the saved result of bm25 on the jdk, and the facts of its queries")
    (facts,), result = joined_facts([kept["jdk"]]), as_result(plain.content, plain.where)
    assert facts.fingerprint == result.data.fingerprint
    assert [shared == 0 for shared in facts.shared] == [rank == result.pool_size for rank in result.ranks]


def entry(label: str, *seeds: list[int]) -> Entry:
    """A ranker that gives SIZE queries these ranks, once for each seed."""
    runs = [(label, replace(result(seed=seed, also={}), ranks=ranks)) for seed, ranks in enumerate(seeds)]
    ((_, (found,)),) = by_pool(runs).items()
    return found


def facts(words: list[int], distinct: list[int], shared: list[int]) -> QueryFacts:
    place = {"dataset": "jdk", "origin": "jdk-25", "fingerprint": "0a1b", "split": "test"}
    return QueryFacts(**place, words=words, distinct=distinct, shared=shared, files=[*range(len(words))])


def test_a_class_is_a_part_of_the_queries():
    """One of all queries would say again what the first row says."""
    some = facts([4] * 60, [4] * 60, [2] * 60)
    assert [each.label for each in query_classes(some)] == ["all queries"]
    asked = query_classes(replace(some, asked=[1] * 25 + [0] * 35))
    assert [(each.kind, each.label, each.size) for each in asked[1:]] == [(ASKED, "no", 35), (ASKED, "yes", 25)]
    assert len(query_classes(replace(some, asked=[0] * 60))) == 1


def test_a_length_is_of_the_class_that_names_it():
    lengths = np.arange(1, 40)
    found = {each.label: lengths[each.rows].tolist() for each in length_classes(lengths)}
    assert found == {
        "up to 3": [1, 2, 3],
        "4-5": [4, 5],
        "6-8": [6, 7, 8],
        "9-12": [9, 10, 11, 12],
        "13-18": list(range(13, 19)),
        "19 or more": list(range(19, 40)),
    }


def test_the_ends_of_the_overlap_are_classes_of_their_own():
    shares = np.array([0, 1 / 30, 1 / 4, 1 / 3, 1 / 2, 2 / 3, 3 / 4, 4 / 5, 99 / 100, 1])
    found = {each.label: np.flatnonzero(each.rows).tolist() for each in overlap_classes(shares)}
    assert found == {
        "none": [0],
        "up to 1/4": [1, 2],
        "up to 1/2": [3, 4],
        "up to 3/4": [5, 6],
        "not all": [7, 8],
        "all": [9],
    }


def test_every_query_is_of_one_class_of_each_kind():
    rng = np.random.default_rng(0)
    for classes in (length_classes(rng.integers(0, 60, 500)), overlap_classes(rng.integers(0, 13, 500) / 12)):
        assert (np.sum([each.rows for each in classes], axis=0) == 1).all()


def test_small_classes_are_left_out():
    many, few = LEAST, LEAST - 1
    found = query_classes(facts([4] * many + [7] * few, [4] * (many + few), [4] * many + [0] * few))
    assert [(each.kind, each.label, each.size) for each in found] == [
        ("", "all queries", many + few),
        ("query length", "4-5", many),
        ("overlap with its method", "all", many),
    ]


def test_a_gain_is_the_mean_difference_of_the_chosen_queries_over_all_seeds():
    first, second = entry("a", [1] * SIZE, [2] * SIZE), entry("b", [*range(1, SIZE + 1)], [*range(1, SIZE + 1)])
    rows = np.arange(SIZE) % 3 == 0
    files = [*range(SIZE)]
    found = gain(first, second, rows, files)
    expected = [(1 / 1 + 1 / 2) / 2 - 1 / (query + 1) for query in range(SIZE) if query % 3 == 0]
    assert found.mean == pytest.approx(sum(expected) / len(expected))
    assert found.low < found.mean < found.high
    back = gain(second, first, rows, files)
    assert (back.mean, back.low, back.high) == pytest.approx((-found.mean, -found.high, -found.low), abs=1e-9)
