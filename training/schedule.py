"""Learning rate schedules."""

import math

from training.config import TrainConfig


def learning_rate(config: TrainConfig, step: int, steps: int) -> float:
    """The learning rate at ``step`` (0-based) of the ``steps`` steps of a run.

    ``step`` is GALM's: ``learning_rate`` for the first half of the epochs, then ``final_learning_rate``. ``linear`` and
    ``cosine`` decay from the former to the latter over the steps after the warm-up.
    """
    warmup = config.warmup_steps or int(config.warmup_share * steps)
    if step < warmup:
        return config.learning_rate * (step + 1) / (warmup + 1)
    high, low = config.learning_rate, config.final_learning_rate
    passed = (step - warmup) / max(1, steps - warmup)  # 0 to 1
    match config.schedule:
        case "constant":
            return high
        case "step":
            return high if 2 * step < steps else low
        case "linear":
            return low + (high - low) * (1 - passed)
        case "cosine":
            return low + (high - low) * (1 + math.cos(math.pi * passed)) / 2
