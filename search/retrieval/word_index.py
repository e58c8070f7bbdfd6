"""What an index knows of words: BM25 over the fields of its rows, and the words of whole files.

BM25's weights are precomputed, so that a query only sums a few postings lists. Formula and tokenization are those of
:mod:`baselines.bm25` with the settings of ``bm25_tuned``, which were best on validation; an additional field is
the first sentence of a method's comment, if it has one. Of whole files counts and places are stored, not weights made
from them, so that an update needs to read only files that changed.

The formula is Lucene's variant (Kamphuis et al., ECIR 2020; Robertson and Zaragoza, "The Probabilistic Relevance
Framework", 2009). A term that occurs in n of N documents, and f times among the length words of this one, contributes

    ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + k1 * (1 - b + b * length / average_length))
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Final

import numpy as np

from data_prep.store.arrays import Bool, Float, Float32, Int, Int32, Int64, Num, Ragged, UInt16, edges, slices, spread
from search.files.words import FileWords, path_stems, terms_of

K1: Final = 2.0
"""Term frequency saturation."""
B: Final = 1.0
"""Length normalisation."""
WEIGHTS: Final[Mapping[str, int]] = {"name": 10, "tokens": 1, "api": 1, "query": 3}
"""Field -> number of times that each of its words counts; ``query`` is the comment's first sentence."""


def idf(holders: Int[np.ndarray, " terms"], documents: int) -> Float[np.ndarray, " terms"]:
    """Inverse document frequency of terms that occur in ``holders`` of ``documents`` documents."""
    return np.asarray(np.log1p((documents - holders + 0.5) / (holders + 0.5)))


def gains(
    weights: Float[np.ndarray, " entries"], counts: Num[np.ndarray, " entries"], norms: Float[np.ndarray, " entries"]
) -> Float[np.ndarray, " entries"]:
    """Contribution of each term of each document: its weight times its saturated frequency."""
    return np.asarray(weights * counts / (counts + norms))


def counts_by_norm(
    gains: Float[np.ndarray, " entries"], weight: float | Float[np.ndarray, " entries"]
) -> Float[np.ndarray, " entries"]:
    """What :func:`gains` was made from: each count divided by its norm, ``gain / (weight - gain)``."""
    return np.asarray(gains / np.maximum(weight - gains, 1e-7 * weight))


@dataclass(frozen=True, eq=False)
class Postings:
    """Where the postings of each term are."""

    terms: Sequence[str]  # sorted
    starts: Int64[np.ndarray, " edges"]  # start of each term's postings; terms + 1

    def part(self, term: str) -> slice:
        """The place of the postings of ``term``; an empty one if it is unknown."""
        number = self._places.get(term)
        return slice(0, 0) if number is None else slice(*self.starts[number : number + 2].tolist())

    @cached_property
    def _places(self) -> dict[str, int]:
        return {term: number for number, term in enumerate(self.terms)}


@dataclass(frozen=True, eq=False)
class Bm25Index(Postings):
    """For each term, the rows that contain it and its contributions to their scores."""

    rows: Int32[np.ndarray, " postings"]
    gains: Float32[np.ndarray, " postings"]
    size: int  # rows of the index

    def scores(self, query: Sequence[str]) -> Float32[np.ndarray, " rows"]:
        """The score of each row: the summed contributions of the terms of ``query``."""
        found = np.zeros(self.size, dtype=np.float32)
        for term in terms_of(query):
            rows, gains = self.postings(term)
            found[rows] += gains
        return found

    def postings(self, term: str) -> tuple[Int32[np.ndarray, " found"], Float32[np.ndarray, " found"]]:
        """The rows that contain ``term``, and its contributions to their scores."""
        part = self.part(term)
        return self.rows[part], self.gains[part]

    def holders(self, term: str) -> int:
        """The number of rows that contain ``term``, without its postings."""
        part = self.part(term)
        return int(part.stop - part.start)

    @cached_property
    def average_length(self) -> float:
        """The mean number of terms of a row, as they are weighted; 0 if there are none.

        With B = 1 the norm of a row is K1 * length / average, so that the counts of its terms divided by its norm, of
        which the length is the sum, sum to average / K1 in every row that has terms.
        """
        assert B == 1
        weights = np.repeat(idf(np.diff(self.starts), self.size), np.diff(self.starts))
        sums = np.bincount(self.rows, counts_by_norm(self.gains.astype(np.float64), weights), self.size)
        known = sums[sums > 0]
        return K1 * float(np.median(known)) if len(known) else 0.0


KINDS: Final = ("text", "comments", "stem", "folders")
"""Where a stem can occur: outside of comments, in them, in the file's name, in its folders."""
HEAD: Final = 120
"""Words of a file in whose comments a term is first to count as ``head``: they say what it is about."""


@dataclass(frozen=True, eq=False)
class FileIndex(Postings):
    """Postings of stems, their places, and the names that each file defines."""

    files: Int32[np.ndarray, " postings"]  # ascending within a term
    counts: Mapping[str, UInt16[np.ndarray, " postings"]]  # by KINDS
    names: Sequence[Sequence[str]]  # of each file, as FileWords has them
    places: Int32[np.ndarray, " places"]  # those of each posting, as FileWords has them
    lines: Ragged  # of each file the ends of its lines, as FileWords has them

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def of(cls, paths: Sequence[str], words: Sequence[FileWords]) -> "FileIndex":
        """The index of files by their paths and words."""
        named = [*map(path_stems, paths)]
        own = [{**each.stems} for each in words]  # and those of the path
        for numbers, parts in zip(own, named, strict=True):
            for term in chain(*parts):
                numbers.setdefault(term, len(numbers))
        terms = sorted(set(chain.from_iterable(own)))
        known = {term: number for number, term in enumerate(terms)}
        sizes = np.array([*map(len, own)], np.int64)
        starts = edges(sizes)
        counted = _concatenated([Ragged.of(()), *(each.places for each in words)])
        lengths = np.zeros(starts[-1], np.int64)
        lengths[spread(starts[:-1], np.array([len(each.stems) for each in words], np.int64))] = counted.lengths
        places = Ragged(counted.values, edges(lengths))
        table = np.zeros((len(lengths), len(KINDS)), np.uint16)
        of_comments = np.concatenate([[0], np.cumsum(places.values & 1)])[places.offsets]
        table[:, 1] = np.diff(of_comments)
        table[:, 0] = places.lengths - table[:, 1]
        for start, numbers, parts in zip(starts.tolist(), own, named, strict=False):
            for kind, part in enumerate(parts, 2):
                for term in part:
                    table[start + numbers[term], kind] += 1
        terms_of = np.fromiter(map(known.__getitem__, chain.from_iterable(own)), np.int64, len(lengths))
        files = np.repeat(np.arange(len(own)), sizes)
        lines = Ragged.of([each.line_ends for each in words])
        return _by_term(terms, terms_of, files, table, places, [each.names for each in words], lines)

    def taken(self, files: Int[np.ndarray, " some"]) -> "FileIndex":
        """Some of the files, in the given order, each at most once."""
        place = np.full(len(self), -1)
        place[files] = np.arange(len(files))
        kept = np.flatnonzero(place[self.files] >= 0)
        numbers = np.repeat(np.arange(len(self.terms)), np.diff(self.starts))[kept]
        used, renumbered = np.unique(numbers, return_inverse=True)
        terms = [self.terms[number] for number in used.tolist()]
        names = [self.names[file] for file in files.tolist()]
        places, lines = self._ragged.take(kept), self.lines.take(files)
        return _by_term(terms, renumbered, place[self.files[kept]], self._table[kept], places, names, lines)

    def joined(self, *others: "FileIndex") -> "FileIndex":
        """These files, then those of the others."""
        parts = (self, *others)
        terms = sorted(set(chain.from_iterable(each.terms for each in parts)))
        places = {term: number for number, term in enumerate(terms)}
        numbers, files = [], []
        for each, first in zip(parts, edges(np.array([len(part) for part in parts])).tolist(), strict=False):
            renumbered = np.array([places[term] for term in each.terms], np.int64)
            numbers.append(np.repeat(renumbered, np.diff(each.starts)))
            files.append(each.files + first)
        table, names = np.concatenate([each._table for each in parts]), [each.names for each in parts]
        there, lines = _concatenated([each._ragged for each in parts]), _concatenated([each.lines for each in parts])
        every = [*chain.from_iterable(names)]
        return _by_term(terms, np.concatenate(numbers), np.concatenate(files), table, there, every, lines)

    @property
    def term_lists(self) -> Sequence[Sequence[str]]:
        """The terms of all files, sorted, in one or more lists."""
        return [self.terms]

    def having(self, term: str) -> Int32[np.ndarray, " found"]:
        """The files that have ``term``."""
        return self.files[self.part(term)]

    def postings(
        self, terms: Sequence[str]
    ) -> tuple[Int64[np.ndarray, " found"], Int32[np.ndarray, " found"], dict[str, UInt16[np.ndarray, " found"]]]:
        """For each of some terms in turn, the files that have it: its number, the file, its counts by KINDS, head."""
        parts = np.array([(part.start, part.stop) for part in map(self.part, terms)], np.int64).reshape(-1, 2)
        sizes = parts[:, 1] - parts[:, 0]
        own = spread(parts[:, 0], sizes)
        counts = {kind: counts[own] for kind, counts in self.counts.items()}
        counts["head"] = np.zeros(len(own), np.uint16)
        if len(self.places):  # of which only these are looked at, since they are many and far apart
            said = np.flatnonzero(counts["comments"])
            first = self.places.take(self.place_edges[own[said]], mode="clip")
            counts["head"][said] = (first & 1 > 0) & (first < 2 * HEAD)
        return np.repeat(np.arange(len(terms)), sizes), self.files[own], counts

    def occurrences(self, term: str) -> tuple[Int32[np.ndarray, " places"], Int32[np.ndarray, " places"]]:
        """The files and places in them where ``term`` is, ascending."""
        part, bounds = self.part(term), self.place_edges
        files = np.repeat(self.files[part], np.diff(bounds[part.start : part.stop + 1]))
        return files, self.places[bounds[part.start] : bounds[part.stop]]

    def occurrences_in(
        self, wanted: Bool[np.ndarray, " files"], terms: Sequence[str]
    ) -> tuple[Int32[np.ndarray, " places"], Int32[np.ndarray, " places"], Int64[np.ndarray, " edges"]]:
        """The files, some of them ``wanted``, and the places in them of each term in turn, and where each begins."""
        parts = [self.part(term) for term in terms]
        postings = np.concatenate([np.arange(part.start, part.stop) for part in parts])
        counts, kept = np.array([part.stop - part.start for part in parts]), wanted[self.files[postings]]
        own = postings[kept]
        starts = self.place_edges[own]
        lengths = self.place_edges[own + 1] - starts
        begun = edges(lengths)[edges(kept.view(np.int8))[edges(counts)]]
        return np.repeat(self.files[own], lengths), self.places[spread(starts, lengths)], begun

    @cached_property
    def named(self) -> list[str]:
        """The stems that names of files or folders have."""
        having = np.flatnonzero(self.counts["stem"] | self.counts["folders"])
        numbers = np.searchsorted(self.starts, having, side="right") - 1
        return [self.terms[number] for number in dict.fromkeys(numbers.tolist())]

    def line(self, file: int, place: int) -> int:
        """The line of a file, from 1, that a place is in."""
        first, end = self.lines.offsets[file : file + 2].tolist()
        return int(self.lines.values[first:end].searchsorted(place >> 1, side="right")) + 1

    def words_of(self, file: int) -> Mapping[int, str]:
        """The number of each word of a file -> its stem."""
        own = np.flatnonzero(self.files == file)
        lists, numbers = self._ragged.take(own), np.searchsorted(self.starts, own, side="right") - 1
        terms = map(self.terms.__getitem__, np.repeat(numbers, lists.lengths).tolist())
        return dict(zip((lists.values >> 1).tolist(), terms, strict=True))

    @cached_property
    def lengths(self) -> list[int]:
        """How many words each file has before the end of its last line."""
        ends, firsts = self.lines.offsets[1:], self.lines.offsets[:-1]
        return np.where(ends > firsts, np.append(self.lines.values, 0)[ends - 1], 0).tolist()

    def common(self, least: int) -> set[str]:
        """The terms that at least so many files have."""
        return {self.terms[number] for number in np.flatnonzero(np.diff(self.starts) >= least).tolist()}

    def lines_of_code(self, file: int) -> Bool[np.ndarray, " lines"]:
        """Of each line of a file, from its first, whether a word outside of comments is in it."""
        values = self._ragged.take(np.flatnonzero(self.files == file)).values
        found = np.zeros(len(self.lines[file]) + 1, np.bool_)
        found[np.searchsorted(self.lines[file], values[values & 1 == 0] >> 1, side="right")] = True
        return found

    @cached_property
    def place_edges(self) -> Int64[np.ndarray, " edges"]:
        """Where the places of each posting begin and end."""
        return edges(self.counts["text"].astype(np.int64) + self.counts["comments"])

    @cached_property
    def _ragged(self) -> Ragged:
        return Ragged(self.places, self.place_edges)

    @property
    def _table(self) -> UInt16[np.ndarray, "postings kinds"]:
        return np.stack([self.counts[kind] for kind in KINDS], axis=1)


def _concatenated(parts: Sequence[Ragged]) -> Ragged:
    return Ragged(
        np.concatenate([each.values for each in parts]), edges(np.concatenate([each.lengths for each in parts]))
    )


def _by_term(
    terms: Sequence[str],
    numbers: Int[np.ndarray, " postings"],
    files: Int[np.ndarray, " postings"],
    table: UInt16[np.ndarray, "postings kinds"],
    places: Ragged,
    names: Sequence[Sequence[str]],
    lines: Ragged,
) -> FileIndex:
    """Postings in any order, sorted."""
    order = np.lexsort((files, numbers))
    starts = edges(np.bincount(numbers, minlength=len(terms)).astype(np.int64))
    counts = {kind: np.ascontiguousarray(table[order, place]) for place, kind in enumerate(KINDS)}
    taken, _ = slices(places.offsets, order)
    return FileIndex(terms, starts, files[order].astype(np.int32), counts, names, places.values[taken], lines)
