"""Several indexes as one, without copying them: rows are numbered on, and statistics are those of all together.

A search of it ranks as one of a single index of all files would. BM25 of an index has the frequencies of terms and the
mean length of its own rows in what it stores; both are replaced by those of all rows, from what is stored:

- the number of rows with a term is the sum over the indexes;
- a stored gain is idf * c / (c + norm), from which c / norm follows; the norm of a row is K1 * length / mean length
  (B is 1), so that another mean multiplies c / norm by the quotient of the means
  (:attr:`search.retrieval.bm25_index.Bm25Index.average_length`).

Counts in whole files are stored as they are. So nothing of an index that takes no part influences an answer.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np

from baselines.bm25.formula import counts_by_norm, idf
from data_prep.array_types import Float32, Int, Int32, Int64, UInt16
from data_prep.store.prepared_data import PairText, Split, Texts
from data_prep.store.ragged_lists import edges
from search.index.code_index import Index, IndexedFile
from search.index.file_index import KINDS, FileIndex
from search.joint.repository_list import Repository
from search.retrieval.bm25_index import Bm25Index

_NONE = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False)
class Member:
    """The index of a repository as a part of a joint one."""

    repository: Repository
    index: Index
    content: str  # checksum of the index

    @cached_property
    def files(self) -> Sequence[IndexedFile]:
        """Its files, whose paths begin with its name."""
        return [replace(file, path=f"{self.repository.name}/{file.path}") for file in self.index.files]


@dataclass(frozen=True, eq=False)
class JointBm25(Bm25Index):
    """BM25 over the rows of all ``parts``; its own postings are empty."""

    parts: Sequence[Bm25Index] = ()

    @classmethod
    def over(cls, parts: Sequence[Bm25Index]) -> "JointBm25":
        """All rows of ``parts``, in their order."""
        size = sum(part.size for part in parts)
        return cls((), np.zeros(1, np.int64), _NONE, np.empty(0, np.float32), size, parts)

    def postings(self, term: str) -> tuple[Int32[np.ndarray, " found"], Float32[np.ndarray, " found"]]:
        """The rows of all parts that contain ``term``, and its contributions to their scores."""
        found = [part.postings(term) for part in self.parts]
        weight = float(idf(np.array([sum(len(rows) for rows, _ in found)]), self.size)[0])
        rows, gains = [_NONE], [np.empty(0)]
        for part, start, (own, stored) in zip(self.parts, self._starts, found, strict=True):
            if len(own):
                before = float(idf(np.array([len(own)]), part.size)[0])
                times = counts_by_norm(stored.astype(np.float64), before) * (
                    self.average_length / (part.average_length or 1.0)
                )
                rows.append(own + np.int32(start))
                gains.append(weight * times / (1 + times))
        return np.concatenate(rows), np.concatenate(gains).astype(np.float32)

    def holders(self, term: str) -> int:
        """The number of rows of all parts that contain ``term``."""
        return sum(part.holders(term) for part in self.parts)

    @cached_property
    def average_length(self) -> float:
        """The mean number of terms of a row of all parts."""
        return sum(part.average_length * part.size for part in self.parts) / max(1, self.size)

    @cached_property
    def _starts(self) -> list[int]:
        return _starts([part.size for part in self.parts])


@dataclass(frozen=True, eq=False)
class JointFiles(FileIndex):
    """The words of the files of all ``parts``; its own postings are empty."""

    parts: Sequence[FileIndex] = ()

    @classmethod
    def over(cls, parts: Sequence[FileIndex]) -> "JointFiles":
        """All files of ``parts``, in their order."""
        names = [*chain.from_iterable(part.names for part in parts)]
        return cls((), np.zeros(1, np.int64), _NONE, {}, names, parts)

    def postings(self, term: str) -> tuple[Int32[np.ndarray, " found"], dict[str, UInt16[np.ndarray, " found"]]]:
        """The files of all parts that have ``term``, and its counts in them."""
        found = [part.postings(term) for part in self.parts]
        files = [own + np.int32(start) for start, (own, _) in zip(self._starts, found, strict=True)]
        none = np.empty(0, np.uint16)
        return np.concatenate([_NONE, *files]), {
            kind: np.concatenate([none, *(counts[kind] for _, counts in found)]) for kind in KINDS
        }

    @cached_property
    def _starts(self) -> list[int]:
        return _starts([len(part) for part in self.parts])


@dataclass(frozen=True, eq=False)
class JointSplit(Split):
    """The words and texts of the rows of all ``members``; its own are empty."""

    members: Sequence[Member] = ()

    @classmethod
    def over(cls, members: Sequence[Member]) -> "JointSplit":
        """All rows of ``members``, in their order."""
        return cls("joint", (), {}, Texts.of(()), members)

    def __len__(self) -> int:
        return int(self._edges[-1])

    def take(self, rows: Int[np.ndarray, " rows"]) -> Split:
        """Not possible: the members' words have numbers of their own."""
        raise NotImplementedError

    def text(self, row: int) -> PairText:
        """The display text of a row, whose path begins with the repository's name."""
        member, own = self.place(row)
        text = member.index.split.text(own)
        return replace(text, path=f"{member.repository.name}/{text.path}")

    def word_list(self, field: str, row: int) -> list[str]:
        """The words of ``field`` of a row."""
        member, own = self.place(row)
        return member.index.split.word_list(field, own)

    def place(self, row: int) -> tuple[Member, int]:
        """The member that has a row, and its number there."""
        number = int(np.searchsorted(self._edges, row, side="right")) - 1
        return self.members[number], row - int(self._edges[number])

    @cached_property
    def _edges(self) -> Int64[np.ndarray, " edges"]:
        return edges(np.array([len(member.index) for member in self.members], np.int64))


@dataclass(frozen=True, eq=False)
class JointIndex(Index):
    """The rows of several indexes, in the order of the members."""

    members: Sequence[Member] = ()

    @classmethod
    def over(cls, members: Sequence[Member]) -> "JointIndex":
        """One index of all ``members``."""
        return cls(
            files=[*chain.from_iterable(each.files for each in members)],
            split=JointSplit.over(members),
            names=[*chain.from_iterable(each.index.names for each in members)],
            asks=np.concatenate([np.empty(0, np.uint8), *(each.index.asks for each in members)]),
            kinds=np.concatenate([np.empty(0, np.uint8), *(each.index.kinds for each in members)]),
            lexical=JointBm25.over([each.index.lexical for each in members]),
            whole=JointFiles.over([each.index.whole for each in members]),
            origin=None,
            members=members,
        )

    def repository(self, row: int) -> str:
        """The name of a row's repository."""
        return self._place(row)[0].repository.name

    def url(self, row: int) -> str:
        """As the row's own index has it."""
        member, own = self._place(row)
        return member.index.url(own)

    def source(self, place: int) -> tuple[Path, IndexedFile]:
        """The folder of the repository of a file, and the file as its own index has it; ``place``: in ``files``."""
        starts = _starts([len(member.files) for member in self.members])
        number = bisect_right(starts, place) - 1
        member = self.members[number]
        return member.repository.folder, member.index.files[place - starts[number]]

    def _place(self, row: int) -> tuple[Member, int]:
        assert isinstance(self.split, JointSplit)
        return self.split.place(row)


def _starts(sizes: Sequence[int]) -> list[int]:
    return edges(np.array(sizes, np.int64))[:-1].tolist()
