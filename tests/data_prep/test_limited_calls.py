"""Calls with hostile input end alone, and leave no process behind."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from data_prep.worker_pool import CALLS_AT_A_TIME, LimitedCalls
from data_prep.worker_process import EndedByItemError

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def calls():
    made = LimitedCalls()
    yield made
    made.close()


@pytest.mark.parametrize(
    "costly", ["while True: pass", "[0] * (1 << 30)", "(lambda f: f(f))(lambda f: f(f))", "import os; os.abort()"]
)
def test_what_costs_too_much_ends_alone(calls, costly):
    with pytest.raises(EndedByItemError, match="costs too much"):
        calls.call("builtins:exec", costly)
    assert calls.call("math:sqrt", 4.0) == 2.0


def test_processes_are_kept_and_never_more_than_so_many(calls):
    with ThreadPoolExecutor(8) as threads:
        pids = {*threads.map(lambda _: calls.call("os:getpid"), range(40))}
    assert 1 <= len(pids) <= CALLS_AT_A_TIME
    assert os.getpid() not in pids


def test_a_killed_process_is_replaced(calls):
    with pytest.raises(ChildProcessError, match="signal 9"):
        calls.call("builtins:exec", "import os; os.kill(os.getpid(), 9)")
    assert calls.call("math:sqrt", 9.0) == 3.0


def test_an_error_of_the_function_is_told(calls):
    with pytest.raises(RuntimeError, match="math domain error"):
        calls.call("math:sqrt", -1.0)


def test_processes_end_with_the_program():
    program = """
from data_prep.worker_pool import CALLS
print(CALLS.call("os:getpid"), flush=True)
"""
    told = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=True
    )
    assert told.stderr == ""
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.stdout), 0)
