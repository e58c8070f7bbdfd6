"""Patterns of paths match as fnmatch has it, and none that was asked for stays in memory."""

import fnmatch
import random
import time
import tracemalloc

import pytest

from search.files.languages import LONGEST_PATTERN, path_matcher

CHARACTERS = "ab*?[]!-^/.\\z(+é\n"


def test_any_pattern_matches_as_fnmatch_has_it():
    draw = random.Random(7)
    for _ in range(1000):
        pattern = "".join(draw.choices(CHARACTERS, k=draw.randint(0, 10)))
        matches = path_matcher(pattern)
        for _ in range(5):
            path = "".join(draw.choices("ab/.z-é", k=draw.randint(0, 5)))
            assert matches(path) == fnmatch.fnmatchcase(path, pattern), (path, pattern)


@pytest.mark.parametrize("pattern", ["[z-a]", "[", "[!", "*" * 500, "[a-" * 100, "(?P<a>" * 50, "*a" * 250])
def test_odd_patterns_are_no_error_and_quick(pattern):
    paths = ("a" * 300, "b" * 300, "a" * 200 + "b")
    started = time.process_time()
    found = [path_matcher(pattern)(path) for path in paths]
    assert time.process_time() - started < 5  # what tries every way would need years
    assert found == [fnmatch.fnmatchcase(path, pattern) for path in paths]


def test_a_long_pattern_is_refused():
    with pytest.raises(ValueError, match=r"^path has at most 500 characters, this one has 501$"):
        path_matcher("a" * (LONGEST_PATTERN + 1))


def test_patterns_do_not_add_up_in_memory():
    def ask(start: int, end: int) -> int:
        for number in range(start, end):
            path_matcher(f"src/{number}/*a?[bc]*b?[cd]*")("src/a")
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        assert -ask(0, 600) + ask(600, 1200) < 200_000
    finally:
        tracemalloc.stop()
