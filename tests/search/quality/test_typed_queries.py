"""Questions that people typed, measured by the files that answer them."""

import json
import math
from dataclasses import replace

import ir_measures
import numpy as np
import pytest
from ir_measures import nDCG
from repositories import write

from cli.main import main
from evaluation.metrics import ndcg_of_several
from search.engine.engine import Engine
from search.engine.file_ranking import stemmed
from search.engine.question import RankingSettings, words_of
from search.index.build import refresh
from search.index.index_file import open_index
from search.quality.command import query_lines
from search.quality.query_file import QueryFile, TypedQuery, read_query_file
from search.quality.typed_queries import (
    answered,
    as_record,
    measure_queries,
    ndcg_by_file,
    same_file,
    smooth_ndcg,
    words_in,
)

QUERIES = [
    {"query": "AbstractPipeline", "relevant": [{"path": "java/util/stream/AbstractPipeline.java", "start_line": 1}]},
    {"query": "how streams are built", "relevant": [{"path": "BaseStream.java"}], "secondary": [{"path": "gone.java"}]},
    {"query": "collects elements into a result", "category": "mine", "relevant": [{"path": "stream/Collector.java"}]},
]


def written(folder, content):
    path = folder / "queries.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize(("found", "relevant"), [([1], 1), ([2, 11], 2), ([], 3), ([1, 2, 3], 3), ([3, 7], 14)])
def test_ndcg_is_that_of_another_implementation(found, relevant):
    names = [f"d{rank}" for rank in range(1, 21)]
    gold = [f"d{rank}" for rank in found] + [f"missing{n}" for n in range(relevant - len(found))]
    (other,) = ir_measures.calc_aggregate(
        [nDCG @ 10],
        [ir_measures.Qrel("q", name, 1) for name in gold],
        [ir_measures.ScoredDoc("q", name, -place) for place, name in enumerate(names)],
    ).values()
    assert ndcg_of_several(found, relevant, 10) == pytest.approx(other)


def test_more_cannot_be_found_than_is_relevant():
    with pytest.raises(ValueError, match="got 2 of 1"):
        ndcg_of_several([1, 2], 1, 10)


def test_a_relevant_file_counts_once_at_its_first_match():
    found = ["b/a.py", "src/a.py", "x/c.py"]
    assert ndcg_by_file(found, ["a.py"]) == 1
    assert ndcg_by_file(found, ["src/a.py"]) == pytest.approx(1 / math.log2(3))
    assert ndcg_by_file(found, ["nowhere.py"]) == 0
    assert same_file("src/a.py", "repository/src/a.py")
    assert not same_file("ba.py", "a.py")


@pytest.mark.parametrize("relevant", [["a.py"], ["b.py", "c.py"], ["c.py", "nowhere.py"], ["nowhere.py"], ["z/d.py"]])
def test_smooth_ndcg_is_that_of_the_order_where_scores_are_far_apart(relevant):
    found = ["a.py", "b.py", "c.py", "z/d.py"]
    plain = ndcg_by_file(found, relevant)
    assert smooth_ndcg(found, [40.0, 30.0, 20.0, 10.0], relevant) == pytest.approx(plain, abs=1e-3)


def test_smooth_ndcg_rises_with_the_score_of_what_is_relevant():
    found, rivals = ["a.py", "b.py"], [1.0, 1.1, 1.3, 3.0]
    values = [smooth_ndcg(found, [rival, 1.0], ["b.py"]) for rival in rivals]
    assert values == sorted(values, reverse=True)
    assert len({*values}) == len(values)
    assert values[0] == pytest.approx(1 / math.log2(2.5), abs=1e-3)  # each of two alike is first half of the time
    assert smooth_ndcg([], [], ["b.py"]) == 0


def test_what_is_behind_the_first_ten_counts_little_for_smooth_ndcg():
    found = [f"{number}.py" for number in range(30)]
    scores = [float(30 - number) for number in range(30)]
    tenth, eleventh, last = (smooth_ndcg(found, scores, [f"{number}.py"]) for number in (9, 10, 29))
    assert tenth > 1.5 * eleventh > 0
    assert last < 1e-6


def test_values_are_those_of_the_ranked_files(index):
    asked = QueryFile("", [TypedQuery("AbstractPipeline", "symbol", ("stream/AbstractPipeline.java",))])
    engines = {"one": Engine(index, None), "two": Engine(index, None, RankingSettings(exact_name_boost=0.0))}
    record = measure_queries(engines, asked)
    one, two = record["stages"]
    assert [each["ndcg"] for each in one["queries"]] == [1.0]
    assert one["difference"] is None
    assert two["difference"]["mean"] == pytest.approx(two["queries"][0]["ndcg"] - one["queries"][0]["ndcg"])
    own = answered(engines["one"], asked.queries[0], "a/root")
    assert len(set(own.found)) == len(own.found) <= 10
    assert own.found[0].startswith("a/root/java.base/")
    assert own.ranks == [1]
    text = "\n".join(query_lines(record))
    assert "symbol, 1 query" in text
    assert "below" not in text
    assert one["seconds"]["first"] >= one["seconds"]["again"] > 0
    assert f"  two                 {two['seconds']['again']:.4f}" in text[text.index("seconds: ") :]
    missed = as_record(
        {"one": [replace(own, ndcg=0.0, ranks=[14])]}, replace(asked, root="a/root"), index, {"one": one["seconds"]}
    )
    expected = (
        "below 0.5 with one: 1\n  0.00  AbstractPipeline: expected stream/AbstractPipeline.java (rank 14); found "
    )
    assert expected in "\n".join(query_lines(missed))


def test_a_file_of_several_projects_needs_a_name(tmp_path):
    path = written(tmp_path, {"a": {"queries": QUERIES, "root": "src"}, "b": {"queries": QUERIES}})
    found = read_query_file(path, "a")
    assert found.root == "src"
    assert [each.category for each in found.queries] == ["symbol", "architecture", "mine"]
    assert found.queries[1].paths == ("BaseStream.java", "gone.java")
    with pytest.raises(ValueError, match="name one by --project=, of a, b"):
        read_query_file(path, "")
    assert read_query_file(written(tmp_path, {"queries": QUERIES}), "").root == ""


PLACE = {"path": "a.java"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON"),
        ([], "expected"),
        ({}, "expected"),
        ({"queries": []}, "expected a list of 2 or more"),
        ({"queries": QUERIES, "root": "../up"}, "root: expected a folder inside"),
        ({"queries": [*QUERIES, QUERIES[0]]}, "is there twice"),
        ({"queries": [QUERIES[0], {"query": "a thing"}]}, r"queries\[1\]: expected query, relevant"),
        ({"queries": [QUERIES[0], {"query": "", "relevant": [PLACE]}]}, r"queries\[1\]: expected a question"),
        ({"queries": [QUERIES[0], {"query": 3, "relevant": [PLACE]}]}, "are texts"),
        ({"queries": [QUERIES[0], {"query": "b c", "relevant": []}]}, r"relevant: expected the file"),
        ({"queries": [QUERIES[0], {"query": "b c", "relevant": "a.java"}]}, "expected a list such as"),
        ({"queries": [QUERIES[0], {"query": "b c", "relevant": [{"path": "/a"}]}]}, r"relevant\[0\]: path is relative"),
        ({"queries": [QUERIES[0], {"query": "b c", "relevant": [{"path": "a", "line": 1}]}]}, "expected path and"),
        ({"queries": [QUERIES[0], {"query": "b c", "relevant": [{"path": "a", "start_line": 0}]}]}, "count from 1"),
    ],
)
def test_a_bad_file_is_told_in_one_line(tmp_path, content, message):
    with pytest.raises(ValueError, match=message) as told:
        read_query_file(written(tmp_path, content), "")
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--queries=many"], "--queries takes a file NAME.json"),
        (["--queries=-1"], "--queries takes a file NAME.json"),
        (["--queries=nowhere.json"], "nowhere.json cannot be read"),
        (["--project=a"], "--project is for typed queries"),
        (["--queries=nowhere.json", "--ask=name"], "leave out --queries=FILE.json"),
        (["--queries={queries}", "--change=nothing=1"], "--change takes settings such as"),
        (["--queries={queries}", "--change=weight=2"], "--weight takes"),
        (["--vector_weight=1.5"], "--vector_weight takes a number from 0 to 1"),
        (["--vector_weight=much"], "--vector_weight takes a number, not"),
        (["--vectors=none", "--vector_weight=.5"], "--vectors=none asks for none"),
        (["--queries={queries}", "--vectors=none", "--change=vector_weight=.5"], "--vectors=none asks for none"),
        (["--ask=snippet", "--vector_weight=.5"], "--vector_weight has no part where code is the query"),
        (["--ask=trace", "--weight=.5"], "--weight has no part where code is the query"),
    ],
)
def test_bad_options_are_told_in_one_line(tmp_path, options, message, capsys):
    queries = written(tmp_path, {"queries": QUERIES})
    assert main(["quality", str(tmp_path), *(each.format(queries=queries) for each in options)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_every_stage_is_measured_beside_the_whole_search(tree, tmp_path, capsys):
    queries = written(tmp_path, {"queries": QUERIES})
    assert main(["quality", str(tree), f"--queries={queries}", "--change=exact_name_boost=0", "--json"]) == 0
    output = capsys.readouterr()
    assert "gone.java: a relevant file that is not indexed" in output.err
    told = json.loads(output.out)
    names = [each["name"] for each in told["stages"]]
    assert names == [
        "default + vectors + files + bm25", "without files", "without vectors", "without models", "bm25",
        "with exact_name_boost=0",
    ]  # fmt: skip
    for stage in told["stages"]:
        values = [each["ndcg"] for each in stage["queries"]]
        summary = stage["categories"]["all"]
        assert summary["ndcg"] == pytest.approx(np.mean(values), abs=1e-6)
        assert summary["low"] <= summary["ndcg"] <= summary["high"]
        assert all(len(each["found"]) <= 10 for each in stage["queries"])
    assert told["stages"][0]["queries"][0]["ndcg"] == 1
    symbol, two, _ = told["why"]
    assert (symbol["query"], symbol["ndcg"], symbol["before"]) == ("AbstractPipeline", 1, [])
    assert symbol["relevant"][0]["ranks"] == dict.fromkeys(names, 1)
    assert "stem" in symbol["relevant"][0]["words"]["pipeline"]
    gone = two["relevant"][1]
    assert (gone["path"], gone["indexed"], gone["words"]) == ("gone.java", "", {})
    assert set(gone["ranks"].values()) == {None}
    assert all(not each["path"].endswith("BaseStream.java") for each in two["before"])
    assert len(two["before"]) <= 10


def test_words_are_told_by_where_a_file_has_them(tmp_path):
    root = write(tmp_path / "tree", {
        "net/retry.py": "# backs off\ndef again(times):\n    return times\n", "other.py": "x = 1\n",
    })  # fmt: skip
    refresh(root, tmp_path / "index", processes=0, tell=lambda *_: None)
    index = open_index(tmp_path / "index")
    stems = stemmed(words_of("how does the network retry back off times"))
    assert words_in(index, 0, stems) == {
        "retry": ["stem"],
        "back": ["comments"],
        "off": ["comments"],
        "times": ["text"],
    }
    assert words_in(index, 1, stems) == {}
