"""A real client asks while the first index of a folder is being made, which takes as long as the test wants."""

import asyncio
import json
import os
import sys
import time
from contextlib import asynccontextmanager

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from experiments.recipes.config import REPOSITORY
from search.index.index_file import open_index
from search.opening import index_place

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
SLOW = """
import os, sys, time
from pathlib import Path
from search.index import build
os.cpu_count, os.sched_getaffinity = lambda: 1, lambda _: {0}  # processes that read
real = build.watched

def watched(*about):
    for number, part in enumerate(real(*about)):
        while number >= 2 and not Path(sys.argv[2]).exists():
            time.sleep(.05)
        yield part

build.watched = watched
Path(sys.argv[3]).write_text(str(os.getpid()))
from cli.main import main
main(["mcp", sys.argv[1], "--model=none"])
"""


class Shop:
    """A folder whose first index needs a file until it is made beyond some files."""

    def __init__(self, folder):
        self.root, self.go_on, self.process = folder / "shop", folder / "go on", folder / "process"
        self.root.mkdir()
        for n in range(80):
            (self.root / f"module{n}.py").write_text(f"def function_{n}(basket):\n    return basket + {n}\n")
        (self.root / "till.py").write_text('def open_till():\n    """Open the till."""\n    return True\n')

    @asynccontextmanager
    async def client(self):
        server = StdioServerParameters(
            command=sys.executable,
            args=["-c", SLOW, str(self.root), str(self.go_on), str(self.process)],
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        )
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            yield session

    async def whole(self, session, question="open the till"):
        """The first answer that is of all files."""
        self.go_on.touch()
        while "notice" in (found := await asked(session, question)):
            await asyncio.sleep(0.1)
        return found


async def asked(session, question, **more):
    return await told_by(session, "search", {"question": question}, **more)


async def told_by(session, tool, given, **more):
    answer = await session.call_tool(tool, given, **more)
    assert not answer.is_error, answer.content[0].text
    return json.loads(answer.content[0].text)


@pytest.fixture
def shop(tmp_path):
    return Shop(tmp_path)


def run(what):
    return asyncio.run(asyncio.wait_for(what(), 200))


def test_the_first_answer_does_not_wait_and_progress_is_told(shop):
    told = []

    async def progress(now, total, message):
        told.append((now, total, message))

    async def ask():
        async with shop.client() as session:
            found = await asked(session, "open the till", progress_callback=progress)
            assert "of 81 files are indexed so far; ask again for the rest" in found["notice"]
            assert found["results"][0]["path"] == "till.py"
            assert (await session.send_ping()) is not None
            (shop.root / "later.py").write_text("def juggle_pineapples():\n    return 3\n")
            whole = await shop.whole(session)
            assert whole["results"][0]["path"] == "till.py"
            assert (await shop.whole(session, "juggle pineapples"))["results"][0]["path"] == "later.py"

    run(ask)
    assert told
    numbers = [now for now, _, _ in told]
    assert numbers == sorted(set(numbers))
    assert all(total is None or total >= now for now, total, _ in told)
    assert len(open_index(index_place(shop.root)).files) == 82


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("read_unit", {"path": "till.py", "line": 1}),
        ("related", {"path": "till.py", "line": 1}),
        ("usages", {"name": "open_till"}),
        ("explain", {"question": "open the till", "path": "till.py", "line": 1}),
    ],
)
def test_each_tool_says_that_files_are_missing(shop, tool, given):
    async def ask():
        async with shop.client() as session:
            first = await told_by(session, tool, given)
            assert "of 81 files are indexed so far" in first["notice"]
            assert "of 81 files are indexed so far" in (await told_by(session, tool, given))["notice"]

    run(ask)


def test_a_server_that_is_killed_leaves_nothing_that_hinders_the_next(shop):
    async def ask():
        async with shop.client() as session:
            assert "notice" in await asked(session, "open the till")
            os.kill(int(shop.process.read_text()), 9)
            with pytest.raises(Exception):  # noqa: B017, PT011 - whatever the client makes of it
                with anyio.fail_after(20):
                    await asked(session, "open the till")
        assert not index_place(shop.root).exists()
        async with shop.client() as session:
            assert "notice" in await asked(session, "open the till")
            await shop.whole(session)

    run(ask)
    assert len(open_index(index_place(shop.root)).files) == 81
    assert {each.name for each in index_place(shop.root).parent.iterdir()} <= {"index", "index.tree"}


def test_two_servers_of_one_folder_both_answer(shop):
    async def ask():
        async with shop.client() as first:
            assert "notice" in await asked(first, "open the till")
            async with shop.client() as second:
                found = await asked(second, "open the till")
                assert found["results"][0]["path"] == "till.py"
                assert "of 81 files are indexed so far" in found["notice"]
                for session in (first, second):
                    assert (await shop.whole(session))["results"][0]["path"] == "till.py"

    run(ask)
    assert len(open_index(index_place(shop.root)).files) == 81


def test_a_call_that_is_cancelled_while_the_index_is_made_hinders_no_other(shop):
    async def ask():
        async with shop.client() as session:
            began = time.monotonic()
            with anyio.move_on_after(0.2):
                await asked(session, "function 7")
            assert time.monotonic() - began < 3
            assert (await asked(session, "function of a basket"))["results"]
            await shop.whole(session)

    run(ask)
