"""What the data sets of several languages have in common: source trees -> shards -> pairs of ``--data.language``.

The shards are in a folder; what is missing or stale is extracted, one source tree at a time, by a pool of processes on
this machine, or by Ray on one or several. A shard is written as soon as it is made, atomically, so that a run that was
killed goes on with the next tree. A tree that cannot be read is left out and listed in ``left_out.json``; it is not
tried again until that file is removed.
"""

import json
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final

from tqdm import tqdm

from data_prep.config import DataConfig
from data_prep.errors import UserError
from data_prep.files.access import ABSENT, named_path, read_whole, reason
from data_prep.files.json_text import parse_json
from data_prep.files.writing import sole_holder, write_atomically
from data_prep.installation import processors
from data_prep.languages.registry import LANGUAGES
from data_prep.pipeline.extraction import MadeShard, TreeTask, extraction_program, make_shard
from data_prep.pipeline.pairs import languages_of, pairs_of_corpus
from data_prep.pipeline.shards import read_head, statistics
from data_prep.pipeline.stages import MadePairs
from data_prep.worker_pool import Guard, map_ordered
from data_prep.worker_process import TREE

LEFT_OUT: Final = "left_out.json"
_IN_VAIN: Final = 3
"""Fetches in a row that fail before the network is given up."""
_MAKE: Final = "data_prep.pipeline.extraction:make_shard"
_AHEAD: Final = 4
"""Trees in progress or waiting, per processor of a cluster."""
_TRIES: Final = 3
"""Times that a tree is extracted anew after the death of its worker."""
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MadeShards:
    """The shards of a corpus, and what has none."""

    paths: list[Path]
    left_out: dict[str, str]  # name of a tree -> reason


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
        named = {task.tree.name for task in tasks}
        left_out = {name: reason for name, reason in left_out.items() if name in named}
        if not paths:
            name, reason = next(iter(left_out.items()), ("", "there are none"))
            raise UserError(f"none of {len(tasks):,} source trees can be read, {name}: {reason}")
        return MadeShards(paths, left_out)

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


class Corpus(ABC):
    """A data set of source trees in several languages."""

    name: ClassVar[str]
    default_lists: ClassVar[tuple[Path, ...]]

    def __init__(self, config: DataConfig) -> None:
        """Check the language.

        Raises:
            UserError: there is no such language, or the profile is Java's.
        """
        if config.has_statements:
            raise UserError(
                f"{self.name} has no statement trees: leave out --data.profile, and for fcarcs give "
                "--data.statements=false --model.structure=ast"
            )
        self._chosen = languages_of(config.language)
        self.cache_name = f"{self.name}-{config.language}{'-random' * (config.split == 'random')}"
        self._config = config
        self._made: MadeShards | None = None

    @property
    def languages(self) -> tuple[str, ...]:
        """Those of its pairs.

        Raises:
            UserError: a list is missing or wrong.
        """
        return self._chosen or tuple(name for name in LANGUAGES if name in self.listed_languages())

    @abstractmethod
    def listed_languages(self) -> Collection[str]:
        """Those that source trees are listed with.

        Raises:
            UserError: a list is missing or wrong.
        """

    @abstractmethod
    def tasks(self) -> Sequence[TreeTask]:
        """The source trees."""

    def lists(self) -> tuple[Path, ...]:
        """The lists of the source trees, or the file at ``--data.path``."""
        return (named_path(self._config.path),) if self._config.path else self.default_lists

    @property
    def shard_folder(self) -> Path:
        """Where the shards are."""
        return Path(self._config.root) / "raw" / self.name / "shards"

    def inputs(self) -> list[Path]:
        """The lists and the shards, extracted if they are missing.

        Raises:
            UserError: none can be had.
        """
        return [*self.lists(), *self._shards().paths]

    def origin(self) -> str:
        """The name, and the number of source trees."""
        return f"{self.name} of {len(self._shards().paths)} source trees"

    def make(self) -> MadePairs:
        """Build the pairs, with statistics in the manifest."""
        found = self._shards()
        made = pairs_of_corpus(found.paths, self._config)
        about: dict[str, Any] = {"source_trees_left_out": found.left_out, "statistics": statistics(found.paths)}
        return replace(made, manifest={**made.manifest, **about})

    def _shards(self) -> MadeShards:
        if self._made is None:
            folder = ShardFolder(self.shard_folder, _logger.warning)
            tasks = [replace(task, program=extraction_program(tuple(task.languages))) for task in self.tasks()]
            self._check_listed()
            self._made = folder.made(tasks, processes=self._config.processes, cluster=self._config.cluster)
        return self._made

    def _check_listed(self) -> None:
        names = self.listed_languages()
        if names and set(self.languages).isdisjoint(names):
            listed = ", ".join(name for name in LANGUAGES if name in names)
            raise UserError(
                f"{self.name} lists nothing of --data.language={self._config.language}, but of {listed}: "
                "--data.path=LIST takes a list of your own (docs/data.md)"
            )


def lines_of_list(path: Path, what: str) -> Iterator[tuple[int, str]]:
    """Number and text of each line of a list of source trees, without comments and blank ones.

    Raises:
        UserError: the list is missing or no text.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--data.path={path} cannot be read ({reason(error)}): expected a list of {what}") from error
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip() and not line.startswith("#"))


_GUARD: Final[Guard | None] = Guard(
    divided=lambda task: [replace(task, apart=True)],
    joined=lambda made: made[0],
    refused=lambda _: MadeShard(b"", "it costs too much time or memory to extract"),
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
        raise UserError("--data.cluster=ray needs Ray: bash run.sh install cluster") from error

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
