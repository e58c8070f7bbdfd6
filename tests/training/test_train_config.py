from itertools import pairwise

import pytest

from training.config import TrainConfig
from training.optimiser import learning_rate


@pytest.mark.parametrize(
    "bad",
    [
        {"epochs": 0},
        {"seed": -1},
        {"batch_size": 1},
        {"learning_rate": 0.0},
        {"learning_rate": float("nan")},
        {"final_learning_rate": 1.0},
        {"final_learning_rate": 1e-3},
        {"warmup_steps": -1},
        {"gradient_clip": -1.0},
        {"gradient_clip": float("nan")},
        {"beta2": 1.0},
        {"weight_decay": -0.1},
        {"checkpoint_minutes": -1.0},
        {"patience": -1},
        {"patience": 1, "validate_every": 2},
        {"validate_pool": -1},
        {"validate_every": 7},
        {"threads": -1},
    ],
)
def test_a_bad_value_is_refused_by_a_line_that_names_its_flag(bad):
    with pytest.raises(ValueError, match=f"--train.{next(iter(bad))}") as raised:
        TrainConfig(**bad)
    assert "\n" not in str(raised.value)


def test_the_papers_schedule_lowers_the_rate_after_half_of_the_epochs():
    config = TrainConfig()
    assert [learning_rate(config, step, 10) for step in range(10)] == [3e-4] * 5 + [5e-5] * 5


@pytest.mark.parametrize("schedule", ["linear", "cosine"])
def test_the_others_go_down_from_the_one_rate_to_the_other(schedule):
    config = TrainConfig(schedule=schedule, warmup_steps=4, learning_rate=1e-3, final_learning_rate=1e-4)
    rates = [learning_rate(config, step, 24) for step in range(24)]
    assert rates[:5] == pytest.approx([2e-4, 4e-4, 6e-4, 8e-4, 1e-3])
    assert all(later < earlier for earlier, later in pairwise(rates[4:]))
    assert rates[14] == pytest.approx(5.5e-4)  # half way
    assert learning_rate(config, 24, 24) == pytest.approx(1e-4)


def test_a_constant_rate_stays():
    config = TrainConfig(schedule="constant", learning_rate=1e-5)
    assert {learning_rate(config, step, 9) for step in range(9)} == {1e-5}
