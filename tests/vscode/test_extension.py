"""The core of the VS Code extension, by node's own test runner; in a real editor it is tried by ``test_editor``."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from search.files.languages import indexed_suffixes, language_name

EXTENSION = Path(__file__).resolve().parents[2] / "vscode"
CANNOT_RUN = 77


def test_the_core_without_an_editor():
    node = shutil.which("node")
    if node is None:
        pytest.skip("the extension's tests need node 20 or newer, which is not on PATH")
    done = subprocess.run(
        [node, "test/run.mjs"], cwd=EXTENSION, capture_output=True, text=True, timeout=240, check=False
    )
    if done.returncode == CANNOT_RUN:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert re.search(r"pass [4-9][0-9]$", done.stdout, re.MULTILINE), done.stdout


def test_a_language_has_the_suffixes_that_are_indexed():
    told = (EXTENSION / "src" / "core" / "languages.ts").read_text()
    found = dict(re.findall(r'name: "(\w+)",[^}]*?suffixes: \[([^]]*)\]', told))
    for name, suffixes in found.items():
        indexed = {suffix for suffix in indexed_suffixes(documents=False) if language_name(f"a{suffix}") == name}
        assert set(re.findall(r'"([^"]+)"', suffixes)) == indexed, name
    assert {*found} == {language_name(f"a{suffix}") for suffix in indexed_suffixes(documents=False)}
