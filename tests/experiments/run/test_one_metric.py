"""A metric is one entry: a new one is in the tables, the pages, metrics.json and TensorBoard, in its own column."""

from dataclasses import replace

import numpy as np
import pytest

from evaluation import metrics
from evaluation.metrics import METRICS, Metric
from evaluation.results import load_result, save_result
from evaluation.tables import PUBLISHED, render_table
from experiments.run import training
from experiments.tables.comparison_tables import tables
from experiments.tables.published import published_page
from tests.evaluation.test_results import SIZE, result

WORST = Metric("worst", "Worst", lambda ranks: float(1 / ranks.max()), lambda _: 0.125, shown="always")
FURTHER = Metric("further", "Further", lambda ranks: float(np.median(1 / ranks)))


def with_metrics(monkeypatch, *added: Metric) -> None:
    monkeypatch.setattr(metrics, "METRICS", (*METRICS[:2], *added, *METRICS[2:]))


def cells(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("|")]


def test_a_page_has_its_column_also_for_results_that_were_saved_before(monkeypatch, tmp_path):
    old = replace(result(also={}), ranks=[2] * (SIZE - 1) + [4], parameters=0)
    save_result(old, tmp_path / "metrics.json")
    with_metrics(monkeypatch, WORST, FURTHER)
    read = load_result(tmp_path / "metrics.json")
    head, _, row = cells(tables([("galm", read)], ("galm",), {}, whole=True))
    assert head.index("Worst") == head.index("Top@5") + 1
    assert dict(zip(head, row, strict=True)) | {"Worst": "0.250", "Worst*": "0.125", "Further": "0.500"} == dict(
        zip(head, row, strict=True)
    )
    assert head.index("nDCG@10") > head.index("MRR")
    assert head.index("Further") < head.index("Top@1*")
    head, _, row = cells(tables([("galm", read)], ("galm",), {}, whole=False))
    assert row[head.index("Worst")] == "0.250"
    assert "Further" not in head


def test_where_no_ranks_are_known_its_cell_is_empty(monkeypatch):
    old = result(also={})
    with_metrics(monkeypatch, WORST)
    lines = render_table(old).splitlines()
    names = lines[1].split()
    assert names[3] == "Worst"
    control = next(line for line in lines if line.startswith("bm25"))
    place = lines[1].index("Worst")
    assert control[place : place + len("Worst")].strip() == ""


def test_the_terminal_and_the_file_have_it(monkeypatch, tmp_path):
    with_metrics(monkeypatch, WORST, FURTHER)
    new = result(also={})
    assert {"worst", "further"} < new.exact.keys()
    assert new.published_convention["worst"] == 0.125
    save_result(new, tmp_path / "metrics.json")
    assert load_result(tmp_path / "metrics.json") == new
    lines = render_table(new).splitlines()
    assert lines[1].split()[:6] == ["ranker", "Top@1", "Top@5", "Worst", "Top@10", "MRR"]
    assert lines[2].split()[3] == "1.000"
    assert lines[0].index("published convention") == lines[1].index("MRR") + len("MRR") + 2


def test_numbers_of_papers_stay_in_their_columns(monkeypatch):
    before = published_page()
    with_metrics(monkeypatch, WORST, FURTHER)
    assert published_page() == before
    assert list(PUBLISHED[0].measures) == ["top1", "top5", "top10", "mrr"]


@pytest.mark.parametrize("name", ["worst", "further", "ndcg10", "recall5", "recall50"])
def test_tensorboard_has_its_curve(monkeypatch, name):
    with_metrics(monkeypatch, WORST, FURTHER)
    curves: dict[str, float] = {}
    board = type("Board", (), {"validation": lambda _, values: curves.update(values)})()
    pages = type("Pages", (), {"board": board, "show": lambda *_: None})()
    monkeypatch.setattr(training, "diagnostics", lambda *_: {})
    found = {"ranks": np.array([1, 2]), "tied": np.array([0, 0]), "candidates": 2}
    monkeypatch.setattr(training, "evaluate", lambda *_, **__: type("Found", (), found)())
    monkeypatch.setattr(training, "PoolRanker", lambda *_: None)
    plan = type("Plan", (), {"train": type("Train", (), {"validate_pool": 2})()})()
    printed = training._validation(plan, None, [0, 0], None, pages)(None)
    assert name in {**curves, **printed}
    assert (name in printed) == (name == "worst")


def test_tables_do_not_repeat_a_metric_under_another_name():
    ranks = np.random.default_rng(0).integers(1, 120, 500)
    shown = [each.compute(ranks) for each in (*metrics.short_columns(), *metrics.further_columns())]
    assert len({*shown}) == len(shown)
    assert {"ndcg10", "recall5", "recall10", "recall50", "recall100"} < metrics.exact(ranks).keys()
