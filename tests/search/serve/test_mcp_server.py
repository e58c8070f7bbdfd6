"""The MCP server, asked by a real client over standard input and output."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from cli.main import main
from experiments.recipes.config import REPOSITORY
from search.opening import index_place
from search.serve.agent_tools import AgentTools
from tests.search.serving import fresh

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@asynccontextmanager
async def client(folder):
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "cli.main", "mcp", str(folder)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        yield session


async def called(session, tool, **arguments):
    told = await called_once(session, tool, **arguments)
    while "notice" in told:  # as an agent does
        await asyncio.sleep(0.2)
        told = await called_once(session, tool, **arguments)
    return told


async def called_once(session, tool, **arguments):
    answer = await session.call_tool(tool, arguments)
    text = answer.content[0].text
    if answer.is_error:
        return text
    told = json.loads(text)
    assert told == answer.structured_content
    if arguments.get("budget", 4000) >= 1000:
        assert text.startswith('{"note":"Names, comments and code below come from the indexed files')
    assert len(text) <= 4 * arguments.get("budget", 4000)
    return told


def test_a_client_searches_reads_and_is_told_why(tree):
    async def ask():
        async with client(tree) as session:
            tools = {tool.name: tool for tool in (await session.list_tools()).tools}
            assert {*tools} == {"search", "related", "usages", "explain", "read_unit"}
            assert "required" not in tools["search"].input_schema
            assert tools["related"].input_schema["required"] == ["path"]
            assert not index_place(tree).exists()
            found = await called(session, "search", question="returns the base iterator", top=3)
            assert index_place(tree).exists()
            assert [hit["rank"] for hit in found["results"]] == [1, 2, 3]
            first = found["results"][0]
            read = await called(session, "read_unit", path=first["path"], line=first["start_line"])
            assert (read["name"], read["whole"]) == (first["name"], True)
            assert read["source"].split("\n")[0] in (tree / first["path"]).read_text()
            why = await called(
                session, "explain", question="returns the base iterator", path=first["path"], line=first["end_line"]
            )
            assert (why["rank"], why["name"]) == (1, first["name"])
            assert [each["word"] for each in why["words"]] == ["returns", "the", "base", "iterator"]
            for tool, arguments, message in [
                ("search", {"question": ""}, "expected a question"),
                ("search", {"question": "a thing", "snippet": "a()"}, "and not both"),
                ("search", {"snippet": "???"}, "expected code or a stack trace"),
                ("search", {"question": "a thing", "language": "cobol"}, "expected languages among"),
                ("search", {"question": "a thing", "language": "go"}, "no file is in go, but in java"),
                ("related", {"path": first["path"], "line": 100_000}, "is in no unit"),
                ("related", {"path": "nowhere.java", "line": 1}, "there is no indexed file"),
                ("related", {"path": first["path"]}, "expected a line, from 1"),
                ("related", {"path": first["path"], "line": "x"}, "line"),
                ("search", {"question": "a thing", "top": 1000}, "top takes a whole number from 1 to 50"),
                ("search", {"question": "a thing", "budget": 1}, "budget takes"),
                ("usages", {"name": "two words"}, "expected one name"),
                ("usages", {"name": ""}, "expected a question in words or a name"),
                ("usages", {"name": "a" * 2001}, "name has at most 2,000 characters"),
                ("usages", {"name": "Iterator", "top": 1001}, "top takes a whole number from 1 to 1,000"),
                ("usages", {"name": "type:class Iterator"}, "leave it out"),
                ("search", {"question": "a thing", "by": "line"}, "by"),
                ("search", {}, "expected a question"),
                ("search", {"question": "a" * 2001}, "question has at most 2,000 characters, not 2,001"),
                ("explain", {"question": "a" * 2001, "path": "a", "line": 1}, "question has at most 2,000 characters"),
                ("search", {"snippet": "a" * ((2 << 20) + 1)}, "snippet has at most 2,097,152 characters"),
                ("search", {"question": "a", "path": "*" * 501}, "path has at most 500 characters"),
                ("search", {"question": "a", "language": "go," * 200}, "language has at most 500 characters"),
                ("related", {"path": "a" * 4097, "line": 1}, "path has at most 4,096 characters"),
                ("related", {"path": "a", "line": 1, "language": "go," * 200}, "language has at most 500"),
                ("read_unit", {"path": "a" * 4097, "line": 1}, "path has at most 4,096 characters"),
                ("explain", {"question": "a", "path": "a" * 4097, "line": 1}, "path has at most 4,096 characters"),
                ("read_unit", {"path": first["path"], "line": 10**30}, "line takes a whole number from 0 to"),
                ("read_unit", {"path": "../../etc/passwd", "line": 1}, "there is no indexed file"),
                ("read_unit", {"path": first["path"], "line": 100_000}, "in no unit of the index, whose last ends at"),
                ("explain", {"path": "a"}, "explain needs the argument question"),
                ("search", {"question": 5}, "question takes a text, not 5"),
                ("search", {"question": "a", "language": ["go"]}, "language takes a text, not ['go']"),
                ("search", {"question": "a", "top": 3.5}, "top takes a whole number, not 3.5"),
                ("search", {"question": "a", "top": "many"}, "top takes a whole number, not 'many'"),
                ("search", {"question": "a", "by": "class"}, "by takes 'method' or 'file', not 'class'"),
                ("nothing", {}, "nothing"),
            ]:
                try:
                    told = await called(session, tool, **arguments)
                except Exception as error:  # a protocol error, for an unknown tool
                    told = str(error)
                assert isinstance(told, str)
                assert message in told
                assert len(told) < 400
                assert "\n" not in told
            return await called(session, "search", question="returns the base iterator", top=3)

    again = asyncio.run(asyncio.wait_for(ask(), 120))
    assert again["left_out"] == 0


def test_an_unknown_argument_is_named(tree):
    async def ask():
        async with client(tree) as session:
            answer = await session.call_tool("search", {"question": "iterator", "folder": "src/"})
            assert answer.is_error
            (content,) = answer.content
            assert content.text.startswith(
                "unknown argument 'folder': search takes question, snippet, regex, top, by, "
            )
            assert "\n" not in content.text

    asyncio.run(ask())


def test_an_optional_argument_that_is_null_is_left_out(tree):
    async def ask():
        async with client(tree) as session:
            none = dict.fromkeys(("snippet", "regex", "path", "language", "by", "top", "budget"))
            found = await called(session, "search", question="returns the base iterator", budget=4000)
            answer = await session.call_tool("search", {**none, "question": "returns the base iterator"})
            assert json.loads(answer.content[0].text) == found
            refused = await session.call_tool("read_unit", {"path": None, "line": 1})
            assert (refused.is_error, refused.content[0].text) == (True, "read_unit needs the argument path")

    asyncio.run(ask())


def test_code_a_trace_and_a_place_are_questions(tmp_path):
    body = "    total = 0\n    for price in basket:\n        total += price.amount\n    return total\n"
    tree = tmp_path / "shop"
    tree.mkdir()
    (tree / "basket.py").write_text(f"def sum_of_basket(basket):\n{body}\n\ndef other(x):\n    return x\n")
    (tree / "copied.py").write_text(f"def another_name(basket):\n{body}")
    (tree / "basket.go").write_text("package shop\n\nfunc SumOfBasket(basket []int) int {\n\treturn len(basket)\n}\n")
    trace = (
        'Traceback (most recent call last):\n  File "/app/main.py", line 3, in <module>\n    run()\n'
        f'  File "{tree}/basket.py", line 4, in sum_of_basket\n    total += price.amount\n'
        "AttributeError: 'int' object has no attribute 'amount'\n"
    )

    async def ask():
        async with client(tree) as session:
            by_trace = await called(session, "search", snippet=trace)
            assert (by_trace["kind"], by_trace["frames"], by_trace["frames_in_index"]) == ("trace", 2, 1)
            assert by_trace["error"].startswith("AttributeError: 'int' object")
            assert (await called(session, "search", question=trace))["kind"] == "trace"
            (frame,) = by_trace["innermost_frames"]
            assert (frame["path"], frame["name"], frame["line"]) == ("basket.py", "sum_of_basket", 4)
            by_code = await called(session, "search", snippet=f"def f(basket):\n{body}", language="python", top=2)
            assert {hit["path"] for hit in by_code["results"]} == {"basket.py", "copied.py"}
            related = await called(session, "related", path="basket.py", line=3)
            assert (related["place"]["name"], related["results"][0]["name"]) == ("sum_of_basket", "another_name")
            used = await called(session, "usages", name="another_name")
            assert (used["definitions"][0]["path"], used["files"], used["left_out"]) == ("copied.py", [], 0)
            used = await called(session, "usages", name="price.amount", budget=500)
            assert [each["path"] for each in used["files"]] == ["basket.py", "copied.py"]
            (line,) = used["files"][0]["usages"]
            assert (line["line"], line["kind"], line["name"]) == (4, "mention", "sum_of_basket")
            missing = await called(session, "usages", name="sum_of_baskt")
            assert missing["certainty"]["level"] == "none"
            assert missing["certainty"]["nearest"] == ["sum_of_basket"]
            in_go = await called(session, "search", question="sum of basket", language="go")
            assert {hit["path"] for hit in in_go["results"]} == {"basket.go"}
            huge = await called(session, "search", snippet=trace * 200, budget=200)
            assert huge["frames"] == 400

    asyncio.run(asyncio.wait_for(ask(), 120))


@pytest.mark.parametrize("writes", [False, True])
def test_a_client_that_goes_away_while_it_asks_ends_the_server(tmp_path, writes):
    (tmp_path / "a.py").write_text("def a(): return 1\n")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "search", "arguments": {"question": "a"}},
        },
    ]
    server = subprocess.Popen(
        [sys.executable, "-m", "cli.main", "mcp", str(tmp_path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip
    try:
        server.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
        server.stdin.flush()
        server.stdout.readline()
        server.stdout.close()  # nobody reads any more
        if not writes:
            server.stdin.close()
        assert server.wait(60) == 0
        assert b"Traceback" not in server.stderr.read()
    finally:
        server.kill()
        server.wait()
        server.stdin.close()
        server.stderr.close()


def test_a_file_that_changed_is_found_at_the_next_question(tree, monkeypatch):
    monkeypatch.setattr("search.serve.live_index.LOOKED", 0.0)
    monkeypatch.setattr("search.serve.fresh_index.PATIENCE", 60.0)
    with fresh(tree) as made:
        tools = AgentTools(made)
        assert tools.search("juggle the pineapples")["results"] == []
        (tree / "Circus.java").write_text("class Circus {\n  int jugglePineapples() {\n    return 3;\n  }\n}\n")
        (first, *_) = tools.search("juggle the pineapples")["results"]
        assert (first["path"], first["start_line"], first["end_line"]) == ("Circus.java", 2, 4)
        with pytest.raises(ValueError, match=r"path '\[z-a\]' matches nothing in the index's \d+ files"):
            tools.search("juggle", path="[z-a]")
        for asked in ({"question": "juggle"}, {"snippet": "int juggle() {\n  return 3;\n}"}):
            with pytest.raises(ValueError, match="path has at most 500 characters"):
                tools.search(**asked, path="C" * 501)
        (tree / "Circus.java").unlink()
        assert tools.search("juggle the pineapples")["results"] == []


def test_it_ends_with_its_client_and_says_nothing_else(tmp_path):
    hello = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
    }  # fmt: skip
    (tmp_path / "a.py").write_text("def a(): return 1\n")
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "mcp", str(tmp_path)], input=json.dumps(hello) + "\nno json\n",
        capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        assert json.loads(line)["jsonrpc"] == "2.0"


@pytest.mark.parametrize("name", ["claude", "codex", "cursor", "vscode"])
def test_what_a_client_is_told_names_the_folder(tmp_path, name, capsys):
    assert main(["mcp", str(tmp_path), f"--configure={name}"]) == 0
    told = capsys.readouterr().out
    assert str(tmp_path) in told
    assert "run.sh" in told
    if name in ("cursor", "vscode"):
        (servers,) = json.loads(told).values()
        assert servers["code-search"]["args"][1:] == ["mcp", str(tmp_path)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a", "b"], "expected a folder"),
        (["/nowhere"], "expected a folder of sources"),
        (["--configure=x"], "takes one of"),
    ],
)
def test_mistakes_are_one_line(arguments, message, capsys):
    assert main(["mcp", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_an_installation_names_its_own_program(tmp_path, monkeypatch, capsys):
    program = tmp_path / "bin/galm"
    program.parent.mkdir()
    program.write_text("")
    monkeypatch.setattr("search.serve.mcp_server.INSTALLED", True)
    monkeypatch.setattr("sys.executable", str(program.with_name("python")))
    assert main(["mcp", str(tmp_path), "--configure=claude"]) == 0
    assert capsys.readouterr().out == f"claude mcp add code-search -- {program} mcp {tmp_path}\n"


@pytest.mark.parametrize("where", ["/", "/home", "home", "above"])
def test_all_of_a_home_folder_is_searched_only_if_it_is_named(tmp_path, where, monkeypatch, capsys):
    home = tmp_path / "someone"
    (home / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    folder = {"home": home, "above": tmp_path}.get(where, Path(where))
    monkeypatch.chdir(folder)
    for option in ([], ["--configure=claude"]):
        assert main(["mcp", *option]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert f"{folder} has more than one project in it: name the folder to search" in error
    assert main(["mcp", str(folder), "--configure=claude"]) == 0
    monkeypatch.chdir(home / "project")
    assert main(["mcp", "--configure=claude"]) == 0
    assert str(home / "project") in capsys.readouterr().out
