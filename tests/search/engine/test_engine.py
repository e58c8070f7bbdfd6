from dataclasses import replace

import numpy as np
import pytest
import torch

from data_prep.store.tokenizing import WordTokenizer
from experiments.recipes.config import resolve
from experiments.run.training import build_model
from modeling.pool_ranker import RowScores
from search.engine.engine import Engine
from search.engine.evidence import FILES
from search.engine.file_ranking import file_ranking
from search.engine.question import LONGEST_QUERY, Names, QueryError, RankingSettings
from search.engine.signals import best_beside
from search.index.build import refresh
from search.index.index_file import open_index
from search.index.read_part import lexical_index
from search.models.torch_models import ModelReranker, query_split


@pytest.fixture(scope="module")
def reranker(index):
    """A model that has learnt nothing yet: what it prefers is arbitrary, but fixed."""
    plan = resolve("folder", "galm_plus", {"model.dim": "32", "model.num_blocks": "4"})
    tokenizer = WordTokenizer.build(index.split, plan.words)
    return ModelReranker(build_model(plan, tokenizer), tokenizer, index.split)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("ConcurrentHashMap", "ConcurrentHashMap"),
        ("concurrenthashmap", "ConcurrentHashMap"),
        ("ForkJoinPool.commonPool", "ForkJoinPool.commonPool"),
        ("ForkJoinPool#commonPool()", "ForkJoinPool.commonPool"),
        ("tryAdvance", "tryAdvance"),
    ],
)
@pytest.mark.parametrize("with_model", [False, True])
def test_a_name_is_answered_by_what_has_it(index, reranker, query, first, with_model):
    hits = Engine(index, reranker if with_model else None).search(query)
    assert index.names[hits[0].row].split(".")[-len(first.split(".")) :] == first.split(".")
    assert {hit.stage for hit in hits if index.names[hit.row].lower().endswith(first.lower())} == {"name"}


def test_a_name_among_words_comes_up(index):
    with_name = Engine(index, None).search("how does CompletableFuture.thenCombine wait", top=3)
    assert index.names[with_name[0].row] == "CompletableFuture.thenCombine"
    assert not any(hit.stage == "name" for hit in Engine(index, None).search("how does it wait for the future"))


def test_an_engine_with_other_settings_reads_questions_by_these(index):
    engine = Engine(index, None)
    other = engine.changed(RankingSettings(exact_name_boost=0.0), file_ranking(index))
    gains = [max(each.asked("ConcurrentHashMap")[1].own.values()) for each in (engine, other, engine)]
    assert gains[0] == gains[2] > 100 > gains[1]


def test_bm25_alone_ranks_by_its_scores(index):
    query = "returns the number of threads that wait"
    off = ("test", "files", "phrases", "phrases_of_file", "beside", "depth", "made")
    hits = Engine(index, None, RankingSettings(**dict.fromkeys(off, 0.0))).search(query, top=50)
    scores = index.lexical.scores(query.split())
    assert [hit.lexical for hit in hits] == sorted(scores.tolist(), reverse=True)[:50]
    assert [hit.rank for hit in hits] == list(range(1, 51))
    assert all(hit.stage == "words" and hit.neural is None for hit in hits)


def test_the_mixture_is_that_of_both_scores_on_one_scale(index, reranker):
    alone = dict.fromkeys(
        ("test", "constant", "old", "file", "files", "phrases", "phrases_of_file", "beside", "depth", "made"), 0.0
    )
    ranking = RankingSettings(shortlist=40, weight=0.3, read_all_below=0, **alone)
    query = "returns the number of threads that wait"
    hits = Engine(index, reranker, ranking).search(query, top=1000)
    assert len(hits) == 40
    rows = np.sort([hit.row for hit in hits])
    lexical = index.lexical.scores(query.split())
    assert np.sort(lexical[rows])[0] >= np.sort(lexical)[-41]
    ids = reranker.tokenizer.encode(index.split)
    asked = reranker.tokenizer.encode(query_split(query.split()))
    with torch.inference_mode():
        model = reranker.model
        queries = model.encode_query(asked.queries([0] * 40))
        neural = model.score_pairs(queries, model.encode_code(ids.codes(rows))).numpy()
    expected = 0.3 * (neural - neural.mean()) / neural.std() + 0.7 * (
        (lexical[rows] - lexical[rows].mean()) / lexical[rows].std()
    )
    found = {hit.row: hit.score for hit in hits}
    np.testing.assert_allclose([found[row] for row in rows.tolist()], expected, atol=1e-3)
    assert [hit.score for hit in hits] == sorted(found.values(), reverse=True)


@pytest.mark.parametrize("with_model", [False, True])
def test_rank_is_the_place_among_all_rows(index, reranker, with_model):
    ranking = {"shortlist": 30, "files": 0.0, "phrases": 0.0, "phrases_of_file": 0.0, "read_all_below": 0}
    engine = Engine(index, reranker if with_model else None, RankingSettings(**ranking))
    query = "causes the current thread to wait"
    close = [hit.row for hit in engine.search(query, top=30)]
    assert [engine.rank(query.split(), row) for row in close[:5]] == [1, 2, 3, 4, 5] or not with_model
    lexical = index.lexical.scores(query.split())
    far = next(row for row in np.argsort(-lexical).tolist() if row not in close)
    behind = np.delete(lexical, close)
    assert engine.rank(query.split(), far) == 30 + (behind >= lexical[far]).sum()
    nowhere = int(np.flatnonzero(lexical == 0)[0])
    assert engine.rank(query.split(), nowhere) == len(index)


def test_a_small_index_is_read_whole(index, reranker):
    whole = Engine(index, reranker, RankingSettings(read_all_below=len(index)))
    assert sum(len(hit.rows) for hit in whole.search("spliterator zzzz", top=len(index))) == len(index)
    assert whole.search("qqqq zzzz") == []
    listed = Engine(index, reranker, RankingSettings(read_all_below=len(index) - 1))
    assert 0 < len(listed.search("spliterator zzzz", top=len(index))) < len(index)


def test_only_paths_that_match_and_one_hit_a_file(index):
    engine = Engine(index, None)
    hits = engine.search("stream of elements", path="*/stream/*", top=30)
    assert {index.split.text(hit.row).path.split("/")[-2] for hit in hits} == {"stream"}
    assert engine.search("stream of elements", path="nowhere/*") == []
    assert engine.search("stream of elements", path="[z-a]") == []
    with pytest.raises(ValueError, match=r"^path has at most 500 characters, this one has 501$"):
        engine.search("stream of elements", path="*" * 501)
    by_file = engine.search("stream of elements", by_file=True, top=20)
    paths = [index.split.text(hit.row).path for hit in by_file]
    assert len(set(paths)) == len(paths) > 10
    alone = Engine(index, None, RankingSettings(files=0.0))
    (best,) = alone.search("stream of elements", top=1)
    assert alone.search("stream of elements", by_file=True, top=1) == [best]


def test_better_files_elsewhere_do_not_hide_a_file_that_matches(tmp_path):
    code = tmp_path / "code"
    (code / "here").mkdir(parents=True)
    (code / "there").mkdir()
    (code / "here" / "other.py").write_text("limit = 3  # of a ladder\n")
    for number in range(2 * FILES):
        (code / "there" / f"ladder{number}.py").write_text("ladder = ladder or ladder\n")
    refresh(code, tmp_path / "index", processes=0, tell=lambda *_: None)
    engine = Engine(open_index(tmp_path / "index"), None)
    (hit,) = engine.search("ladder", path="here/*")
    assert engine.index.file(hit.row).path == "here/other.py"


def test_code_of_tests_stands_lower(index):
    (best,) = Engine(index, None).search("stream of elements", top=1)
    file = index.file(best.row)
    assert not file.test

    def first(query, **changes):
        files = [replace(each, **changes) if each is file else each for each in index.files]
        return Engine(replace(index, files=files), None, RankingSettings(test=20.0)).search(query, top=1)[0].row

    assert first("stream of elements") == best.row
    assert first("stream of elements", test=True) != best.row
    assert first("test the stream of elements", test=True) == first("test the stream of elements")


@pytest.mark.parametrize("query", ["", "  \n", "?!", "x" * (LONGEST_QUERY + 1)])
def test_a_query_that_cannot_be_answered_is_one_line(index, query):
    with pytest.raises(QueryError) as error:
        Engine(index, None).search(query)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 120


NAMES = ["Reader", "Reader.Reader", "Reader.nextName", "Reader.nextInt", "Outer.Reader.nextName", "next", "OddReader.x"]


def spelt(query):
    found = Names(NAMES).spelt(query, RankingSettings(exact_name_boost=100.0, mention_boost=5.0))
    rows = sorted({*found.own, *found.inside})
    gains = {NAMES[row] + f"@{row}": max(found.own.get(row, 0.0), found.inside.get(row, 0.0)) for row in rows}
    return gains, found.rest.split()


def test_names_among_words_are_told_by_capitals_dots_and_colons():
    names = ["IOTools.copy", "Router", "Router.nest"]

    def named(query: str) -> set[str]:
        found = Names(names).spelt(query, RankingSettings())
        return {names[row] for row in (*found.own, *found.inside)}

    assert named("IOTools copies bytes") == {"IOTools.copy"}
    assert named("how does Router::nest work") == {"Router.nest"}
    assert (
        named("how does Router work")
        == named("IO tools copy bytes")
        == named("all IDs and APIs of Router: nest")
        == set()
    )


def test_a_name_that_is_all_of_a_query_stands_first():
    gains, _ = spelt("Reader.nextName()")
    assert gains == {"Reader.nextName@2": 101.0, "Outer.Reader.nextName@4": 101.0}
    assert spelt("reader#nextname")[0] == {"Reader.nextName@2": 100.0, "Outer.Reader.nextName@4": 100.0}
    assert spelt("next")[0] == {"next@5": 101.0}
    gains, rest = spelt("OddReader")
    assert gains == {"OddReader.x@6": 5.0}
    assert rest == ["OddReader"]
    gains, _ = spelt("reader")  # the type before its members
    assert gains["Reader@0"] == 100.0
    assert gains["Reader.nextInt@3"] == 5.0


def test_a_name_among_words_raises_a_method_or_the_members_of_a_type():
    gains, rest = spelt("why is nextName null")
    assert gains == {"Reader.nextName@2": 5.05, "Outer.Reader.nextName@4": 5.05}
    assert rest == ["why", "is", "nextName", "null"]
    gains, rest = spelt("OddReader skips a value of OddReaders")
    assert gains == {"OddReader.x@6": 5.0}
    assert rest == ["skips", "a", "value", "of", "OddReaders"]
    assert spelt("the next reader of a thing") == ({}, ["the", "next", "reader", "of", "a", "thing"])


def test_members_of_a_named_type_are_looked_at_and_stand_before_others(index):
    engine = Engine(index, None)
    hits = engine.search("ForkJoinPool qqqq zzzz", top=10)
    assert hits
    assert all(index.names[hit.row].startswith("ForkJoinPool.") for hit in hits)
    first = engine.search("ForkJoinPool number of threads", top=20)
    assert all("ForkJoinPool." in index.names[hit.row] for hit in first)
    assert engine.asked("ForkJoinPool number of threads")[0] == ("number", "of", "threads")


def test_words_that_align_are_told_and_rows_sum_to_one(index, reranker):
    row = index.names.index("ForkJoinPool.commonPool")
    alignment = reranker.alignment(("common", "pool"), row)
    assert alignment.query == ["common", "pool"]
    assert [*alignment.code[:2]] == ["common", "pool"]
    assert set(alignment.fields) <= {"name", "tokens", "api"}
    np.testing.assert_allclose(alignment.weights.sum(axis=1), 1, atol=1e-5)
    assert alignment.weights.shape == (2, len(alignment.code))
    abstract = next(row for row in range(len(index)) if not len(index.split.words["api"][row]))
    assert reranker.alignment(("common", "pool"), abstract).weights.shape[0] == 2


def test_scores_do_not_depend_on_how_many_rows_are_read_at_once(index, reranker):
    query, rows = ["sorts", "the", "elements", "of", "an", "array"], np.array([5, 900, 17, 17, 300, *range(40, 90)])
    asked = reranker._query(query)
    few, all_at_once = (
        RowScores(reranker.model, reranker.tokenizer.encode(index.split), at_once=count).scores(asked, rows)
        for count in (7, 10**6)
    )
    np.testing.assert_allclose(few, all_at_once, atol=1e-5)
    assert few[2] == few[3]
    assert len(reranker.scores(query, rows[:0])) == 0


def test_without_rows_nothing_is_found(index):
    empty = index.split.take(np.arange(0))
    rows = {"split": empty, "names": [], "lexical": lexical_index(empty)}
    rows |= {"asks": index.asks[:0], "kinds": index.kinds[:0], "deprecated": index.deprecated[:0]}
    nothing = replace(index, files=[], whole=index.whole.taken(np.arange(0)), **rows)
    assert Engine(nothing, None).search("anything") == []


def test_the_best_beside_is_that_of_another_row_of_the_same_file():
    """Against the plain definition, ties, single rows and negative scores included."""
    rng = np.random.default_rng(0)
    for size in (0, 1, 2, 50):
        files, scores = np.sort(rng.integers(0, 12, size=size)), rng.integers(-3, 4, size=size).astype(np.float64)
        expected = [
            max([0.0, *(scores[other] for other in range(size) if other != row and files[other] == files[row])])
            for row in range(size)
        ]
        assert best_beside(scores, files).tolist() == expected


def test_a_row_gains_by_what_stands_beside_it(index, reranker):
    query = "sorts the elements of an array in parallel"
    plain, raised = (
        Engine(
            index,
            reranker,
            RankingSettings(file=share, files=0.0, phrases=0.0, phrases_of_file=0.0, beside=0.0, depth=0.0),
        )
        for share in (0.0, 0.5)
    )
    before = {hit.row: hit.score for hit in plain.search(query, top=200)}
    rows = np.array(sorted(before))
    files = np.searchsorted(index.file_edges, rows, side="right") - 1
    beside = best_beside(np.array([before[row] for row in rows.tolist()]), files)
    after = {hit.row: hit.score for hit in raised.search(query, top=200)}
    for row, gain in zip(rows.tolist(), beside.tolist(), strict=True):
        assert after[row] == pytest.approx(before[row] + 0.5 * gain)
    assert (beside > 0).any()
