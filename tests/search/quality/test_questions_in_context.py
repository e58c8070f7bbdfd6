"""Questions under the text above a cursor: that above the function, or above its first call in another file."""

from pathlib import Path

import pytest
from repositories import write

from cli.main import main
from search.index.build import refresh
from search.index.index_file import open_index
from search.quality.questions import FEWEST, of_comments, with_contexts

THINGS = [
    f"{first}{second}"
    for first in ("bak", "dor", "fal", "gim", "hul")
    for second in ("ano", "etti", "ilu", "oro", "upe")
]
BASH = "".join(
    f"# Opens the {each} of a harbour.\nopen_{each}() {{\n  local {each}_crane\n  lift {each}\n}}\n\n"
    for each in THINGS
)
PYTHON = "".join(
    f'def close_{each}():\n    """Closes the {each} of a railway."""\n    {each}_signal = 1\n    halt()\n\n\n'
    for each in THINGS
)
CALLS = "".join(f"def use_{each}(station_{each}):\n    return close_{each}()\n\n\n" for each in THINGS)


@pytest.fixture
def folder(tmp_path):
    """A script whose name has no suffix, and two modules, of which one calls the functions of the other."""
    return write(tmp_path / "code", {"bin/harbour": f"#!/bin/bash\n{BASH}", "railway.py": PYTHON, "calls.py": CALLS})


def questions_under(folder: Path, index: Path, under: str) -> dict[str, list[str]]:
    refresh(folder, index, processes=0, tell=lambda *_: None)
    found = open_index(index)
    asked = with_contexts(of_comments(found, 0, 0), found, folder, under)
    rows = asked.rows.tolist()
    return {found.names[row]: [*context] for row, context in zip(rows, asked.contexts, strict=True)}


def test_the_text_above_a_function_is_read_in_the_language_of_its_file(folder, tmp_path):
    found = questions_under(folder, tmp_path / "index", "file")
    last = f"open_{THINGS[-1]}"
    assert f"{THINGS[0]}" in found[last]
    assert "crane" in found[last]
    assert "opens" not in found[last]  # a comment
    assert "signal" in found[f"close_{THINGS[-1]}"]
    assert "railway" not in found[f"close_{THINGS[-1]}"]
    assert len(found) == 2 * (len(THINGS) - 1)  # nothing is above the first ones


def test_the_text_above_a_call_is_that_of_another_file_without_the_name(folder, tmp_path):
    found = questions_under(folder, tmp_path / "index", "call")
    assert set(found) == {f"close_{each}" for each in THINGS}
    assert {"use", "station", *THINGS[:2]} <= {*found[f"close_{THINGS[1]}"]}
    assert "close" not in found[f"close_{THINGS[0]}"]


@pytest.mark.parametrize("under", ["file", "call"])
def test_a_command_measures_them(folder, capsys, under):
    assert main(["quality", str(folder), f"--under={under}", "--model=none", "--vectors=none"]) == 0
    assert "bm25 in context" in capsys.readouterr().out


def test_too_few_are_refused(tmp_path, capsys):
    few = write(tmp_path / "code", {"railway.py": PYTHON})
    assert main(["quality", str(few), "--under=call", "--model=none", "--vectors=none"]) == 2
    assert f"expected {FEWEST} or more questions" in capsys.readouterr().err
