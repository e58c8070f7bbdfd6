"""Atomic writes: to a temporary file beside the target first, then renamed into place."""

import errno
import glob
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from data_prep.files.access import FULL

_LEFTOVER: Final = re.compile(r"\.(?P<name>.+)\.(?P<pid>\d+)\.[^.]+\.tmp")
_TAKEN: Final = frozenset({errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR})


def write_atomically(path: Path, content: bytes | str, *, private: bool = False) -> None:
    """Write ``content`` (text as UTF-8) to ``path``; a reader sees the old file or the new one, never a part.

    Args:
        path: of the file.
        content: of the file.
        private: as in :func:`atomic_file`.

    Raises:
        OSError: the folder is missing, not writable or full; it names ``path``, which is unchanged.
    """
    data = content.encode() if isinstance(content, str) else content
    with atomic_file(path, private=private) as new:
        new.write_bytes(data)


@contextmanager
def naming(path: Path, new: Path | None = None) -> Iterator[None]:
    """Make write errors name ``path`` if they name the temporary file ``new`` or, as for a full disk, no file.

    Raises:
        OSError: of the block.
    """
    try:
        yield
    except OSError as error:
        of_new = new is not None and str(error.filename or "").startswith(str(new))
        if of_new or (error.errno in FULL and error.filename is None):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


@contextmanager
def atomic_file(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield a temporary file beside ``path``, which replaces ``path`` when the block ends without an error.

    Leftover temporary files of killed runs are removed first.

    Args:
        path: of the file.
        private: only the user may read it, as what is stored of the user's code; else the umask decides, as for data
            and runs, which users of one checkout share.

    Raises:
        OSError: the temporary file cannot be written, or ``path`` exists and is not a regular file; it names ``path``.
    """
    check_replaceable(path)
    remove_leftovers(path)
    new = _neighbour(path)
    try:
        with naming(path, new):
            new.touch(0o600 if private else 0o666, exist_ok=False)
            yield new
            _sync(new)
            new.replace(path)
            _sync(path.parent)
    finally:
        _remove(new)


def check_replaceable(path: Path) -> None:
    """Check that a file would not replace a folder, a pipe or a device, such as ``/dev/null``.

    Raises:
        OSError: ``path`` exists and is not a regular file, or is a loop of links.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))


@contextmanager
def atomic_folder(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield an empty temporary folder, which replaces ``path`` when the block ends without an error.

    Leftover temporary folders of killed runs are removed first. A run that is killed between the removal of an older
    folder and the rename of the new one leaves no folder, never a partial one.

    Args:
        path: of the folder.
        private: as in :func:`atomic_file`.

    Raises:
        OSError: the temporary folder cannot be written; it names ``path``.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(path)
    new = _neighbour(path)
    try:
        with naming(path, new):
            new.mkdir(0o700 if private else 0o777)
            yield new
            for file in sorted(new.rglob("*")):
                _sync(file)
            _sync(new)
            _swap(new, path)
            _sync(path.parent)
    finally:
        _remove(new)


def remove_leftovers(path: Path) -> None:
    """Remove temporary files of ``path`` whose process no longer exists."""
    for neighbour in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        found = _LEFTOVER.fullmatch(neighbour.name)
        if found and found["name"] == path.name and not _lives(int(found["pid"])):
            with suppress(OSError):
                _remove(neighbour)


def _neighbour(path: Path) -> Path:
    """A temporary name beside ``path`` with the process id; nothing is created, so Ctrl-C leaves nothing behind."""
    return path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(8)}.tmp")


def _swap(new: Path, path: Path) -> None:
    """Replace ``path`` by ``new``, while other processes may do the same."""
    old = _neighbour(path)
    try:
        while True:
            try:
                new.replace(path)
                return
            except OSError as error:
                if error.errno not in _TAKEN:
                    raise
            _remove(old)
            with suppress(FileNotFoundError):  # another process removed it
                path.replace(old)
    except BaseException:
        with suppress(OSError):  # there is none, or another process was quicker
            old.replace(path)
        raise
    finally:
        _remove(old)


def _remove(path: Path) -> None:
    """Remove a file or a folder if it exists; Ctrl-C takes effect after the removal."""
    try:
        _take_away(path)
    except KeyboardInterrupt:
        _take_away(path)
        raise


def _take_away(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True
