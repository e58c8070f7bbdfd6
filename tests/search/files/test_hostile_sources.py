"""Sources of each language that are half, binary or made to be expensive: each costs little, and at most itself."""

import time
from pathlib import Path

import pytest

from data_prep.languages.registry import language, languages
from data_prep.records import SourceFile
from search.files.languages import read_file
from search.serve.hit_records import highlighted

GOLDEN = {path.stem: path for path in (Path(__file__).parent / "golden").iterdir() if path.suffix != ".txt"}
NAMES = [each.name for each in languages()]
HOSTILE = {
    "open brackets": b"([{" * 10_000,
    "one bracket": b"(" * 100_000,
    "closing brackets": b")]}" * 5_000,
    "nested blocks": b"{" * 5_000 + b"}" * 5_000,
    "one long line": b"x = a + " * 125_000,
    "NULs": b"\0" * 100_000,
    "NULs in code": b"a\0b = 1\n" * 2_000,
    "quotes": b"\"'`" * 5_000,
    "no UTF-8": bytes(range(128, 256)) * 100,
    "comments": b"/* # -- " * 2_000,
    "operators": b"! - ~ " * 5_000,
    "branches": b"if (a) " * 3_000,
    "functions": b"f = function(x) " * 2_000,
}
SECONDS = 5.0
"""Processor time that one of them takes at most; a file of its size may take some times as long in an index."""


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_hostile_costs_little(name, kind):
    started = time.process_time()
    units = read_file(SourceFile("", f"a{language(name).suffixes[0]}", HOSTILE[kind])).units
    assert time.process_time() - started < SECONDS
    assert all(1 <= unit.pair.method.start_line <= unit.pair.method.end_line for unit in units)


def read(path, data):
    return [unit.pair.method for unit in read_file(SourceFile("", path.name, data)).units]


@pytest.mark.parametrize("name", GOLDEN)
def test_of_half_a_file_its_first_half_is_read(name):
    path = GOLDEN[name]
    data = path.read_bytes()
    whole = {method.name for method in read(path, data)}
    place = data.index(b"\n", len(data) * 2 // 3)
    lines = data.count(b"\n", 0, place) + 1
    found = read(path, data[:place])
    before = {method.name for method in read(path, data) if method.end_line < lines // 2}
    lost = before - {method.name for method in found}
    assert len(lost) <= len(before) // 5, lost
    assert len({method.name for method in found} - whole) <= 2
    assert all(method.end_line <= lines for method in found)
    for cut in range(1, len(data) // 2, len(data) // 7):
        assert read(path, data[cut:])
        highlighted(data[cut:].decode("utf-8", "replace"), path.name)
