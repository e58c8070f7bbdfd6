"""An index: functions, methods, types and files of a folder with words, text and BM25 weights, and permanent links.

And the text of an indexed file, as it was indexed. An index from elsewhere cannot show files of this machine: a file is
read only inside of the indexed folder, through no link at its end, and only one whose bytes have the hash that the
index has is shown.
"""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import Final, get_args
from urllib.parse import quote

import numpy as np

from data_prep.errors import UserError
from data_prep.files.access import raise_if_passing, read_regular, reason
from data_prep.records import LARGEST_SOURCE, UnitKind
from data_prep.store.arrays import Bool, Int64, Ragged, UInt8, edges
from data_prep.store.split import PairText, Split
from search.files.encodings import text_of
from search.files.languages import WHOLE_ALONE, language_name
from search.retrieval.word_index import Bm25Index, FileIndex

UNIT_KINDS: Final[Sequence[UnitKind]] = get_args(UnitKind)
WHOLE_FILE: Final = UNIT_KINDS.index("file")
CONSTANT: Final = UNIT_KINDS.index("constant")
TEST: Final = UNIT_KINDS.index("test")
ABSTRACT: Final = UNIT_KINDS.index("abstract")
_TEXTS: Final = 4096
"""Texts of rows that are kept decoded."""
_URL: Final = re.compile(r"https://[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d+)?(?:/[\w.+~%-]+)+", re.ASCII)
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Origin:
    """The web page of a folder's repository, and the folder's place in it."""

    url: str  # https://host/owner/name
    commit: str  # in full
    prefix: str  # the folder inside the repository, "/" at its end; "" at the top


def link(origin: Origin, path: str, start_line: int, end_line: int) -> str:
    """The address of lines of a file, 1-based and inclusive; ``path`` is relative to the folder of ``origin``.

    It is "" whatever the origin in an untrusted index is, unless that is an https address and a commit.
    """
    if not (_URL.fullmatch(origin.url) and _COMMIT.fullmatch(origin.commit)):
        return ""
    host = origin.url.split("/")[2]
    try:
        place = quote(origin.prefix + path, safe="/")
    except UnicodeEncodeError:  # half a surrogate pair in the path
        return ""
    if host == "bitbucket.org":
        return f"{origin.url}/src/{origin.commit}/{place}#lines-{start_line}:{end_line}"
    if "gitlab" in host:
        return f"{origin.url}/-/blob/{origin.commit}/{place}#L{start_line}-{end_line}"
    return f"{origin.url}/blob/{origin.commit}/{place}#L{start_line}-L{end_line}"


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A source file, as it was when read."""

    path: str  # inside the folder, "/"-separated
    size: int  # bytes
    modified: int  # nanoseconds
    licence: str  # SPDX, "" if not known
    test: bool
    committed: bool  # whether the commit of the index's origin has the same content
    units: int  # rows
    trouble: str  # why it could not be read, or what was left out of it; "" if it was read completely
    blobs: str = ""  # hashes of its content (:func:`search.files.tree.blob_names`), "" if it was not read
    encoding: str = ""  # of its text; "": UTF-8
    script: str = ""  # its language, if its content says so, and not its name
    catalogue: str = ""  # as :func:`search.files.generations.kind_of_catalogue` says

    @property
    def language(self) -> str:
        """The name of its language or kind of document."""
        return self.script or language_name(self.path)

    @property
    def languages(self) -> frozenset[str]:
        """Those by which it is found: of its content and of its name, which are two for a C++ header ``.h``."""
        return frozenset((self.language, language_name(self.path)))

    @property
    def parsed(self) -> bool:
        """Whether a parser read it, which another one may then do too; else it may be hostile to parsers."""
        return not self.trouble.endswith(WHOLE_ALONE)


@dataclass(frozen=True, eq=False)
class Index:
    """The functions, methods, types, constants and whole files of a folder, one per row, in the order of paths."""

    files: Sequence[IndexedFile]
    split: Split  # its field ``query`` is the first sentence of the comment
    names: Sequence[str]  # dotted, with the enclosing types
    asks: UInt8[np.ndarray, " rows"]  # 1 if the comment's first sentence can serve as a question
    kinds: UInt8[np.ndarray, " rows"]  # the place in UNIT_KINDS of what each row is
    deprecated: UInt8[np.ndarray, " rows"]  # 1 if its declaration is marked so
    lexical: Bm25Index
    callers: Bm25Index  # the words of those who call what a file defines; its rows are files
    whole: FileIndex  # the words of whole files
    origin: Origin | None  # web page of the folder's repository
    documents: bool = False  # whether texts and configuration are indexed too
    everything: bool = False  # whether hidden folders, and those of others' code, are indexed too
    unread: Mapping[str, int] = field(default_factory=dict)  # kind of files that are not read -> their number
    not_entered: Sequence[str] = ()  # folders that were not looked into, the first of them
    repositories: Mapping[str, bool] = field(default_factory=dict)  # the same of repositories: whether a submodule
    old: Mapping[int, frozenset[str]] = field(default_factory=dict)
    """The files that stand behind others, and stems by which a question means them."""

    def __len__(self) -> int:
        return len(self.split)

    @cached_property
    def file_edges(self) -> Int64[np.ndarray, " edges"]:
        """Where the rows of each file begin and end."""
        return edges(np.array([file.units for file in self.files], dtype=np.int64))

    @cached_property
    def text(self) -> Callable[[int], PairText]:
        """Gives the text of a row; the last ones are kept, since an answer needs each of them several times."""
        return lru_cache(maxsize=_TEXTS)(self.split.text)

    @cached_property
    def contents(self) -> Sequence[str]:
        """What rows with the same text have in common: their name, of a whole file the hashes of its content."""
        found = [*self.names]
        for row in np.flatnonzero(self.kinds == WHOLE_FILE).tolist():
            found[row] = self.file(row).blobs
        return found

    @cached_property
    def tests(self) -> Bool[np.ndarray, " rows"]:
        """Rows of test files, and of tests and modules of tests inside of others."""
        inside = np.fromiter((".tests." in f".{name}" for name in self.names), np.bool_, len(self))
        of_files = np.array([file.test for file in self.files], np.bool_)
        return inside | (self.kinds == TEST) | self.per_row(of_files)

    @cached_property
    def only_units(self) -> Int64[np.ndarray, " files"]:
        """The row of the only function or type of each file; -1 if it has none or several."""
        units = np.flatnonzero((self.kinds != WHOLE_FILE) & (self.kinds != CONSTANT))
        places = units.searchsorted(self.file_edges)
        found = np.full(len(self.files), -1)
        alone = np.diff(places) == 1
        found[alone] = units[places[:-1][alone]]
        return found

    @cached_property
    def _edges(self) -> Sequence[int]:
        edges: list[int] = self.file_edges.tolist()  # of which one is found in a quarter of the time
        return edges

    def file_number(self, row: int) -> int:
        """The place of the file of a row."""
        return bisect_right(self._edges, row) - 1

    def file_numbers(self, rows: Int64[np.ndarray, " some"]) -> Int64[np.ndarray, " some"]:
        """The place of the file of each of some rows."""
        return self.file_edges.searchsorted(rows, side="right") - 1

    def file(self, row: int) -> IndexedFile:
        """The file of a row."""
        return self.files[self.file_number(row)]

    def rows_of(self, file: int) -> range:
        """The rows of a file, by its place."""
        return range(self._edges[file], self._edges[file + 1])

    def per_row(self, of_files: Bool[np.ndarray, " files"]) -> Bool[np.ndarray, " rows"]:
        """What is so of each file, for each of its rows."""
        return np.repeat(of_files, np.diff(self.file_edges))

    def files_with(self, rows: Bool[np.ndarray, " rows"]) -> Bool[np.ndarray, " files"]:
        """Which files have one of some rows."""
        before = np.append(0, np.cumsum(rows))[self.file_edges]
        return before[1:] > before[:-1]

    def repository(self, row: int) -> str:  # noqa: ARG002 - several have names (search/joint)
        """The name of a row's repository, if several are searched together; "": this is the index of one."""
        return ""

    def source(self, place: int, root: Path | None) -> tuple[Path | None, IndexedFile]:
        """The folder of the file at a place in ``files``, here the ``root``, and the file as it is called there."""
        return root, self.files[place]

    @property
    def lexicon(self) -> Iterable[str]:
        """The words of the rows."""
        return self.split.lexicon

    def is_whole_file(self, row: int) -> bool:
        """Whether a row is a file as a whole, of which it shows the first lines after the licence."""
        return bool(self.kinds[row] == WHOLE_FILE)

    def url(self, row: int, text: PairText | None = None) -> str:
        """A permanent link to a row's lines; "" if its file is not as committed, or its repository has no web page.

        ``text``: of the row, if it is at hand.
        """
        file = self.file(row)
        if self.origin is None or not file.committed:
            return ""
        text = text or self.text(row)
        return link(self.origin, file.path, text.start_line, text.end_line)


def with_own_words(split: Split) -> Split:
    """The same rows with a lexicon of their own, without what only other rows use."""
    is_used = np.zeros(len(split.lexicon), np.bool_)
    for lists in split.words.values():
        is_used[lists.values] = True
    places = np.cumsum(is_used, dtype=np.int32) - 1
    words = {field: Ragged(places[lists.values], lists.offsets) for field, lists in split.words.items()}
    return replace(split, lexicon=[split.lexicon[number] for number in np.flatnonzero(is_used).tolist()], words=words)


def rows_of_files(rows: int, files: int) -> str:
    """How much an index has, in words; files of some languages are rows too (:mod:`search.files.languages`)."""
    return f"{rows:,} functions, types and files of {files:,} file{'s' * (files != 1)}"


class ChangedFileError(UserError):
    """A file that cannot be shown as it was indexed; the message says why."""


def read_indexed(root: Path | None, file: IndexedFile) -> str:
    """The text of a file as it was indexed.

    Args:
        root: the indexed folder; None: not known.
        file: as the index has it, which is not trusted.

    Raises:
        ChangedFileError: it cannot be read, or is another one by now.
    """
    if root is None:
        raise ChangedFileError("the indexed folder is not known: start the server in it, or name it by --folder=DIR")
    path = PurePosixPath(file.path)
    if path.is_absolute() or ".." in path.parts or "\0" in file.path:
        raise ChangedFileError("its path does not lead into the indexed folder")
    try:
        data, _ = read_regular(root / path, LARGEST_SOURCE + 1)
    except OSError as error:
        raise_if_passing(error)
        raise ChangedFileError(f"it cannot be read: {reason(error)}") from error
    if hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() != file.blobs.partition(" ")[0]:
        raise ChangedFileError("it has changed since it was indexed: bash run.sh index DIR")
    try:
        text = data if data.isascii() and not file.encoding and b"\r" not in data else text_of(data).data
    except UserError as error:
        raise ChangedFileError(str(error)) from error
    found = text.decode("utf-8", "replace")
    return found.replace("\r\n", "\n") if "\r" in found else found


def text_at(index: Index, place: int, root: Path | None) -> str:
    """The text of the file at a place of an index of ``root`` as it was indexed; "" if that cannot be had."""
    try:
        return read_indexed(*index.source(place, root))
    except ChangedFileError:
        return ""


def text_or_units(index: Index, place: int, root: Path | None, *, whole: bool = False) -> str:
    """The same, or else what the index itself has of the file: its functions and types, each at its lines.

    ``whole``: also the first lines of the file, as the index shows them.
    """
    if text := text_at(index, place, root):
        return text
    lines: dict[int, str] = {}
    for row in index.rows_of(place):
        if index.kinds[row] == WHOLE_FILE and not whole:
            continue
        unit = index.split.text(row)
        lines |= dict(enumerate(unit.source.split("\n")[: unit.end_line - unit.start_line + 1], unit.start_line))
    return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))
