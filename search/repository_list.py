"""A list of repositories that are indexed apart and searched together, its indexes opened and joined, and their models.

It is a text file that a script can write. One repository a line, its fields separated by tabs:

    FOLDER <tab> NAME <tab> GROUPS

``FOLDER`` is where it is checked out, relative to the list's own folder if not absolute. ``NAME`` is how hits name it,
such as ``team/shop``; empty or left out: the folder's own name. ``GROUPS`` are those who may see it on a shared
server, separated by commas: groups, ``user:NAME`` for a single user, ``*`` for every user; empty or left out: nobody.
Empty lines and lines that begin with # are ignored.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Final

import numpy as np

from data_prep.errors import UserError, shown
from data_prep.files.access import named_path, open_regular, reason
from data_prep.store.arrays import Float32, Int64
from search.engine.engine import Engine
from search.engine.signals import Alignment, Reranker
from search.index.code_index import Index
from search.index.index_file import UnusableIndexError, open_index, read_head
from search.index.joint_index import JointIndex, Numbering
from search.index.vectors import COUNT, DenseRetriever, near_rows, vectors_path
from search.models.packed import reranker_maker
from search.opening import index_place

EVERYBODY: Final = "*"
"""In place of a group: every user."""
USER: Final = "user:"
"""Begins what stands for a single user."""
_LARGEST: Final = 64 << 20  # bytes
_MOST: Final = 100_000
"""Repositories."""
_NAME: Final = re.compile(r"[\w][\w.-]{0,99}(?:/[\w][\w.-]{0,99}){0,9}", re.ASCII)
_UNNAMED: Final = re.compile(r"[^\w.-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Repository:
    """A line of the list."""

    name: str
    folder: Path  # absolute
    groups: frozenset[str]

    @property
    def index(self) -> Path:
        """The file of its index."""
        return index_place(self.folder)

    def visible_to(self, groups: frozenset[str]) -> bool:
        """Whether somebody may see it who is in ``groups``, which ``user:NAME`` can be one of."""
        return EVERYBODY in self.groups or not self.groups.isdisjoint(groups)


def read_list(path: Path) -> list[Repository]:
    """The repositories of a list, in its order; raises what :func:`content_of` and :func:`parsed_list` do."""
    return parsed_list(content_of(path), path)


def content_of(path: Path) -> bytes:
    """The bytes of a list.

    Raises:
        UserError: it cannot be read, or is too large.
    """
    try:
        with open_regular(path) as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise UserError(f"the list of repositories {path} cannot be read: {reason(error)}") from error
    if len(data) > _LARGEST:
        raise UserError(f"the list of repositories {path} has more than {_LARGEST >> 20} MiB")
    return data


def parsed_list(data: bytes, path: Path) -> list[Repository]:
    """The repositories of the list in ``path``, whose bytes are ``data``.

    Raises:
        UserError: it has no repository, or a line has another form; the message has its number.
    """
    found: list[Repository] = []
    for number, line in _lines(data, path):
        try:
            found.append(_repository(line, path.parent))
        except UserError as error:
            raise UserError(f"{path}, line {number}: {error}") from error
        if len(found) > _MOST:
            raise UserError(f"{path}, line {number}: a list has at most {_MOST:,} repositories")
    if not found:
        raise UserError(f"{path} names no repository: one a line, FOLDER, NAME and GROUPS separated by tabs")
    _check_apart(found, path)
    return found


def _lines(data: bytes, path: Path) -> Iterator[tuple[int, str]]:
    """The lines that name something, with their numbers."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = data[: error.start].count(b"\n") + 1
        raise UserError(f"{path}, line {number}: expected UTF-8, got the byte {data[error.start]:#x}") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip(" \t\r") and not line.startswith("#"):
            yield number, line.removesuffix("\r")


def _repository(line: str, beside: Path) -> Repository:
    folder, name, groups, *more = (each.strip(" ") for each in [*line.split("\t"), "", ""])
    if any(more) or not folder:
        raise UserError(f"expected FOLDER, NAME and GROUPS, separated by tabs, got {shown(line)}")
    if not groups.isprintable():
        raise UserError(f"expected groups of printable characters, got {shown(groups)}")
    place = named_path(os.path.normpath(beside / Path(folder).expanduser()))
    name = name or _UNNAMED.sub("_", place.name).lstrip("_.-")
    if not _NAME.fullmatch(name):
        raise UserError(f"expected a name of letters, digits and ._-, in parts separated by /, got {shown(name)}")
    return Repository(name, place, frozenset(filter(None, (each.strip(" ") for each in groups.split(",")))))


def _check_apart(found: list[Repository], path: Path) -> None:
    """Refuse two repositories of one name or one folder, or a name inside of another one."""
    names = {each.name.lower() for each in found}
    seen: dict[str, str] = {}
    for each in found:
        own, real = each.name.lower(), os.path.realpath(each.folder)
        inside = next((above for above in _above(own) if above in names), None)
        if inside:
            raise UserError(f"{path}: the name {each.name} lies inside of {inside}: give one of them another name")
        if own in seen:
            raise UserError(f"{path}: two repositories have the name {each.name}: name one of them in its second field")
        if real in seen:
            raise UserError(f"{path}: {each.name} and {seen[real]} are the same folder {real}")
        seen |= {own: each.name, real: each.name}


def _above(name: str) -> Iterator[str]:
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


@dataclass(frozen=True, eq=False)
class Member:
    """The opened index of a repository as a part of a joint one, and the models over its rows."""

    repository: Repository
    index: Index
    content: str  # checksum of the index
    reranker: Reranker | None = None
    retriever: DenseRetriever | None = None


RerankerOf = Callable[[Index], Reranker | None]


class JointReranker:
    """A :class:`search.engine.signals.Reranker` over the rows of several."""

    def __init__(self, rerankers: Sequence[Reranker], numbering: Numbering) -> None:
        """``numbering``: of the rows of each."""
        self._rerankers, self._rows = rerankers, numbering

    def knows(self, word: str) -> bool:
        """Whether any has a word of a query in its vocabulary; they are of one model."""
        knows = getattr(self._rerankers[0], "knows", None)
        return knows is None or bool(knows(word))

    def scores(self, query: Sequence[str], rows: Int64[np.ndarray, " found"]) -> Float32[np.ndarray, " found"]:
        """The score of each of ``rows`` for the words of a query."""
        found = np.empty(len(rows), np.float32)
        for number, places in self._rows.parted(rows):
            found[places] = self._rerankers[number].scores(query, rows[places] - self._rows.starts[number])
        return found

    def alignment(self, query: Sequence[str], row: int) -> Alignment | None:
        """What each word of a query attended to in a row."""
        number, own = self._rows.place(row)
        return self._rerankers[number].alignment(query, own)


class JointRetriever(DenseRetriever):
    """The rows of several, whose vectors are by one bi-encoder."""

    def __init__(self, retrievers: Sequence[DenseRetriever], numbering: Numbering) -> None:
        """``numbering``: of the rows of each."""
        assert len({each.model for each in retrievers}) == 1
        self._retrievers, self._rows = retrievers, numbering
        self._encoder, self._vector = retrievers[0]._encoder, retrievers[0]._vector

    def nearest_to(self, vector: Float32[np.ndarray, "1 dim"]) -> Int64[np.ndarray, " found"]:
        """The best of what each retriever finds."""
        found = [each.nearest_to(vector) for each in self._retrievers]
        scores = [each.similarity(vector, rows) for each, rows in zip(self._retrievers, found, strict=True)]
        rows = np.concatenate([own + start for own, start in zip(found, self._rows.starts, strict=True)])
        return rows[np.argsort(-np.concatenate(scores), kind="stable")[:COUNT]]

    def similarity(
        self, vector: Float32[np.ndarray, "1 dim"], rows: Int64[np.ndarray, " found"]
    ) -> Float32[np.ndarray, " found"]:
        """The cosine of a vector and that of each of ``rows``."""
        found = np.empty(len(rows), np.float32)
        for number, places in self._rows.parted(rows):
            found[places] = self._retrievers[number].similarity(vector, rows[places] - self._rows.starts[number])
        return found

    def close(self) -> None:
        """Release what each has open."""
        for each in self._retrievers:
            each.close()


def open_member(repository: Repository, reranker_of: RerankerOf, *, mapped: bool = False, near: bool = True) -> Member:
    """Open the index of a repository.

    Args:
        repository: a line of the list.
        reranker_of: makes the reranker over the rows of an index; None: BM25 alone.
        mapped: as :func:`search.index.index_file.open_index` takes it.
        near: whether to use its vectors, if there are any that fit it.

    Raises:
        UnusableIndexError: there is no index, it cannot be used, or it was replaced meanwhile.
    """
    path = repository.index
    head = read_head(path)
    index = open_index(path, mapped=mapped)
    if read_head(path) != head:
        raise UnusableIndexError(f"the index {path} was replaced while it was opened: ask again")
    retriever = None
    if near and vectors_path(path).exists():
        with suppress(UserError, OSError):  # stale or damaged: index --list mends it
            retriever = near_rows(path, head.content, len(index), "")
    return Member(repository, index, head.content, reranker_of(index), retriever)


def joined(members: Sequence[Member]) -> Engine:
    """An engine over all ``members``.

    Vectors are used if all members with rows have some by the same bi-encoder: cosines of others cannot be compared.
    """
    full = [each for each in members if len(each.index)]
    index, numbering = JointIndex.over(full), Numbering([len(each.index) for each in full])
    rerankers = [each.reranker for each in full if each.reranker]
    reranker = JointReranker(rerankers, numbering) if full and len(rerankers) == len(full) else None
    retrievers = [each.retriever for each in full if each.retriever]
    comparable = len(retrievers) == len(full) and len({each.model for each in retrievers}) == 1
    return Engine(index, reranker, retriever=JointRetriever(retrievers, numbering) if comparable else None)


def opened_list(path: Path, model: str, *, near: bool, tell: Callable[[str, str], None]) -> Engine:
    """An engine over all repositories of a list that have an index, for one question.

    Args:
        path: of the list.
        model: as ``--model`` names it.
        near: whether to use vectors.
        tell: called with the name of a repository that is left out, and why.

    Raises:
        UserError: the list or the model cannot be used, or no repository has an index.
    """
    listed = read_list(path)
    reranker_of = reranker_maker(model, for_many=False)
    members = []
    for each in listed:
        try:
            members.append(open_member(each, reranker_of, mapped=True, near=near))
        except (UnusableIndexError, OSError) as error:
            tell(each.name, str(error))
    if not members:
        how = f"bash run.sh index --list={quote(str(path))}"
        raise UserError(f"no repository of {path} has an index: make them by `{how}`")
    return joined(members)
