"""The shards of a corpus in a folder: what is missing or stale is extracted, one source tree at a time.

A shard is written as soon as it is made, atomically, so that a run that was killed goes on with the next tree. A tree
that cannot be read is left out and listed in ``left_out.json``; it is not tried again until that file is removed.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from tqdm import tqdm

from data_prep.corpus.cluster import map_trees
from data_prep.corpus.shards import read_head
from data_prep.corpus.worker import MadeShard, TreeTask
from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from data_prep.files.folder_lock import sole_holder
from data_prep.files.json_text import parse_json
from data_prep.files.reading import ABSENT, read_whole
from data_prep.languages.registry import LANGUAGES, language
from data_prep.program import program_sha256

LEFT_OUT: Final = "left_out.json"
_IN_VAIN: Final = 3
"""Fetches in a row that fail before the network is given up."""


@dataclass(frozen=True, slots=True)
class MadeShards:
    """The shards of a corpus, and what has none."""

    paths: list[Path]
    left_out: dict[str, str]  # name of a tree -> reason


def extraction_program() -> str:
    """Checksum of the program that extracts functions, with the versions of the grammars."""
    grammars = " ".join(f"{language(name).grammar}={version(language(name).grammar)}" for name in LANGUAGES)
    return hashlib.sha256(f"{program_sha256('data_prep.corpus.worker')} {grammars}".encode()).hexdigest()


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


def heads_of(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """The first line of each shard."""
    return [read_head(path) for path in paths]
