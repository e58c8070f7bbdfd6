"""Reading what has changed by a process of its own, for a command, which goes on while the command answers.

The command waits for it before it says that nothing is found, and once it has answered: where it runs, what it has
started may be ended with it.
"""

import json
import math
import os
import select
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from data_prep.files.access import reason
from data_prep.installation import processors
from data_prep.worker_process import FILE, run_forked
from experiments.terminal import console
from search.files.stamps import Found
from search.index import updating
from search.index.build import refresh, sole_maker
from search.index.freshness import CURRENT, MOST_NAMED, Freshness, looked_at
from search.index.read_part import Part, read_part


def brought_up_to_date(index: Path, root: Path, known: Freshness) -> Freshness:
    """What is not read of an index's folder yet; what has changed is read by a child process.

    It is waited for while :data:`~search.index.updating.BUDGET` lasts, and goes on without its parent.

    Args:
        index: the file.
        root: the folder.
        known: what has changed, as far as it is known.
    """
    until = time.monotonic() + updating.BUDGET
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which libraries may have started
        try:
            child = _Child(root, index)
        except OSError as error:
            return replace(known, trouble=reason(error))
    found = child.waited(known, until)
    if child.is_reading:
        _reading[index] = child
    return found


def finish(index: Path) -> None:
    """Wait for the process that :func:`brought_up_to_date` has left reading, if there is one, showing how far it is."""
    if (child := _reading.pop(index, None)) is not None:
        child.finish()


def read_rest(index: Path, root: Path) -> Freshness:
    """Read all that has changed, however long it takes, and tell what could not be read.

    Args:
        index: the file.
        root: the folder.
    """
    finish(index)
    _, known = looked_at(index, root)
    if known == CURRENT or known.trouble:
        return known

    def work() -> None:
        with sole_maker(index, console.complain):
            refresh(root, index, processes=processors(), tell=lambda *_: None)
            updating.add_vectors(index, lambda *_: None)

    trouble = updating.trouble_of(work)
    return replace(known, trouble=trouble) if trouble else CURRENT


class _Child:
    """A process that brings an index up to date, and tells what it does while it is listened to."""

    def __init__(self, root: Path, index: Path) -> None:
        reading, writing = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            os.close(reading)
            _work(root, index, writing)
        os.close(writing)
        self._file, self._said, self._files = reading, b"", 0
        self.is_reading = True
        """Whether it has not ended yet, as far as it was listened to."""

    def waited(self, known: Freshness, until: float) -> Freshness:
        """What is not read yet at the time ``until``; ``known``: what is known so far."""
        from search.engine import engine
        from search.models import packed  # which the answer needs, while the child works

        del engine, packed
        for line in self._heard(until):
            if "done" in line:
                return replace(known, trouble=line["done"]) if line["done"] or line["busy"] else CURRENT
            if "noticed" in line:
                known = Freshness(tuple(line["noticed"]), unknown=line["more"])
            if known == CURRENT:  # only links to lines of a new commit are made
                return known
        return known if self.is_reading else Freshness(trouble="the program that reads what has changed was stopped")

    def finish(self) -> None:
        """Wait until it ends."""
        read = 0
        with console.progress("reading what has changed", self._files, "files") as update:
            for line in self._heard(math.inf):
                now = line.get("read", read)
                update(now - read)
                read = now

    def _heard(self, until: float) -> Iterator[dict[str, Any]]:
        """What it says until then, or until it ends."""
        while (left := until - time.monotonic()) > 0:
            if not select.select([self._file], [], [], None if left == math.inf else left)[0]:
                return
            part = os.read(self._file, 1 << 16)
            *lines, self._said = (self._said + part).split(b"\n")
            told = [*map(json.loads, lines)]
            if not part or any("done" in line for line in told):
                os.waitpid(self._process, 0)
                os.close(self._file)
                self.is_reading = False
            self._files = max([self._files, *(line.get("files", 0) for line in told)])
            yield from told
            if not self.is_reading:
                return


_reading: Final[dict[Path, _Child]] = {}
"""The processes that read on, by their indexes."""


class _Told:
    """Tells how many files are read."""

    chunk, asked = 32, ""

    def __init__(self, told: Callable[..., None]) -> None:
        self._told, self._read = told, 0

    def begin(self, files: Sequence[Found]) -> None:
        """These will be read."""
        self._told(files=len(files))

    def take(self, part: Part) -> None:
        """These were read."""
        self._read += len(part.files)
        self._told(read=self._read)


def _work(root: Path, index: Path, writing: int) -> None:
    """What the child does; it never returns."""

    def told(**about: object) -> None:
        with suppress(OSError):  # nobody listens any more
            os.write(writing, json.dumps(about).encode() + b"\n")

    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        noticed = lambda paths: told(noticed=[*paths[:MOST_NAMED]], more=len(paths) > MOST_NAMED)  # noqa: E731
        reads = lambda task: run_forked(read_part, task, FILE)  # noqa: E731
        work = lambda: updating.bring_up_to_date(root, index, noticed, reads=reads, watch=_Told(told))  # noqa: E731
        told(done=updating.trouble_of(work), busy=False)
    except BlockingIOError:
        told(done="", busy=True)
    finally:
        os._exit(0)
