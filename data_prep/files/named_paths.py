"""Paths as a person names them, and whether something can be written there: looked at before anything long begins."""

import os
import stat
from pathlib import Path

from data_prep.bounds import shown
from data_prep.files.reading import reason


def named_path(text: str) -> Path:
    """The path that ``text`` names: ``~`` stands for a home, and what is relative begins at the current folder.

    Raises:
        ValueError: it cannot be the name of anything.
    """
    if "\0" in text:
        raise ValueError(f"expected a path, got {shown(text)}: no path has a NUL character")
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError as error:  # what pathlib raises where it knows no home
        raise ValueError(f"expected a path, got {shown(text)}: there is no such home folder") from error
    except FileNotFoundError as error:
        raise ValueError(f"{shown(text)} begins at the current folder, which was deleted: go to another one") from error


def check_file_place(path: Path, option: str) -> None:
    """Refuse a path where no file can be written.

    Raises:
        ValueError: the message names ``option``, such as ``--out``, and what stands in the way.
    """
    status = _status(path, option)
    if status and not stat.S_ISREG(status.st_mode):
        what = "is a folder" if stat.S_ISDIR(status.st_mode) else "is no regular file"
        raise ValueError(f"{option}={path} {what}: name a file")
    _check_folder(path.parent, path, option)


def check_folder_place(path: Path, option: str) -> None:
    """Refuse a path where no folder can be made, or none that can be written to.

    Raises:
        ValueError: the message names ``option``, such as ``--out``, and what stands in the way.
    """
    _check_folder(path, path, option)


def _check_folder(folder: Path, path: Path, option: str) -> None:
    """Refuse a ``folder`` for ``path``; of one that there is not, the nearest above counts."""
    for each in (folder, *folder.parents):
        status = _status(each, option)
        if status is None:
            continue
        if not stat.S_ISDIR(status.st_mode):
            raise ValueError(f"{option}={path} cannot be written: {each} is no folder")
        if not os.access(each, os.W_OK | os.X_OK):
            raise ValueError(f"{option}={path} cannot be written: no permission to write in {each}")
        return


def _status(path: Path, option: str) -> os.stat_result | None:
    """What is at ``path``; None where nothing is."""
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            raise ValueError(f"{option}={path} cannot be written: it is a link to nothing") from None
        return None
    except OSError as error:  # a loop of links, a name that is too long, no permission
        raise ValueError(f"{option}={path} cannot be written: {reason(error)}") from error
