"""The search without the libraries that only training, tables and tests need: commands, server, agents and Python."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from repositories import write

pytest.importorskip("mcp")
REPOSITORY = Path(__file__).resolve().parents[2]
FILES = {
    "lines.py": 'def read_lines(path):\n    """Read all lines of a file."""\n    return open(path).readlines()\n',
    "Bills.java": "class Bills {\n  /** Pays a bill. */\n  void pay(Bill bill) { bill.pay(account); }\n}\n",
    "shop.go": "package shop\n\n// Total adds up all prices.\nfunc Total(prices []int) int { return sum(prices) }\n",
    "client.ts": "/** Sends a request again. */\nexport function retry(sent: Request) { return send(sent) }\n",
    "words.js": "// Counts the words of a text.\nfunction count(text) { return text.split(' ').length }\n",
    **{f"more{n}.py": f'def act{n}(value):\n    """Do the act {n}."""\n    return {n}\n' for n in range(20)},
}
QUERIES = {
    "queries": [
        {"query": "read all lines", "relevant": [{"path": "lines.py"}]},
        {"query": "pay a bill", "relevant": [{"path": "Bills.java"}]},
    ]
}
MESSAGES = [
    {
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
    },
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/call", "params": {"name": "search", "arguments": {"question": "pay a bill"}}},
]
PROGRAM = """
import json, os, signal, sys, threading, time, urllib.request

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "torch_geometric", "matplotlib", "scipy", "tensorboard"):
            raise ModuleNotFoundError(f"blocked: {name}", name=name)

sys.meta_path.insert(0, Blocked())

import neural_code_search
from cli.main import main

for line in (
    ["index", "."],
    ["search", "read all lines of a file", "--explain"],
    ["search", "--snippet=lines.py"],
    ["related", "lines.py:1"],
    ["quality", "."],
    ["quality", ".", "--queries=../queries.json"],
):
    assert main(line) == 0, line
del os.environ["GALM_TRACEBACK"]
assert main(["jdk", "unif"]) == 2  # one line that names torch
for found in (neural_code_search.index_folder("."), neural_code_search.open_index(".")):
    assert found.search("read all lines of a file", 1)[0].name == "read_lines"

from search.serve import server

def ask(host, port):
    place = f"http://{host}:{port}/api/search?q=read+all+lines&explain=true"
    while not served:
        try:
            served.append(json.load(urllib.request.urlopen(place))["results"][0]["name"])
        except OSError:  # it is being opened
            time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGINT)

def listening(*place):
    listener = make_listener(*place)
    threading.Thread(target=ask, args=listener.getsockname()).start()
    return listener

served, make_listener, server.listening = [], server.listening, listening
main(["serve", "--port=0"])
assert served == ["read_lines"], served
main(["mcp", "."])
"""


def test_the_search_needs_no_library_of_training(tmp_path):
    root = write(tmp_path / "tree", FILES)
    (tmp_path / "queries.json").write_text(json.dumps(QUERIES))
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONSAFEPATH": "1", "GALM_TRACEBACK": "1"}
    command, pipe = [sys.executable, "-c", PROGRAM], subprocess.PIPE
    with subprocess.Popen(command, cwd=root, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as run:
        run.stdin.writelines(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in MESSAGES)
        run.stdin.flush()
        answers = [line for line in iter(run.stdout.readline, "") if '"id":2' in line and not run.stdin.close()]
        assert "Bills.pay" in "".join(answers), run.stderr.read()[-3000:]
