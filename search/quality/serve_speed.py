"""The server under load: one client and several at the same time ask ``POST /api/search`` of a server of its own.

The folder must be indexed. Questions are first sentences of comments of its functions, asked in their language; every
other one is asked under the text above its function, as an editor asks. Each client asks its next question as soon as
it has an answer.
"""

import http.client
import json
import os
import random
import re
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from itertools import cycle
from operator import itemgetter
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.errors import UserError
from data_prep.files.access import named_path, read_regular
from data_prep.records import LARGEST_SOURCE
from evaluation.speed import Measured, Seconds, SpeedOptions, compare, memory_mb, quantiles
from experiments.recipes.config import REPOSITORY
from experiments.terminal.console import say
from search.cursor import nearest
from search.engine.question import LONGEST_QUERY
from search.files.languages import language_name
from search.index.code_index import CONSTANT, WHOLE_FILE, Index
from search.index.index_file import open_index
from search.making import complain_about
from search.opening import indexed_above
from search.quality.questions import of_comments
from search.repository_list import opened_list
from search.serve.search_api import USUAL

_OPENED: Final = 300.0
"""Seconds within which the server must have opened its index."""
_PATIENCE: Final = 60.0
"""Seconds after which an answer is given up."""
_HEAD: Final = re.compile(
    rb"HTTP/1\.\d (?P<status>\d{3})[^\n]*\n(?:[^\n]{2,}\n)*?content-length: *(?P<length>\d+)\r\n(?:[^\n]{2,}\n)*\r\n",
    re.IGNORECASE,
)
_AT_ONCE: Final = 1 << 18
"""Bytes of an answer that are read at once."""


@dataclass(frozen=True, slots=True)
class Body:
    """A request's body."""

    content: bytes
    in_context: bool


def measure_server(options: SpeedOptions) -> Measured:
    """One client, and several.

    Raises:
        UserError: there is no index or too few comments, the server ended, or a request was not answered.
        OSError: an indexed file no longer exists.
    """
    if bool(options.path) == bool(options.list):
        raise UserError("expected an indexed folder, or a list of such: bash run.sh speed serve DIR, or --list=FILE")
    if options.list and options.index:
        raise UserError("--list names the folders and their indexes: leave out --index")
    folder = named_path(options.path or options.list)
    if options.list:
        index: Index = opened_list(folder, "none", near=False, tell=complain_about).index
        served = [f"--list={folder}"]
    else:
        found = (folder, named_path(options.index)) if options.index else indexed_above(folder)
        if not found:
            raise UserError(
                f"there is no index of {folder} or of a folder above it: make one by `bash run.sh index DIR`, or name "
                "one by --index="
            )
        index, served = open_index(found[1], mapped=True), [f"--index={found[1]}", f"--folder={folder}"]
    asked = bodies(index, folder, options)
    say(f"{len(index):,} rows, {len(asked):,} questions; a server is started")
    with running(served) as (port, process):
        forms = {
            f"{clients} client{'s' * (clients > 1)}": partial(ask_together, port, asked, clients, options)
            for clients in (1, options.clients)
        }
        rows = compare("", forms, options.rounds)
        memory = memory_mb(process=process)
    functions = int(np.isin(index.kinds, (WHOLE_FILE, CONSTANT), invert=True).sum())
    about = (
        f"{folder.name}: {functions:,} functions, methods and types, {len(index):,} rows with files and constants, of "
        f"{len(index.files):,} files; {len(asked)} questions, every other one in a context; {options.seconds} s a "
        "round. The clients run on the same machine."
    )
    return Measured(about=about, unit="an answer", rows=rows, facts={"server": {"MiB at most": memory}})


def bodies(index: Index, folder: Path, options: SpeedOptions) -> list[Body]:
    """Requests made from comments, every other one with the text above its function.

    Raises:
        UserError: there are too few comments.
        OSError: a file no longer exists.
    """
    asked = of_comments(index, options.questions, options.seed)
    order = np.random.default_rng(options.seed).permutation(len(asked.rows)).tolist()
    found = []
    for turn, place in enumerate(order):
        row = int(asked.rows[place])
        number = index.file_number(row)
        above = _above(index, folder, number, index.split.text(row).start_line) if turn % 2 else ""
        language = language_name(index.files[number].path)
        question = {"query": asked.texts[place][:LONGEST_QUERY], "context": above, "language": language, "top": USUAL}
        found.append(Body(json.dumps(question).encode(), bool(above)))
    return found


def _above(index: Index, folder: Path, number: int, line: int) -> str:
    """The text above a line of a file, as an editor sends it."""
    root, file = index.source(number, folder)
    text = read_regular((root or folder) / file.path, LARGEST_SOURCE)[0].decode("utf-8", "replace")
    return nearest("".join(f"{each}\n" for each in text.split("\n")[: line - 1]))


@contextmanager
def running(served: Sequence[str]) -> Iterator[tuple[int, int]]:
    """``bash run.sh serve`` as a process of its own, on a free port: its port and its number, until the end.

    Raises:
        UserError: it ended, or did not open its index.
    """
    command = [sys.executable, "-m", "cli.main", "serve", "--port=0", "--posts=none", *served]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            addresses = (line.partition("http://127.0.0.1:")[2] for line in process.stdout)
            if address := next(filter(None, addresses), ""):
                port = int(address.partition(";")[0])
                threading.Thread(target=deque, args=(process.stdout, 0), daemon=True).start()  # it never waits for us
                _wait_until_open(process, port)
                yield port, process.pid
            else:
                raise UserError(f"the server ended with the exit code {process.wait()} before it answered")
        finally:
            process.terminate()


def _wait_until_open(process: "subprocess.Popen[str]", port: int) -> None:
    end = time.monotonic() + _OPENED
    while process.poll() is None and time.monotonic() < end:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=_OPENED)) as connection:
            try:
                connection.request("GET", "/health")
                if connection.getresponse().status == 200:
                    return
            except (OSError, http.client.HTTPException):
                pass
        time.sleep(0.2)
    raise UserError(f"the server has not opened its index within {_OPENED:.0f} s, or ended ({process.poll()})")


def ask_together(port: int, asked: Sequence[Body], clients: int, options: SpeedOptions) -> Seconds:
    """The seconds of an answer where so many clients ask, each in an order of its own.

    Raises:
        UserError: a request was not answered.
    """
    end = time.monotonic() + options.seconds
    orders = [random.Random(f"{options.seed} {number}").sample(asked, len(asked)) for number in range(clients)]
    with ThreadPoolExecutor(clients) as pool:
        found = [each for answers in pool.map(partial(_ask_until, port, end), orders) for each in answers]
    kinds = {"in a context": [each for each in found if each[0]], "alone": [each for each in found if not each[0]]}
    seconds: dict[str, float] = {}
    for kind, answers in filter(itemgetter(1), {"all": found, **kinds}.items()):
        for what, column in (("", 1), (", the search's own", 2)):
            times = quantiles([each[column] for each in answers])
            seconds |= {f"{kind}{what}, {part}": each for part, each in times.items()}
    return seconds


def _ask_until(port: int, end: float, asked: Sequence[Body]) -> list[tuple[bool, float, float]]:
    """One question after the other until the monotonic time ``end``: its seconds, and of these the search's own."""
    found: list[tuple[bool, float, float]] = []
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)) as connection:
        for body in cycle(asked):
            if found and time.monotonic() >= end:
                break
            found.append((body.in_context, *ask(connection, body.content)))
    return found


def ask(connection: http.client.HTTPConnection, content: bytes) -> tuple[float, float]:
    """Ask, and return the seconds until the last byte of the answer, and those of the search itself, as it says.

    Raises:
        UserError: there was no answer, or one without results.
    """
    head = f"POST /api/search HTTP/1.1\r\nHost: {connection.host}:{connection.port}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    try:
        if connection.sock is None:
            connection.connect()
        started = time.perf_counter()
        connection.sock.sendall(head.encode() + content)  # at once: http.client sends head and body apart
        status, read = _received(connection.sock)
        seconds = time.perf_counter() - started
        told = json.loads(read)
        if status == HTTPStatus.OK and told["results"]:
            return seconds, float(told["took_ms"]) / 1000
        trouble = f"{status}: {told.get('error', 'no results')}"
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError) as error:
        trouble = f"{type(error).__name__}: {error}"
    raise UserError(f"a request was not answered: {trouble}")


def _received(connection: socket.socket) -> tuple[int, bytes]:
    """The status and the body of an answer, read with less work than http.client's, which a client would measure too.

    Raises:
        OSError: it was cut off.
    """
    data = b""
    while not (head := _HEAD.match(data)) or len(data) < head.end() + int(head["length"]):
        if not (part := connection.recv(_AT_ONCE)):
            raise ConnectionError("the answer was cut off")
        data += part
    return int(head["status"]), data[head.end() :]
