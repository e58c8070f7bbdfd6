"""The losses of the first steps, as the trainers gave them that this one replaced."""

import pytest
import torch
from golden_steps import losses_of_a_word_model
from training_runs import EXAMPLE, write_example

LOSSES = {
    "galm": [
        0.3609090,
        0.3597668,
        0.3263697,
        0.3052272,
        0.2215324,
        0.2409512,
        0.2817149,
        0.2816036,
        0.2240759,
        0.2074743,
        0.1864296,
        0.2347595,
        0.2791953,
        0.2774866,
        0.2415859,
        0.2654194,
        0.3236660,
        0.2451172,
        0.2737906,
        0.2764233,
    ],
    "galm_plus": [
        4.0927963,
        3.0617609,
        3.3167007,
        3.2894545,
        2.9211516,
        3.0039370,
        2.9339883,
        2.9348340,
        2.6245844,
        2.6173866,
        2.3517365,
        2.3139098,
        2.6260285,
        1.0543759,
        1.3379189,
        1.2216419,
        0.9859527,
        1.5753807,
        1.4432921,
        1.4942846,
    ],
    "tabcs": [
        1.9334527,
        1.4085016,
        2.3332047,
        1.7653189,
        1.1347058,
        1.4161632,
        1.8979630,
        1.8422306,
        1.5656818,
        1.5369937,
        1.3960018,
        1.6399362,
        1.9804597,
        0.3321958,
        1.0186229,
        0.7811125,
        1.3076259,
        1.0511882,
        1.0225465,
        1.0386883,
    ],
}
"""By the recipes, galm with two layers from .1; seed 0, two epochs of 400 pairs of the DeepCS example in batches of 32,
one thread."""
FINE_TUNED = [0.7890385, 0.7019199, 0.7698966]
"""Mean losses of three epochs of a cross-encoder over a made-up BERT."""


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    if not EXAMPLE.is_file():
        pytest.skip("needs the DeepCS example beside the repository, in ../shared/data/deepcs_example")
    folder = tmp_path_factory.mktemp("golden") / "store"
    write_example(folder)
    return folder


@pytest.mark.parametrize("model", LOSSES)
def test_a_word_model_learns_as_before(model, example, tmp_path):
    assert losses_of_a_word_model(model, example, tmp_path / "run") == pytest.approx(LOSSES[model], abs=1e-6, rel=1e-5)


def test_a_cross_encoder_learns_as_before(tmp_path):
    from experiments.gencodesearchnet.fine_tune import fine_tune
    from tests.experiments.gencodesearchnet.fine_tuning_runs import SMALL, TRAIN, VALID
    from tests.tiny_models import tiny_bert

    torch.manual_seed(0)
    base = tiny_bert(tmp_path / "base")
    record = fine_tune(TRAIN, VALID, str(base), tmp_path / "out", SMALL, tell=lambda _: None)
    assert [epoch["loss"] for epoch in record["history"]] == pytest.approx(FINE_TUNED, abs=1e-6, rel=1e-5)
