"""The lines that the MCP server reads: each is answered, some are cancelled, and their end is the server's end."""

import json
import os
import queue
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress

import pytest

from experiments.recipes.config import REPOSITORY

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
SLOW = """
import time
from typing import Any
from search.serve.mcp_server import serve_lines
from search.serve.mcp_tools import server_of

class Slow:
    def search(self, question: str = "") -> dict[str, Any]:
        end = time.monotonic() + 600
        while question == "slow" and time.monotonic() < end:
            time.sleep(600)
        while question == "busy" and time.monotonic() < end:
            sum(range(1000))
        return {"question": question}

    related = usages = explain = read_unit = search

serve_lines(server_of(Slow()))
"""


class Served:
    """A server that was greeted, and what it answers."""

    def __init__(self, *command):
        self.process = subprocess.Popen(
            [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        )  # fmt: skip
        self._answers, self.is_read = queue.SimpleQueue(), threading.Event()
        self.is_read.set()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.ask("hello", "initialize", HELLO)
        assert self.answer()["id"] == "hello"
        self.ask(None, "notifications/initialized")

    def _read(self):
        for line in self.process.stdout:
            if line.endswith(b"\n"):  # else the server ended in it
                self._answers.put(json.loads(line))
            self.is_read.wait()

    def ask(self, number, method, params=None):
        self.send(asked(number, method, params))

    def call(self, number, **arguments):
        self.ask(number, "tools/call", {"name": "search", "arguments": arguments})

    def send(self, *lines):
        self.process.stdin.write(b"".join(line + b"\n" for line in lines))
        self.process.stdin.flush()

    def ended(self, seconds=20.0):
        """How it ended after its input was closed, and the seconds that took."""
        started = time.monotonic()
        self.process.stdin.close()
        return self.process.wait(seconds), time.monotonic() - started

    def answer(self, seconds=60.0):
        """The next answer; None if there is none in time."""
        try:
            return self._answers.get(timeout=seconds)
        except queue.Empty:
            return None


def asked(number, method, params=None):
    told = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps({name: each for name, each in told.items() if each is not None}).encode()


@contextmanager
def served(*command):
    server = Served(*command)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.wait()
        server.is_read.set()
        server.reader.join()
        for each in (server.process.stdin, server.process.stdout, server.process.stderr):
            with suppress(BrokenPipeError):
                each.close()


@pytest.fixture
def slow():
    with served("-c", SLOW) as server:
        yield server


@pytest.fixture(scope="module")
def kept():
    with served("-c", SLOW) as server:
        yield server


def test_a_cancelled_call_is_not_answered_and_keeps_no_other_waiting(slow):
    for number in range(50):
        slow.call(number, question="busy" if number == 0 else "slow")
    slow.ask("ping", "ping")
    assert slow.answer()["id"] == "ping"
    for number in range(50):
        slow.ask(None, "notifications/cancelled", {"requestId": number})
    slow.call("quick", question="quick")
    assert slow.answer(20)["id"] == "quick"
    assert slow.answer(0.5) is None


@pytest.mark.parametrize("cancelled", [False, True])
def test_closed_input_ends_the_server_while_it_computes(slow, cancelled):
    slow.call(1, question="busy")
    if cancelled:
        slow.ask(None, "notifications/cancelled", {"requestId": 1})
    slow.ask("ping", "ping")
    assert slow.answer()["id"] == "ping"
    code, seconds = slow.ended()
    assert code == 0
    assert seconds < 5


def test_closed_input_ends_a_server_whose_answers_nobody_reads(slow):
    slow.is_read.clear()
    slow.send(*[asked(number, "tools/list") for number in range(200)])  # more than a pipe holds
    assert slow.ended()[1] < 5


@pytest.mark.parametrize(
    ("line", "code", "number"),
    [
        (b"no json", -32700, None),
        (b"", -32700, None),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ping"', -32700, None),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"a": "\xf0\x9f"}}', -32700, None),
        (b'{"a": "' + b"a" * (16 << 20) + b'"}', -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"[]", -32600, None),
        (b"7", -32600, None),
        (b"{}", -32600, None),
        (b'{"jsonrpc": "1.0", "id": 7, "method": "ping"}', -32600, 7),
        (b'{"jsonrpc": "2.0", "id": "x", "method": 1}', -32600, "x"),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600, None),
    ],
    ids=lambda each: repr(each)[:60],
)
def test_a_line_that_is_no_message_is_answered(kept, line, code, number):
    kept.send(line, asked("ping", "ping"))
    told = kept.answer()
    assert (told["jsonrpc"], told["id"], told["error"]["code"]) == ("2.0", number, code)
    assert "\n" not in told["error"]["message"]
    assert kept.answer()["id"] == "ping"


@pytest.mark.parametrize("half", [b"\\ud83d", b"\\uDE00", b"\\\\\\ud83d", b"\\ude00\\ud83d"])
def test_half_an_emoji_of_a_text_that_was_cut_is_no_mistake(kept, half):
    kept.send(b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"a": "told %s"}}' % half)
    assert kept.answer() == {"jsonrpc": "2.0", "id": 7, "result": {}}


def test_a_carriage_return_is_no_end_of_a_line(kept):
    kept.send(b'{"jsonrpc": "2.0",\r"id": 1, "method": "ping"}\r')
    assert kept.answer()["result"] == {}
    assert kept.answer(0.2) is None


MESSAGES = [
    ("ping", None),
    ("tools/list", {}),
    ("nothing", {"a": [1, None, 2.5]}),
    ("tools/call", {"name": "search", "arguments": {"question": "reads a \U0001f600 line", "top": 3}}),
    ("tools/call", {"name": "search", "arguments": {"snippet": "def f():\n  pass", "language": "python"}}),
    ("tools/call", {"name": "related", "arguments": {"path": "a.py", "line": 1}}),
    ("tools/call", {"name": "read_unit", "arguments": {"path": "a.py", "line": 10**30}}),
    ("initialize", HELLO),
]


def hurt(line, rng):
    """A line with some of its bytes changed, left out or repeated."""
    found = bytearray(line)
    for _ in range(rng.choice((0, 1, 1, 2, 5))):
        place = rng.randrange(len(found) + 1)
        size = rng.randrange(4)
        new = rng.choice((b"", rng.randbytes(size), bytes(found[place : place + size]) * 2, b'"', b"}", b"\\ud83d"))
        found[place : place + size] = new
    return bytes(found.replace(b"\n", b" "))


def expected(line):
    """The ids of the answers that a line gets: of none or one."""
    try:
        told = json.loads(line.decode())
    except (ValueError, RecursionError):
        return [None]
    if not isinstance(told, dict):
        return [None]
    number = told.get("id") if type(told.get("id")) in (int, str) else None
    whole = told.get("jsonrpc") == "2.0" and isinstance(told.get("params") or {}, dict)
    is_notification = whole and isinstance(told.get("method"), str) and "id" not in told
    return [] if is_notification else [number]


def test_each_line_gets_one_answer_whatever_it_is(tmp_path):
    (tmp_path / "a.py").write_text('def read_line(file):\n    """Reads a line."""\n    return file.readline()\n')
    rng = random.Random(11)
    lines = [hurt(asked(number, *rng.choice(MESSAGES)), rng) for number in range(600)]
    lines += [rng.randbytes(rng.randrange(40)).replace(b"\n", b"") for _ in range(100)]
    wanted = Counter(repr(number) for line in lines for number in expected(line))
    with served("-m", "cli.main", "mcp", str(tmp_path), "--model=none") as server:
        threading.Thread(target=server.send, args=lines).start()
        found = Counter()
        while found.total() < wanted.total() and (told := server.answer(30)):
            assert ("result" in told) != ("error" in told)
            found[repr(told["id"])] += 1
        assert server.answer(0.5) is None
        assert found == wanted
        assert server.ended()[0] == 0
        assert b"Traceback" not in server.process.stderr.read()
