"""Scores of whole files for a question: what people ask for is often a file, whatever method of it matches best.

The score of a file is the sum of (names: :class:`FileWeights`)

- BM25 (:mod:`search.retrieval.word_index`) over its text, with each word of its name and folders counted several times,
  divided by the best file's;
- ``stem`` times sqrt(c) f, where c is the share of the question's words, by their idf, that its name has, and f is the
  share of its name's words that the question has;
- ``folders`` times the share of the question's words, by their idf, that its folders have;
- ``lead`` if its name has the first word of the question;
- ``has`` times the share of the question's words, by their idf, that it has anywhere;
- ``head`` times the share of those, by their idf, that are first in a comment at its beginning;
- ``callers`` times BM25 over the words of those who call what it defines
  (:func:`search.index.read_part.callers_index`), divided by the best file's;
- ``defines`` if the question is a single name, and the file defines it, and half as much again if it is called so.

The idf of the words of its :func:`subject`, and of those that it has twice, is raised by ``subject`` times it.

Other spellings of a word (:mod:`search.engine.path_reading`) count ``spelling`` times in names and folders.

Tests then keep ``test_share`` of it, unless the question asks for them, and files that only gather others
(``__init__.py``) ``gathering_share``, headers of longer files ``header_share``, and examples, benchmarks and the like
(:mod:`search.engine.file_places`) half. At last each gains ``around`` times the best score of another file of its
folder, of which it keeps as much. The defaults were fitted on typed questions (docs/search-settings.md).
"""

import ctypes
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import dropwhile, takewhile
from typing import Final

import numpy as np

from data_prep.store.arrays import Bool, Float, Int64
from search.engine.file_places import FilePlaces, asks_for_shown
from search.engine.path_reading import Spellings
from search.engine.signals import begins
from search.files.words import (
    ASKING,
    BREAKS,
    SAYS_NOTHING,
    SELDOM,
    STOP_WORDS,
    pieces,
    stem_of,
    stems_of,
)
from search.index.code_index import Index
from search.retrieval.exact import given, search_loops
from search.retrieval.word_index import HEAD, KINDS, Bm25Index, FileIndex, gains, idf

_Others = Mapping[str, Mapping[str, float]]
_Counted = tuple[Int64[np.ndarray, " found"], Int64[np.ndarray, " found"], Mapping[str, Float[np.ndarray, " found"]]]
COMMON: Final = 3
"""Files that have a word from which on a part of a name may be that word."""
_RUN: Final = re.compile(r"\w+")
_SHOWN_SHARE: Final = 0.5
"""What a file keeps that only shows or stands for other code."""


@dataclass(frozen=True, slots=True)
class FileWeights:
    """What each part of a file's score counts."""

    k1: float = 10.0
    """Term frequency saturation of BM25; the length of a file does not count."""
    stem: float = 2.0
    """The gain of a name that has all words of the question and no others."""
    folders: float = 0.4
    """The gain of folders that have all words of the question."""
    lead: float = 0.4
    """The gain of a name that has the first word of the question, which is mostly its subject."""
    has: float = 0.3
    """The gain of a file that has all words of the question anywhere."""
    head: float = 0.4
    """The gain of a file that has all words of the question in comments at its beginning."""
    subject: float = 1.0
    """What the words before the first preposition of a question, and repeated ones, count more than the others."""
    callers: float = 0.15
    """The gain of the file whose callers' names and comments have the question's words most."""
    defines: float = 1.0
    """The gain of a file that defines the single name that the question is."""
    test_share: float = 0.1
    """What a test keeps of its score, unless tests are asked for."""
    gathering_share: float = 0.9
    """What a file that only gathers others keeps."""
    header_share: float = 0.7
    """What a header keeps if a longer file of the same name has what it declares."""
    around: float = 0.05
    """The gain of a file beside which one stands that has a score of 1."""
    most_terms: int = 6
    """Words from which on a question is rather about one function: files count less, the more it has."""
    stem_times: int = 20
    """How often each word of the file's name counts in BM25; words of its text and comments count once."""
    folder_times: int = 10
    """How often each word of its folders counts."""
    spelling: float = 0.7
    """What another spelling of a word counts in names and folders."""

    @property
    def times(self) -> Mapping[str, int]:
        """How often each occurrence counts in BM25, by its place."""
        return {"text": 1, "comments": 1, "stem": self.stem_times, "folders": self.folder_times}


DEFAULT: Final = FileWeights()


def stemmed(words: Sequence[str]) -> Mapping[str, str]:
    """The words of a question that say something about its subject, all if none does, with their stems."""
    return _stemmed(tuple(words))


@lru_cache(maxsize=16)  # one question's are needed several times
def _stemmed(words: tuple[str, ...]) -> Mapping[str, str]:
    asked = [word for word in words if not (is_common(word) or word in SELDOM)] or words
    return {piece: stem_of(piece) for word in asked for piece in pieces(word)}


@lru_cache(maxsize=16)
def subject(query: str) -> frozenset[str]:
    """The stems of the words before a question's first preposition or auxiliary verb, and of those that it has twice.

    Messages and paths have none.
    """
    runs = [*dropwhile(BREAKS.__contains__, (run for run in _RUN.findall(query) if run.lower() not in ASKING))]
    if query[-1:] in (".", "!") or "/" in query or "\\" in query:
        return frozenset()
    own = [*takewhile(lambda run: run.lower() not in BREAKS, runs)]
    every = Counter(stem for run in runs for stem in stems_of(run))
    first = {stem for run in own for stem in stems_of(run) if len(own) < len(runs)}
    return frozenset(first | {stem for stem, number in every.items() if number > 1})


def says_nothing(words: Sequence[str]) -> bool:
    """Whether a question has only words that say nothing about its subject, or by which people ask and explain."""
    return all(is_common(word) or word in SAYS_NOTHING for word in words)


def is_common(word: str) -> bool:
    """Whether a word says nothing about the subject of a question."""
    return word in STOP_WORDS or word in ASKING


def _counted_at_once(
    library: ctypes.CDLL, index: FileIndex, parts: Sequence[tuple[str, int, float | None]]
) -> _Counted:
    """As :meth:`FileRanking._counted`, by the compiled loop; in any order.

    Args:
        library: that has it.
        index: of the files.
        parts: what is looked for, the number of its term, and what it counts in names; None: it is the term itself.
    """
    own = [(index.part(part), number, share is None) for part, number, share in parts]
    bounds = np.array([(part.start, part.stop, *more) for part, *more in own], np.int64).reshape(-1, 4)
    shares = np.array([1.0 if share is None else share for *_, share in parts])
    room = int((bounds[:, 1] - bounds[:, 0]).sum())
    terms, files, counts = np.empty(room, np.int64), np.empty(room, np.int64), np.empty((len(KINDS) + 1, room))
    read = bounds, shares, index.files, *(index.counts[kind] for kind in KINDS), index.places, index.place_edges
    numbers = map(ctypes.c_int64, (len(parts), room, HEAD))
    slots = np.full(len(index), -1)
    found = library.count_in_files(*given(*read, terms, files, counts, slots), *numbers)
    return terms[:found], files[:found], dict(zip((*KINDS, "head"), counts[:, :found], strict=True))


class FileRanking:
    """Scores of the files of an index."""

    def __init__(
        self,
        files: FileIndex,
        paths: Sequence[str],
        tests: Bool[np.ndarray, " files"],
        weights: FileWeights = DEFAULT,
        callers: Bm25Index | None = None,
    ) -> None:
        """``paths`` and ``tests``: of each file its path, and whether it is a test; ``callers``: as an index has it."""
        self._files, self._paths, self._tests, self._weights = files, paths, tests, weights
        self._callers, self._places = callers, FilePlaces(paths, files)
        self._kept = lru_cache(maxsize=4)(self._shares)

    def scores(
        self, words: Sequence[str], query: str, *, for_tests: bool, comments: bool = True
    ) -> Float[np.ndarray, " files"]:
        """The score of each file, 0 or more.

        Args:
            words: of the question.
            query: as typed.
            for_tests: whether it asks for tests.
            comments: whether words of comments count.
        """
        own = self._weights
        asked = stemmed(words)
        terms = list(dict.fromkeys(asked.values()))
        spelt = self._spellings.of(asked) if own.spelling else {}
        found = self._by_words(terms, spelt, subject(query) if own.subject else (), comments=comments)
        if own.callers and self._callers and terms and len(found):
            files, gained = zip(*map(self._callers.postings, terms), strict=True)
            called = np.bincount(np.concatenate(files), np.concatenate(gained), len(found))
            found += own.callers / (called.max() or 1.0) * called
        for file, gain in self._defining(query):
            found[file] += gain
        kept = self._kept(for_tests=for_tests, is_shown=for_tests or asks_for_shown(tuple(words)))
        found *= kept
        if own.around:
            found += own.around * kept * self._places.best_around(found) * (found > 0)
        return found * min(1.0, own.most_terms / max(1, len(terms)))

    def _shares(self, *, for_tests: bool, is_shown: bool) -> Float[np.ndarray, " files"]:
        """What each file keeps of its score; ``for_tests`` and ``is_shown``: whether tests and examples keep it all."""
        own, places = self._weights, self._places
        kept = np.where(places.gathering, own.gathering_share, 1.0) * np.where(places.headers, own.header_share, 1.0)
        if not for_tests:
            kept *= np.where(self._tests, own.test_share, 1.0)
        return kept if is_shown else kept * np.where(places.shown, _SHOWN_SHARE, 1.0)

    def _by_words(
        self, terms: Sequence[str], others: _Others, raised: Collection[str], *, comments: bool
    ) -> Float[np.ndarray, " files"]:
        """The gains of the words of a question, by their stems, some ``raised``, and ``others`` of names."""
        size, own = len(self._paths), self._weights
        of_term, files, counts = self._counted(terms, others)
        if not len(files):
            return np.zeros(size)
        counted = (number * counts[kind] for kind, number in own.times.items() if comments or kind != "comments")
        times = reduce(np.add, counted)
        weights = idf(np.bincount(of_term[times > 0], minlength=len(terms)), size)
        weights = weights * [1.0 + own.subject * (term in raised) for term in terms] if raised else weights
        total, weight = float(np.cumsum(weights)[-1]), weights[of_term]
        found = np.bincount(files, gains(weight, times, np.full(len(times), own.k1)), size)
        found = found / (found.max(initial=0) or 1)
        has = {kind: np.minimum(counts[kind], 1.0) for kind in ("stem", "folders")}
        in_stem, in_folders = (np.bincount(files, weight * each, size) for each in has.values())
        matched = np.minimum(np.bincount(files, has["stem"], size) / self._places.stem_lengths, 1.0)
        first = np.bincount(files, (of_term == 0) * has["stem"], size)
        return (
            found
            + (own.stem * np.sqrt(in_stem / total) * matched + own.folders * in_folders / total)
            + own.lead * first
            + own.has / total * np.bincount(files, weight * (times > 0), size)
            + own.head * comments / total * np.bincount(files, weight * counts["head"], size)
        )

    def _counted(self, terms: Sequence[str], others: _Others) -> _Counted:
        """The numbers of terms, the files that have them, and how often by the place; others count in names alone."""
        spelling = self._weights.spelling
        parts = [
            (part, number, None if share is None else spelling * share)
            for number, term in enumerate(terms)
            for part, share in ((term, None), *others.get(term, {}).items())
        ]
        if (library := search_loops()) is not None and type(self._files) is FileIndex:
            return _counted_at_once(library, self._files, parts)
        of_part, files, found = self._files.postings([part for part, _, _ in parts])
        own = np.array([share is None for *_, share in parts])[of_part]
        kept = own | ((found["stem"] | found["folders"]) > 0)
        of_part, files, own = of_part[kept], files[kept], own[kept]
        keys = np.array([number for _, number, _ in parts])[of_part] * len(self._paths) + files
        counted = np.array([1.0 if share is None else share for *_, share in parts])[of_part]
        order = np.argsort(keys, kind="stable")
        first = begins(keys[order])
        places = np.cumsum(first) - 1  # a file may have several spellings of a word
        shares = {"stem": counted, "text": own, "folders": counted, "comments": own, "head": own}
        own_counts = {kind: (counts[kept] * shares[kind])[order] for kind, counts in found.items()}
        every = {kind: np.bincount(places, each).astype(np.float64) for kind, each in own_counts.items()}
        return *np.divmod(keys[order][first], len(self._paths)), every

    def _defining(self, query: str) -> Iterator[tuple[int, float]]:
        """The files that define the single name that the question is, and what each gains."""
        name = query.strip().rstrip("()").replace("#", ".").rpartition(".")[2].lower()
        if not name.replace("$", "_").isidentifier() or len(query.split()) > 1:
            return
        for place in self._defined.get(name, ()):
            called = self._paths[place].rpartition("/")[2].split(".")[0].lower() == name
            yield place, self._weights.defines * (1.5 if called else 1.0)

    @cached_property
    def _defined(self) -> Mapping[str, Sequence[int]]:
        """Name -> the files that define it."""
        found: dict[str, list[int]] = {}
        for place, names in enumerate(self._files.names):
            for name in {*names}:
                found.setdefault(name, []).append(place)
        return found

    @cached_property
    def _spellings(self) -> Spellings:
        return Spellings(self._files.named, self._paths, self._files.common(COMMON))


def file_ranking(index: Index, weights: FileWeights = DEFAULT) -> FileRanking:
    """The ranking of the files of an index."""
    tests = np.array([each.test for each in index.files], np.bool_)
    return FileRanking(index.whole, [each.path for each in index.files], tests, weights, index.callers)
