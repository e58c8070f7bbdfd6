"""Truncation and words against hand-made examples."""

import pytest

from baselines.snipper_texts import QueryText, code_words, cut, cut_middle, document_text, okapi_words, part_words
from tests.data_prep.posts.dumps import POST

ONE_TO_TEN = [*range(1, 11)]


@pytest.mark.parametrize(
    ("longest", "kept"), [(4, [1, 2, 9, 10]), (5, [1, 2, 3, 9, 10]), (1, [1]), (10, ONE_TO_TEN), (99, ONE_TO_TEN)]
)
def test_the_middle_is_cut(longest, kept):
    assert cut_middle(ONE_TO_TEN, longest) == kept == cut(ONE_TO_TEN, longest, "middle")


def test_the_end_is_cut():
    assert cut(ONE_TO_TEN, 3, "head") == [1, 2, 3]


def test_words():
    assert okapi_words("readCsv(my_file2, 10)") == ["readcsv", "read", "csv", "my_file2", "my", "file", "2", "10"]
    assert part_words("readCsv(my_file2, 10)") == ["read", "csv", "my", "file", "2", "10"]
    assert code_words("Reading readCsv at 0x7f2bdeadbeef line 12 of 123456") == (
        ["read", "readcsv", "read", "csv", "at", "line", "12", "of"]
    )


def test_query_and_document():
    query = QueryText("a = 1", "ValueError: b")
    assert query.text == "a = 1\nValueError: b"
    assert QueryText("", "").text == ""
    post = type(POST)(**{field: getattr(POST, field) for field in POST.__slots__} | {"best_answer": "yes"})
    assert document_text(post, body=True) == "t\nxxxxxxxxxx\nyes"
    assert document_text(post, body=False) == "t\nyes"
    assert QueryText.of(post, "code") == QueryText("", "")
