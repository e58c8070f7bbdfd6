"""Code like a piece of code: BM25 over its words, vectors of code, and runs of tokens in common; copies first.

Candidates are the rows that are best by BM25 (``word_index.py``) for the words of its identifiers and of the names
that it calls, and those whose vectors are nearest to its own, which the bi-encoder makes of it as of a row. Their
score is the sum of BM25's, standardised, and with weights of :class:`CodeWeights` the cosine of the vectors and the
overlap of the tokens (:mod:`search.snippets.code_text`), also standardised. No word of it is left out as a common one
but those of BM25, and names do not count more than in BM25; the model that aligns questions with code plays no part
(docs/search.md has what each is worth).
"""

from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Final

import numpy as np

from data_prep.languages.identifiers import split_identifier
from data_prep.records import WORD_FIELDS
from data_prep.store.arrays import Bool, Float, Int64, Ragged, z_scores
from data_prep.store.split import Split, Texts
from search.engine.engine import Engine
from search.engine.evidence import folded
from search.engine.signals import Candidates
from search.index.vectors import DenseRetriever
from search.snippets.code_text import Copy, Tokens

SHORTLIST: Final = 300
"""Rows that are best by BM25 and become candidates."""


@dataclass(frozen=True, slots=True)
class CodeWeights:
    """What is added to BM25's score; chosen on scikit-learn (docs/search.md)."""

    vector_weight: float = 0.5
    """Weight of the vectors' cosine."""
    overlap: float = 1.0
    """Weight of the overlap of tokens."""
    copies: bool = True
    """Whether copies come first."""


@dataclass(frozen=True, slots=True)
class CodeQuery:
    """A piece of code to look for."""

    tokens: Sequence[str]  # words of its identifiers
    api: Sequence[str]  # the names that it calls
    text: Tokens
    name: Sequence[str] = ()  # words of its own name

    @property
    def words(self) -> list[str]:
        """All its words, split like identifiers."""
        return [*self.name, *self.tokens, *chain.from_iterable(map(split_identifier, self.api))]

    @property
    def split(self) -> Split:
        """The same as a row of an index."""
        lists = {"name": self.name, "tokens": self.tokens, "api": self.api}
        lexicon = sorted({*chain.from_iterable(lists.values())})
        places = {word: number for number, word in enumerate(lexicon)}
        words = {field: Ragged.of([[places[word] for word in lists.get(field, ())]]) for field in WORD_FIELDS}
        return Split("query", lexicon, words, Texts.of(()))


@dataclass(frozen=True, slots=True)
class CodeHit:
    """A row that is like a piece of code."""

    rank: int  # 1-based
    row: int
    score: float  # higher is better, within this query only
    lexical: float  # by BM25
    near: float | None  # the cosine of the vectors; None if there are none
    overlap: float  # of the tokens, 0 to 1
    copy: Copy
    copies: Sequence[int] = ()  # rows with the same text, which are no hits of their own


class CodeSearch:
    """Finds code like a piece of code in the index of an engine."""

    def __init__(self, engine: Engine, weights: CodeWeights | None = None) -> None:
        """``engine``: whose index and vectors are searched."""
        self.index, self.weights = engine.index, weights or CodeWeights()
        self._allowed = engine.allowed
        self._retriever = engine.retriever if isinstance(engine.retriever, DenseRetriever) else None
        self._tokens = lru_cache(maxsize=4096)(self.tokens)

    def like(
        self,
        code: CodeQuery,
        *,
        top: int = 10,
        path: str = "",
        languages: Collection[str] = (),
        without: Collection[int] = (),
        files: Collection[str] | None = None,
        fold: bool = True,
    ) -> list[CodeHit]:
        """The rows that are most like ``code``, copies of it first; a unit around a copy is not one beside it.

        Args:
            code: what is looked for.
            top: how many.
            path: a pattern that the paths of hits must match; empty: all.
            languages: names of languages that hits must be in; empty: all.
            without: rows that are left out.
            files: paths of files that hits must be in; None: all.
            fold: whether identical text is one hit.
        """
        allowed = self._allowed(path, languages, files).copy()
        allowed[list(without)] = False
        rows, lexical, near = self._candidates(code, allowed)
        tokens = [self._tokens(row) for row in rows.tolist()]
        overlap = np.array([code.text.overlap(each) for each in tokens])
        scores = z_scores(lexical.astype(np.float64)) + self.weights.overlap * z_scores(overlap)
        if near is not None:
            scores += self.weights.vector_weight * z_scores(near.astype(np.float64))
        copies: list[Copy] = self._innermost([code.text.copy_in(each) for each in tokens], rows)
        kind = np.array([_ORDER.index(each) if self.weights.copies else 0 for each in copies], np.int64)
        order = np.lexsort((rows, -scores, np.where(kind > 0, -overlap, 0.0), -kind))
        found = Candidates(rows, scores, lexical, None, near, np.zeros(len(rows)))
        groups: list[tuple[int, list[int]]] = [(place, []) for place in order[:top].tolist()]
        if fold:
            groups = folded(self.index, found, order, top, by_file=False)
        return [
            CodeHit(
                rank=rank,
                row=int(rows[place]),
                score=float(scores[place]),
                lexical=float(lexical[place]),
                near=None if near is None else float(near[place]),
                overlap=float(overlap[place]),
                copy=copies[place],
                copies=rows[others].tolist(),
            )
            for rank, (place, others) in enumerate(groups, start=1)
        ]

    def changed(self, weights: CodeWeights) -> "CodeSearch":
        """The same search with other weights; tokens that have been read are shared."""
        other = copy(self)
        other.weights = weights
        return other

    def tokens(self, row: int) -> Tokens:
        """The tokens of a row."""
        text = self.index.split.text(row)
        return Tokens.of_unit(text.source, text.path)

    def _candidates(
        self, code: CodeQuery, allowed: Bool[np.ndarray, " rows"]
    ) -> tuple[Int64[np.ndarray, " found"], Float[np.ndarray, " found"], Float[np.ndarray, " found"] | None]:
        """Ascending rows, their scores by BM25, and their cosines."""
        lexical = self.index.lexical.scores(code.words) if code.words else np.zeros(len(self.index), np.float32)
        rows = np.flatnonzero(allowed & (lexical > 0))
        if len(rows) > SHORTLIST:
            rows = rows[np.argpartition(-lexical[rows], SHORTLIST - 1)[:SHORTLIST]]
        if self._retriever is None or not code.words:
            rows = np.sort(rows)
            return rows, lexical[rows], None
        vector = self._retriever.code_vector(code.split)
        near = self._retriever.nearest_to(vector)
        rows = np.unique(np.concatenate([rows, near[allowed[near]]]))
        return rows, lexical[rows], self._retriever.similarity(vector, rows)

    def _innermost(self, copies: list[Copy], rows: Int64[np.ndarray, " found"]) -> list[Copy]:
        """The copies without those that only surround another one of the same file."""
        places = [(place, self.index.split.text(int(rows[place]))) for place, copy in enumerate(copies) if copy]
        for place, outer in places:
            if any(
                other != place
                and inner.path == outer.path
                and outer.start_line <= inner.start_line
                and inner.end_line <= outer.end_line
                and (outer.end_line - outer.start_line) > (inner.end_line - inner.start_line)
                for other, inner in places
            ):
                copies[place] = ""
        return copies


_ORDER: Final[Sequence[Copy]] = ("", "near", "exact")
