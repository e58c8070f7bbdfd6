"""What the engine fuses, the scores of a trained model, of vectors, of whole files and of a context, and its hits."""

import ctypes
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, Protocol, runtime_checkable

import numpy as np

from data_prep.store.arrays import Bool, Float, Float32, Int64, weighted, z_scores
from search.engine.question import WORD_VECTORS
from search.files.words import terms_of
from search.retrieval.exact import given, search_loops
from search.retrieval.word_index import Bm25Index

Rows = Int64[np.ndarray, " found"]
Scores = Float32[np.ndarray, " found"]
Stage = Literal["name", "model", "words", "copy", "code"]
"""What determined a hit's rank: its name was asked for; the model scored it; BM25 alone, if there is no model. Where
code is the question (search/snippets): it is a copy; it is like it."""
RAREST: Final = 10
"""Words of a context that count."""
IN_CONTEXT: Final = 0.1
"""Share of the cosine under a context in that of a row. All of it costs more than it gains (docs/search-results.md)."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """The attention of the words of a query to those of a method (GALM, eq. 7)."""

    query: Sequence[str]
    code: Sequence[str]
    fields: Sequence[str]  # of each code word
    weights: Float32[np.ndarray, "querywords codewords"]  # rows sum to 1
    agreement: Float32[np.ndarray, " querywords"]  # cosine of each query word and what it attended to


@runtime_checkable
class Reranker(Protocol):
    """A trained model over the rows of an index: :class:`search.models.torch_models.ModelReranker`, by torch."""

    def scores(self, query: Sequence[str], rows: Int64[np.ndarray, " found"]) -> Float32[np.ndarray, " found"]:
        """The score of each of ``rows`` for the words of a query."""

    def alignment(self, query: Sequence[str], row: int) -> Alignment | None:
        """What each word of a query attended to in a row; None if the model does not align words."""


def begun(
    reranker: Reranker, query: Sequence[str], first: Int64[np.ndarray, " first"]
) -> Callable[[Rows], Callable[[], Scores]]:
    """Begin to score some rows, beside what else is done if the reranker has a ``begun``, which gives what scores them.

    Args:
        reranker: that scores.
        query: the words that it knows of a query.
        first: the rows, ascending.

    Returns:
        What takes all rows, which are ascending and have the first ones, and returns what gives their scores.
    """
    begin = getattr(reranker, "begun", None)  # isinstance with a protocol takes longer
    if begin is None:
        return lambda rows: partial(reranker.scores, query, rows)
    early = begin(query, first)

    def all_of(rows: Rows) -> Callable[[], Scores]:
        places, rest = rows.searchsorted(first), np.ones(len(rows), np.bool_)
        rest[places] = False
        late = begin(query, rows[rest])

        def scores() -> Scores:
            found = np.empty(len(rows), np.float32)
            found[places], found[rest] = early(), late()
            return found

        return scores

    return all_of


@runtime_checkable
class Retriever(Protocol):
    """Vectors of the rows of an index: :class:`search.index.vectors.DenseRetriever`."""

    @property
    def reads_text(self) -> bool:
        """Whether a text encoder made them, not a model of words."""

    def nearest(self, query: Sequence[str]) -> Int64[np.ndarray, " found"]:
        """The distinct rows whose vectors are nearest to that of a query."""

    def scores(
        self, query: Sequence[str], rows: Int64[np.ndarray, " found"], context: Sequence[str] = ()
    ) -> Float32[np.ndarray, " found"]:
        """The similarity of each of ``rows`` to a query under a context."""


@runtime_checkable
class FileScorer(Protocol):
    """Scores of the files of an index: :class:`search.engine.file_ranking.FileRanking`."""

    def scores(
        self, words: Sequence[str], query: str, *, for_tests: bool, comments: bool = True
    ) -> Float[np.ndarray, " files"]:
        """The score of each file, 0 or more."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A row that answers a query."""

    rank: int  # 1-based
    row: int
    score: float  # higher is better, within this query only
    lexical: float  # by BM25
    neural: float | None  # by the model; None if it has not scored the row
    near: float | None  # the cosine of its vector and the query's; None if there are no vectors
    of_file: float  # the score of its whole file
    stage: Stage
    copies: Sequence[int] = ()  # rows with the same text, which stand behind it and are no hits of their own
    match_line: int = 0  # the first line that a regular expression matches, from 1; 0: none was asked for

    @property
    def rows(self) -> tuple[int, ...]:
        """Its row and its copies."""
        return (self.row, *self.copies)


@dataclass(frozen=True, eq=False, slots=True)
class Candidates:
    """The candidates of a query, as ascending rows."""

    rows: Int64[np.ndarray, " found"]
    scores: Float[np.ndarray, " found"]
    lexical: Float32[np.ndarray, " found"]
    neural: Float32[np.ndarray, " found"] | None
    near: Float32[np.ndarray, " found"] | None
    of_file: Float[np.ndarray, " found"]

    @classmethod
    def ordered(cls, rows: Int64[np.ndarray, " found"], scores: Float[np.ndarray, " found"]) -> "Candidates":
        """Rows that no question was asked of."""
        return cls(rows, scores, np.zeros(len(rows), np.float32), None, None, np.zeros(len(rows)))

    def hits(
        self, groups: Sequence[tuple[int, Sequence[int]]], named: Container[int], lines: Mapping[int, int]
    ) -> list[Hit]:
        """Rows as hits, best first.

        Args:
            groups: the place of each row, and the places of those with the same text.
            named: rows whose name was asked for.
            lines: row -> its first line that matches a regular expression.
        """
        places = [place for place, _ in groups]
        nothing = [None] * len(places)
        neural, near = (nothing if each is None else each[places].tolist() for each in (self.neural, self.near))
        always = (each[places].tolist() for each in (self.rows, self.scores, self.lexical, self.of_file))
        found = list[Hit]()
        for (_, others), row, score, lexical, of_file, by_model, cosine in zip(
            groups, *always, neural, near, strict=True
        ):
            stage: Stage = "name" if row in named else "words" if by_model is None else "model"
            copies = self.rows[others].tolist() if others else []
            own = Hit(len(found) + 1, row, score, lexical, by_model, cosine, of_file, stage, copies, lines.get(row, 0))
            found.append(own)
        return found

    @property
    def order(self) -> Int64[np.ndarray, " found"]:
        """Positions of the rows, best first."""
        return np.lexsort((self.rows, -self.scores))


def best_by_words(
    lexical: Float32[np.ndarray, " rows"], allowed: Bool[np.ndarray, " rows"], count: int
) -> Int64[np.ndarray, " best"]:
    """The ``count`` best rows among those that are ``allowed`` and have a score by BM25, ascending."""
    found = np.flatnonzero(allowed & (lexical > 0))
    if len(found) <= count:
        return found
    best = np.argpartition(-lexical[found], count - 1)[:count]
    return found[np.sort(best)]


def begins(groups: Int64[np.ndarray, " some"]) -> Bool[np.ndarray, " some"]:
    """Where a run of equal numbers begins."""
    found = np.ones(len(groups), np.bool_)
    np.not_equal(groups[1:], groups[:-1], out=found[1:])
    return found


def best_beside(scores: Float[np.ndarray, " found"], files: Int64[np.ndarray, " found"]) -> Float[np.ndarray, " found"]:
    """The best score of another row of the same file, for each row; 0 if none is above 0. ``files``: ascending."""
    if (library := search_loops()) is not None:
        found = np.empty(len(files))
        arrays = (np.ascontiguousarray(scores, np.float64), np.ascontiguousarray(files, np.int64), found)
        library.best_of_others(*given(*arrays), ctypes.c_int64(len(files)))
        return found
    if not len(files):
        return np.zeros(0)
    first = begins(files)
    starts, groups = np.flatnonzero(first), np.cumsum(first) - 1
    best = np.maximum.reduceat(scores, starts)[groups]
    is_best = scores == best
    only = np.add.reduceat(is_best, starts, dtype=np.int64)[groups] == 1
    second = np.maximum.reduceat(np.where(is_best, 0.0, scores), starts)[groups]
    return np.maximum(np.where(is_best & only, second, best), 0.0)


def places_in_files(
    scores: Float[np.ndarray, " found"], files: Int64[np.ndarray, " found"]
) -> Int64[np.ndarray, " found"]:
    """The number of better rows of the same file, for each row; of equal ones the first is better."""
    order = np.lexsort((-scores, files))
    ordered = files[order]
    numbers = np.arange(len(order))
    found = np.empty(len(order), np.int64)
    found[order] = numbers - np.maximum.accumulate(np.where(begins(ordered), numbers, 0))
    return found


def fused(
    lexical: Float32[np.ndarray, " found"],
    neural: Float32[np.ndarray, " found"] | None,
    near: Float32[np.ndarray, " found"] | None,
    weight: float,
    vector_weight: float,
) -> Float[np.ndarray, " found"]:
    """The standardised scores as one; ``weight``: of ``neural``, the rest is of ``lexical``; the other: of ``near``.

    What the latter has above WORD_VECTORS is taken from these two: beside the scores of files, all weigh as before.
    """
    given = [each for each in (lexical, neural, near) if each is not None]
    by_words, *others = z_scores(np.array(given, np.float64))
    if neural is None:
        return np.asarray(by_words)
    mixed = weighted(others[0], by_words, weight)
    if near is None:
        return mixed
    rest = 1 - max(0.0, vector_weight - WORD_VECTORS)
    return rest * mixed + vector_weight * others[1]


def near_scores(retriever: Retriever, query: Sequence[str], rows: Rows, context: Sequence[str]) -> Scores:
    """The similarity of each of ``rows`` to a query, in which its context has a small share."""
    alone = retriever.scores(query, rows)
    return alone + np.float32(IN_CONTEXT) * (retriever.scores(query, rows, context) - alone) if context else alone


def rarest(context: Sequence[str], query: Sequence[str], lexical: Bm25Index) -> list[str]:
    """The terms of ``context`` that fewest rows have, and not the query; of equal ones those nearest to the cursor.

    Args:
        context: words, nearest last.
        query: its words.
        lexical: of the rows.
    """
    asked = {*terms_of(query)}
    found: dict[str, int] = {}
    for term in terms_of(context[::-1]) if context else ():
        if term not in asked and (holders := lexical.holders(term)):
            found[term] = holders
    return sorted(found, key=found.__getitem__)[:RAREST]


def context_scores(context: Sequence[str], query: Sequence[str], lexical: Bm25Index) -> Float32[np.ndarray, " rows"]:
    """The score of each row for the rarest words of ``context``, from 0 to 1; 0 everywhere if it says nothing."""
    found = np.zeros(lexical.size, np.float32)
    for term in rarest(context, query, lexical):
        rows, gains = lexical.postings(term)
        found[rows] += gains
    return found / (found.max(initial=0) or np.float32(1))
