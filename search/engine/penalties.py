"""What rows gain and lose beside their scores.

They gain by passages (:mod:`search.engine.phrases`). Constants, tests, examples, catalogues of messages, what is old
and what is deep in folders lose some of their score, and types where it is said what a function does. A definition
stands before what only declares it, code that has all words of a question before a test that would be first, and of the
same file for several platforms that for Unix before those for others.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import inf, nextafter
from typing import Final

import numpy as np

from data_prep.languages.language import words as word_set
from data_prep.store.arrays import Bool, Float, Int64
from search.engine.file_places import PLATFORMS, asks_for_shown, folder_depths, platform_twins, shown
from search.engine.file_ranking import stemmed
from search.engine.messages import AS_TYPED
from search.engine.question import RankingSettings, Spelt, asks_for_tests
from search.engine.signals import begins
from search.files.generations import DEPRECATED
from search.files.words import stem_of, terms_of
from search.index.code_index import CONSTANT, UNIT_KINDS, Index
from search.retrieval.word_index import Bm25Index

DEEPEST: Final = 4
"""Folders from which on it does not count how many more a file is in."""
_CATALOGUE: Final = 20.0
"""Subtracted from the score of a catalogue of messages, which answers only what has the words of one."""
_MADE: Final = [UNIT_KINDS.index("type"), UNIT_KINDS.index("constructor")]
_DETERMINERS: Final = word_set(
    "a all an and any at by each every for from given if in into its of on one or some specified that the these this to"
    " when whenever whether which with"
)
"""What is behind the verb of a sentence that says what a function does."""
_FEW: Final = 30
"""Rows of an index over which the standardised scores of models say little: their spread is by chance."""
_IN_MESSAGE: Final = 2.0
"""What a name weighs at most that is a part of a message."""
_APART: Final = 1e-6
"""Between the scores of rows that stand behind another one."""
_EXPECTED: Final = 0.25
"""What a test weighs that has a message which other code has too, over one that has it alone."""


def says_what_is_done(words: Sequence[str]) -> bool:
    """Whether a question is written as documentation of a function is: it begins with *returns the* or *reads a*."""
    verb, behind = words[:2] if len(words) > 2 else ("", "")
    return behind in _DETERMINERS and (verb == "return" or (len(verb) > 3 and verb[-1] == "s" != verb[-2]))


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
        lost = lost + _CATALOGUE * self._catalogues[rows]
        if not (for_tests or asks_for_tests(words)):
            lost += ranking.test * self._index.tests[rows]
            lost += ranking.test * (self._shown[rows] & (not asks_for_shown(tuple(words))))
        asked = {*map(stem_of, words)}
        if asked.isdisjoint(DEPRECATED):
            lost += ranking.deprecated * (self._index.deprecated[rows] > 0)
        if ranking.made and says_what_is_done(words):
            lost += ranking.made * np.isin(self._index.kinds[rows], _MADE)
        old = [own[rows] for meant, own in self._old.items() if asked.isdisjoint(meant)]
        return lost + ranking.old * np.logical_or.reduce(old) if old else lost

    @cached_property
    def _catalogues(self) -> Bool[np.ndarray, " rows"]:
        found = [file.catalogue == "texts" and not self._index.documents for file in self._index.files]
        return self._index.per_row(np.array(found, np.bool_))

    @cached_property
    def _shown(self) -> Bool[np.ndarray, " rows"]:
        """Rows of examples and the like; those of benchmarks that are tests too lose by both."""
        return self._index.per_row(np.array(shown(file.path for file in self._index.files), np.bool_))

    @cached_property
    def depths(self) -> Int64[np.ndarray, " rows"]:
        """How many folders that have more than one entry a row's file is in, at most DEEPEST."""
        found = np.array(folder_depths([file.path for file in self._index.files]), np.int64)
        return np.repeat(np.minimum(found, DEEPEST), np.diff(self._index.file_edges))

    def usual_first(
        self,
        scores: Float[np.ndarray, " found"],
        rows: Int64[np.ndarray, " found"],
        files: Int64[np.ndarray, " found"],
        words: Sequence[str],
        passages: Mapping[int, float],
        named: Float[np.ndarray, " found"],
        *,
        for_tests: bool,
    ) -> Float[np.ndarray, " found"]:
        """The scores, without a test first, and with those of :func:`platform_twins` exchanged, unless these are meant.

        Args:
            scores: of candidates.
            rows: these, ascending.
            files: theirs.
            words: of the question.
            passages: by :meth:`Phrases.rows`; text as it is typed means the file that has it.
            named: what each gains by its name.
            for_tests: whether tests are ranked as other code is.
        """
        if not len(files) or named.any():
            return scores
        tests, first = self._index.tests, int(rows[scores.argmax()])
        if tests[first] and passages.get(first, 0.0) < AS_TYPED and not (for_tests or asks_for_tests(words)):
            scores = self._tests_behind(scores, rows, files, words)
        is_typed = max(passages.values(), default=0.0) >= AS_TYPED
        if not self.twins or is_typed or not PLATFORMS.isdisjoint(words):
            return scores
        starts = np.flatnonzero(begins(files))
        own, before = files[starts].tolist(), np.maximum.reduceat(scores, starts)
        best = dict(zip(own, before.tolist(), strict=True))
        for group in self.twins:
            there = sorted((rare, -best[file], file) for file, rare in group if file in best)
            best |= {file: -score for (*_, file), score in zip(there, sorted(each[1] for each in there), strict=True)}
        return scores + np.repeat(np.array([*best.values()]) - before, np.diff(starts, append=len(files)))

    def _tests_behind(
        self,
        scores: Float[np.ndarray, " found"],
        rows: Int64[np.ndarray, " found"],
        files: Int64[np.ndarray, " found"],
        words: Sequence[str],
    ) -> Float[np.ndarray, " found"]:
        """The scores, those of tests below that of the best code in a file that has all words, if there is one."""
        tests = self._index.tests[rows]
        held = [own for stem in {*stemmed(words).values()} if len(own := self._index.whole.having(stem))]
        has_all = np.bincount(np.concatenate([files[:0], *held]), minlength=len(self._index.files)) == len(held)
        most = scores[has_all[files] & ~tests].max(initial=-inf)
        behind = most - _APART * (1 + scores.max() - scores)  # in their order
        return np.where(tests & (scores >= most), behind, scores) if most > -inf else scores

    @cached_property
    def twins(self) -> Sequence[Sequence[tuple[int, bool]]]:
        """The :func:`platform_twins` of the index."""
        return platform_twins([file.path for file in self._index.files])

    @cached_property
    def _old(self) -> Mapping[frozenset[str], Bool[np.ndarray, " rows"]]:
        """Stems by which a question means what is old -> the rows that are."""
        found: dict[frozenset[str], Bool[np.ndarray, " files"]] = {}
        for file, meant in self._index.old.items():
            found.setdefault(meant, np.zeros(len(self._index.files), np.bool_))[file] = True
        return {meant: self._index.per_row(files) for meant, files in found.items()}


def given_to(rows: Int64[np.ndarray, " found"], given: Mapping[int, float]) -> Float[np.ndarray, " found"]:
    """What is given to each of ``rows``, which are ascending; 0 to those that are not named."""
    found = np.zeros(len(rows))
    if given and len(rows):
        own, values = np.fromiter(given, np.int64, len(given)), np.fromiter(given.values(), np.float64, len(given))
        places = rows.searchsorted(own)
        there = rows.take(places, mode="clip") == own
        found[places[there]] = values[there]
    return found


def gains_of_names(
    rows: Int64[np.ndarray, " found"], spelt: Spelt, passages: Mapping[int, float], ranking: RankingSettings
) -> Float[np.ndarray, " found"]:
    """What each of ``rows`` gains by the names in a question; less in a message that code has letter by letter.

    Args:
        rows: ascending.
        spelt: what the question names.
        passages: by :meth:`Phrases.rows`.
        ranking: the weights.
    """
    found = np.maximum(given_to(rows, spelt.own), given_to(rows, spelt.inside))
    is_name = any(gain >= ranking.exact_name_boost for gain in spelt.own.values())
    return found if is_name or max(passages.values(), default=0.0) < AS_TYPED else np.minimum(found, _IN_MESSAGE)


def raised_first(
    found: Mapping[int, float], tests: Sequence[int], raising: Mapping[int, float], *, is_message: bool
) -> dict[int, float]:
    """What rows weigh instead, so that what raises a message stands before the tests that expect it.

    So does all else before tests that have a question's words by chance, as the reason why they are left out.

    Args:
        found: what rows weigh by passages.
        tests: those that have the message letter by letter.
        raising: other code that has it, and what that weighs at least; none: nothing is changed of a message.
        is_message: whether it may be one.
    """
    if is_message and not raising:
        return {}
    best = max((found[row] for row in tests), default=0.0)
    others = {row: max(found.get(row, 0.0), weight, best) for row, weight in raising.items()}
    return others | {row: _EXPECTED * found[row] for row in tests}


def gains_of_passages(
    index: Index,
    passages: Mapping[int, float],
    rows: Int64[np.ndarray, " found"],
    files: Int64[np.ndarray, " found"],
    ranking: RankingSettings,
) -> Float[np.ndarray, " found"]:
    """What each of ``rows`` gains by its own passage and by the best one of its file.

    Args:
        index: of the rows.
        passages: by :meth:`Phrases.rows`.
        rows: ascending.
        files: of each of them.
        ranking: the weights.
    """
    of_files = np.zeros(len(index.files))
    for row, weight in passages.items():
        file = index.file_number(row)
        of_files[file] = max(of_files[file], weight)
    return ranking.phrases * given_to(rows, passages) + ranking.phrases_of_file * of_files[files]


def definitions_first(
    scores: Float[np.ndarray, " found"],
    rows: Int64[np.ndarray, " found"],
    names: Sequence[str],
    bodiless: Bool[np.ndarray, " found"],
) -> Float[np.ndarray, " found"]:
    """The scores, with a definition before what declares it: the better score of the two is its own.

    Args:
        scores: of candidates.
        rows: theirs.
        names: of all rows, with the enclosing types.
        bodiless: which of them only declare what another one may define.
    """
    if not (declared := bodiless.nonzero()[0].tolist()):
        return scores
    called = [names[row] for row in rows.tolist()]
    wanted = {called[place] for place in declared}
    others = np.array([place for place, name in enumerate(called) if name in wanted and not bodiless[place]], np.int64)
    best = {called[place]: place for place in others[np.argsort(scores[others])].tolist()}
    scores = scores.copy()
    for place in declared:
        other = best.get(called[place], place)
        if scores[other] <= scores[place]:
            scores[other], scores[place] = nextafter(scores[place], inf), scores[other]
    return scores


def words_first(
    scores: Float[np.ndarray, " found"], rows: Int64[np.ndarray, " found"], words: Sequence[str], lexical: Bm25Index
) -> Float[np.ndarray, " found"]:
    """The scores of an index of few rows, with what has all known words of a question before what has none.

    Args:
        scores: of candidates.
        rows: theirs.
        words: of the question.
        lexical: of all rows.
    """
    terms = [term for term in terms_of(words) if lexical.holders(term)] if lexical.size <= _FEW else []
    if not terms:
        return scores
    holding = [np.isin(rows, lexical.postings(term)[0]) for term in terms]
    every, none = np.logical_and.reduce(holding), ~np.logical_or.reduce(holding)
    if not every.any():
        return scores
    return np.where(none, np.minimum(scores, np.nextafter(scores[every].min(), -np.inf)), scores)
