"""Files that are units as wholes."""

import pytest

from data_prep.records import JavaFile
from search.files.text_file import read_text

HEADER = "// Copyright 2014 A. Person\n// Use is governed by a MIT style license"


def shown(text: str) -> str:
    (unit,) = read_text(JavaFile("here", "web/router.go", text.encode())).units
    return unit.pair.method.source


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "package gin\n"),
        (f"{HEADER}\n\n", "// Package gin is a web framework.\npackage gin"),
        (f"{HEADER}\n", "package gin"),
        (f"#!/bin/sh\n\n{HEADER}\n\n", "x = 1"),
        ("/*\n * Licensed under the Apache License\n */\n\n", "/** Routes. */\nclass Router {}"),
        ("", "// Package gin is a web framework.\n\npackage gin"),
    ],
)
def test_a_file_is_shown_from_behind_its_licence(before, after):
    assert shown(before + after) == after.strip()


def test_a_file_of_a_licence_alone_is_shown():
    assert shown(HEADER)


def test_an_empty_file_is_no_unit():
    assert not read_text(JavaFile("here", "a.py", b" \n")).units


def test_its_place_is_the_whole_file():
    (unit,) = read_text(JavaFile("here", "web/router.go", b"package gin\n\nfunc (e *Engine) ServeFile() {}\n")).units
    assert unit.pair.method.fields["name"] == ("router",)
    assert (unit.pair.method.start_line, unit.pair.method.end_line) == (1, 3)
