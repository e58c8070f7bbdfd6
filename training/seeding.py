"""Seeding, so that equal seeds give bitwise equal results."""

import os
import random

import numpy as np
import torch

from data_prep.errors import UserError


def seed_everything(seed: int, threads: int = 0) -> None:
    """Seed Python, numpy and torch on all devices, and restrict torch to deterministic algorithms.

    Sums may differ in their last digit between numbers of threads, so that number must be the same too.

    Args:
        seed: 0 or more.
        threads: number of torch threads; 0: torch's default.
    """
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # for deterministic matrix products on CUDA
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - for libraries that draw from it
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]  # not needed, and slow
    if threads:
        torch.set_num_threads(threads)


def random_state() -> list[torch.Tensor]:
    """The state of torch's generators: the CPU's, then each CUDA device's."""
    return [torch.get_rng_state(), *torch.cuda.get_rng_state_all()]


def restore_random_state(state: object) -> None:
    """Restore what :func:`random_state` returned; devices that no longer exist are ignored.

    Raises:
        UserError: ``state`` is not such a state.
    """
    own = random_state()
    if not isinstance(state, list) or not state or not all(isinstance(each, torch.Tensor) for each in state):
        raise UserError("expected the states of random generators")
    for mine, given in zip(own, state, strict=False):
        if (mine.shape, mine.dtype) != (given.shape, given.dtype):
            raise UserError(f"a random generator's state has {mine.numel()} bytes, not {given.numel()}")
    try:
        torch.set_rng_state(state[0])
        torch.cuda.set_rng_state_all(state[1:][: torch.cuda.device_count()])
    except RuntimeError as error:
        raise UserError("the state of a random generator is invalid") from error
