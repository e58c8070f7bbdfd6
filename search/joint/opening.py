"""The indexes of a list, opened and joined, and models over the rows of all: what a search of all of them needs."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from data_prep.errors import UserError
from data_prep.store.arrays import Float32, Int64
from search.engine.engine import Engine
from search.engine.signals import Alignment, KnowsWords, Reranker
from search.index.code_index import Index
from search.index.index_file import UnusableIndexError, open_index, read_head
from search.index.vectors import COUNT, DenseRetriever, near_rows, vectors_path
from search.joint.joint_index import JointIndex, Member, Numbering
from search.joint.repository_list import Repository, read_list
from search.opening import reranker_maker

RerankerOf = Callable[[Index], Reranker | None]


class JointReranker:
    """A :class:`search.engine.signals.Reranker` over the rows of several."""

    def __init__(self, rerankers: Sequence[Reranker], numbering: Numbering) -> None:
        """``numbering``: of the rows of each."""
        self._rerankers, self._rows = rerankers, numbering

    def knows(self, word: str) -> bool:
        """Whether any has a word of a query in its vocabulary; they are of one model."""
        return any(not isinstance(each, KnowsWords) or each.knows(word) for each in self._rerankers[:1])

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

    def __init__(self, retrievers: Sequence[DenseRetriever], numbering: Numbering, count: int = COUNT) -> None:
        """``numbering``: of the rows of each; ``count``: rows per query."""
        assert len({each.model for each in retrievers}) == 1
        self._retrievers, self._rows, self._count = retrievers, numbering, count
        self._encoder, self._vector = retrievers[0]._encoder, retrievers[0]._vector

    def nearest_to(self, vector: Float32[np.ndarray, "1 dim"]) -> Int64[np.ndarray, " found"]:
        """The best of what each retriever finds."""
        found = [each.nearest_to(vector) for each in self._retrievers]
        scores = [each.similarity(vector, rows) for each, rows in zip(self._retrievers, found, strict=True)]
        rows = np.concatenate([own + start for own, start in zip(found, self._rows.starts, strict=True)])
        return rows[np.argsort(-np.concatenate(scores), kind="stable")[: self._count]]

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
    reranker_of: RerankerOf = (lambda _: None) if model == "none" else reranker_maker(model, for_many=False)
    members = []
    for each in listed:
        try:
            members.append(open_member(each, reranker_of, mapped=True, near=near))
        except (UnusableIndexError, OSError) as error:
            tell(each.name, str(error))
    if not members:
        raise UserError(f"no repository of {path} has an index: make them by `bash run.sh index --list={path}`")
    return joined(members)
