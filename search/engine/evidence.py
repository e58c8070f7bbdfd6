"""What speaks for hits, and what against them.

What rows lose is in :mod:`search.engine.penalties`. Copies are no hits of their own. Only candidates are compared, and
of those only what has the name of a hit, whose texts alone are read; whole files by the hash of their content. Of the
names of one declaration only the best is a hit. A file whose only function or type is much of it is none beside that,
unless that has no word of the question.

How much speaks for it that an index answers a question are a few numbers, and the weights that make one of them. They
do not depend on a model, nor on how a project's own scores are spread, so one limit serves all projects:

- ``words``: of the question's words, weighted by how few rows have them, the share that the best row has in its name,
  path, signature, documentation or source;
- ``long``: the same times the logarithm of the number of words, since a long question is rarely covered by chance;
- ``pairs``: the share of neighbours in the question that stand together in a row, as in ``connection_pool``, times the
  same logarithm;
- ``file``: the best score of a row's whole file (:mod:`search.engine.file_ranking`);
- ``absent``: 1 if no file has one of the words, else 0;
- ``size``: the logarithm of the number of rows above that of LARGE: the more rows, the more is covered by chance.

The rows are the first FIRST hits, and as many that BM25 puts first. Weights and limits are from
experiments/results/certainty.json, by ``quality DIR --queries=FILE.json --fit=certainty`` (docs/search-quality.md).
"""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from data_prep.store.arrays import Bool, Float, Float32, Int64, slices
from search.engine.signals import Candidates, Hit, begins
from search.index.code_index import CONSTANT, WHOLE_FILE, Index
from search.retrieval.word_index import idf

Level = Literal["strong", "weak", "none"]
"""strong: an answer; weak: perhaps none; none: no file has any of the question's words, or together, or its name."""
Places = Int64[np.ndarray, " places"]
FILES: Final = 60
"""Files whose best row becomes a candidate."""
FIRST: Final = 5
"""Hits that are looked at, and rows that BM25 puts first."""
LARGE: Final = 1100
"""Rows from which on their number counts."""
_READ: Final = 4000
"""Characters of a hit's source that are looked at."""
_BETWEEN: Final = re.compile(r"[^\W_]{0,4}[\W_]{0,2}")
"""What may be between two words that stand together: an ending, and what separates them."""
_APART: Final = 6
"""Its characters, at most."""
_COPIED: Final = frozenset(("bin", "build", "coverage", "deps", "dist", "generated", "obj", "out", "target", "vendor"))
"""Folders of what is mostly a copy."""
_SHORT: Final = 3
"""Letters from which on a word is looked for inside of others."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The weights of the numbers, and the sums from which an answer is no longer none, and is strong."""

    weights: Mapping[str, float]
    bias: float
    weak: float
    strong: float

    def total(self, numbers: Mapping[str, float]) -> float:
        """The weighted sum; above 0 the question is rather answered."""
        return self.bias + sum(weight * numbers[name] for name, weight in self.weights.items())

    def level(self, numbers: Mapping[str, float], *, misspelt: bool = False) -> Level:
        """The level that some numbers reach; at least weak if a word may be ``misspelt``."""
        total = self.total(numbers)
        return "strong" if total >= self.strong else "weak" if total >= self.weak or misspelt else "none"


LIMITS: Final = Limits(
    {"words": 5.393, "long": 2.235, "pairs": 4.052, "file": 1.691, "absent": -1.472, "size": -0.943},
    bias=-5.178,
    weak=-1.441,
    strong=-0.728,
)


class Hits(list[Hit]):
    """The hits of an answer, with the rows that its certainty depends on, however few hits are asked for."""

    def __init__(
        self, hits: Iterable[Hit], found: Candidates | None = None, order: Places | None = None, pattern: str = ""
    ) -> None:
        """The hits of an answer.

        Args:
            hits: best first.
            found: the candidates; None: ``hits`` are all there is.
            order: places of the candidates, best first.
            pattern: the regular expression that all of them match; "": none.
        """
        super().__init__(hits)
        self.pattern: Final = pattern
        self.rows = [hit.row for hit in self[:FIRST]]
        self.of_file = max((hit.of_file for hit in self[:FIRST]), default=0.0)
        if found is not None and order is not None:
            worded = order[np.argsort(-found.lexical[order], kind="stable")[:FIRST]]
            places = np.concatenate([order[:FIRST], worded])
            self.rows = list(dict.fromkeys(found.rows[places].tolist()))
            self.of_file = float(found.of_file[places].max(initial=0.0))


def rarity(index: Index, terms: Sequence[str]) -> Float[np.ndarray, " terms"]:
    """The weight of each term: the fewer rows have it, the more; most if none has."""
    return idf(np.array([index.lexical.holders(term) for term in terms], np.int64), len(index))


def numbers_of(
    index: Index, terms: Sequence[str], hits: Hits, *, absent: bool, also: Bool[np.ndarray, "rows t"] | None = None
) -> dict[str, float]:
    """What speaks for an answer.

    Args:
        index: that gives it.
        terms: stems of the question, distinct, at least one.
        hits: at least one.
        absent: whether no file has one of the terms.
        also: which of the hits' rows have which of the terms elsewhere, as in a comment; None: not known.
    """
    texts = [_text(index, row) for row in hits.rows]
    weights, has = rarity(index, terms), holds(index, terms, hits.rows, texts)
    has = has if also is None else has | also
    words, long = float((has @ weights).max() / weights.sum()), float(np.log(len(terms)))
    return {
        "words": words,
        "long": words * long,
        "pairs": long * _pairs(terms, has.tolist(), texts),
        "file": hits.of_file,
        "absent": float(absent),
        "size": max(0.0, float(np.log(max(1, len(index)) / LARGE))),
    }


def holds(index: Index, terms: Sequence[str], rows: Sequence[int], texts: Sequence[str]) -> Bool[np.ndarray, "rows t"]:
    """Which of ``rows``, whose lower-case texts are ``texts``, have which of the terms."""
    inside = [len(term) >= _SHORT or not term.isascii() for term in terms]
    found = np.array([[may and term in text for term, may in zip(terms, inside, strict=True)] for text in texts])
    wanted = np.array(rows, np.int32)  # as those of postings, which are not converted then
    for column in np.flatnonzero(~found.all(axis=0)).tolist():
        own = index.lexical.postings(terms[column])[0]  # ascending
        if len(own):
            found[:, column] |= own.take(own.searchsorted(wanted), mode="clip") == wanted
    return found


def _text(index: Index, row: int) -> str:
    text = index.text(row)
    return "\n".join((index.names[row], text.path, text.query_text, text.source[:_READ])).lower()


def _pairs(terms: Sequence[str], has: Sequence[Sequence[bool]], texts: Sequence[str]) -> float:
    """The largest share of neighbours among ``terms`` that stand together in a text, perhaps with endings between."""
    most = 0
    for own, text in zip(has, texts, strict=True):
        both = [place for place in range(len(terms) - 1) if own[place] and own[place + 1]]
        if len(both) > most:
            most = max(most, sum(stand_together(terms[place], terms[place + 1], text) for place in both))
    return most / max(1, len(terms) - 1)


def stand_together(one: str, other: str, text: str) -> bool:
    """Whether ``other`` is behind ``one``, whose ending is not known; in scripts without blanks they may overlap."""
    if not one.isascii() and one[-1] == other[0]:
        return one[:-1] + other in text
    place = text.find(one)
    while place >= 0:
        end = place + len(one)
        then = text.find(other, end, end + _APART + len(other))
        while then >= 0:
            if _BETWEEN.fullmatch(text, end, then):
                return True
            then = text.find(other, then + 1, end + _APART + len(other))
        place = text.find(one, place + 1)
    return False


def without_doubles(index: Index, found: Candidates) -> Candidates:
    """The candidates without whole files that say what their only function does, which gets the better score.

    One that has the better score is found for what is elsewhere in it, if the function has no word of the question.
    """
    scores, kept = found.scores.copy(), np.ones(len(found.rows), np.bool_)
    places = np.flatnonzero(index.kinds[found.rows] == WHOLE_FILE)
    only = index.only_units[index.file_numbers(found.rows[places])]
    others = np.minimum(found.rows.searchsorted(only), len(found.rows) - 1)
    both = (found.rows[others] == only) & ((found.lexical[others] > 0) | (scores[places] <= scores[others]))
    for place, other in zip(places[both].tolist(), others[both].tolist(), strict=True):
        if _is_much(index, int(found.rows[other]), int(found.rows[place])):
            scores[other] = max(scores[other], scores[place])
            kept[place] = False
    if kept.all():
        return found
    neural, near = (None if each is None else each[kept] for each in (found.neural, found.near))
    return Candidates(found.rows[kept], scores[kept], found.lexical[kept], neural, near, found.of_file[kept])


def best_of_files(
    index: Index,
    of_files: Float[np.ndarray, " files"],
    lexical: Float32[np.ndarray, " rows"],
    allowed: Bool[np.ndarray, " rows"],
) -> list[int]:
    """The best row of each of the best files whose rows are ``allowed``, by BM25, the first of equal ones."""
    files = np.flatnonzero((of_files > 0) & (np.diff(index.file_edges) > 0))
    if not allowed.all():
        files, lexical = files[index.files_with(allowed)[files]], np.where(allowed, lexical, np.float32(-1))
    files = files[(-of_files[files]).argsort(kind="stable")[:FILES]]
    if not len(files):
        return []
    rows, starts = slices(index.file_edges, files)
    own, numbers = lexical[rows], np.repeat(np.arange(len(files)), np.diff(starts))
    best = np.flatnonzero(own == np.maximum.reduceat(own, starts[:-1])[numbers])
    found: list[int] = rows[best[begins(numbers[best])]].tolist()
    return found


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
        if by_file or index.is_whole_file(row):
            return name or row
        return "" if index.kinds[row] == CONSTANT else name, index.text(row).source

    seen = 0
    while seen < len(rows) and len(found) < top:
        name = called(rows[seen])
        found.setdefault(key_of(rows[seen], name), []).append(int(order[seen]))
        names.add(name)
        seen += 1
    for later in [place for place, name in enumerate(map(called, rows[seen:]), start=seen) if name in names]:
        if (key := key_of(rows[later], called(rows[later]))) in found:
            found[key].append(int(order[later]))
    return [_with_best_place(index, candidates, group) for group in found.values()]


def _with_best_place(index: Index, candidates: Candidates, group: list[int]) -> tuple[int, list[int]]:
    """One of the equally good places of a group, which is in few folders, and the others."""
    if len(group) == 1:
        return group[0], []
    best = [place for place in group if candidates.scores[place] == candidates.scores[group[0]]]
    paths = {place: index.file(int(candidates.rows[place])).path for place in best}
    copied = {place: not _COPIED.isdisjoint(paths[place].split("/")[:-1]) for place in best}
    first = min(best, key=lambda place: (copied[place], paths[place].count("/"), len(paths[place]), place))
    others = {_place_of(index, int(candidates.rows[place])): place for place in reversed(group)}
    others.pop(_place_of(index, int(candidates.rows[first])), None)  # the names of one declaration are one place
    return first, [place for place in group if place in others.values()]


def _place_of(index: Index, row: int) -> tuple[int, int, int]:
    text = index.text(row)
    return index.file_number(row), text.start_line, text.end_line


def _is_much(index: Index, only: int, row: int) -> bool:
    """Whether the only unit of a file is a third of its lines, or all that the file, which is ``row``, has."""
    own, whole = index.text(only), index.text(row)
    return 3 * (own.end_line - own.start_line + 1) >= whole.end_line or index.file(row).units == 2
