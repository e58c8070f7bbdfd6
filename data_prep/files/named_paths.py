"""Paths given by the user, with early checks that they can be written to."""

import os
import stat
from pathlib import Path

from data_prep.bounds import shown
from data_prep.errors import UserError
from data_prep.files.reading import reason


def named_path(text: str) -> Path:
    """The absolute path that ``text`` names, with ``~`` expanded.

    Raises:
        UserError: it is not a valid path.
    """
    if "\0" in text:
        raise UserError(f"expected a path, got {shown(text)}: no path has a NUL character")
    try:
        os.fsencode(text)
        return Path(text).expanduser().absolute()
    except UnicodeEncodeError as error:
        raise UserError(f"expected a path, got {shown(text)}: no path has half a pair of surrogates") from error
    except RuntimeError as error:  # pathlib's error for an unknown home
        raise UserError(f"expected a path, got {shown(text)}: there is no such home folder") from error
    except FileNotFoundError as error:
        raise UserError(f"{shown(text)} begins at the current folder, which was deleted: go to another one") from error


def check_file_place(path: Path, option: str) -> None:
    """Check that a file can be written to ``path``.

    Raises:
        UserError: it cannot; the message names ``option``, such as ``--out``, and the reason.
    """
    status = _status(path, option)
    if status and not stat.S_ISREG(status.st_mode):
        what = "is a folder" if stat.S_ISDIR(status.st_mode) else "is no regular file"
        raise UserError(f"{option}={path} {what}: name a file")
    _check_folder(path.parent, path, option)


def check_folder_place(path: Path, option: str) -> None:
    """Check that ``path`` is a writable folder or can be created.

    Raises:
        UserError: it cannot; the message names ``option``, such as ``--out``, and the reason.
    """
    _check_folder(path, path, option)


def check_replaceable_folder(path: Path, option: str, mark: str) -> None:
    """Check that replacing ``path`` as a whole loses nothing: it is absent, empty, or has the file ``mark``.

    Raises:
        UserError: it has other content, or cannot be written; the message names ``option``, such as ``--out``.
    """
    check_folder_place(path, option)
    if path.is_dir() and any(path.iterdir()) and not (path / mark).is_file():
        raise UserError(f"{option}={path} has other content, which would be lost: name an empty or a new folder")


def _check_folder(folder: Path, path: Path, option: str) -> None:
    """Check the ``folder`` for ``path``, or its nearest existing parent."""
    for each in (folder, *folder.parents):
        status = _status(each, option)
        if status is None:
            continue
        if not stat.S_ISDIR(status.st_mode):
            raise UserError(f"{option}={path} cannot be written: {each} is no folder")
        if not os.access(each, os.W_OK | os.X_OK):
            raise UserError(f"{option}={path} cannot be written: no permission to write in {each}")
        return


def _status(path: Path, option: str) -> os.stat_result | None:
    """The status of ``path``; None if nothing is there."""
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            raise UserError(f"{option}={path} cannot be written: it is a link to nothing") from None
        return None
    except OSError as error:  # a loop of links, a name that is too long, no permission
        raise UserError(f"{option}={path} cannot be written: {reason(error)}") from error
