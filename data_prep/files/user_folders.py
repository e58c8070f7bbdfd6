"""Where a user's files are stored, by the XDG Base Directory Specification, out of reach of other users."""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from data_prep.errors import UserError

HOMES: Final = {"XDG_CACHE_HOME": ".cache", "XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share"}
"""Variables that name folders, and what they name by default, relative to the user's home folder."""
OWN: Final = 0o700
"""Mode of a folder of which other users see nothing."""
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_WRITABLE: Final = stat.S_IWGRP | stat.S_IWOTH


def home_of(variable: str) -> Path:
    """The folder that one of :data:`HOMES` names; a relative one is ignored, as the specification demands.

    Raises:
        UserError: it names none, and the user has no home folder.
    """
    named = Path(os.environ.get(variable, ""))
    if named.is_absolute():
        return named
    try:
        home = Path.home()
    except RuntimeError:
        home = Path()
    if not home.is_absolute():
        raise UserError(f"there is no home folder to store files in: set {variable}=/path")
    return home / HOMES[variable]


def forget_relative_homes() -> None:
    """Remove relative :data:`HOMES` from the environment: libraries would read files of the current folder."""
    for variable in HOMES:
        if not Path(os.environ.get(variable, "/")).is_absolute():
            del os.environ[variable]


def own_folder(variable: str) -> Path:
    """This program's folder in one of :data:`HOMES`; it need not exist yet.

    Raises:
        UserError: the user has no home folder, or other users may have written into this program's.
    """
    folder = home_of(variable) / "galm"
    try:
        status = folder.stat()
    except OSError:  # nothing is there; or whoever opens its files says what is wrong
        return folder
    if status.st_uid != os.geteuid():
        raise UserError(f"{folder} belongs to another user, so it is not used: set {variable}=/path")
    if status.st_mode & _WRITABLE:
        raise UserError(f"other users may write into {folder}, so it is not used: remove it, or chmod 700 {folder}")
    if status.st_mode & _OTHERS:
        with suppress(OSError):  # of a file system that cannot be written
            folder.chmod(OWN)
    return folder


def cache_folder() -> Path:
    """Where indexes and compiled kernels are stored, by default ``~/.cache/galm``; as :func:`own_folder`."""
    return own_folder("XDG_CACHE_HOME")


def is_own_file(status: os.stat_result) -> bool:
    """Whether no other user may have written a file of this status."""
    return status.st_uid == os.geteuid() and not status.st_mode & _WRITABLE


def make_own_folder(folder: Path) -> None:
    """Create ``folder`` and its missing parents, for the user alone.

    Raises:
        OSError: it cannot be created.
    """
    for each in (*reversed(folder.parents), folder):
        if not each.is_dir():
            each.mkdir(OWN, exist_ok=True)
