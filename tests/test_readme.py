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

REPOSITORY = Path(__file__).resolve().parents[1]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
SHELL = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
MOST_LINES, MOST_WORDS = 120, 20
NO_PROSE = re.compile(r"```.*?```|^[|#!<].*?$|<!--.*?-->", re.DOTALL | re.MULTILINE)
NEW_SENTENCE = re.compile(r"\n\n|\n- |(?<=[.:;?])\s")


def test_it_fits_two_screens():
    assert len(README.splitlines()) <= MOST_LINES


def test_its_sentences_are_short():
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", NO_PROSE.sub("\n\n", README))
    sentences = [" ".join(each.split()) for each in NEW_SENTENCE.split(plain)]
    assert len(sentences) > 20
    assert [each for each in sentences if len(each.split()) > MOST_WORDS] == []


def test_its_results_are_the_saved_ones_alone():
    """What ``table`` writes between the marks is compared with the saved results elsewhere."""
    prose = re.sub(r"<!-- results:start -->.*?<!-- results:end -->|```.*?```", "", README, flags=re.DOTALL)
    assert re.findall(r"(?<![\w.])0?\.\d{2,}", prose) == []


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
def pasted(checkout, tmp_path_factory):
    """Start one line of the first block, as it is pasted; the interpreter is that of the tests."""
    caches = {name: str(tmp_path_factory.mktemp(name)) for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME")}

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


def test_the_lines_of_python_work(pasted, tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (tmp_path / "src").mkdir()
    source = "class A {\n  static void copy(InputStream in, OutputStream out) { in.transferTo(out); }\n}\n"
    (tmp_path / "src" / "A.java").write_text(source)
    told, _ = pasted(shlex.join([sys.executable, "-c", code.replace("/path/to/src", f"{tmp_path}/src")])).communicate(
        timeout=120
    )
    assert re.search(r"^[12] \S+ A\.copy A\.java 2$", told, re.MULTILINE)
