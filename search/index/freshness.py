"""Whether an index is of its folder as it is now, which costs no walk if nothing has changed."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from search.index.index_file import read_head
from search.index.tree_record import TreeRecord, changed_files, read_record

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
    """The folder of an index, and at once what has changed in it; never reads a file of it.

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
    changed = None
    if record and record.index == head.content and record.root == os.path.realpath(root):
        changed = _changed(record)
    return root, Freshness(tuple(changed or ()), unknown=changed is None)


def _changed(record: TreeRecord) -> list[str] | None:
    try:
        return changed_files(record)
    except OSError:  # which a walk reports
        return None
