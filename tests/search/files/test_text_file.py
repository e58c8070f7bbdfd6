"""Files that are units as wholes."""

import pytest

from data_prep.records import SourceFile
from search.files.languages import whole_file
from search.files.words import file_words

HEADER = "// Copyright 2014 A. Person\n// Use is governed by a MIT style license"


def whole(path: str, data: bytes):
    return whole_file(SourceFile("here", path, data), data, file_words(data))


def shown(text: str) -> str:
    (unit,) = whole("web/router.go", text.encode())
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
    assert not whole("a.py", b" \n")


def test_its_place_is_the_whole_file():
    (unit,) = whole("web/router.go", b"package gin\n\nfunc (e *Engine) ServeFile() {}\n")
    assert unit.pair.method.fields["tokens"] == ("serve", "file")
    assert unit.pair.method.fields["name"] == ("router",)
    assert (unit.pair.method.start_line, unit.pair.method.end_line) == (1, 3)
