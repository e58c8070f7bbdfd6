"""Several indexes as one, without copying them: rows are numbered on, and statistics are those of all together.

A search of it ranks as one of a single index of all files would. BM25 of an index has the frequencies of terms and the
mean length of its own rows in what it stores; both are replaced by those of all rows, from what is stored:

- the number of rows with a term is the sum over the indexes;
- a stored gain is idf * c / (c + norm), from which c / norm follows; the norm of a row is K1 * length / mean length
  (B is 1), so that another mean multiplies c / norm by the quotient of the means
  (:attr:`search.retrieval.word_index.Bm25Index.average_length`).

Counts in whole files are stored as they are. So nothing of an index that takes no part influences an answer. Callers
are looked for in their own index alone. The score of a row by a model does not depend on other rows, so that each is
scored over its own index (:mod:`search.repository_list`).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from data_prep.store.arrays import Bool, Float32, Int32, Int64, Ragged, UInt16, edges
from data_prep.store.split import PairText, Split, Texts
from search.index.code_index import Index, IndexedFile
from search.retrieval.word_index import KINDS, Bm25Index, FileIndex, counts_by_norm, idf

if TYPE_CHECKING:
    from search.repository_list import Member

_NONE = np.empty(0, np.int32)


class Numbering:
    """Which rows, or files, are whose."""

    def __init__(self, sizes: Sequence[int]) -> None:
        """``sizes``: the number of rows of each part."""
        self.edges = edges(np.array(sizes, np.int64))
        self.starts: list[int] = self.edges[:-1].tolist()

    def place(self, row: int) -> tuple[int, int]:
        """The part that has a row, and its number there."""
        number = int(np.searchsorted(self.edges, row, side="right")) - 1
        return number, row - self.starts[number]

    def parted(self, rows: Int64[np.ndarray, " found"]) -> list[tuple[int, Int64[np.ndarray, " some"]]]:
        """Of each part with some of ``rows`` its number, and their places in ``rows``."""
        owners = np.searchsorted(self.edges, rows, side="right") - 1
        return [(int(number), np.flatnonzero(owners == number)) for number in np.unique(owners)]


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
        return Numbering([part.size for part in self.parts]).starts


@dataclass(frozen=True, eq=False)
class JointFiles(FileIndex):
    """The words of the files of all ``parts``; its own postings are empty."""

    parts: Sequence[FileIndex] = ()

    @classmethod
    def over(cls, parts: Sequence[FileIndex]) -> "JointFiles":
        """All files of ``parts``, in their order."""
        defined, none = [*chain.from_iterable(each.names for each in parts)], Ragged.of([])
        return cls((), np.zeros(1, np.int64), _NONE, {}, defined, none.values, none, parts)

    @property
    def term_lists(self) -> Sequence[Sequence[str]]:
        """The terms of each part."""
        return [part.terms for part in self.parts]

    def having(self, term: str) -> Int32[np.ndarray, " found"]:
        """The files of all parts that have ``term``."""
        found = zip(self._numbering.starts, self.parts, strict=True)
        return np.concatenate([_NONE, *(part.having(term) + np.int32(start) for start, part in found)])

    def postings(
        self, terms: Sequence[str]
    ) -> tuple[Int64[np.ndarray, " found"], Int32[np.ndarray, " found"], dict[str, UInt16[np.ndarray, " found"]]]:
        """For each of some terms in turn, the files of all parts that have it, as :meth:`FileIndex.postings`."""
        found = [part.postings(terms) for part in self.parts]
        numbers = np.concatenate([np.empty(0, np.int64), *(own for own, _, _ in found)])
        order = np.argsort(numbers, kind="stable")
        files = [own + np.int32(start) for start, (_, own, _) in zip(self._numbering.starts, found, strict=True)]
        none = np.empty(0, np.uint16)
        counts = {kind: np.concatenate([none, *(each[kind] for *_, each in found)])[order] for kind in (*KINDS, "head")}
        return numbers[order], np.concatenate([_NONE, *files])[order], counts

    def occurrences(self, term: str) -> tuple[Int32[np.ndarray, " places"], Int32[np.ndarray, " places"]]:
        """The files of all parts and the places in them where ``term`` is."""
        found = [part.occurrences(term) for part in self.parts]
        files = [own + np.int32(start) for start, (own, _) in zip(self._numbering.starts, found, strict=True)]
        return np.concatenate([_NONE, *files]), np.concatenate([_NONE, *(places for _, places in found)])

    def occurrences_in(
        self, wanted: Bool[np.ndarray, " files"], terms: Sequence[str]
    ) -> tuple[Int32[np.ndarray, " places"], Int32[np.ndarray, " places"], Int64[np.ndarray, " edges"]]:
        """The files, some of them ``wanted``, of all parts and the places in them, term by term."""
        owned = zip(self.parts, self._numbering.starts, np.split(wanted, self._numbering.starts[1:]), strict=True)
        found = [(start, *part.occurrences_in(own, terms)) for part, start, own in owned if own.any()]
        files, places, counts = [_NONE], [_NONE], np.zeros((len(terms), len(found)), np.int64)
        for term in range(len(terms)):
            for number, (start, own, there, begun) in enumerate(found):
                span = slice(*begun[term : term + 2].tolist())
                files.append(own[span] + np.int32(start))
                places.append(there[span])
                counts[term, number] = len(files[-1])
        return np.concatenate(files), np.concatenate(places), edges(counts.sum(axis=1))

    @cached_property
    def lengths(self) -> list[int]:
        """How many words each file of all parts has before the end of its last line."""
        return [*chain.from_iterable(part.lengths for part in self.parts)]

    def common(self, least: int) -> set[str]:
        """The terms that at least so many files of all parts have."""
        held = Counter[str]()
        for part in self.parts:
            held.update(dict(zip(part.terms, np.diff(part.starts).tolist(), strict=True)))
        return {term for term, files in held.items() if files >= least}

    @cached_property
    def named(self) -> list[str]:
        """The stems that names of files or folders of any part have."""
        return [*dict.fromkeys(chain.from_iterable(part.named for part in self.parts))]

    def line(self, file: int, place: int) -> int:
        """The line that a place in a file is in."""
        number, own = self._numbering.place(file)
        return self.parts[number].line(own, place)

    def words_of(self, file: int) -> Mapping[int, str]:
        """The words of a file, by their numbers."""
        number, own = self._numbering.place(file)
        return self.parts[number].words_of(own)

    def lines_of_code(self, file: int) -> Bool[np.ndarray, " lines"]:
        """Of each line of a file, whether a word outside of comments is in it."""
        number, own = self._numbering.place(file)
        return self.parts[number].lines_of_code(own)

    @cached_property
    def _numbering(self) -> Numbering:
        return Numbering([len(part) for part in self.parts])


@dataclass(frozen=True, eq=False)
class JointSplit(Split):
    """The words and texts of the rows of all ``members``, whose words have numbers of their own; its own are empty."""

    members: Sequence["Member"] = ()

    def __len__(self) -> int:
        return int(self.numbering.edges[-1])

    def text(self, row: int) -> PairText:
        """The display text of a row, whose path begins with the repository's name."""
        number, own = self.numbering.place(row)
        text = self.members[number].index.split.text(own)
        return replace(text, path=f"{self.members[number].repository.name}/{text.path}")

    def lines(self, row: int) -> tuple[int, int]:
        """The first line and the last one of a row."""
        number, own = self.numbering.place(row)
        return self.members[number].index.split.lines(own)

    def has(self, row: int, part: bytes) -> bool:
        """Whether the text of a row, as it is stored, has a part of JSON."""
        number, own = self.numbering.place(row)
        return self.members[number].index.split.has(own, part)

    def word_list(self, field: str, row: int) -> list[str]:
        """The words of ``field`` of a row."""
        number, own = self.numbering.place(row)
        return self.members[number].index.split.word_list(field, own)

    @cached_property
    def numbering(self) -> Numbering:
        """Of the rows."""
        return Numbering([len(member.index) for member in self.members])


@dataclass(frozen=True, eq=False)
class JointIndex(Index):
    """The rows of several indexes, in the order of the members."""

    members: Sequence["Member"] = ()

    @classmethod
    def over(cls, members: Sequence["Member"]) -> "JointIndex":
        """One index of all ``members``; the paths of their files begin with their names."""
        parts = [each.index for each in members]
        starts = Numbering([len(each.files) for each in parts]).starts
        return cls(
            files=[
                replace(file, path=f"{each.repository.name}/{file.path}")
                for each in members
                for file in each.index.files
            ],
            split=JointSplit("joint", (), {}, Texts.of(()), members),
            names=[*chain.from_iterable(each.names for each in parts)],
            asks=np.concatenate([np.empty(0, np.uint8), *(each.asks for each in parts)]),
            kinds=np.concatenate([np.empty(0, np.uint8), *(each.kinds for each in parts)]),
            deprecated=np.concatenate([np.empty(0, np.uint8), *(each.deprecated for each in parts)]),
            lexical=JointBm25.over([each.lexical for each in parts]),
            callers=JointBm25.over([each.callers for each in parts]),
            whole=JointFiles.over([each.whole for each in parts]),
            origin=None,
            old={
                start + place: meant
                for start, each in zip(starts, parts, strict=True)
                for place, meant in each.old.items()
            },
            members=members,
        )

    def repository(self, row: int) -> str:
        """The name of a row's repository."""
        return self.members[self._place(row)[0]].repository.name

    @property
    def lexicon(self) -> Iterable[str]:
        """The words of the rows of all."""
        return chain.from_iterable(member.index.lexicon for member in self.members)

    def url(self, row: int, text: PairText | None = None) -> str:
        """As the row's own index has it."""
        number, own = self._place(row)
        return self.members[number].index.url(own, text)

    def source(self, place: int, root: Path | None = None) -> tuple[Path, IndexedFile]:  # noqa: ARG002 - of one folder
        """The folder of the repository of a file, and the file as its own index has it; ``place``: in ``files``."""
        number, own = self._file_numbering.place(place)
        return self.members[number].repository.folder, self.members[number].index.files[own]

    @cached_property
    def _file_numbering(self) -> Numbering:
        return Numbering([len(member.index.files) for member in self.members])

    def _place(self, row: int) -> tuple[int, int]:
        assert isinstance(self.split, JointSplit)
        return self.split.numbering.place(row)
