"""A fresh interpreter that applies one function to items, and the pipes to it.

It imports only the function's module (never the program's main module, which may load torch). It reads from a pipe, so
it exits silently and at once when its parent ends for any reason.

With :class:`Limits` an item that costs more ends it: a parser's cost may grow with the square of a file's length, and
for text that was written for that, 2 MiB take hours and all memory. The limits are the kernel's, which hold inside of a
parser too, and so far from what any real file takes that no result depends on the machine.
"""

import gc
import os
import pickle  # only between this program's processes: external data is never unpickled
import pkgutil
import resource
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, Final, NoReturn

from data_prep.errors import UserError
from data_prep.installation import IMPORT_ROOT

_PROGRAM: Final = f"import sys; sys.path.insert(0, sys.argv[1]); from {__name__} import serve; serve(*sys.argv[2:])"
_FAILED: Final = "a process that prepares data failed:"
_BY_THE_ITEM: Final = (signal.SIGPROF, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)
"""How a process ends if its item costs too much time or memory, or if a parser fails on it."""
_STATUS: Final = Path("/proc/self/statm")
_THREADS: Final = Path("/proc/self/task")
_OPEN_FILES: Final = Path("/dev/fd")
_STANDARD_ERROR: Final = 2
_begun: "Limits | None" = None


@dataclass(frozen=True, slots=True)
class Limits:
    """What an item may cost."""

    seconds: float  # of processor time
    seconds_per_mib: float  # more of it for its length
    memory: int  # bytes of a process beyond what it has before its first item, where the kernel counts them (Linux)

    def allowed_seconds(self, size: int) -> float:
        """Processor time for an item of ``size`` bytes."""
        return self.seconds + self.seconds_per_mib * size / (1 << 20)


FILE: Final = Limits(seconds=2.0, seconds_per_mib=20.0, memory=2 << 30)
"""Of a source file; real files take .6 s for each MiB."""
PAIRS: Final = Limits(seconds=20.0, seconds_per_mib=200.0, memory=4 << 30)
"""Of a file whose pairs are extracted, which javalang reads too, ten times slower."""
TREE: Final = replace(FILE, memory=8 << 30)
"""Of each file of a source tree, whose functions stay in memory together."""
TEXT: Final = Limits(seconds=1.0, seconds_per_mib=0.0, memory=1 << 29)
"""Of a text that anyone may send, which has at most 65,536 characters; real ones take .05 s."""


class EndedByItemError(ChildProcessError):
    """A process was ended by its item."""


class WorkerProcess:
    """One process and the pipes to it."""

    def __init__(self, function: str | Callable[[Any], Any], limits: Limits | None = None) -> None:
        """Start it.

        Args:
            function: "package.module:name", or the function itself: then the process is a copy of this one, which
                costs no start of Python. That is only for a process without other threads: a lock that one of them
                holds would stay closed in the copy.
            limits: of each item.

        Raises:
            OSError: no process can be started.
        """
        costs = [str(each) for each in astuple(limits)] if limits else []
        program = [sys.executable, "-P", "-c", _PROGRAM, str(IMPORT_ROOT), str(function), *costs]
        self.child = subprocess.Popen(
            program,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0,  # Ctrl-C goes only to the parent, which ends its children
            preexec_fn=partial(_serve_copied, function, limits) if callable(function) else None,
        )

    def run(self, item: Any) -> Any:
        """The function's result for an item.

        Raises:
            EndedByItemError: the item cost more than the limits, or the process failed on it.
            ChildProcessError: the process was killed, or the function got no memory.
            UserError: the function raised one.
            RuntimeError: the function raised another error; its message has the traceback.
        """
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        try:
            self.child.stdin.write(pickle.dumps(item, pickle.HIGHEST_PROTOCOL))  # at once: dump() writes many parts,
            self.child.stdin.flush()  # and after each this thread waits for Python's lock
            failure, result = pickle.load(self.child.stdout)
        except (OSError, EOFError, ValueError, pickle.UnpicklingError) as error:
            code = self.child.wait()
            ended = EndedByItemError if -code in _BY_THE_ITEM else ChildProcessError
            how = f"by signal {-code} (killed, or memory is full)" if code < 0 else f"with exit code {code}"
            raise ended(f"a process that prepares data ended {how}; run the same again") from error
        if failure:
            raise failure
        return result

    def end(self) -> None:
        """End the process if it has not ended, and close the pipes to it."""
        self.child.kill()
        self.child.wait()
        for pipe in (self.child.stdin, self.child.stdout):
            if pipe is not None:
                with suppress(OSError):  # the reader of unwritten data is gone
                    pipe.close()


def run_forked(call: Callable[[Any], Any], item: Any, limits: Limits) -> Any:
    """The result of ``call`` for an item in a copy of this process; raises what :meth:`WorkerProcess.run` does."""
    worker = WorkerProcess(call, limits)
    try:
        return worker.run(item)
    finally:
        worker.end()


def is_single() -> bool:
    """Whether this process has no other thread, those of libraries included, as far as the system says."""
    try:
        return len([*_THREADS.iterdir()]) == 1
    except OSError:
        return False


def _serve_copied(call: Callable[[Any], Any], limits: Limits | None) -> NoReturn:
    """:func:`serve` in a copy of its parent, whose other files it closes: Popen waits until one of them is."""
    try:
        for number in [int(each.name) for each in _OPEN_FILES.iterdir()]:
            if number > _STANDARD_ERROR:
                with suppress(OSError):  # it was that of the folder itself
                    os.close(number)
        of_parent = sys.stdout  # is kept, since what it has not written yet would be written when it goes
        if limits:
            _begin(limits)
        _answer(call, os.fdopen(0, "rb"), os.fdopen(1, "wb"))
        del of_parent
    finally:
        _leave(1)


def serve(function: str, *limits: str) -> NoReturn:
    """Process items from standard input to standard output until the input ends, even in the middle of an item.

    Args:
        function: "package.module:name".
        limits: the fields of the :class:`Limits` of an item; none: it has no limits.
    """
    try:
        call = pkgutil.resolve_name(function)
        if limits:
            seconds, seconds_per_mib, memory = limits
            _begin(Limits(float(seconds), float(seconds_per_mib), int(memory)))
        _answer(call, sys.stdin.buffer, sys.stdout.buffer)
    except BaseException:  # not Python's exit, which would wait for the reading thread
        _leave(1, traced=True)


def _begin(limits: Limits) -> None:
    """Limit the memory of this process from now on, and the time of each item."""
    global _begun
    _begun = limits
    if _STATUS.exists():
        wanted = int(_STATUS.read_text().split()[5]) * resource.getpagesize() + limits.memory
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        allowed = wanted if most == resource.RLIM_INFINITY else min(most, wanted)
        resource.setrlimit(resource.RLIMIT_DATA, (allowed, most))


@contextmanager
def limited(size: int) -> Iterator[None]:
    """End this process, if its time is limited, when what is inside takes longer than an item of ``size`` bytes may."""
    if _begun is None:
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, _begun.allowed_seconds(size))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _answer(call: Callable[[Any], Any], source: IO[bytes], results: IO[bytes]) -> NoReturn:
    gc.disable()  # collecting garbage within an item costs a tenth of the time
    gc.freeze()
    sys.stdout = sys.stderr  # a stray print must not end up among the results
    items: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_receive, args=(source, items), daemon=True).start()
    while True:
        item = items.get()
        answer = pickle.dumps(_outcome(call, item), pickle.HIGHEST_PROTOCOL)
        try:
            results.write(answer)
            results.flush()
        except OSError:  # the parent is gone
            _leave(0)
        del item, answer
        gc.collect(0)  # of this item: to go through what is kept between items takes longer than some items


def _outcome(call: Callable[[Any], Any], item: Any) -> tuple[Exception | None, Any]:
    """The error that the parent is to raise, or None, and the result."""
    try:
        return None, call(item)
    except UserError as error:
        return UserError(str(error)), None
    except (MemoryError, RecursionError, OSError) as error:
        if _begun and not isinstance(error, OSError):
            os.abort()  # as a parser does that gets no memory
        return ChildProcessError(f"{_FAILED} {type(error).__name__}: {error}"), None
    except Exception:
        return RuntimeError(f"{_FAILED}\n{traceback.format_exc()}"), None


def _receive(source: IO[bytes], items: SimpleQueue[Any]) -> NoReturn:
    """Receive items from the parent, and exit at once when it is gone."""
    try:
        while True:
            items.put(pickle.load(source))
    except (EOFError, OSError, pickle.UnpicklingError):
        _leave(0)
    except BaseException:
        _leave(1, traced=True)


def _leave(code: int, *, traced: bool = False) -> NoReturn:
    """End this process at once, from any thread; with ``traced``, print the current traceback."""
    try:
        if traced:
            traceback.print_exc()
            sys.stderr.flush()
    finally:  # standard error may be full
        os._exit(code)
