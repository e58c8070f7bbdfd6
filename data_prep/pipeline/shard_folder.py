"""The shards of a corpus in a folder: what is missing or stale is extracted, one source tree at a time.

Trees are extracted by a pool of processes on this machine, or by Ray on one or several. A shard is written as soon as
it is made, atomically, so that a run that was killed goes on with the next tree. A tree that cannot be read is left out
and listed in ``left_out.json``; it is not tried again until that file is removed.
"""

import hashlib
import json
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Literal

from tqdm import tqdm

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from data_prep.files.folder_lock import sole_holder
from data_prep.files.json_text import parse_json
from data_prep.files.reading import ABSENT, raise_if_passing, read_whole
from data_prep.languages.registry import language, languages
from data_prep.licences.licences import states_licence
from data_prep.pipeline.extraction import Counts, extract_tree
from data_prep.pipeline.shards import TreeName, read_head, shard_bytes
from data_prep.program import program_sha256
from data_prep.sources.git_repository import bare_repository, fetched_commit
from data_prep.sources.own_git import GitError
from data_prep.sources.source_tree import GitTree, PackageTree, SourceTree
from data_prep.worker_pool import Guard, LimitedCalls, map_ordered, processors
from data_prep.worker_process import FILE, TREE

LEFT_OUT: Final = "left_out.json"
_IN_VAIN: Final = 3
"""Fetches in a row that fail before the network is given up."""
_MAKE: Final = f"{__name__}:make_shard"
_AHEAD: Final = 4
"""Trees in progress or waiting, per processor of a cluster."""
_TRIES: Final = 3
"""Times that a tree is extracted anew after the death of its worker."""


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


@dataclass(frozen=True, slots=True)
class MadeShards:
    """The shards of a corpus, and what has none."""

    paths: list[Path]
    left_out: dict[str, str]  # name of a tree -> reason


def extraction_program() -> str:
    """Checksum of the program that extracts functions, with the versions of the grammars."""
    grammars = " ".join(f"{each.distribution}={version(each.distribution)}" for each in languages())
    return hashlib.sha256(f"{program_sha256(__name__)} {grammars}".encode()).hexdigest()


class ShardFolder:
    """A folder with a shard per source tree."""

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        self._folder = folder
        self._say = say

    def path(self, task: TreeTask) -> Path:
        """Where the shard of a tree is."""
        return self._folder / f"{task.tree.slug}.jsonl.gz"

    def made(self, tasks: Sequence[TreeTask], *, processes: int, cluster: str) -> MadeShards:
        """Extract the trees whose shard is missing or stale.

        Raises:
            UserError: no tree has a shard, or several fetches in a row failed.
            OSError: a shard cannot be written, or a process was killed.
        """
        left_out = self._recorded()
        if any(self._is_missing(task, left_out) for task in tasks):
            self._folder.mkdir(parents=True, exist_ok=True)
            with sole_holder(
                self._folder / ".lock", lambda: self._say("waiting for another process that extracts the same")
            ):
                left_out = self._recorded()
                missing = [task for task in tasks if self._is_missing(task, left_out)]
                self._extract(missing, left_out, processes, cluster)
        paths = [path for task in tasks if (path := self.path(task)).exists()]
        if not paths:
            name, reason = next(iter(left_out.items()), ("", "there are none"))
            raise UserError(f"none of {len(tasks):,} source trees can be read, {name}: {reason}")
        named = {task.tree.name for task in tasks}
        return MadeShards(paths, {name: reason for name, reason in left_out.items() if name in named})

    def _is_missing(self, task: TreeTask, left_out: Mapping[str, str]) -> bool:
        if task.tree.name in left_out and task.kind != "clone":
            return False
        try:
            head = read_head(self.path(task))
        except (*ABSENT, UserError):
            return True
        return head.get("program") != task.program or sorted(head.get("languages", ())) != sorted(task.languages)

    def _extract(self, tasks: Sequence[TreeTask], left_out: dict[str, str], processes: int, cluster: str) -> None:
        results = map_trees(tasks, processes, cluster)
        failed: dict[str, str] = {}  # fetches in a row
        with closing(results), tqdm(desc="source trees", total=len(tasks), unit=" trees", disable=None) as bar:
            for task, made in zip(tasks, results, strict=True):
                bar.update()
                if not made.trouble:
                    self._keep(task, made, left_out, failed)
                    failed.clear()
                    continue
                self._say(f"left out {task.tree.name}: {made.trouble}")
                self.path(task).unlink(missing_ok=True)  # stale
                failed[task.tree.name] = made.trouble
                if task.kind == "fetch" and len(failed) == _IN_VAIN:
                    raise UserError(
                        f"{_IN_VAIN} repositories in a row cannot be fetched ({made.trouble}): run again to go on, or "
                        "give clones by --data.mirrors="
                    )
                if task.kind != "fetch":
                    self._keep(task, made, left_out, failed)
        self._record(left_out, failed)

    def _keep(self, task: TreeTask, made: MadeShard, left_out: dict[str, str], failed: dict[str, str]) -> None:
        """Write a shard, and the trees that failed before it."""
        if made.data:
            write_atomically(self.path(task), made.data)
            left_out.pop(task.tree.name, None)
        if failed:
            self._record(left_out, failed)

    def _record(self, left_out: dict[str, str], failed: Mapping[str, str]) -> None:
        left_out.update(failed)
        write_atomically(self._folder / LEFT_OUT, json.dumps(dict(sorted(left_out.items())), indent=1) + "\n")

    def _recorded(self) -> dict[str, str]:
        try:
            found: Any = parse_json(read_whole(self._folder / LEFT_OUT))
        except (*ABSENT, UserError):
            return {}
        return {str(name): str(reason) for name, reason in found.items()} if isinstance(found, dict) else {}


_GUARD: Final[Guard | None] = Guard(
    divided=lambda task: [replace(task, apart=True)],
    joined=lambda made: made[0],
    refused=lambda _: MadeShard(b"", {}, "it costs too much time or memory to extract"),
    limits=TREE,
)


def map_trees(tasks: Sequence[TreeTask], processes: int, cluster: str) -> Generator[MadeShard, None, None]:
    """The shard of each tree, in order; the same bytes wherever they are made.

    Raises:
        UserError: ``cluster`` is not ``ray`` or ``ray://HOST:PORT``, or Ray is not installed.
        OSError: a process was killed.
    """
    if not cluster:
        return map_ordered(_MAKE, tasks, min(processes or processors(), max(1, len(tasks))), _GUARD)
    if cluster != "ray" and not cluster.startswith("ray://"):
        raise UserError(f"--data.cluster takes ray or ray://HOST:PORT, not {cluster!r}")
    return _map_by_ray(tasks, processes, cluster)


def _map_by_ray(tasks: Sequence[TreeTask], processes: int, cluster: str) -> Generator[MadeShard, None, None]:
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # else it writes a token into the home folder
    try:
        import ray
    except ModuleNotFoundError as error:
        raise UserError(
            "--data.cluster=ray needs Ray: .venv/bin/python -m pip install --no-deps -r locks/requirements-cluster.txt"
        ) from error

    address = None if cluster == "ray" else cluster
    ray.init(address=address, num_cpus=(processes or processors()) if address is None else None, log_to_driver=False)
    try:
        remote = ray.remote(make_shard).options(max_retries=_TRIES)
        ahead = _AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
        waiting = []
        for task in tasks:
            waiting.append(remote.remote(replace(task, apart=True)))
            if len(waiting) >= ahead:
                yield ray.get(waiting.pop(0))
        while waiting:
            yield ray.get(waiting.pop(0))
    finally:
        ray.shutdown()


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
