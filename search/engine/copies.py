"""Identical text as one hit: rows with the text of a better one stand behind it, as its copies.

Only candidates are compared, and of those only what has the name of a hit, whose texts alone are read. Whole files are
compared by the hash of their content. A file whose only function or type is much of it is no hit beside that: it would
say the same twice.
"""

from collections.abc import Hashable

import numpy as np

from data_prep.array_types import Int64
from search.engine.signals import Candidates
from search.index.code_index import WHOLE_FILE, Index


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
