"""CodeSearchNet's 99 queries and people's grades, with the NDCG of its script."""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from baselines.bm25 import Bm25, Bm25Config
from data_prep.config import DataConfig
from data_prep.datasets.csn_published import FILE, Csn99
from evaluation.config import EvaluateConfig
from evaluation.evaluator import evaluate
from evaluation.reading import Graded, TestReading
from evaluation.results import DataSource, measure
from tests.data_prep.datasets.test_csn_languages import all_rows, prepared, write_lines
from tests.evaluation.rankers import Chosen
from tests.local_server import send, serving


def write_grades(path: Path, lines: list[tuple[str, str, str, int]]) -> None:
    rows = [f'{language},{query},{url},{grade},"a note, of\ntwo lines"' for language, query, url, grade in lines]
    path.write_text("Language,Query,GitHubUrl,Relevance,Notes\n" + "\n".join(rows) + "\n")


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    folder = write_lines(tmp_path / "raw", "go")
    url = [row["url"] for row in all_rows("go")["test"]]
    write_grades(
        folder / FILE,
        [
            ("Go", "sort orders", url[2], 3), ("Go", "sort orders", url[1], 2), ("Go", "sort orders", url[0], 0),
            ("Go", "Sort orders", url[0], 1), ("Go", "draw all", url[9], 1), ("Go", "none good", url[5], 0),
            ("Go", "draw all", "https://github.com/a/b", 3), ("Java", "sort orders", url[7], 3),
        ],
    )  # fmt: skip
    return folder


def test_graded_functions_are_the_pool(raw: Path, tmp_path: Path) -> None:
    data = prepared(raw, tmp_path / "data", "go", "csn_99")
    test, reading = data.splits["test"], TestReading.of(data.manifest)
    assert sorted(test.text(row).query_text for row in range(len(test))) == ["draw all", *["sort orders"] * 3]
    assert [len(each) for each in reading.grades.values()] == [2, 3]
    assert sorted(reading.grades["sort orders"].values()) == [0.5, 2, 3]
    found = evaluate(Bm25(Bm25Config()), test, EvaluateConfig(), reading=reading)
    exact = measure(found, data=DataSource(origin="it", fingerprint="")).exact
    best = (1 / np.log2(2)) / (7 / np.log2(2) + 1 / np.log2(3))  # of draw all, whose better function is in no row
    assert 0 < exact["ndcg_by_people"] <= (1 + best) / 2


def test_ndcg_is_that_of_the_script() -> None:
    graded = Graded.of({"u1": 3.0, "u2": 2.0, "u3": 0.0}, {"u1": 4, "u2": 0, "u3": 2})
    scores = np.array([9, 8.5, 1, 8, 5, 0], np.float32)
    assert graded.ndcg(scores) == pytest.approx(0.8340, abs=5e-5)  # u2, u1, u3; others take no rank
    assert graded.ndcg(np.array([9, 0, 1, 0, 9, 0], np.float32)) == pytest.approx(0.8340, abs=5e-5)  # ties
    assert graded.ndcg(np.array([5, 0, 1, 0, 9, 0], np.float32)) == 1


def test_a_query_without_its_functions_counts_as_nothing(raw: Path, tmp_path: Path) -> None:
    with (raw / FILE).open("a") as file:
        file.write("Go,elsewhere,https://github.com/c/d,2,\n")
    data = prepared(raw, tmp_path / "data", "go", "csn_99")
    reading, test = TestReading.of(data.manifest), data.splits["test"]
    rows = reading.queries(test)
    scores = np.zeros((len(rows), len(test)), np.float32)
    found = evaluate(Chosen(scores, 1), test, EvaluateConfig(), reading=reading)
    assert len(rows) == 2
    assert found.ndcg_by_people is not None
    assert found.ndcg_by_people <= 2 / 3


def test_the_grades_are_fetched_and_checked(raw: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = (raw / FILE).read_bytes()
    (raw / FILE).unlink()
    with serving(lambda handler, _: send(handler, 200, content)) as told:
        config = DataConfig(path=str(raw), mirror=f"http://127.0.0.1:{told.port}", language="go")
        with pytest.raises(ValueError, match=r"gave the git blob .* instead of .*put it into"):
            Csn99(config).inputs()
        blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        name, remote, *texts = Csn99.further
        monkeypatch.setattr(Csn99, "further", (name, replace(remote, git_blob=blob), *texts))
        assert Csn99(config).inputs()[-1] == raw / FILE


@pytest.mark.parametrize(
    ("grade", "message"), [("9", "expected a grade from 0 to 3"), ("0", "no function of .* is among")]
)
def test_wrong_grades_are_one_line(raw: Path, tmp_path: Path, grade: str, message: str) -> None:
    (raw / FILE).write_text(f"Language,Query,GitHubUrl,Relevance\nGo,a b,https://github.com/a,{grade}\n")
    with pytest.raises(ValueError, match=message) as caught:
        prepared(raw, tmp_path / "data", "go", "csn_99")
    assert "\n" not in str(caught.value)
