"""The checks of the ablations: a planted task that only edges solve, and trainings that differ in their seeds alone."""

import json

import numpy as np
import pytest
import torch

from experiments.recipes.results_folder import RESULTS
from experiments.tables.ablation_checks import (
    CONTROL_FILE,
    calibrate,
    calibrated,
    calibration_cells,
    calibration_section,
    control_section,
    planted,
    save_calibration,
    share_told_apart,
)
from tests.evaluation.test_results import result


def test_the_two_graphs_have_the_same_nodes_and_degrees():
    nodes, first, second = planted(50, torch.Generator().manual_seed(0))
    assert nodes.shape == (50, 6, 16)
    for edges, agreeing in ((first, 2), (second, 0)):
        torch.testing.assert_close(edges, edges.transpose(1, 2))
        torch.testing.assert_close(edges.sum(-1), torch.ones(50, 6))
        kinds = nodes[..., 0].sign()
        alike = (edges * kinds[:, :, None] * kinds[:, None, :] > 0).sum((1, 2)) - 6  # without the nodes themselves
        assert (alike == 2 * agreeing).all()
    assert not torch.equal(first, second)


@pytest.mark.parametrize("label", ["given edges, L = 1", "given edges, then eq. 11, L = 2"])
def test_the_graph_finds_an_answer_that_edges_carry(label):
    assert share_told_apart(label, 0) > 0.95


@pytest.mark.parametrize("label", ["uniform edges, L = 2", "no edges between nodes, L = 2", "no graph, L = 0"])
def test_nothing_finds_it_without_them(label, monkeypatch):
    monkeypatch.setattr("experiments.tables.ablation_checks._STEPS", 60)  # its two scores are equal from the start
    assert share_told_apart(label, 0) == pytest.approx(0.5, abs=0.02)


def test_what_is_saved_says_that_the_graph_won():
    if not (RESULTS / CONTROL_FILE).exists():
        pytest.skip(f"needs experiments/results/{CONTROL_FILE}")
    assert min(json.loads((RESULTS / CONTROL_FILE).read_text())["shares"]["given edges, L = 1"]) > 0.95
    assert "| given edges, L = 1 |" in control_section(RESULTS)


def test_without_a_result_there_is_no_section(tmp_path):
    assert control_section(tmp_path) == ""


SHIFT = 0.02  # between trainings, ten times what queries explain


def trainings(deviation: float, seeds: int = 12, queries: int = 400) -> np.ndarray:
    """Trainings of one model: each a little better or worse on all queries, and otherwise alike."""
    rng = np.random.default_rng(5)
    return rng.random(queries) + rng.normal(0, deviation, (seeds, 1)) + rng.normal(0, 0.05, (seeds, queries))


def test_where_trainings_differ_the_test_over_seeds_keeps_its_level_and_that_over_queries_does_not():
    found = calibrated(trainings(SHIFT, seeds=9), None)
    assert found.comparisons == 84 * 20 // 2  # three of nine, then three of six, in either order
    assert found.seeds_and_queries < 0.1
    assert found.queries_alone > 0.5
    assert found.deviation == pytest.approx(SHIFT, rel=0.5)


def test_where_they_do_not_both_keep_it():
    found = calibrated(trainings(0.0, seeds=9), None)
    assert found.queries_alone < 0.1
    assert found.seeds_and_queries < 0.1


def test_what_is_saved_is_read_and_shown(tmp_path, monkeypatch):
    runs = [result(model="unif", seed=seed, also={}) for seed in range(6)]
    found = calibrate(runs, {})
    assert found.models["unif"].comparisons == 10
    assert list(found.models) == ["unif"]
    assert calibration_section(tmp_path) == ""
    monkeypatch.setattr("experiments.tables.ablation_checks.saved_results", lambda *_: [("unif", run) for run in runs])
    save_calibration(tmp_path, {})
    assert "| unif | 6 |" in calibration_section(tmp_path)


def test_too_few_seeds_are_refused():
    with pytest.raises(ValueError, match="a calibration needs 6 seeds"):
        calibrate([result(model="unif", also={})] * 5, {})


def test_its_runs_differ_in_their_seeds_alone_and_never_see_the_test():
    plans = [cell.plan({}) for cell in calibration_cells()]
    assert {plan.evaluate.split for plan in plans} == {"valid"}
    assert len({(plan.model_name, plan.train.seed) for plan in plans}) == len(plans) == 24
