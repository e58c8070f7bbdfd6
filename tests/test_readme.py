"""README as a stranger meets it: short, and each command of its search works as it is pasted, with the output shown."""

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.data_prep.csn_files import write_zip
from tests.readme_data import csn_rows
from tests.sentences import long_sentences

REPOSITORY = Path(__file__).resolve().parents[1]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
SHELL = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
MOST_LINES = 120


def test_it_fits_two_screens():
    assert len(README.splitlines()) <= MOST_LINES


def test_its_sentences_are_short():
    assert long_sentences(README) == []


def test_the_version_is_one():
    version = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
    assert f"\nversion: {version}\n" in (REPOSITORY / "CITATION.cff").read_text()
    assert (
        f"## {version}" in (changes := (REPOSITORY / "CHANGELOG.md").read_text()) or f"release, {version}," in changes
    )


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """What is committed of the program, in a folder of its own, with empty caches."""
    root = tmp_path_factory.mktemp("a checkout") / "code"
    ignored = shutil.ignore_patterns(".*", "data", "runs", "tests", "vscode", "__pycache__", "results")
    return shutil.copytree(REPOSITORY, root, ignore=ignored)


@pytest.fixture(scope="module")
def pasted(checkout, compiled, tmp_path_factory):
    """Start one line of the first block, as it is pasted; the interpreter is that of the tests."""
    caches = {name: str(tmp_path_factory.mktemp(name)) for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME")}
    compiled(Path(caches["XDG_CACHE_HOME"]))

    def start(line: str, *more: str) -> subprocess.Popen[str]:
        words = [*shlex.split(line, comments=True), *more]
        environment = {**os.environ, **caches, "GALM_PYTHON": sys.executable}
        return subprocess.Popen(words, cwd=checkout, env=environment, stdout=subprocess.PIPE, text=True)

    return start


def page_at(port: int, server: subprocess.Popen[str]) -> str:
    for _ in range(300):
        try:
            with urlopen(f"http://127.0.0.1:{port}/") as answer:
                return answer.read().decode()
        except OSError:
            assert server.poll() is None
            time.sleep(0.1)
    return ""


def test_the_search_works_as_it_is_pasted_and_finds_what_is_shown(pasted):
    index, search, serve = SHELL[0].splitlines()
    told, _ = pasted(index).communicate(timeout=120)
    assert " functions, types and files of " in told
    told, _ = pasted(search).communicate(timeout=60)
    shown = re.search(r"```text\n(.*?)```", README, re.DOTALL)
    names = re.findall(r"^ *\d  (\S+  \S+?):", shown[1], re.MULTILINE)
    assert names
    assert re.findall(r"^ *\d  (\S+  \S+?):", told, re.MULTILINE) == names
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pasted(serve, f"--port={port}") as server:
        try:
            assert "What should the code do?" in page_at(port, server)
        finally:
            server.terminate()


def test_a_training_works_as_it_is_pasted(pasted, checkout):
    """The line for CodeSearchNet, with few rows where its archive is kept; the JDK's is in tests/cli/test_walks.py."""
    line = next(each for each in SHELL[1].splitlines() if " csn " in each)
    (checkout / "data" / "raw" / "csn").mkdir(parents=True)
    write_zip(checkout / "data" / "raw" / "csn", csn_rows())
    told, _ = pasted(line, "--train.epochs=1", "--train.threads=1").communicate(timeout=300)
    assert re.search(r"^galm +[\d.]+ ", told, re.MULTILINE)
    assert re.search(r"^bm25_tuned +[\d.]+ ", told, re.MULTILINE)
    assert "24 queries over a pool of 24 methods" in told


def test_the_lines_of_python_work(pasted, tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (tmp_path / "src").mkdir()
    source = "class A {\n  static void copy(InputStream in, OutputStream out) { in.transferTo(out); }\n}\n"
    (tmp_path / "src" / "A.java").write_text(source)
    told, _ = pasted(shlex.join([sys.executable, "-c", code.replace("/path/to/src", f"{tmp_path}/src")])).communicate(
        timeout=120
    )
    assert re.search(r"^[12] \S+ A\.copy A\.java 2$", told, re.MULTILINE)
