"""NDCG with graded labels against CodeSearchNet's definition, and the file of labels."""

import math
from pathlib import Path

import pytest

from experiments.context.labels import LabelledQuery, mean_ndcg, ndcg, read_labels

HEAD = "Language,Query,GitHubUrl,Relevance,Notes\n"
LABELS = {"u1": 3.0, "u2": 2.0, "u3": 0.0}


def test_the_example_of_the_definition():
    assert ndcg(["u2", "u1", "u3"], LABELS, "annotated") == pytest.approx(0.8340, abs=5e-5)
    assert ndcg(["u1", "u2", "u3"], LABELS, "annotated") == 1.0


def test_urls_without_a_label_take_a_rank_in_one_variant_only():
    ranked = ["x", "u2", "y", "u1"]
    gains = {"u1": 7.0, "u2": 3.0}
    best = gains["u1"] / math.log2(2) + gains["u2"] / math.log2(3)
    full = gains["u2"] / math.log2(3) + gains["u1"] / math.log2(5)
    assert ndcg(ranked, LABELS, "full") == pytest.approx(full / best)
    assert ndcg(ranked, LABELS, "annotated") == pytest.approx(ndcg(["u2", "u1"], LABELS, "annotated"))


def test_what_is_not_ranked_counts_in_the_best_order_and_only_300_are_ranked():
    assert ndcg(["u2"], LABELS, "annotated") == pytest.approx(3 / (7 + 3 / math.log2(3)))
    assert ndcg([*map(str, range(300)), "u1"], LABELS, "annotated") == 0.0
    assert ndcg([*map(str, range(299)), "u1"], LABELS, "annotated") > 0.0


def test_queries_without_a_relevant_url_are_left_out_of_the_mean():
    assert math.isnan(ndcg(["u3"], {"u3": 0.0}, "full"))
    assert mean_ndcg([0.5, math.nan, 1.0]) == 0.75
    assert math.isnan(mean_ndcg([math.nan]))


def test_labels_of_one_url_are_averaged_and_cases_do_not_matter(tmp_path: Path):
    path = tmp_path / "labels.csv"
    path.write_text(HEAD + "Python,Read CSV,u1,3,\npython,read csv,u1,2,\nGo,read csv,u1,0,no\npython,read csv,u2,,\n")
    found = read_labels(path)
    assert found == {
        LabelledQuery("python", "read csv"): {"u1": 2.5},
        LabelledQuery("go", "read csv"): {"u1": 0},
    }


def test_the_same_words_of_two_functions_are_two_queries(tmp_path: Path):
    path = tmp_path / "labels.csv"
    path.write_text(f"{HEAD.strip()},QueryUrl\npython,load,u1,3,,f1\npython,load,u1,0,,f2\n")
    assert [*read_labels(path)] == [
        LabelledQuery("python", "load", "f1"),
        LabelledQuery("python", "load", "f2"),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "lacks the columns Language"),
        ("Language,Query\npython,a\n", "lacks the columns GitHubUrl, Relevance, Notes"),
        (f"{HEAD}python,a,u,4,\n", r"csv:2: expected a relevance from 0 to 3, not '4'"),
        (f"{HEAD}python,a,u,nan,\n", "not 'nan'"),
        (f"{HEAD}python,a,u\n", r"csv:2 is no CSV row: it has another number of columns"),
        (f"{HEAD}python,a,u,,\n", "no labels in its 1 rows"),
        (f'{HEAD}python,"a,u,1,\n', "expected annotations"),
    ],
)
def test_another_file_is_refused_in_one_line(tmp_path: Path, content: str, message: str):
    path = tmp_path / "labels.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=message) as error:
        read_labels(path)
    assert "\n" not in str(error.value)


def test_rows_that_are_none_are_left_out_and_said(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level("INFO")
    path = tmp_path / "labels.csv"
    path.write_bytes(f"{HEAD}python,a,u,3,\r\n\r\npython,b\r\npython,c,u,1,\r\n".encode("utf-16"))
    assert [query.query for query in read_labels(path)] == ["a", "c"]
    assert f"left out {path}:4: no CSV row: it has another number" in caplog.text


def test_a_missing_file_and_one_that_is_no_text_are_refused(tmp_path: Path):
    with pytest.raises(ValueError, match="expected annotations"):
        read_labels(tmp_path / "none.csv")
    (tmp_path / "labels.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="expected annotations"):
        read_labels(tmp_path / "labels.csv")
