"""How much speaks for it that an index answers a question: a few numbers, and the weights that make one of them.

The numbers do not depend on a model, nor on how a project's own scores are spread, so one limit serves all projects:

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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from data_prep.store.arrays import Bool, Float, Int64
from search.engine.signals import Candidates, Hit
from search.index.code_index import Index
from search.retrieval.formula import idf

Places = Int64[np.ndarray, " places"]
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


def numbers_of(index: Index, terms: Sequence[str], hits: Hits, *, absent: bool) -> dict[str, float]:
    """What speaks for an answer.

    Args:
        index: that gives it.
        terms: stems of the question, distinct, at least one.
        hits: at least one.
        absent: whether no file has one of the terms.
    """
    texts = [_text(index, row) for row in hits.rows]
    weights, has = rarity(index, terms), holds(index, terms, hits.rows, texts)
    words = float((has @ weights).max() / weights.sum())
    long = float(np.log(len(terms)))
    return {
        "words": words,
        "long": words * long,
        "pairs": long * max(_pairs(terms, own.tolist(), text) for own, text in zip(has, texts, strict=True)),
        "file": hits.of_file,
        "absent": float(absent),
        "size": max(0.0, float(np.log(max(1, len(index)) / LARGE))),
    }


def holds(index: Index, terms: Sequence[str], rows: Sequence[int], texts: Sequence[str]) -> Bool[np.ndarray, "rows t"]:
    """Which of ``rows``, whose lower-case texts are ``texts``, have which of the terms."""
    inside = [len(term) >= _SHORT or not term.isascii() for term in terms]
    found = np.array([[may and term in text for term, may in zip(terms, inside, strict=True)] for text in texts])
    wanted = np.array(rows)
    for column in np.flatnonzero(~found.all(axis=0)).tolist():
        own = index.lexical.postings(terms[column])[0]  # ascending
        if len(own):
            found[:, column] |= own.take(own.searchsorted(wanted), mode="clip") == wanted
    return found


def _text(index: Index, row: int) -> str:
    text = index.text(row)
    return "\n".join((index.names[row], text.path, text.query_text, text.source[:_READ])).lower()


def _pairs(terms: Sequence[str], has: Sequence[bool], text: str) -> float:
    """The share of neighbours among ``terms`` that stand together in ``text``, perhaps with endings between."""
    if len(terms) < 2:
        return 0.0
    together = sum(
        own and then and stand_together(one, other, text)
        for own, then, one, other in zip(has, has[1:], terms, terms[1:], strict=False)
    )
    return together / (len(terms) - 1)


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
