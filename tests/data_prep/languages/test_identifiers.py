import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_prep.languages.identifiers import split_identifier


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("parseHTTP2Header_v1", "parse http 2 header v 1"),
        ("HashMap", "hash map"),
        ("XMLReader", "xml reader"),
        ("userIDs", "user ids"),
        ("toURLs", "to urls"),
        ("MAX_VALUE", "max value"),
        ("m_group", "m group"),
        ("aTest", "a test"),
        ("getX", "get x"),
        ("utf8", "utf 8"),
        ("$this$0", "this 0"),
        ("caféÜber", "café über"),
        ("größe", "größe"),
        ("名前Name", "名前 name"),
        ("", ""),
        ("_", ""),
    ],
)
def test_splits_into_the_words_a_person_reads(identifier, words):
    assert list(split_identifier(identifier)) == words.split()


@given(st.text())
def test_loses_no_letter_and_no_digit(identifier):
    kept = "".join(c.lower() for c in identifier if c.isalpha() or c.isdecimal())
    assert "".join(split_identifier(identifier)) == kept


@given(st.lists(st.from_regex(r"[a-z]{2,6}", fullmatch=True), min_size=1, max_size=4))
def test_styles_of_writing_agree(words):
    camel = "".join(word.capitalize() for word in words)
    assert split_identifier(camel) == split_identifier("_".join(words).upper()) == tuple(words)
