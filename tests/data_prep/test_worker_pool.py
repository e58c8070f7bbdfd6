"""Processes end with their parent, struck by Ctrl-C at any line or killed; a hostile call ends alone."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from data_prep.worker_pool import CALLS_AT_A_TIME, Guard, LimitedCalls, map_ordered, pushed
from data_prep.worker_process import EndedByItemError

REPOSITORY = Path(__file__).resolve().parents[2]
TOLD = """
import os, signal, subprocess, sys
from data_prep import worker_pool

class Told(subprocess.Popen):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        print("started", self.pid, flush=True)

subprocess.Popen = Told
"""
STRUCK = """
left = int(sys.argv[1])

def strike(frame, event, argument):
    global left
    if frame.f_code.co_filename != worker_pool.__file__:
        return None
    left -= event == "line"
    if left == 0:
        sys.settrace(None)
        raise KeyboardInterrupt
    return strike

sys.settrace(strike)
for result in worker_pool.map_ordered("time:sleep", [0.01] * 6, 2):
    pass
sys.settrace(None)
print("lines left", left)
"""


def run(program: str, *arguments: object) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", TOLD + program, *map(str, arguments)]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False)


def processes(told: str) -> list[int]:
    return [int(line.split()[1]) for line in told.splitlines() if line.startswith("started")]


def is_over(pid: int) -> bool:
    """Whether a process has ended, if nobody waited for it too."""
    if Path("/proc/self").exists():
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def wait_until_over(pids: list[int]) -> None:
    until = time.monotonic() + 30
    while not all(map(is_over, pids)):
        assert time.monotonic() < until, "still at work"
        time.sleep(0.01)


def test_ctrl_c_at_any_line_leaves_no_process():
    whole = run(STRUCK, 10_000)
    lines = 10_000 - int(whole.stdout.split("lines left")[1])
    assert lines > 30
    most = 0
    for line in range(1, lines, 3):
        struck = run(STRUCK, line)
        assert struck.stderr.splitlines()[-1] == "KeyboardInterrupt", (line, struck)
        started = processes(struck.stdout)
        assert [pid for pid in started if not is_over(pid)] == [], (line, struck)
        most = max(most, len(started))
    assert most == 2


def test_ctrl_c_while_processes_start_and_end_leaves_none():
    program = """
signal.signal(signal.SIGINT, signal.default_int_handler)
class Struck(Told):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        if sys.argv[1] == "start":
            os.kill(os.getpid(), signal.SIGINT)

    def kill(self):
        if sys.argv[1] == "end":
            os.kill(os.getpid(), signal.SIGINT)
        super().kill()

subprocess.Popen = Struck
list(worker_pool.map_ordered("time:sleep", [0.01] * 6, 2))
"""
    for moment in ("start", "end"):
        struck = run(program, moment)
        assert "KeyboardInterrupt" in struck.stderr  # a second one may strike while Python tells of the first
        assert processes(struck.stdout)
        wait_until_over(processes(struck.stdout))  # Python gave up waiting for them, and their pipe has closed


@pytest.mark.parametrize(
    ("items", "function", "results"),
    [
        ("[0] + [600] * 9", "time:sleep", 1),
        ("[0] * 9", "time:sleep", 6),
        ("[b'x' * 50_000_000] * 9", "builtins:len", 0),
    ],
    ids=["at work", "idle", "receiving"],
)
def test_they_end_at_once_and_silently_when_their_parent_is_killed(items, function, results, tmp_path):
    program = f"""
from itertools import chain
found = worker_pool.map_ordered({function!r}, chain({items}, iter(sys.stdin.readline, "")), 2)
for _ in range({results}):
    next(found)
print("now", flush=True)
next(found)
"""
    errors = tmp_path / "errors"
    with errors.open("wb") as file:
        parent = subprocess.Popen(
            [sys.executable, "-c", TOLD + program], cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=file, text=True,
        )  # fmt: skip
    watch = threading.Timer(60, parent.kill)  # rather than hang
    watch.start()
    with parent:
        told = ""
        while len(processes(told)) < 2 or "now" not in told:
            line = parent.stdout.readline()
            assert line, errors.read_text()
            told += line
        parent.kill()
        watch.cancel()
    wait_until_over(processes(told))
    assert errors.read_text() == ""


def test_an_iterator_that_is_closed_leaves_no_process():
    program = """
found = worker_pool.map_ordered("time:sleep", [0] + [600] * 6, 2)
next(found)
found.close()
print("closed", flush=True)
os.execvp("ps", ["ps", "-o", "pid=,stat=", "--ppid", str(os.getpid())])  # which has the same children
"""
    told = run(program).stdout
    assert len(processes(told)) == 2
    assert told.partition("closed")[2].strip() == ""


def test_a_process_that_cannot_be_started_is_one_clear_error(monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    with pytest.raises(ChildProcessError, match="could be started: Resource temporarily unavailable"):
        list(map_ordered("math:sqrt", [1.0] * 9, 2))


def test_a_result_that_cannot_be_sent_is_told(capfd):
    with pytest.raises(ChildProcessError, match="exit code 1"):
        list(map_ordered("builtins:memoryview", [b"1"], 2))
    assert "cannot pickle" in capfd.readouterr().err


@pytest.mark.parametrize("processes", [1, 3])
def test_pushed_items_come_back_in_order_while_more_are_pushed(processes):
    taken: list[float] = []
    behind = []
    with pushed("math:sqrt", taken.append, processes) as push:
        for number in range(40):
            push(float(number * number))
            behind.append(number + 1 - len(taken))
    assert taken == [float(number) for number in range(40)]
    assert max(behind) < 2 * 3
    assert (max(behind) == 0) == (processes == 1)


def test_a_pushed_item_that_fails_ends_the_work_and_its_processes():
    program = """
taken = []
try:
    with worker_pool.pushed("math:sqrt", taken.append, 2) as push:
        for number in [4.0, 9.0, -1.0, *[16.0] * 100]:
            push(number)
except RuntimeError as error:
    print("failed", str(error).splitlines()[0], str(error).splitlines()[-1], taken, flush=True)
os.execvp("ps", ["ps", "-o", "pid=,stat=", "--ppid", str(os.getpid())])
"""
    told = run(program).stdout
    assert len(processes(told)) == 2
    assert told.partition("failed")[2].strip() == (
        "a process that prepares data failed: ValueError: math domain error [2.0, 3.0]"
    )


def test_an_item_that_ends_its_process_costs_itself_alone():
    guard = Guard(str.splitlines, joined=list, refused=lambda line: f"refused: {line}")
    abort, expire = "import os; os.abort()", "import signal; signal.raise_signal(signal.SIGPROF)"
    items = ["a = 1\nb = 2", f"a = 1\n{abort}\nb = 2\n{expire}", "a = 1", expire]
    expected = [None, [None, f"refused: {abort}", None, f"refused: {expire}"], None, [f"refused: {expire}"]]
    assert list(map_ordered("builtins:exec", items, 2, guard)) == expected
    with pytest.raises(ChildProcessError, match="signal 9"):
        list(map_ordered("builtins:exec", ["a = 1", "import os; os.kill(os.getpid(), 9)"], 1, guard))


@pytest.mark.parametrize(("waiting", "copied"), [(0, True), (1, False)])
def test_processes_are_copies_of_one_that_has_a_single_thread(waiting, copied):
    program = f"""
import colorsys, threading
over = threading.Event()
for _ in range({waiting}):
    threading.Thread(target=over.wait).start()
guard = worker_pool.Guard(list, list, str, copied=True)
sys.stdout.write("written once\\n")
told = [*worker_pool.map_ordered("builtins:eval", ["'colorsys' in __import__('sys').modules"] * 9, 2, guard)]
over.set()
print("", told)
"""
    done = run(program)
    assert done.stdout.splitlines()[-1].strip() == str([copied] * 9), done
    assert done.stdout.count("written once") == 1
    assert len(processes(done.stdout)) == 2


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
