"""``bash run.sh indexes``: the indexes in the user's cache folder, and the removal of those that are not needed."""

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from data_prep.errors import UserError, one_line
from data_prep.files.access import named_path
from experiments.terminal import console
from experiments.terminal.options import parsed


@dataclass(frozen=True, slots=True)
class IndexesOptions:
    """Options of ``indexes``."""

    remove: str = ""
    """Remove the index of this folder, which need not exist any more; or, by its name, one whose folder is not known;
    gone: those of all folders that do not exist any more."""
    json: bool = False
    """Print one JSON object."""


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """An index in the cache folder."""

    name: str  # of its folder in the cache
    folder: str  # that it is of; "": not known
    state: Literal["there", "gone", "unknown"]  # of that folder
    rows: int
    files: int
    bytes: int  # of all its files
    age: float  # seconds since it was made
    version: str  # "galm index 6"; "" if it cannot be read
    usable: bool  # by this version of the program
    vectors: str  # the folder of the model that made them, shipped, or none

    @property
    def line(self) -> str:
        """All of it in one line."""
        marks = {"there": "", "gone": " (gone)", "unknown": ""}
        files = "1 file" if self.files == 1 else f"{self.files:,} files"
        what = [
            f"{self.rows:,} entries of {files}" if self.usable else f"cannot be used: {self.version}",
            _size(self.bytes),
            f"{shown_age(self.age)} old",
            *([self.version, f"vectors: {self.vectors}"] if self.usable else []),
        ]
        return f"{one_line(self.folder or f'(folder not known) {self.name}')}{marks[self.state]}: {', '.join(what)}"


def indexes(arguments: Sequence[str]) -> None:
    """List the indexes, or remove some.

    Raises:
        UserError: there is none that is to be removed.
    """
    words, options = parsed(arguments, IndexesOptions)
    if words:
        raise UserError(f"expected options alone, bash run.sh indexes --remove=DIR, not {' '.join(words)}")
    if "--remove=" in arguments or any(pair == ("--remove", "") for pair in pairwise(arguments)):
        raise UserError("--remove= is empty: expected a folder, bash run.sh indexes --remove=DIR, or --remove=gone")
    found = [*stored_indexes()]
    if not options.remove:
        _list(found, as_json=options.json)
        return
    chosen = _chosen(found, options.remove)
    for each in chosen:
        remove(each)
    if options.json:
        console.show(json.dumps({"removed": [asdict(each) for each in chosen]}, indent=1))
    else:
        for each in chosen:
            console.say(f"removed the index of {each.folder or each.name}")
        if not chosen:
            console.say("no index is of a folder that is gone")


def _list(found: Sequence[StoredIndex], *, as_json: bool) -> None:
    if as_json:
        told = {"folder": str(_folder()), "indexes": [asdict(each) for each in found]}
        console.show(json.dumps(told, indent=1))
        return
    what = "1 index" if len(found) == 1 else f"{len(found):,} indexes"
    total = _size(sum(each.bytes for each in found))
    console.show("\n".join([*(each.line for each in found), f"{what} in {_folder()}, {total}"]))


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 1e5 else f"{count / 1e3:,.0f} kB"


def _folder() -> Path:
    from search.opening import index_place

    return index_place(Path("/")).parent.parent


def stored_indexes() -> Iterator[StoredIndex]:
    """The indexes in the cache folder, by name."""
    folder = _folder()
    for each in sorted(folder.iterdir()) if folder.is_dir() else []:
        if each.is_dir() and not each.is_symlink() and (each / "index").is_file():
            with suppress(FileNotFoundError):  # it was removed meanwhile
                yield _described(each)


def _described(folder: Path) -> StoredIndex:
    from search.index.freshness import read_record
    from search.index.index_file import Head, UnusableIndexError, read_head, version_of

    path = folder / "index"
    record, head = read_record(path), Head(0, 0, "", 1, "")
    with suppress(UnusableIndexError):
        head = read_head(path)
    root = record.root if record else ""
    return StoredIndex(
        folder.name,
        root,
        "unknown" if not root else "there" if os.path.isdir(root) else "gone",  # noqa: PTH112 - which knows no error
        head.rows,
        head.files,
        sum(each.lstat().st_size for each in folder.iterdir()),
        round(max(0.0, time.time() - path.stat().st_mtime), 1),
        version_of(path),
        bool(head.content),
        _vectors(path),
    )


def _vectors(index: Path) -> str:
    from search.index.vectors import read_vector_head, vectors_path

    try:
        return read_vector_head(vectors_path(index)).run or "shipped"
    except UserError:
        return "none"


def _chosen(found: Sequence[StoredIndex], typed: str) -> list[StoredIndex]:
    """The indexes that ``--remove`` names."""
    if typed == "gone":
        return [each for each in found if each.state == "gone"]
    from search.opening import index_place

    named = named_path(typed)
    name, absolute = index_place(named).parent.name, os.path.abspath(named)  # noqa: PTH100 - it may be gone
    chosen = [each for each in found if each.name in (name, typed) or (each.folder and each.folder == absolute)]
    if not chosen:
        raise UserError(f"there is no index of {named}: bash run.sh indexes lists all")
    return chosen


def remove(stored: StoredIndex) -> None:
    """Remove an index and all that belongs to it, once nobody makes it any more.

    Raises:
        OSError: it cannot be removed.
    """
    from search.index.build import lock_of, sole_maker

    folder = _folder() / stored.name
    with sole_maker(folder / "index", console.complain):
        for each in [path for path in folder.iterdir() if path != lock_of(folder / "index")]:
            if not each.is_dir() or each.is_symlink():
                each.unlink(missing_ok=True)
    with suppress(OSError):  # somebody makes it again
        folder.rmdir()


def shown_age(seconds: float) -> str:
    """A time span in words."""
    hours = seconds / 3600
    if hours < 2:
        return f"{hours * 60:.0f} minutes"
    return f"{hours:.0f} hours" if hours < 48 else f"{hours / 24:.0f} days"
