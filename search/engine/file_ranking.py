"""Scores of whole files for a question: what people ask for is often a file, whatever method of it matches best.

The score of a file is the sum of (names: :class:`FileWeights`)

- BM25 (:mod:`baselines.bm25.formula`) over its text, with each word of its name and folders counted several times,
  divided by the best file's;
- ``stem`` times sqrt(c) f, where c is the share of the question's words, by their idf, that its name has, and f is the
  share of its name's words that the question has;
- ``folders`` times the share of the question's words, by their idf, that its folders have;
- ``defines`` if the question is a single name, and the file defines it, and half as much again if it is called so.

Tests then keep ``test_share`` of it, unless the question asks for them, and files that only gather others
(``__init__.py``) ``gathering_share``. The defaults were fitted on typed questions about eight projects
(docs/search.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import Stemmer
from jaxtyping import Bool, Float, Float32

from baselines.bm25.formula import gains, idf
from data_prep.languages.registry import languages
from search.files.file_words import path_stems
from search.index.code_index import Index
from search.retrieval.bm25_index import STOP_WORDS, FileIndex

_GATHERING: Final = frozenset(name for language in languages() for name in language.gathering_files)
_ASKING: Final = frozenset(("how", "what", "where", "which", "when", "why", "does", "do"))
"""Words that begin a question and say nothing about its subject."""


@dataclass(frozen=True, slots=True)
class FileWeights:
    """What each part of a file's score counts."""

    k1: float = 10.0
    """Term frequency saturation of BM25; the length of a file does not count."""
    stem: float = 1.5
    """The gain of a name that has all words of the question and no others."""
    folders: float = 0.2
    """The gain of folders that have all words of the question."""
    defines: float = 1.0
    """The gain of a file that defines the single name that the question is."""
    test_share: float = 0.1
    """What a test keeps of its score, unless tests are asked for."""
    gathering_share: float = 0.8
    """What a file that only gathers others keeps."""
    stem_times: int = 20
    """How often each word of the file's name counts in BM25; words of its text and comments count once."""
    folder_times: int = 10
    """How often each word of its folders counts."""

    @property
    def times(self) -> Mapping[str, int]:
        """How often each occurrence counts in BM25, by its place."""
        return {"text": 1, "comments": 1, "stem": self.stem_times, "folders": self.folder_times}


DEFAULT: Final = FileWeights()


def stemmed(words: Sequence[str]) -> dict[str, str]:
    """The words of a question that say something about its subject, all if none does, with their stems."""
    asked = [word for word in words if not _is_common(word)] or words
    stem = Stemmer.Stemmer("english").stemWord
    return {word: stem(word) for word in asked}


def says_nothing(words: Sequence[str]) -> bool:
    """Whether a question has only words that say nothing about its subject."""
    return all(map(_is_common, words))


def _is_common(word: str) -> bool:
    return word in STOP_WORDS or word in _ASKING


class FileRanking:
    """Scores of the files of an index."""

    def __init__(
        self, files: FileIndex, paths: Sequence[str], tests: Bool[np.ndarray, " files"], weights: FileWeights = DEFAULT
    ) -> None:
        """``paths`` and ``tests``: of each file its path, and whether it is a test."""
        self._files, self._paths, self._tests, self._weights = files, paths, tests, weights

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
        terms = list(dict.fromkeys(stemmed(words).values()))
        size, own = len(self._paths), self._weights
        counted = {kind: times for kind, times in own.times.items() if comments or kind != "comments"}
        found = np.zeros(size)
        in_stem, in_folders, total = np.zeros(size), np.zeros(size), 0.0
        matched = np.zeros(size)
        for term in terms:
            files, found_counts = self._files.postings(term)
            counts = {kind: each.astype(np.int64) for kind, each in found_counts.items()}
            times = np.sum([each * counts[kind] for kind, each in counted.items()], axis=0)
            holders = np.count_nonzero(times)
            weight = idf(np.array([holders]), size)
            total += float(weight[0])
            found[files] += gains(np.repeat(weight, len(times)), times, np.full(len(times), own.k1))
            in_stem[files] += weight * (counts["stem"] > 0)
            matched[files] += counts["stem"] > 0
            in_folders[files] += weight * (counts["folders"] > 0)
        found /= found.max(initial=0) or 1
        total = total or 1.0
        found += own.stem * np.sqrt(in_stem / total) * (matched / self._stem_lengths) + own.folders * in_folders / total
        found += self._defining(query)
        found[self._gathering] *= own.gathering_share
        if not for_tests:
            found[self._tests] *= own.test_share
        return found

    def _defining(self, query: str) -> Float[np.ndarray, " files"]:
        """The gain of files that define the single name that the question is."""
        found = np.zeros(len(self._paths))
        name = query.strip().rstrip("()").replace("#", ".").rpartition(".")[2].lower()
        if not name.replace("$", "_").isidentifier() or len(query.split()) > 1:
            return found
        for place, names in enumerate(self._files.names):
            if name in names:
                called = self._paths[place].rpartition("/")[2].split(".")[0].lower() == name
                found[place] = self._weights.defines * (1.5 if called else 1.0)
        return found

    @cached_property
    def _stem_lengths(self) -> Float32[np.ndarray, " files"]:
        """The number of distinct words of each file's name, at least 1."""
        return np.array([max(1, len(set(path_stems(path)[0]))) for path in self._paths], np.float32)

    @cached_property
    def _gathering(self) -> Bool[np.ndarray, " files"]:
        return np.array([path.rpartition("/")[2] in _GATHERING for path in self._paths], np.bool_)


def file_ranking(index: Index, weights: FileWeights = DEFAULT) -> FileRanking:
    """The ranking of the files of an index."""
    tests = np.array([each.test for each in index.files], np.bool_)
    return FileRanking(index.whole, [each.path for each in index.files], tests, weights)
