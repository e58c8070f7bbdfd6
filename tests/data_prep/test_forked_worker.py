"""A copy of a process gives a result, ends by its limits alone, and leaves its parent as it was."""

import faulthandler
import os

import pytest

from data_prep.errors import UserError
from data_prep.worker_process import EndedByItemError, Limits, limited, run_forked

LIMITS = Limits(seconds=0.2, seconds_per_mib=0.0, memory=1 << 30)


def busy(_: object) -> None:
    with limited(0):
        while True:
            pass


def refusing(item: object) -> None:
    raise UserError(f"not {item}")


def test_a_result_and_an_error_come_back():
    assert run_forked(sorted, [2, 1], LIMITS) == [1, 2]
    assert run_forked(lambda _: os.getpid(), None, LIMITS) != os.getpid()
    with pytest.raises(UserError, match="not this"):
        run_forked(refusing, "this", LIMITS)


def test_what_costs_too_much_or_crashes_ends_the_copy_alone():
    with pytest.raises(EndedByItemError):
        run_forked(busy, None, LIMITS)
    with pytest.raises(EndedByItemError):
        run_forked(lambda _: (faulthandler.disable(), os.abort()), None, LIMITS)  # which would print its stack
    with pytest.raises(ChildProcessError):
        run_forked(lambda _: os.kill(os.getpid(), 9), None, LIMITS)
