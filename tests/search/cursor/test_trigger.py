"""The comment by which a programmer asks, by the cases that the editor's extension is tested with too."""

import json
from pathlib import Path

import pytest

from search.cursor.trigger import query_of
from search.files.languages import language_names

CASES = json.loads(Path(__file__).with_name("trigger_cases.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['language']}: {case['line']!r}")
def test_a_line_asks_or_does_not(case):
    assert query_of(case["line"], case["language"]) == case["query"]


def test_every_language_has_cases_of_both_kinds():
    for language in language_names():
        assert {bool(case["query"]) for case in CASES if case["language"] == language} == {True, False}


def test_another_language_is_refused():
    with pytest.raises(ValueError, match="there is no language 'cobol'; there are python"):
        query_of("# search: x", "cobol")
