"""Results for short texts are kept, and for long ones computed anew."""

import tracemalloc

import pytest

from baselines.snipper_texts import code_words
from data_prep.languages.identifiers import kept_if_short, split_identifier
from data_prep.sources.licence_texts import of_comment, of_file


def test_only_results_for_short_texts_are_kept():
    asked = []

    @kept_if_short(3, 10)
    def twice(text: str) -> str:
        asked.append(text)
        return text * 2

    assert [twice(text) for text in ("abc", "abc", "abcd", "abcd")] == ["abcabc"] * 2 + ["abcdabcd"] * 2
    assert asked == ["abc", "abcd", "abcd"]
    assert twice.__name__ == "twice"


@pytest.mark.parametrize("function", [split_identifier, of_comment, of_file, code_words])
def test_long_texts_do_not_add_up_in_memory(function):
    function("start")
    tracemalloc.start()
    try:
        for number in range(20):
            function(f"{number:04}word" * 9000)
        assert tracemalloc.get_traced_memory()[0] < 1 << 20
    finally:
        tracemalloc.stop()
