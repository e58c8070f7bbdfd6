"""A file of each language, written for it: its units with lines, first sentences and calls, written down by hand.

``golden/NAME.SUFFIX`` is the file, ``golden/NAME.SUFFIX.txt`` has a line for each unit behind the file itself:
``START-END kind Type.name | first sentence of its documentation | calls``.
"""

from pathlib import Path

import pytest

from data_prep.languages.registry import languages
from data_prep.records import SourceFile
from search.files.languages import Units, read_file

FOLDER = Path(__file__).parent / "golden"
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix != ".txt")
READ_BEFORE = {"python", "javascript", "typescript", "java", "go"}
"""Their samples are in tests/data_prep/languages."""


def units_of(path: Path) -> Units:
    return read_file(SourceFile("", path.name, path.read_bytes()))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_units_are_those_that_a_person_sees(path):
    found = []
    for unit in units_of(path).units[1:]:
        method = unit.pair.method
        name = f"{method.type_name}.{method.name}" if method.type_name else method.name
        calls = " ".join(method.fields["api"])
        found.append(f"{method.start_line}-{method.end_line} {method.kind} {name} | {unit.pair.query_text} | {calls}")
    expected = Path(f"{path}.txt").read_text(encoding="utf-8").splitlines()
    assert [line.rstrip() for line in found] == [line.rstrip() for line in expected]


def test_each_file_is_read_whole():
    assert {path.name: left_out for path in FILES if (left_out := units_of(path).left_out)} == {}


def test_each_language_has_one():
    assert {each.name for each in languages()} - READ_BEFORE == {path.stem for path in FILES}
