"""What stands behind other hits: what answers questions less often, and what has the same text as a better hit.

Constants, tests and what is of an older generation lose some of their score. Copies are no hits of their own. Only
candidates are compared, and of those only what has the name of a hit, whose texts alone are read; whole files by the
hash of their content. A file whose only function or type is much of it is no hit beside that.
"""

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property

import numpy as np

from data_prep.store.arrays import Bool, Float, Int64
from search.engine.question import RankingSettings, asks_for_tests
from search.engine.signals import Candidates
from search.files.words import DEPRECATED, old_words, stem_of
from search.index.code_index import CONSTANT, TEST, WHOLE_FILE, Index


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


def without_doubles(index: Index, found: Candidates) -> Candidates:
    """The candidates without whole files that say what their only function does, which gets the better score."""
    scores, kept = found.scores.copy(), np.ones(len(found.rows), np.bool_)
    places = np.flatnonzero(index.kinds[found.rows] == WHOLE_FILE)
    only = index.only_units[index.file_edges.searchsorted(found.rows[places], side="right") - 1]
    others = np.minimum(found.rows.searchsorted(only), len(found.rows) - 1)
    both = found.rows[others] == only
    for place, other in zip(places[both].tolist(), others[both].tolist(), strict=True):
        if _is_much(index, int(found.rows[other]), int(found.rows[place])):
            scores[other] = max(scores[other], scores[place])
            kept[place] = False
    if kept.all():
        return found
    neural, near = (None if each is None else each[kept] for each in (found.neural, found.near))
    return Candidates(found.rows[kept], scores[kept], found.lexical[kept], neural, near, found.of_file[kept])


def folded(
    index: Index, candidates: Candidates, order: Int64[np.ndarray, " places"], top: int, *, by_file: bool
) -> list[tuple[int, list[int]]]:
    """The ``top`` best places, each with those of its copies, best first; of equally good ones that with a short path.

    Args:
        index: of the rows.
        candidates: the rows.
        order: places of candidates, best first.
        top: how many.
        by_file: whether a row stands for its file, so that files are compared.
    """
    found: dict[Hashable, list[int]] = {}
    names: set[str] = set()
    rows: list[int] = candidates.rows[order].tolist()
    called = (lambda row: index.file(row).blobs) if by_file else index.contents.__getitem__

    def key_of(row: int, name: str) -> Hashable:
        return (name or row) if by_file or index.is_whole_file(row) else (name, index.text(row).source)

    seen = 0
    while seen < len(rows) and len(found) < top:
        name = called(rows[seen])
        found.setdefault(key_of(rows[seen], name), []).append(int(order[seen]))
        names.add(name)
        seen += 1
    rest = () if names.isdisjoint(map(called, rows[seen:])) else rows[seen:]
    for later, name in enumerate(map(called, rest), start=seen):
        if name in names and (key := key_of(rows[later], name)) in found:
            found[key].append(int(order[later]))
    return [_with_best_place(index, candidates, group) for group in found.values()]


def _with_best_place(index: Index, candidates: Candidates, group: list[int]) -> tuple[int, list[int]]:
    """One of the equally good places of a group, which is in few folders, and the others."""
    if len(group) == 1:
        return group[0], []
    best = [place for place in group if candidates.scores[place] == candidates.scores[group[0]]]
    paths = {place: index.file(int(candidates.rows[place])).path for place in best}
    first = min(best, key=lambda place: (paths[place].count("/"), len(paths[place]), place))
    return first, [place for place in group if place != first]


def _is_much(index: Index, only: int, row: int) -> bool:
    """Whether the only unit of a file is a third of its lines, or all that the file, which is ``row``, has."""
    own, whole = index.text(only), index.text(row)
    return 3 * (own.end_line - own.start_line + 1) >= whole.end_line or index.file(row).units == 2
