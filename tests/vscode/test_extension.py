"""The core of the VS Code extension, by node's own test runner; in a real editor it is tried by ``test_editor``."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.vscode.languages import files

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


@pytest.mark.skipif(not (EXTENSION / "node_modules" / "prettier").is_dir(), reason="`npm ci` was not run in vscode/")
def test_its_types_and_its_style():
    done = subprocess.run(
        ["npm", "run", "check"], cwd=EXTENSION, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def test_its_table_of_languages_is_that_of_the_registry():
    """After a change, ``python -m tests.vscode.languages`` writes it again."""
    for path, text in files().items():
        assert path.read_text() == text, path
