"""From a question to ranked methods: BM25 makes a shortlist, a trained model reranks it, and both scores are fused.

For a query that is a name (``StringUtils``, ``JsonReader.nextName``), what has that name is ranked first.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from functools import cached_property, lru_cache, partial

import numpy as np

from data_prep.store.arrays import Bool, Float, Float32, Int64
from search.engine.certainty import Certainty, Judge
from search.engine.evidence import Hits, best_of_files, folded, without_doubles
from search.engine.expressions import Pattern
from search.engine.file_ranking import file_ranking
from search.engine.filters import allowed_rows, files_of_languages
from search.engine.matching import LineOwners, without_values
from search.engine.name_reading import NameReader
from search.engine.penalties import Penalties, definitions_first, gains_of_names, gains_of_passages, words_first
from search.engine.phrases import Phrases
from search.engine.question import RankingSettings, Spelt, asked_words, asks_for_tests, parted, read_by_models, words_of
from search.engine.signals import (
    Candidates,
    FileScorer,
    Hit,
    Reranker,
    Retriever,
    Rows,
    begun,
    best_beside,
    best_by_words,
    context_scores,
    fused,
    near_scores,
    places_in_files,
)
from search.index.code_index import ABSTRACT, WHOLE_FILE, Index


class Engine:
    """Answers queries over one index."""

    def __init__(
        self,
        index: Index,
        reranker: Reranker | None,
        ranking: RankingSettings | None = None,
        retriever: Retriever | None = None,
    ) -> None:
        """Create the engine.

        Args:
            index: the index to search.
            reranker: a trained model over the rows of ``index``; None: BM25 alone.
            ranking: the settings; None: the defaults.
            retriever: of vectors, which adds rows to BM25's and scores to those of ``reranker``; not used without it.
        """
        self.index, self.reranker, self.retriever, self.names = index, reranker, retriever, NameReader(index)
        self.ranking = ranking or RankingSettings()
        self._files: FileScorer = file_ranking(index)
        self.owners, self._asked = LineOwners(index), lru_cache(maxsize=16)(self._asked_of)  # asked for repeatedly

    def changed(self, ranking: RankingSettings, files: FileScorer) -> "Engine":
        """The same engine with other settings and scores of whole files; what is known of the index is shared."""
        _ = self._judge, self._phrases, self._penalties
        other = copy(self)
        other.ranking, other._files = ranking, files
        other._asked = lru_cache(maxsize=16)(other._asked_of)
        return other

    def search(
        self,
        query: str,
        *,
        top: int = 10,
        path: str = "",
        by_file: bool = False,
        languages: Collection[str] = (),
        context: Sequence[str] = (),
        files: Collection[str] | None = None,
        pattern: Pattern | None = None,
    ) -> list[Hit]:
        """The best rows for ``query``, best first; one whose text another has too stands behind it (``Hit.copies``).

        Args:
            query: a question in words, or a name; perhaps with filters (:mod:`search.engine.filters`). With a pattern
                it may be empty: hits are then in the order of their places, tests and what is old last.
            top: how many.
            path: a pattern such as ``src/*`` that the paths of hits must match; empty: all.
            by_file: only the best hit of each file.
            languages: names of languages, such as python, that hits must be in; empty: all.
            context: the words above the cursor (:func:`search.cursor.words_above`), nearest last; empty: none.
            files: paths of files that hits must be in; None: all.
            pattern: what the text of hits must match; None: anything.

        Raises:
            QueryError: the query is empty or too long, its filters leave nothing, or the pattern takes too long.
            ValueError: ``path`` is too long.
        """
        asked = self._judge.formed(parted(query, self.index, alone=pattern is not None))
        allowed = self.allowed(path, languages, files)
        if asked.filters:
            allowed &= asked.rows(self.index)
        words, spelt = self.asked(asked.text, alone=pattern is not None)
        if asked.quoted:
            allowed &= self._phrases.quoted(asked.text, comments=self.ranking.comments > 0)
        lines = pattern.lines(self.index, self.owners, allowed) if pattern else {}
        allowed = np.isin(np.arange(len(allowed)), [*lines]) if pattern else allowed
        if words:
            also, tests = [*lines][: 2 * self.ranking.shortlist], asked.with_tests
            found = self._closely(words, allowed, spelt, asked.text, context=context, for_tests=tests, also=also)
        else:
            lost = self._penalties.of(rows := np.flatnonzero(allowed), (), self.ranking, for_tests=asked.with_tests)
            found = Candidates.ordered(rows, -lost)  # in the order of their places, tests and what is old last
        found = found if by_file else without_doubles(self.index, found)
        order = found.order
        if by_file:
            order = order[np.sort(np.unique(self.index.file_numbers(found.rows[order]), return_index=True)[1])]
        groups = folded(self.index, found, order, top, by_file=by_file)
        return Hits(found.hits(groups, spelt.own, lines), found, order, pattern.typed if pattern else "")

    def certainty(self, query: str, hits: Sequence[Hit]) -> Certainty:
        """How certain it is that ``hits``, the answer to ``query``, answer it."""
        found = hits if isinstance(hits, Hits) else Hits(hits)
        asked = parted(query, self.index, alone=bool(found.pattern))
        sure = self._judge.certainty(asked.text, found, quoted=asked.quoted)
        return asked.noted(sure) if asked.unheeded else sure

    def known_to_model(self, query: str) -> Sequence[str]:
        """The words of ``query`` that the model is asked with (:meth:`search.engine.certainty.Judge.known`)."""
        return self._judge.known(self.asked(query, alone=True)[0], self.reranker)

    def rank(self, words: Sequence[str], row: int, query: str = "", context: Sequence[str] = ()) -> int:
        """The rank of ``row`` for the words of a query, among all rows; ties count against it.

        Rows that are not candidates follow those that are, in BM25's order. ``query`` is the text as typed, in case it
        contains a name; ``context`` as in :meth:`search`.
        """
        words, spelt = self.asked(query) if query else (words, Spelt())
        found = self._closely(words, np.ones(len(self.index), dtype=np.bool_), spelt, query, context=context)
        place = int(np.searchsorted(found.rows, row))
        if place < len(found.rows) and found.rows[place] == row:
            return int(np.count_nonzero(found.scores >= found.scores[place]))
        lexical = self.index.lexical.scores(words)
        lexical[found.rows] = np.inf
        return int(np.count_nonzero(lexical >= lexical[row]))

    def shortlist(self, words: Sequence[str], query: str = "") -> Rows:
        """The candidates for the words of a query, as ascending rows; ``query`` as in :meth:`rank`."""
        words, spelt = self.asked(query) if query else (words, Spelt())
        lexical = self.index.lexical.scores(words)
        allowed = np.ones(len(self.index), dtype=np.bool_)
        also = best_of_files(self.index, self._of_files(words, query), lexical, allowed)
        also = [*self._also(spelt, lexical), *also, *self._passages(words, query)]
        return self._shortlist(words, self._first(words, lexical, allowed), allowed, also)

    def asked(self, query: str, *, alone: bool = False) -> tuple[Sequence[str], Spelt]:
        """The words of ``query`` to search for, without those of a type's name, and what it names.

        Raises:
            QueryError: the query is too long, or empty, which one that may be left out (``alone``) may be.
        """
        return self._asked(query, alone)

    def _asked_of(self, query: str, alone: bool) -> tuple[Sequence[str], Spelt]:
        query = self._judge.formed(parted(query, self.index, alone=alone)).text
        if alone and not query.strip():
            return (), Spelt()
        words, spelt = words_of(query), self.names.spelt(query, self.ranking)
        return self._judge.telling(asked_words(spelt.rest) or words), spelt

    def _closely(
        self,
        words: Sequence[str],
        allowed: Bool[np.ndarray, " rows"],
        spelt: Spelt,
        query: str,
        *,
        context: Sequence[str] = (),
        for_tests: bool = False,
        also: Sequence[int] = (),
    ) -> Candidates:
        """The candidates, ``also`` some rows that are allowed, and their scores."""
        ranking, lexical, known = self.ranking, self.index.lexical.scores(words), self._judge.known
        first = self._first(words, lexical, allowed)
        early = begun(self.reranker, known(words, self.reranker), first) if self.reranker else None
        of_files, passages = self._of_files(words, query, for_tests=for_tests), self._passages(words, query)
        named = [row for row in [*self._also(spelt, lexical), *passages] if allowed[row]]
        also = [*also, *named, *best_of_files(self.index, of_files, lexical, allowed)]
        rows = self._shortlist(words, first, allowed, also)
        scored = early(rows) if early and len(rows) else None  # meanwhile the rest is done
        files, neural, near, share = self.index.file_numbers(rows), None, None, read_by_models(words, self.reranker)
        kinds = self.index.kinds[rows]
        lost = self._penalties.of(rows, asked_words(query) or words, ranking, for_tests=for_tests)
        gained = gains_of_passages(self.index, passages, rows, files, ranking)
        if scored:
            near = near_scores(self.retriever, known(words, self.retriever), rows, context) if self.retriever else None
            neural = scored()
        scores = fused(lexical[rows], neural, near, share * ranking.weight, share * ranking.weight_of(self.retriever))
        scores += ranking.context * context_scores(context, words, self.index.lexical)[rows] if context else 0.0
        if ranking.files:
            scores[kinds == WHOLE_FILE] = ranking.whole  # the score of the file says more
        scores -= lost
        if neural is not None:
            scores += ranking.file * best_beside(scores, files)
        scores += ranking.files * (of_file := of_files[files]) + gained - ranking.depth * self._penalties.depths[rows]
        scores += (named_more := gains_of_names(rows, spelt, passages, ranking))
        scores -= ranking.beside * places_in_files(scores, files) * (named_more == 0)
        scores = definitions_first(scores, rows, self.index.names, kinds == ABSTRACT)
        scores = self._penalties.usual_first(scores, rows, files, words, passages, named_more, for_tests=for_tests)
        if neural is not None and not (passages or spelt.own):
            scores = words_first(scores, rows, words, self.index.lexical)
        return Candidates(rows, scores, lexical[rows], neural, near, of_file)

    def _passages(self, words: Sequence[str], query: str) -> Mapping[int, float]:
        """The rows that have words of the question in their order, and what that weighs."""
        if not (self.ranking.phrases or self.ranking.phrases_of_file):
            return {}
        return self._phrases.rows(asked_words(query) or words, comments=self.ranking.comments > 0, typed=query)

    def _of_files(self, words: Sequence[str], query: str, *, for_tests: bool = False) -> Float[np.ndarray, " files"]:
        """The score of each whole file for the words of a query, and for the query as typed if that is known.

        0 if these weigh nothing.
        """
        if not self.ranking.files:
            return np.zeros(len(self.index.files))
        asked = without_values(self.index, asked_words(query)) or words
        for_tests, comments = for_tests or asks_for_tests(asked), self.ranking.comments > 0
        return self._files.scores(asked, query, for_tests=for_tests, comments=comments)

    def _also(self, spelt: Spelt, lexical: Float32[np.ndarray, " rows"]) -> list[int]:
        """The rows that the query names, and of those in the types or files that it names the best by BM25."""
        if not spelt.inside:
            return [*spelt.own]
        members = np.fromiter(spelt.inside, np.int64, len(spelt.inside))
        best = members[np.argsort(-lexical[members], kind="stable")[: 2 * self.ranking.shortlist]]
        return [*{*spelt.own, *best.tolist()}]

    def _first(
        self, words: Sequence[str], lexical: Float32[np.ndarray, " rows"], allowed: Bool[np.ndarray, " rows"]
    ) -> Rows:
        """The candidates by BM25, of few rows all, as ascending rows."""
        read = self._judge.known(words, self.reranker) if self.reranker else ()
        if read and len(self.index) <= self.ranking.read_all_below:
            return np.flatnonzero(allowed)
        return best_by_words(lexical, allowed, self.ranking.shortlist)

    def _shortlist(
        self,
        words: Sequence[str],
        first: Int64[np.ndarray, " first"],
        allowed: Bool[np.ndarray, " rows"],
        named: Sequence[int],
    ) -> Rows:
        """The candidates, as ascending rows: the ``first`` ones, those nearest and those that are ``named``."""
        if len(first) == np.count_nonzero(allowed):
            return first
        chosen = np.zeros(len(allowed), np.bool_)
        chosen[first] = True
        if self.retriever and self.reranker:
            near = self.retriever.nearest(self._judge.known(words, self.retriever))
            chosen[near] = allowed[near]
        chosen[list(named)] = True
        return np.flatnonzero(chosen)

    @cached_property
    def _judge(self) -> Judge:
        return Judge(self.index, self.names, self.owners, self._phrases)

    @cached_property
    def _phrases(self) -> Phrases:
        return Phrases(self.index, self.owners, self.names)

    @cached_property
    def _penalties(self) -> Penalties:
        return Penalties(self.index)

    @cached_property
    def _speaking(self) -> Callable[[frozenset[str]], Bool[np.ndarray, " files"]]:
        """Which files are of some languages."""
        return lru_cache(maxsize=16)(partial(files_of_languages, self.index))

    @cached_property
    def languages(self) -> Mapping[str, int]:
        """The number of files of each language, by name."""
        return dict(sorted(Counter(file.language for file in self.index.files).items()))

    def allowed(
        self, path: str, languages: Collection[str], files: Collection[str] | None = None
    ) -> Bool[np.ndarray, " rows"]:
        """Which rows are in files that match ``path`` and are among ``languages`` and ``files``: :meth:`search`."""
        if not (path or languages) and files is None:
            return np.ones(len(self.index), np.bool_)
        return allowed_rows(self.index, path, self._speaking(frozenset(languages)) if languages else None, files)
