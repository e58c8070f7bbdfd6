"""Where indexes are stored: in the user's cache folder, by the indexed folder, out of reach of what is indexed.

A folder from elsewhere may contain links, or an index made by somebody else. So nothing is written into it, and no
index in it is used, unless the user names a file there.
"""

import hashlib
import os
import re
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.files.named_paths import cache_folder, own_folder

_INDEXES: Final = "indexes"
_FILE: Final = "index"
_FORMER: Final = Path(".galm") / "index"
"""Where earlier versions put the index of a folder: inside the folder itself."""


def index_place(folder: Path) -> Path:
    """The file of the index of ``folder``, by its real path.

    Raises:
        UserError: as :func:`own_folder`.
    """
    return cache_folder() / _INDEXES / _name_of(os.path.realpath(folder)) / _FILE


def _name_of(real: str) -> str:
    name = re.sub(r"[^\w.-]+", "_", Path(real).name, flags=re.ASCII)[:40] or "root"
    return f"{name}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:16]}"


def judgements_place(index: Path) -> Path:
    """The file of the user's questions about what ``index`` has, in ``XDG_DATA_HOME``, by default ``~/.local/share``.

    Raises:
        UserError: as :func:`own_folder`.
    """
    real = Path(os.path.realpath(index))
    in_cache = real.parent.parent == Path(os.path.realpath(cache_folder() / _INDEXES))
    name = real.parent.name if in_cache else _name_of(str(real))
    return own_folder("XDG_DATA_HOME") / "queries" / f"{name}.json"


def index_above(folder: Path) -> Path | None:
    """The index of ``folder`` or of the nearest folder above it that has one."""
    found = indexed_above(folder)
    return found[1] if found else None


def indexed_above(folder: Path) -> tuple[Path, Path] | None:
    """``folder`` or the nearest folder above it that has an index, and the index."""
    for each in (folder, *folder.parents):
        if (place := index_place(each)).is_file():
            return each, place
    return None


def former_index(folder: Path) -> Path | None:
    """An index that an earlier version, or somebody else, left inside ``folder`` or a folder above it."""
    return next((each / _FORMER for each in (folder, *folder.parents) if os.path.lexists(each / _FORMER)), None)


def check_way(folder: Path, file: Path) -> None:
    """Refuse to write ``file`` if its path is inside ``folder`` but goes through a link.

    Raises:
        UserError: a folder between ``folder`` and ``file`` is a link.
    """
    if not file.is_relative_to(folder):
        return
    for each in file.parents[: len(file.relative_to(folder).parts) - 1]:
        if each.is_symlink():
            raise UserError(f"{file} leads through the link {each}: name a file that no link leads to by --out=")
