"""Whether an index is of its folder as it is now, which costs no walk if no folder has changed."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from data_prep.errors import UserError
from search.files.languages import indexed_suffixes
from search.files.tree import Found, checkout_of, found_files
from search.files.tree_stamps import Seen
from search.files.unread import Unread
from search.index.index_file import read_head
from search.index.tree_record import TreeRecord, changed_files, read_record, save_record

_MOST_WALKED: Final = 20_000
"""Files of a tree that is walked before an answer if its folders have changed, .02 s for each thousand."""
_NAMED: Final = 3
"""Files that a line names."""
MOST_NAMED: Final = 200
"""Files that an answer in JSON names."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """What is known of an index and its folder, for those who read an answer."""

    reading: tuple[str, ...] = ()
    """Files that have changed, are new or gone, and are being read: hits in them may be old."""
    unknown: bool = False
    """Whether files may have changed that are not named, since they are still being looked for."""
    trouble: str = ""
    """Why the index could not be brought up to date; "" if nothing is wrong."""

    @property
    def line(self) -> str:
        """The same in one line; "" if the index is of the folder as it is now."""
        if self.trouble:
            return f"answered from the index as it was: {self.trouble}"
        if self.reading:
            count, some = len(self.reading), ", ".join(self.reading[:_NAMED])
            more = f" and {count - _NAMED:,} more" if count > _NAMED else ""
            which = "1 changed file is being read: hits in it" if count == 1 else f"{count:,} changed files are being "
            which += "" if count == 1 else "read: hits in them"
            return f"{which} may be old ({some}{more})"
        return "changed files are being read: hits may be old" if self.unknown else ""

    @property
    def told(self) -> dict[str, Any]:
        """What an answer in JSON has besides: nothing, or one object, ``freshness``."""
        if not self.line:
            return {}
        about = {"line": self.line, "changed": list(self.reading[:MOST_NAMED]), "changed_count": len(self.reading)}
        return {"freshness": about}


CURRENT: Final = Freshness()


def looked_at(index: Path, root: Path | None = None) -> tuple[Path | None, Freshness]:
    """The folder of an index, and at once what has changed in it; no source file is read.

    Args:
        index: the file.
        root: its folder; None: as it was noted when the index was made.

    Raises:
        UnusableIndexError: there is no index, or it is of another version.
    """
    record, head = read_record(index), read_head(index)
    root = root or (record.folder if record else None)
    if root is None:
        return None, Freshness(trouble=f"which folder it is of is not known: make it again, by --out={index}")
    if not root.is_dir():
        return root, Freshness(trouble=f"{root} no longer exists")
    if record is None or (record.index, record.root) != (head.content, os.path.realpath(root)):
        return root, Freshness(unknown=True)
    try:
        changed = changed_files(record)
        if changed is None and len(record.files) <= _MOST_WALKED:
            changed = _walked(record, index)
    except (UserError, OSError):  # which the reading of what has changed reports
        changed = None
    return root, Freshness(tuple(changed or ()), unknown=changed is None)


def _walked(record: TreeRecord, index: Path) -> list[str]:
    """The files that another walk finds changed, new or gone; if there are none, what it saw is noted."""
    root, told = record.folder, lambda *_: None
    seen, suffixes = Seen(root), indexed_suffixes(documents=record.documents)
    chosen = Unread(record.everything)
    found = found_files(root, suffixes, told, checkout_of(root, told), chosen, submodules=record.submodules, seen=seen)
    changed = differing(record.files, found)
    if not changed:
        with suppress(OSError, UserError):  # then the next one walks again
            save_record(replace(record, stamps=seen.stamps), index)
    return changed


def differing(before: Sequence[Found], now: Sequence[Found]) -> list[str]:
    """The paths of files that have changed, are new or gone."""
    return sorted({each.path for each in {*before} ^ {*now}})
