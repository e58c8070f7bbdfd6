"""Files of a tree as rows of an index: what one process makes of a part of them, and how parts are joined."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from data_prep.array_types import Int64, UInt8
from data_prep.store.derived_splits import joined
from data_prep.store.prepared_data import Split
from data_prep.store.ragged_lists import edges
from search.files.extract import ReadFile, Task, read_files
from search.files.tests_by_path import is_test
from search.index.code_index import UNIT_KINDS, Index, IndexedFile
from search.index.file_index import FileIndex


@dataclass(frozen=True, eq=False, slots=True)
class Part:
    """Some files and their rows, in the order of the files."""

    files: Sequence[IndexedFile]
    split: Split
    names: Sequence[str]  # of each row
    asks: UInt8[np.ndarray, " rows"]  # as in an index
    kinds: UInt8[np.ndarray, " rows"]  # as in an index
    whole: FileIndex

    @classmethod
    def of(cls, read: Sequence[ReadFile]) -> "Part":
        """Files that were just read."""
        units = [unit for each in read for unit in each.units]
        return cls(
            files=[_file(each) for each in read],
            split=Split.of("index", [unit.pair for unit in units]),
            names=[unit.pair.method.dotted for unit in units],
            asks=np.array([unit.asks for unit in units], np.uint8),
            kinds=np.array([UNIT_KINDS.index(unit.pair.method.kind) for unit in units], np.uint8),
            whole=FileIndex.of([each.found.path for each in read], [each.words for each in read]),
        )

    @classmethod
    def of_index(cls, index: Index, files: Sequence[int]) -> "Part":
        """Some files of an index, by their places."""
        return cls(index.files, index.split, index.names, index.asks, index.kinds, index.whole).taken(files)

    @classmethod
    def joined(cls, parts: Sequence["Part"]) -> "Part":
        """All parts, one after the other."""
        first, *others = parts
        if not others:
            return first
        return cls(
            files=[*chain.from_iterable(each.files for each in parts)],
            split=joined(*(each.split for each in parts)),
            names=[*chain.from_iterable(each.names for each in parts)],
            asks=np.concatenate([each.asks for each in parts]),
            kinds=np.concatenate([each.kinds for each in parts]),
            whole=first.whole.joined(*(each.whole for each in others)),
        )

    def taken(self, files: Sequence[int]) -> "Part":
        """Some of the files, in the given order, each at most once."""
        starts = edges(np.array([file.units for file in self.files], np.int64))
        rows: Int64[np.ndarray, " rows"] = np.concatenate(
            [np.empty(0, np.int64), *(np.arange(*starts[place : place + 2]) for place in files)]
        )
        return Part(
            files=[self.files[place] for place in files],
            split=self.split.take(rows),
            names=[self.names[row] for row in rows.tolist()],
            asks=self.asks[rows],
            kinds=self.kinds[rows],
            whole=self.whole.taken(np.array(files, np.int64)),
        )


def read_part(task: Task) -> Part:
    """Read files; one that cannot be read has no rows, and the reason as its trouble."""
    return Part.of(read_files(task))


def _file(read: ReadFile) -> IndexedFile:
    found, test = read.found, is_test(read.found.path)
    place = found.path, found.size, found.modified
    return IndexedFile(
        *place, read.licence, test, committed=False, units=len(read.units), trouble=read.trouble, blobs=read.blobs
    )
