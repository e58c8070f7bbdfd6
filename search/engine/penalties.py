"""What rows lose that answer questions less often: constants, tests, and what is of an older generation."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from data_prep.array_types import Bool, Float, Int64
from search.engine.question import asks_for_tests
from search.engine.settings import RankingSettings
from search.files.file_words import stem_of
from search.files.generations import DEPRECATED, old_words
from search.index.code_index import CONSTANT, TEST, Index


def rows_of_tests(index: Index) -> Bool[np.ndarray, " rows"]:
    """Rows of test files, and of tests and modules of tests inside of others."""
    inside = np.fromiter((".tests." in f".{name}" for name in index.names), np.bool_, len(index))
    of_files = np.array([file.test for file in index.files], np.bool_)
    return inside | (index.kinds == TEST) | np.repeat(of_files, np.diff(index.file_edges))


class Penalties:
    """Of the rows of an index."""

    def __init__(self, index: Index) -> None:
        """``index``: of the rows."""
        self._index = index

    def of(
        self, rows: Int64[np.ndarray, " found"], words: Sequence[str], ranking: RankingSettings, *, for_tests: bool
    ) -> Float[np.ndarray, " found"]:
        """What each of ``rows`` loses, unless the question means it.

        Args:
            rows: some rows.
            words: of the question; none: nothing is asked, and constants lose nothing.
            ranking: how much each kind loses.
            for_tests: whether tests are ranked as other code is.
        """
        lost = ranking.constant * (self._index.kinds[rows] == CONSTANT) if words else np.zeros(len(rows))
        if not (for_tests or asks_for_tests(words)):
            lost += ranking.test * self._tests[rows]
        asked = {*map(stem_of, words)}
        if asked.isdisjoint(DEPRECATED):
            lost += ranking.deprecated * (self._index.deprecated[rows] > 0)
        old = [own[rows] for meant, own in self._old.items() if asked.isdisjoint(meant)]
        return lost + ranking.old * np.logical_or.reduce(old) if old else lost

    @cached_property
    def _tests(self) -> Bool[np.ndarray, " rows"]:
        return rows_of_tests(self._index)

    @cached_property
    def _old(self) -> Mapping[frozenset[str], Bool[np.ndarray, " rows"]]:
        """Stems by which a question means what is old -> the rows that are."""
        files = old_words([file.path for file in self._index.files])
        numbers = range(len(self._index.files))
        return {meant: self._spread([files.get(file) == meant for file in numbers]) for meant in {*files.values()}}

    def _spread(self, of_files: Sequence[bool]) -> Bool[np.ndarray, " rows"]:
        """What is so of each file, for each of its rows."""
        return np.repeat(np.array(of_files, np.bool_), np.diff(self._index.file_edges))
