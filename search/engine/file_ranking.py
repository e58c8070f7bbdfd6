"""Scores of whole files for a question: what people ask for is often a file, whatever method of it matches best.

The score of a file is the sum of

- BM25 (:mod:`retrieval.bm25_formula`) over its text, with each word of its name and folders counted several times,
  divided by the best file's;
- ``STEM`` times sqrt(c) f, where c is the share of the question's words, by their idf, that its name has, and f is the
  share of its name's words that the question has;
- ``FOLDERS`` times the share of the question's words, by their idf, that its folders have;
- ``DEFINES`` if the question is a single name, and the file defines it, and half as much again if it is called so.

Tests then keep a tenth of it, unless the question asks for them, and files that only gather others (``__init__.py``)
four fifths. The numbers were fitted on typed questions about eight projects (docs/search.md).
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np
import Stemmer
from jaxtyping import Bool, Float, Float32

from retrieval.bm25_formula import gains, idf
from retrieval.stop_words import STOP_WORDS
from search.files.file_words import path_stems
from search.index.file_index import FileIndex

K1: Final = 10.0
"""Term frequency saturation; the length of a file does not count."""
TIMES: Final = {"text": 1, "comments": 1, "stem": 20, "folders": 10}
"""How often each occurrence counts, by its place."""
STEM: Final = 1.5
FOLDERS: Final = 0.2
DEFINES: Final = 1.0
TEST_SHARE: Final = 0.1
GATHERING_SHARE: Final = 0.8
_GATHERING: Final = frozenset(
    ("__init__.py", "index.js", "index.ts", "package-info.java", "module-info.java", "doc.go")
)
_ASKING: Final = frozenset(("how", "what", "where", "which", "when", "why", "does", "do"))
"""Words that begin a question and say nothing about its subject."""


class FileRanking:
    """Scores of the files of an index."""

    def __init__(self, files: FileIndex, paths: Sequence[str], tests: Bool[np.ndarray, " files"]) -> None:
        """``paths`` and ``tests``: of each file its path, and whether it is a test."""
        self._files, self._paths, self._tests = files, paths, tests

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
        asked = [word for word in words if word not in STOP_WORDS and word not in _ASKING] or words
        stem = Stemmer.Stemmer("english").stemWord
        terms = list(dict.fromkeys(map(stem, asked)))
        size = len(self._paths)
        found = np.zeros(size)
        in_stem, in_folders, total = np.zeros(size), np.zeros(size), 0.0
        matched = np.zeros(size)
        for term in terms:
            files, part = self._files.postings(term)
            counts = {kind: each[part].astype(np.int64) for kind, each in self._files.counts.items()}
            kinds = [kind for kind in TIMES if comments or kind != "comments"]
            times = np.sum([TIMES[kind] * counts[kind] for kind in kinds], axis=0)
            holders = np.count_nonzero(times)
            weight = idf(np.array([holders]), size)
            total += float(weight[0])
            found[files] += gains(np.repeat(weight, len(times)), times, np.full(len(times), K1))
            in_stem[files] += weight * (counts["stem"] > 0)
            matched[files] += counts["stem"] > 0
            in_folders[files] += weight * (counts["folders"] > 0)
        found /= found.max(initial=0) or 1
        total = total or 1.0
        found += STEM * np.sqrt(in_stem / total) * (matched / self._stem_lengths) + FOLDERS * in_folders / total
        found += self._defining(query)
        found[self._gathering] *= GATHERING_SHARE
        if not for_tests:
            found[self._tests] *= TEST_SHARE
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
                found[place] = DEFINES * (1.5 if called else 1.0)
        return found

    @cached_property
    def _stem_lengths(self) -> Float32[np.ndarray, " files"]:
        """The number of distinct words of each file's name, at least 1."""
        return np.array([max(1, len(set(path_stems(path)[0]))) for path in self._paths], np.float32)

    @cached_property
    def _gathering(self) -> Bool[np.ndarray, " files"]:
        return np.array([path.rpartition("/")[2] in _GATHERING for path in self._paths], np.bool_)
