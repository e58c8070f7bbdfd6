"""Files of a tree as rows of an index: which are read first, what one process makes of a part, how parts are joined.

And BM25 over the words of all rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

import numpy as np

from data_prep.errors import UserError
from data_prep.files.access import raise_if_passing
from data_prep.languages.identifiers import split_identifier
from data_prep.records import SourceFile
from data_prep.store.arrays import Float, Int, Int32, Int64, Ragged, UInt8, distinct, edges
from data_prep.store.split import Split, joined
from data_prep.worker_process import FILE, limited
from search.engine.question import asked_words
from search.files.encodings import text_of
from search.files.generations import is_deprecated, kind_of_catalogue
from search.files.languages import Unit, Units, language_inside, language_name, read_file, unparsed
from search.files.stamps import Found
from search.files.tree import blob_names, is_test, read_source
from search.files.words import FileWords, file_words, stems, terms_of
from search.index.code_index import UNIT_KINDS, WHOLE_FILE, Index, IndexedFile
from search.retrieval.word_index import K1, WEIGHTS, B, Bm25Index, FileIndex, gains, idf

if TYPE_CHECKING:
    from data_prep.sources.licences import Licences

_NOT_PARSED: Final = "takes more than {:.0f} s of processor time or too much memory to parse"


@dataclass(frozen=True, slots=True)
class Task:
    """Files of a tree to be read together."""

    root: Path
    files: Sequence[Found]
    parsed: bool = True  # else each is found as a whole file

    def divided(self) -> "list[Task]":
        """One task a file."""
        return [replace(self, files=[each]) for each in self.files]


@dataclass(frozen=True, eq=False, slots=True)
class Part:
    """Some files and their rows, in the order of the files."""

    files: Sequence[IndexedFile]
    split: Split
    names: Sequence[str]  # of each row
    asks: UInt8[np.ndarray, " rows"]  # as in an index
    kinds: UInt8[np.ndarray, " rows"]  # as in an index
    deprecated: UInt8[np.ndarray, " rows"]  # as in an index
    whole: FileIndex

    @classmethod
    def of(cls, read: Sequence[tuple[IndexedFile, Sequence[Unit], FileWords]]) -> "Part":
        """Files that were just read, with their units and words."""
        units = [unit for _, found, _ in read for unit in found]
        return cls(
            files=[file for file, _, _ in read],
            split=Split.of("index", [unit.pair for unit in units]),
            names=[unit.pair.method.dotted for unit in units],
            asks=np.array([unit.asks for unit in units], np.uint8),
            kinds=np.array([UNIT_KINDS.index(unit.pair.method.kind) for unit in units], np.uint8),
            deprecated=np.array([is_deprecated(unit.pair.method) for unit in units], np.uint8),
            whole=FileIndex.of([file.path for file, _, _ in read], [words for _, _, words in read]),
        )

    @classmethod
    def of_index(cls, index: Index, files: Sequence[int]) -> "Part":
        """Some files of an index, by their places."""
        rows = index.split, index.names, index.asks, index.kinds, index.deprecated
        return cls(index.files, *rows, index.whole).taken(files)

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
            deprecated=np.concatenate([each.deprecated for each in parts]),
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
            deprecated=self.deprecated[rows],
            whole=self.whole.taken(np.array(files, np.int64)),
        )


GONE: Final = -1
"""The time of a file that was gone when it was read, so that it is read again if it is there."""


def read_part(task: Task) -> Part:
    """Read files; one that cannot be read has no rows, and the reason as its trouble."""
    from data_prep.sources.licences import Licences  # its patterns take long to compile, and are for workers alone

    licences = Licences(task.root, [each.path for each in task.files])
    return Part.of([_read(task, found, licences) for found in task.files])


def _read(task: Task, found: Found, licences: "Licences") -> tuple[IndexedFile, Sequence[Unit], FileWords]:
    licence, blobs, read, encoding, script = "", "", Units(()), "", ""
    try:
        raw = read_source(task.root, found)
        data, encoding = text_of(raw)
        script = language_inside(found.path, data)
        file = SourceFile("", found.path, data)
        if task.parsed:
            with limited(len(data)):
                read = read_file(file)
        else:
            read = unparsed(file, _NOT_PARSED.format(FILE.allowed_seconds(len(data))))
        licence, blobs, words = licences.of(found.path, data), blob_names(raw), read.words or file_words(data)
    except (OSError, UserError) as error:
        raise_if_passing(error)
        if isinstance(error, FileNotFoundError | NotADirectoryError):  # it may come back as it was, as its folder does
            found = found._replace(modified=GONE)
        read, words = Units((), getattr(error, "strerror", None) or str(error)), FileWords()
    test, rows = is_test(found.path), len(read.units)
    script = script or (read.language if read.language != language_name(found.path) else "")
    catalogue = kind_of_catalogue(found.path)
    indexed = IndexedFile(*found, licence, test, False, rows, read.left_out, blobs, encoding, script, catalogue)
    return indexed, read.units, words


_LARGE: Final = 200_000
"""Bytes from which on a file is more likely generated than looked for."""


@runtime_checkable
class Watch(Protocol):
    """Who is told what is read."""

    chunk: int
    """Files that are read together."""
    asked: str
    """What is waited for: a question, or the path of a file."""

    def begin(self, files: Sequence[Found]) -> None:
        """These will be read."""

    def take(self, part: Part) -> None:
        """These were read."""


def likely_first(found: Sequence[Found], asked: str = "") -> list[Found]:
    """Files that are likely to be wanted first: those whose paths have all the words that are ``asked`` for.

    Then sources come before tests, paths with more of the words before others, large files after them, and those near
    the top before deep ones.
    """
    wanted = frozenset(terms_of(asked_words(asked)))

    @cache
    def words(part: str) -> frozenset[str]:
        return wanted.intersection(terms_of(asked_words(part)))

    def place(file: Found) -> tuple[bool, bool, int, bool, int, str]:
        has = len(frozenset[str]().union(*map(words, file.path.split("/")))) if wanted else 0
        some = not has or has < len(wanted)
        return some, is_test(file.path), -has, file.size > _LARGE, file.path.count("/"), file.path

    return sorted(found, key=place)


def lexical_index(split: Split, weights: Mapping[str, int] = WEIGHTS) -> Bm25Index:
    """BM25 over the words of all rows of ``split``."""
    terms, fields = _as_terms(split, [field for field, weight in weights.items() if weight])
    rows, numbers, counts = _counted(fields, weights)
    lengths = np.bincount(rows, weights=counts, minlength=len(split))
    holding = np.bincount(numbers, minlength=len(terms))  # number of rows per term
    norms = length_norms(lengths.astype(np.float64), K1, B)
    added = gains(idf(holding, len(split))[numbers], counts, norms[rows]).astype(np.float32)
    return Bm25Index(terms, edges(holding), rows, added, len(split))


def callers_index(of: "Part | Index", *, comments: bool = True) -> Bm25Index:
    """BM25 over the words of those who call what a file defines: of their names, and their comments' first sentences.

    These are functions of other files, but no tests. A name that several files define says nothing.
    """
    split, size = of.split, len(of.files)
    own = np.repeat(np.arange(size), [file.units for file in of.files])
    is_code = ~np.array([file.test for file in of.files], np.bool_)[own] & (of.kinds != WHOLE_FILE)
    defining: dict[str, int] = {}
    for row in np.flatnonzero(is_code).tolist():
        name, file = of.names[row].rpartition(".")[2], int(own[row])
        defining[name] = file if defining.get(name, file) == file else -1
    calls = split.words["api"]
    called = np.array([defining.get(word.rpartition(".")[2], -1) for word in split.lexicon], np.int64)[calls.values]
    rows = np.repeat(np.arange(len(split)), calls.lengths)
    kept = (called >= 0) & is_code[rows] & (called != own[rows])
    pairs = np.unique(called[kept] * len(split) + rows[kept], return_counts=True)[0]  # alone it imports numpy.ma
    files, rows = np.divmod(pairs, max(1, len(split)))
    words = [split.words[field].take(rows) for field in (("name", "query") if comments else ("name",))]
    numbers = np.concatenate([np.repeat(files, each.lengths) for each in words])
    values = np.concatenate([each.values for each in words])[np.argsort(numbers, kind="stable")]
    lists = Ragged(values, edges(np.bincount(numbers, minlength=size)))
    texts = replace(split.texts, rows=np.zeros(size, np.int64))
    return lexical_index(Split("callers", split.lexicon, {"name": lists}, texts), {"name": 1})


def length_norms(lengths: Float[np.ndarray, " documents"], k1: float, b: float) -> Float[np.ndarray, " documents"]:
    """Length norm of each document: ``k1 * (1 - b + b * length / average_length)``."""
    average = max(float(lengths.mean()) if len(lengths) else 0.0, 1e-9)
    return np.asarray(k1 * (1 - b + b * (lengths / average)))


def _as_terms(split: Split, fields: Sequence[str]) -> tuple[list[str], dict[str, Ragged]]:
    """All terms, sorted, and the fields as term ids."""
    forms = {}
    for field in fields:
        words = {number: split.lexicon[number] for number in distinct(split.words[field].values)[0].tolist()}
        parts = {number: split_identifier(word) if field == "api" else (word,) for number, word in words.items()}
        forms[field] = {number: [stem for part in each for stem in stems(part)] for number, each in parts.items()}
    terms = sorted({term for each in forms.values() for term in chain.from_iterable(each.values())})
    places = {term: number for number, term in enumerate(terms)}
    return terms, {field: _reworded(split.words[field], forms[field], places) for field in fields}


def _reworded(lists: Ragged, forms: Mapping[int, Sequence[str]], places: Mapping[str, int]) -> Ragged:
    """``lists`` with each word replaced by its terms."""
    seen, places_of = distinct(lists.values)
    spread = Ragged.of([[places[term] for term in forms[number]] for number in seen.tolist()]).take(places_of)
    return Ragged(spread.values, spread.offsets[lists.offsets])


def _counted(
    fields: Mapping[str, Ragged], weights: Mapping[str, int]
) -> tuple[Int32[np.ndarray, " postings"], Int[np.ndarray, " postings"], Int[np.ndarray, " postings"]]:
    """Row, term and weighted count of every term of every row, sorted by term and then by row."""
    keys, counts = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for field, lists in fields.items():
        rows = np.repeat(np.arange(len(lists)), lists.lengths)
        key, count = np.unique(lists.values.astype(np.int64) * len(lists) + rows, return_counts=True)
        keys.append(key)
        counts.append(weights[field] * (count if field == "name" else np.ones_like(count)))  # others count once
    found, places = np.unique(np.concatenate(keys), return_inverse=True)
    size = max(1, len(next(iter(fields.values()))))
    total = np.bincount(places, weights=np.concatenate(counts), minlength=len(found)).astype(np.int64)
    return (found % size).astype(np.int32), found // size, total
