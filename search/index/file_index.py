"""The words of whole files as an index stores them: for each stem the files that have it, and how often.

The counts are stored, not weights made from them, so that an update needs to read only files that changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Final

import numpy as np
from jaxtyping import Int, Int32, Int64, UInt16

from data_prep.store.ragged_lists import edges
from search.files.file_words import FileWords, path_stems

KINDS: Final = ("text", "comments", "stem", "folders")
"""Where a stem can occur: outside of comments, in them, in the file's name, in its folders."""
_MOST: Final = np.iinfo(np.uint16).max


@dataclass(frozen=True, eq=False)
class FileIndex:
    """Postings of stems, and the names that each file defines."""

    terms: Sequence[str]  # sorted
    starts: Int64[np.ndarray, " edges"]  # start of each term's postings
    files: Int32[np.ndarray, " postings"]  # ascending within a term
    counts: Mapping[str, UInt16[np.ndarray, " postings"]]  # by KINDS
    names: Sequence[Sequence[str]]  # of each file, as FileWords has them

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def of(cls, paths: Sequence[str], words: Sequence[FileWords]) -> "FileIndex":
        """The index of files by their paths and words."""
        counted: list[dict[str, list[int]]] = []
        for path, each in zip(paths, words, strict=True):
            stem, folders = path_stems(path)
            found: dict[str, list[int]] = {}
            for kind, counts in enumerate((each.text, each.comments, _times(stem), _times(folders))):
                for term, count in counts.items():
                    found.setdefault(term, [0] * len(KINDS))[kind] = min(count, _MOST)
            counted.append(found)
        terms = sorted(set(chain.from_iterable(counted)))
        places = {term: number for number, term in enumerate(terms)}
        numbers = np.fromiter((places[term] for each in counted for term in each), np.int64)
        table = np.array([row for each in counted for row in each.values()], np.uint16).reshape(-1, len(KINDS))
        files = np.repeat(np.arange(len(counted)), [len(each) for each in counted])
        return _by_term(terms, numbers, files, table, [each.names for each in words])

    def taken(self, files: Int[np.ndarray, " some"]) -> "FileIndex":
        """Some of the files, in the given order, each at most once."""
        place = np.full(len(self), -1)
        place[files] = np.arange(len(files))
        kept = place[self.files] >= 0
        numbers = np.repeat(np.arange(len(self.terms)), np.diff(self.starts))[kept]
        table = np.stack([self.counts[kind][kept] for kind in KINDS], axis=1)
        used, renumbered = np.unique(numbers, return_inverse=True)
        terms = [self.terms[number] for number in used.tolist()]
        names = [self.names[file] for file in files.tolist()]
        return _by_term(terms, renumbered, place[self.files[kept]], table, names)

    def joined(self, *others: "FileIndex") -> "FileIndex":
        """These files, then those of the others."""
        parts = (self, *others)
        terms = sorted(set(chain.from_iterable(each.terms for each in parts)))
        places = {term: number for number, term in enumerate(terms)}
        numbers, files, tables = [], [], []
        for each, first in zip(parts, edges(np.array([len(part) for part in parts])).tolist(), strict=False):
            renumbered = np.array([places[term] for term in each.terms], np.int64)
            numbers.append(np.repeat(renumbered, np.diff(each.starts)))
            files.append(each.files + first)
            tables.append(np.stack([each.counts[kind] for kind in KINDS], axis=1))
        names = [*chain.from_iterable(each.names for each in parts)]
        return _by_term(terms, np.concatenate(numbers), np.concatenate(files), np.concatenate(tables), names)

    def postings(self, term: str) -> tuple[Int32[np.ndarray, " found"], dict[str, UInt16[np.ndarray, " found"]]]:
        """The files that have ``term``, and its counts in them by KINDS."""
        number = self._places.get(term)
        part = slice(0, 0) if number is None else slice(int(self.starts[number]), int(self.starts[number + 1]))
        return self.files[part], {kind: counts[part] for kind, counts in self.counts.items()}

    @cached_property
    def _places(self) -> dict[str, int]:
        return {term: number for number, term in enumerate(self.terms)}


def _times(stems: Sequence[str]) -> dict[str, int]:
    return {stem: stems.count(stem) for stem in stems}


def _by_term(
    terms: Sequence[str],
    numbers: Int[np.ndarray, " postings"],
    files: Int[np.ndarray, " postings"],
    table: UInt16[np.ndarray, "postings kinds"],
    names: Sequence[Sequence[str]],
) -> FileIndex:
    """Postings in any order, sorted."""
    order = np.lexsort((files, numbers))
    starts = edges(np.bincount(numbers, minlength=len(terms)).astype(np.int64))
    counts = {kind: np.ascontiguousarray(table[order, place]) for place, kind in enumerate(KINDS)}
    return FileIndex(terms, starts, files[order].astype(np.int32), counts, names)
