"""A source tree -> its shard, in one process: what the pool, or Ray, maps over the trees."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from data_prep.corpus.extraction import Counts, extract_tree
from data_prep.corpus.records import TreeName
from data_prep.corpus.shards import shard_bytes
from data_prep.errors import UserError
from data_prep.files.reading import raise_if_passing
from data_prep.item_limits import FILE
from data_prep.languages.registry import language
from data_prep.licences.licences import states_licence
from data_prep.limited_calls import LimitedCalls
from data_prep.sources.git_repository import bare_repository, fetched_commit
from data_prep.sources.git_tree import GitTree
from data_prep.sources.own_git import GitError
from data_prep.sources.package_tree import PackageTree
from data_prep.sources.source_tree import SourceTree


@dataclass(frozen=True, slots=True)
class TreeTask:
    """A source tree to extract."""

    tree: TreeName
    languages: Sequence[str]
    kind: Literal["clone", "fetch", "archive"]
    place: str  # the folder of a clone, the address to fetch from, or an archive
    program: str  # checksum of the program that extracts, for the shard
    apart: bool = False  # whether each file is parsed in a process of its own, for a tree that has ended the common one


@dataclass(frozen=True, slots=True)
class MadeShard:
    """The shard of a tree."""

    data: bytes  # b"" with a trouble
    head: dict[str, Any]
    trouble: str = ""  # why there is none


def make_shard(task: TreeTask) -> MadeShard:
    """Extract a source tree; one that cannot be read has no shard, and the reason."""
    try:
        if task.kind == "fetch":
            with fetched_commit(task.place, task.tree.revision) as repository:
                return _made(task, GitTree(repository, task.tree.revision))
        return _made(task, _tree(task))
    except (GitError, UserError, OSError) as error:
        raise_if_passing(error)
        return MadeShard(b"", {}, " ".join(str(error).split()) or type(error).__name__)


def _tree(task: TreeTask) -> SourceTree:
    if task.kind == "archive":
        suffixes = tuple(suffix for name in task.languages for suffix in language(name).suffixes)
        return PackageTree(Path(task.place), lambda path: path.endswith(suffixes) or _may_state_licence(path))
    repository = bare_repository(Path(task.place))
    if repository is None:
        raise GitError(f"{task.place} is no clone")
    return GitTree(repository, task.tree.revision)


def _may_state_licence(path: str) -> bool:
    return states_licence(path) or path.endswith("debian/copyright")


def _made(task: TreeTask, tree: SourceTree) -> MadeShard:
    counts: dict[str, Counts] = {}
    head: dict[str, Any] = {"tree": asdict(task.tree), "program": task.program}
    apart = LimitedCalls(FILE, 1) if task.apart else None
    try:
        files = list(extract_tree(tree, task.languages, counts, apart))
    finally:
        if apart:
            apart.close()
    head["languages"] = {name: each.as_dict() for name, each in counts.items()}
    return MadeShard(shard_bytes(head, files), head)
