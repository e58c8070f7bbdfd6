"""The indexes of a list, opened and joined: what a search of all of them needs."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from data_prep.errors import UserError
from search.engine.engine import Engine
from search.engine.signals import Reranker
from search.index.code_index import Index
from search.index.index_file import UnusableIndexError, open_index, read_head
from search.index.vectors import near_rows, vectors_path
from search.joint.joint_index import JointIndex, JointReranker, JointRetriever, Member, Numbering
from search.joint.repository_list import Repository, read_list
from search.opening import reranker_maker

RerankerOf = Callable[[Index], Reranker | None]


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
