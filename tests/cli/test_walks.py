"""A training, an index and a question pass through no more modules than docs/architecture.md says."""

import os
import re
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY
from tests.readme_data import write_jdk

PAGE = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
SOURCE = '''
def {name}(path: str, count: int) -> list[str]:
    """Reads {count} lines of the file at a path number {name}."""
    with open(path) as file:
        lines = file.readlines()
    return lines[:count]
'''
JAVA = """
    /** Reads the lines of the given file and returns their number {name}. */
    public int read{name}(String path, int limit) {{
        int total = path.length() + {name};
        total += limit;
        return total * 2;
    }}
"""


def bounds() -> dict[str, int]:
    found = re.search(
        r"at most (\d+) modules;\s+the build of an index of at most (\d+), a question\s+of at most (\d+)", PAGE
    )
    assert found
    return dict(zip(("train", "index", "search"), map(int, found.groups()), strict=True))


def walked(folder, *arguments: str, **variables: str) -> int:
    variables |= {"PYTHONPATH": str(REPOSITORY), "XDG_CACHE_HOME": str(folder.parent / "cache")}
    environment = {**os.environ, **variables}
    command = [sys.executable, "-P", "-m", "tests.walked_modules", *arguments]
    told = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert told.returncode == 0, told.stderr[-2000:]
    return int(re.findall(r"(\d+) passed through", told.stdout)[-1])


@pytest.fixture
def folder(compiled, tmp_path):
    compiled(tmp_path / "cache")
    place = tmp_path / "code"
    place.mkdir()
    (place / "reading.py").write_text("".join(SOURCE.format(name=f"read_{n}", count=n + 2) for n in range(8)))
    for n in range(8):
        body = "".join(JAVA.format(name=100 * n + k) for k in range(4))
        (place / f"C{n}.java").write_text(f"package p;\npublic class C{n} {{{body}}}\n")
    return place


def test_an_index_and_a_question(folder):
    assert walked(folder, "index", ".") <= bounds()["index"]
    assert walked(folder, "search", "read lines of a file", GALM_NATIVE="0") <= bounds()["search"]


def test_a_training(folder):
    """README's first line of training, with few sources in the place of an installed JDK's."""
    write_jdk(folder.parent / "jdk")
    line = re.search(
        r"^bash run\.sh (jdk galm)\b", (REPOSITORY / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert line
    own = ("--data.root=../data", "--out=../run", "--train.epochs=1")
    few = ("--evaluate.bootstrap_samples=100", "--train.threads=1")
    passed = walked(folder, *line[1].split(), *own, *few, JAVA_HOME=str(folder.parent / "jdk"))
    assert passed <= bounds()["train"]
    assert (folder.parent / "run" / "metrics.json").is_file()
