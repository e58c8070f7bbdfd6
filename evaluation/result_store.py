"""The results of a page: ``results.jsonl``, a line a run, and ``ranks.jsonl.gz``, the long lists of the same runs.

A run is saved in a file of its own first, ``NAME.json``, as in earlier versions: several processes fill one folder, and
a kill loses nothing. :meth:`ResultStore.fold` puts these files into the two files of all runs. Reading knows both, the
file of a run's own first. The same results give the same bytes.
"""

import gzip
import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from jaxtyping import Int64

from data_prep.errors import UserError
from data_prep.files.access import read_whole, reason
from data_prep.files.json_text import load_json, parse_json
from data_prep.files.writing import sole_holder, write_atomically

ROWS: Final = "results.jsonl"
LISTS: Final = "ranks.jsonl.gz"
_LONG: Final = frozenset(
    {"asked", "code_words", "distinct", "files", "groups", "history", "nearest", "queries", "ranks", "read", "right"}
    | {"shared", "stages", "texts", "threads", "trees", "words"}
    | {"code", "error", "both", "other_text"}  # kinds of queries of posts
)
"""Fields whose lists are kept in LISTS."""
_NOTHING: Final = "{}"
_TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class SavedRun:
    """A run's saved result."""

    name: str  # in its folder
    where: str  # its file, for messages
    row: Mapping[str, Any]
    """Its labels, configuration, seed, metrics, command and code version, as in metrics.json, without long lists."""
    packed: str
    """The long lists, at the same places, as JSON."""

    @property
    def content(self) -> dict[str, Any]:
        """All of it."""
        found: dict[str, Any] = _merged(self.row, parse_json(self.packed))
        return found

    @property
    def ranks(self) -> dict[str, Int64[np.ndarray, " queries"]]:
        """The ranks of each pool that the run was tested on, by the place of their list: ``also/csn_tabcs/ranks``."""
        return {place: np.array(ranks) for place, ranks in _lists(parse_json(self.packed), "ranks")}


@dataclass(frozen=True, slots=True)
class ResultStore:
    """The results in a folder, by the names of the runs."""

    folder: Path

    def load(self) -> dict[str, SavedRun]:
        """All results, in the order of their file names.

        Raises:
            UserError: a file is damaged, or the two files of all runs are not of the same results.
        """
        for tries_left in reversed(range(_TRIES)):  # another process may be folding
            try:
                own = {path.relative_to(self.folder).with_suffix("").as_posix(): path for path in self._own_files()}
                runs = {name: _own_run(name, path) for name, path in own.items()}
                folded = self._folded()
                found = {**{name: run for name, run in folded.items() if name not in runs}, **runs}
                return {name: _checked(found[name]) for name in sorted(found, key=_file_name)}
            except (FileNotFoundError, _MismatchError):
                if not tries_left:
                    raise
        raise AssertionError

    def get(self, name: str) -> SavedRun | None:
        """A result; None if there is none.

        Raises:
            UserError: a file is damaged.
        """
        path = self.folder / _file_name(name)
        if path.exists():
            with suppress(FileNotFoundError):  # folded by another process in this moment
                return _own_run(name, path)
        with suppress(_MismatchError):
            run = self._folded().get(name)
            return _checked(run) if run else None
        return self.load().get(name)

    def save(self, name: str, content: Mapping[str, Any]) -> Path:
        """Write a result into a file of its own; returns the file.

        Raises:
            OSError: it cannot be written.
        """
        path = self.folder / _file_name(name)
        with self._locked():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, json.dumps(content) + "\n")
        return path

    def fold(self) -> None:
        """Put results in files of their own into the two files of all runs.

        Raises:
            UserError: a file is damaged.
            OSError: a file cannot be written.
        """
        if not any(self._own_files()):
            return
        with self._locked():
            own = {path: _stamp(path) for path in self._own_files()}
            runs = self.load()
            lines = [f"{name}\t{run.packed}\n" for name, run in runs.items() if run.packed != _NOTHING]
            if lines or (self.folder / LISTS).exists():
                write_atomically(self.folder / LISTS, _compressed("".join(lines).encode()))
            rows = (_compact({"run": name, **run.row, "lists": _digest(run.packed)}) for name, run in runs.items())
            write_atomically(self.folder / ROWS, "".join(f"{row}\n" for row in rows))
            for path, stamp in own.items():
                if _stamp(path) == stamp:  # not written anew by something that does not lock this folder
                    path.unlink(missing_ok=True)

    def _folded(self) -> Mapping[str, SavedRun]:
        return _folded(self.folder, *map(_stamp, (self.folder / ROWS, self.folder / LISTS)))

    def _own_files(self) -> Iterator[Path]:
        return (path for path in self.folder.rglob("*.json") if not path.name.startswith("."))

    def _locked(self) -> AbstractContextManager[bool]:
        return sole_holder(self.folder / ".results.lock", waiting=lambda: None)


class _MismatchError(UserError):
    """The two files are not of the same results."""


def _file_name(name: str) -> str:
    return f"{name}.json"


def _own_run(name: str, path: Path) -> SavedRun:
    content = load_json(path, "a saved result")
    if not isinstance(content, dict):
        raise UserError(f"{path}: expected an object, not {content!r:.60}")
    row, lists = _split({"label": name, **content})
    return SavedRun(name, str(path), row, _compact(lists))


@lru_cache(maxsize=16)
def _folded(folder: Path, rows: tuple[int, ...], lists: tuple[int, ...]) -> Mapping[str, SavedRun]:
    """The runs in the two files of all, whose states are ``rows`` and ``lists``."""
    packed = _packed_lists(folder / LISTS) if any(lists) else {}
    return {run.name: run for run in _rows(folder / ROWS, packed)} if any(rows) else {}


def _rows(path: Path, packed: Mapping[str, str]) -> Iterator[SavedRun]:
    for number, line in enumerate(read_whole(path).splitlines(), start=1):
        try:
            row = parse_json(line)
            name = row.pop("run")
            yield SavedRun(name, f"{path}: {name}", row, packed.get(name, _NOTHING))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UserError(f"{path}: line {number} is no result ({error}): restore the file, or remove it") from error


def _packed_lists(path: Path) -> dict[str, str]:
    try:
        lines = gzip.decompress(read_whole(path)).decode().splitlines()
        return dict(line.split("\t", 1) for line in lines)
    except (EOFError, OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read ({reason(error)}): restore it, or remove it with {ROWS}") from error


def _checked(run: SavedRun) -> SavedRun:
    """A run of the two files without the checksum that joins its parts; one of a file of its own as it is."""
    if "lists" not in run.row:
        return run
    if run.row["lists"] != _digest(run.packed):
        raise _MismatchError(
            f"{run.where} and its ranks in {LISTS} are of two versions: take both files from one commit"
        )
    return replace(run, row={name: value for name, value in run.row.items() if name != "lists"})


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size


def _compressed(content: bytes) -> bytes:
    packed = io.BytesIO()
    with gzip.GzipFile("", "wb", 9, packed, mtime=0) as file:
        file.write(content)
    return packed.getvalue()


def _compact(content: object) -> str:
    return json.dumps(content, separators=(",", ":"))


def _digest(packed: str) -> str:
    return hashlib.sha256(packed.encode()).hexdigest()[:12]


def _split(value: Any) -> tuple[Any, Any]:
    """``value`` without its long lists, and these at the same places."""
    if isinstance(value, Mapping):
        long = {name: each for name, each in value.items() if name in _LONG and isinstance(each, list)}
        parts = {name: _split(each) for name, each in value.items() if name not in long}
        return {name: row for name, (row, _) in parts.items()}, {name: b for name, (_, b) in parts.items() if b} | long
    if isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
        rows, lists = zip(*map(_split, value), strict=True)
        return [*rows], [*lists] if any(lists) else {}
    return value, {}


def _merged(row: Any, lists: Any) -> Any:
    if isinstance(row, list) and lists:
        return [_merged(one, other) for one, other in zip(row, lists, strict=True)]
    if not isinstance(row, Mapping):
        return row
    return {**row, **{name: _merged(row[name], each) if name in row else each for name, each in lists.items()}}


def _lists(lists: Any, field: str, place: str = "") -> Iterator[tuple[str, list[int]]]:
    """The lists of a field with their places."""
    if isinstance(lists, list):
        lists = {str(number): each for number, each in enumerate(lists)}
    for name, each in lists.items() if isinstance(lists, Mapping) else ():
        if name == field:
            yield f"{place}{name}", each
        else:
            yield from _lists(each, field, f"{place}{name}/")
