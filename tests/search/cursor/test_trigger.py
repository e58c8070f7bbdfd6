"""The comment by which a programmer asks, by the cases that the editor's extension is tested with too."""

import json
from pathlib import Path

import pytest

from data_prep.errors import UserError
from search.cursor import cursor_at, example, query_of
from search.files.languages import language_names, language_of_file

ABOVE = json.loads(Path(__file__).with_name("above_cases.json").read_text())
CASES = json.loads(Path(__file__).with_name("trigger_cases.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['language']}: {case['line']!r}")
def test_a_line_asks_or_does_not(case):
    assert query_of(case["line"], case["language"]) == case["query"]


@pytest.mark.parametrize("case", ABOVE, ids=lambda case: f"{case['file']}: {case['above']!r}")
def test_a_comment_asks_and_one_in_a_string_or_in_markup_does_not(case, tmp_path):
    path = tmp_path / case["file"]
    mark = language_of_file(path.name, b"").line_comment
    path.write_text(f"{case['above']}  {mark} search: x\n{case.get('rest', '')}")
    place = f"{path}:{case['above'].count(chr(10)) + 1}"
    if case["asks"]:
        assert cursor_at(place).query == "x"
    else:
        with pytest.raises(UserError, match="is no comment like"):
            cursor_at(place)


@pytest.mark.parametrize("language", language_names())
def test_the_example_of_every_language_asks_and_none_after_code_does(language):
    assert query_of(f"  {example(language)}\n", language) == "retry with backoff"
    assert query_of(f"x = 1 {example(language)}\n", language) == ""


def test_another_language_is_refused():
    with pytest.raises(ValueError, match="there is no language 'cobol'; there are python"):
        query_of("# search: x", "cobol")
