"""The same seed, the same numbers to the last digit."""

import os
import random

import numpy as np
import torch


def seed_everything(seed: int, threads: int = 0) -> None:
    """Seed Python, numpy and torch on all devices, and let torch use deterministic algorithms only.

    Sums may differ in their last digit between numbers of threads, so that belongs to what must be the same.

    Args:
        seed: 0 or more.
        threads: threads torch computes with; 0 leaves torch's own choice.
    """
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it CUDA's matrix products are not repeatable
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - for libraries that draw from it
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]  # costs time for nothing
    if threads:
        torch.set_num_threads(threads)


def random_state() -> list[torch.Tensor]:
    """The state of torch's generators: the processor's, then each CUDA device's."""
    return [torch.get_rng_state(), *torch.cuda.get_rng_state_all()]


def restore_random_state(state: list[torch.Tensor]) -> None:
    """Put back what :func:`random_state` took; devices that are gone are left out."""
    torch.set_rng_state(state[0])
    torch.cuda.set_rng_state_all(state[1:][: torch.cuda.device_count()])
