"""What the paths of files say of them, whatever a question is.

- Files that gather others (``__init__.py``), and headers of longer C or C++ files.
- Code that shows or stands for other code, by its folders or its name: ``examples/``, ``benchmarks/``, ``fake_db.py``.
- Which files are in the same folder.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Final

import numpy as np

from data_prep.store.arrays import Bool, Float, Float32, Int64
from search.engine.signals import best_beside
from search.files.words import GATHERING, path_stems, stem_of
from search.retrieval.word_index import FileIndex

SHOWS: Final = r"mocks?|fakes?|stubs?|fixtures?|examples?|samples?|demos?|bench(?:es|marks?)?|playground"
"""What a folder or a part of a name is called by which a file only shows or stands for other code."""
_SHOWN: Final = re.compile(rf"(?:^|[/_.-])(?:{SHOWS})(?=[/_.-])", re.IGNORECASE)
_MEANT: Final = frozenset(
    map(stem_of, ("mock", "fake", "stub", "fixture", "example", "sample", "demo", "bench", "benchmark", "playground"))
)
"""Stems by which a question means such files."""
_HEADERS: Final = frozenset(("h", "hh", "hpp", "hxx"))
_SOURCES: Final = frozenset(("c", "cc", "cpp", "cxx"))


def shown(paths: Iterable[str]) -> list[bool]:
    """Which files only show or stand for other code."""
    return [_SHOWN.search(path) is not None for path in paths]


@lru_cache(maxsize=16)
def asks_for_shown(words: tuple[str, ...]) -> bool:
    """Whether a question means such files, by its words."""
    return not _MEANT.isdisjoint(map(stem_of, words))


class FilePlaces:
    """Of the files of an index."""

    def __init__(self, paths: Sequence[str], files: FileIndex) -> None:
        """``paths`` and ``files``: of each file its path, and its words."""
        self._paths, self._files = paths, files

    @cached_property
    def stem_lengths(self) -> Float32[np.ndarray, " files"]:
        """The number of distinct words of each file's name, at least 1."""
        return np.array([max(1, len(set(path_stems(path)[0]))) for path in self._paths], np.float32)

    @cached_property
    def gathering(self) -> Bool[np.ndarray, " files"]:
        """Files that gather others."""
        return np.array([path.rpartition("/")[2] in GATHERING for path in self._paths], np.bool_)

    @cached_property
    def shown(self) -> Bool[np.ndarray, " files"]:
        """Those of :func:`shown`."""
        return np.array(shown(self._paths), np.bool_)

    @cached_property
    def headers(self) -> Bool[np.ndarray, " files"]:
        """Headers of longer files, by their words."""
        names = (path.rpartition("/")[2].rpartition(".") for path in self._paths)
        known = [(stem, suffix, length) for (stem, _, suffix), length in zip(names, self._files.lengths, strict=True)]
        longest: dict[str, int] = {}
        for stem, suffix, length in known:
            if suffix in _SOURCES:
                longest[stem] = max(length, longest.get(stem, 0))
        found = [suffix in _HEADERS and longest.get(stem, 0) > length for stem, suffix, length in known]
        return np.array(found, np.bool_)

    def best_around(self, scores: Float[np.ndarray, " files"]) -> Float[np.ndarray, " files"]:
        """The best score of another file of the same folder, for each file; 0 if none is above 0."""
        order, folders = self._by_folder
        found = np.empty(len(scores))
        found[order] = best_beside(scores[order], folders)
        return found

    @cached_property
    def _by_folder(self) -> tuple[Int64[np.ndarray, " files"], Int64[np.ndarray, " files"]]:
        """The files ordered by their folders, and the number of each one's folder."""
        numbers: dict[str, int] = {}
        of_files = [numbers.setdefault(path.rpartition("/")[0], len(numbers)) for path in self._paths]
        folders = np.array(of_files, np.int64)
        order = np.argsort(folders, kind="stable")
        return order, folders[order]
