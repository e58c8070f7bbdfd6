"""The comment by which a programmer asks, by the cases that the editor's extension is tested with too."""

import json
from pathlib import Path

import pytest

from search.cursor import example, query_of
from search.files.languages import language_names

CASES = json.loads(Path(__file__).with_name("trigger_cases.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['language']}: {case['line']!r}")
def test_a_line_asks_or_does_not(case):
    assert query_of(case["line"], case["language"]) == case["query"]


@pytest.mark.parametrize("language", language_names())
def test_the_example_of_every_language_asks_and_none_after_code_does(language):
    assert query_of(f"  {example(language)}\n", language) == "retry with backoff"
    assert query_of(f"x = 1 {example(language)}\n", language) == ""


def test_another_language_is_refused():
    with pytest.raises(ValueError, match="there is no language 'cobol'; there are python"):
        query_of("# search: x", "cobol")
