"""What the paths of files say of them, whatever a question is.

- Files that gather others (``__init__.py``), and headers of longer C or C++ files.
- Code that shows or stands for other code, by its folders or its name: ``examples/``, ``benchmarks/``, ``fake_db.py``.
- Which files are in the same folder, how many folders a file is in, and which files are one for several platforms.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Final

import numpy as np

from data_prep.languages.language import words as word_set
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


_USUAL: Final = word_set("unix posix linux darwin macos nix generic default other")
PLATFORMS: Final = _USUAL | word_set(
    "windows win win32 win64 mingw msvc cygwin aix haiku os390 plan9 solaris sunos wasm wasi"
)
"""Names of platforms, and of what is not for one of them."""
_PATH_PARTS: Final = re.compile(r"[A-Z]?[a-z]+\d*|[A-Z]+\d*")


def platform_twins(paths: Sequence[str]) -> list[list[tuple[int, bool]]]:
    """Groups of files whose paths differ by the name of a platform: their numbers, and whether it is seldom meant."""
    found: dict[tuple[str, str], list[tuple[int, bool]]] = {}
    lower = [path.lower() for path in paths]
    all_paths = "\n".join(lower)
    names = [name for name in PLATFORMS if name in all_paths]
    if _USUAL.issuperset(names):
        return []  # as for most projects
    for number in (number for number, path in enumerate(lower) if any(name in path for name in names)):
        path = paths[number]
        for part in _PATH_PARTS.finditer(path):
            if (name := part[0].lower()) in PLATFORMS:
                around = path[: part.start()].lower(), path[part.end() :].lower()
                found.setdefault(around, []).append((number, name not in _USUAL))
    return [group for group in found.values() if {rare for _, rare in group} == {True, False}]


def folder_depths(paths: Sequence[str]) -> list[int]:
    """Of each path, the number of folders above it that have more than one entry."""
    folders, known = [path.rpartition("/")[0] for path in paths], set[str]()
    for folder in folders:
        while folder and folder not in known:
            known.add(folder)
            folder = folder.rpartition("/")[0]
    inside = Counter([*folders, *(folder.rpartition("/")[0] for folder in known)])
    depths = {"": int(inside[""] > 1)}
    for folder in sorted(known):  # each behind that above
        depths[folder] = depths[folder.rpartition("/")[0]] + (inside[folder] > 1)
    return [depths[folder] for folder in folders]
