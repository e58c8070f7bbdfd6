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
    for place in np.flatnonzero(index.kinds[found.rows] == WHOLE_FILE).tolist():
        row = int(found.rows[place])
        only = int(index.only_units[index.file_number(row)])
        if only < 0:
            continue
        other = int(found.rows.searchsorted(only))
        if other < len(found.rows) and found.rows[other] == only and _is_much(index, only, row):
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
    placed = candidates.rows[order]
    whole = (index.kinds[placed] == WHOLE_FILE).tolist()
    files = (np.searchsorted(index.file_edges, placed, side="right") - 1).tolist() if by_file else ()
    rows, called = placed.tolist(), index.contents
    named = [index.files[file].blobs for file in files] if by_file else [called[row] for row in rows]
    for place, row, name, is_file in zip(order.tolist(), rows, named, whole, strict=True):
        if len(found) >= top and name not in names:
            continue
        key = (name or row) if by_file or is_file else (name, index.text(row).source)
        if key in found:
            found[key].append(place)
        elif len(found) < top:
            found[key] = [place]
            names.add(name)
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
