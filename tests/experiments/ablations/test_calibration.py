import numpy as np
import pytest

from experiments.ablations.calibration import (
    calibrate,
    calibrated,
    calibration_cells,
    calibration_section,
    save_calibration,
)
from tests.evaluation.test_results import result

SHIFT = 0.02  # between trainings, ten times what queries explain


def trainings(deviation: float, seeds: int = 12, queries: int = 400) -> np.ndarray:
    """Trainings of one model: each a little better or worse on all queries, and otherwise alike."""
    rng = np.random.default_rng(5)
    return rng.random(queries) + rng.normal(0, deviation, (seeds, 1)) + rng.normal(0, 0.05, (seeds, queries))


def test_where_trainings_differ_the_test_over_seeds_keeps_its_level_and_that_over_queries_does_not():
    found = calibrated(trainings(SHIFT), None)
    assert found.comparisons == 220 * 84 // 2  # three of twelve, then three of nine, in either order
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
    monkeypatch.setattr("experiments.ablations.calibration.saved_results", lambda *_: [("unif", run) for run in runs])
    save_calibration(tmp_path, {})
    assert "| unif | 6 |" in calibration_section(tmp_path)


def test_too_few_seeds_are_refused():
    with pytest.raises(ValueError, match="a calibration needs 6 seeds"):
        calibrate([result(model="unif", also={})] * 5, {})


def test_its_runs_differ_in_their_seeds_alone_and_never_see_the_test():
    plans = [cell.plan({}) for cell in calibration_cells()]
    assert {plan.evaluate.split for plan in plans} == {"valid"}
    assert len({(plan.model_name, plan.train.seed) for plan in plans}) == len(plans) == 24
