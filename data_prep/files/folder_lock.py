"""Locks for a single writer, which the system releases when the process ends for any reason."""

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.files.access import make_own_folder

_HELD: Final = frozenset({errno.EAGAIN, errno.EACCES})
_READ_ONLY: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_NO_LOCKS: Final = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL})
"""Errors of file systems without locks; these are ignored."""
_TRIES: Final = 100


@contextmanager
def sole_writer(folder: Path) -> Iterator[None]:
    """Lock ``folder`` against other writers; it is created, and removed again if it remains empty.

    The lock is on the folder itself, without a lock file, and is released with the block or the process.

    Raises:
        UserError: another process is writing to it, or it is not a folder.
        OSError: it cannot be created.
    """
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is no folder: name another one")
    made = _made(folder)
    handle = None
    try:
        handle = _locked(folder, folder, os.O_RDONLY | os.O_DIRECTORY, wait=False)
        if handle is None:
            raise UserError(
                f"another process is writing {folder}: wait until it has ended, stop it, or name another folder"
            )
        yield
    finally:
        if handle is not None:
            _remove_empty(made)
            os.close(handle)


@contextmanager
def sole_holder(path: Path, waiting: Callable[[], object] | None = None, *, private: bool = False) -> Iterator[bool]:
    """Yield whether this process holds the lock file ``path`` for the block; the file is removed afterwards.

    Also True if the location is not writable, since then no process can write there.

    Args:
        path: of the file; its folder is created, and removed again if it remains empty.
        waiting: called if another process holds the lock, before waiting for it; None: do not wait.
        private: whether a folder that is created is for the user alone.

    Raises:
        OSError: it cannot be created.
    """
    made, make = _made(path.parent), make_own_folder if private else _make
    handle, writable = None, True
    try:
        handle = _locked(path.parent, path, os.O_RDWR | os.O_CREAT, make, wait=False)
        if handle is None and waiting:
            waiting()
            handle = _locked(path.parent, path, os.O_RDWR | os.O_CREAT, make, wait=True)
    except OSError as error:
        if error.errno not in _READ_ONLY:
            raise
        writable = False
    try:
        yield handle is not None or not writable
    finally:
        if handle is not None:
            path.unlink(missing_ok=True)  # before releasing the lock: others see that it is gone, and create another
            os.close(handle)
        _remove_empty(made)


@contextmanager
def sole_user(file: int) -> Iterator[None]:
    """Lock an open file for the block, waiting for other processes."""
    _lock(file, wait=True)
    try:
        yield
    finally:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)


def _made(folder: Path) -> list[Path]:
    """The missing folders on the path to ``folder``, innermost first."""
    return [each for each in (folder, *folder.parents) if not each.exists()]


def _remove_empty(made: list[Path]) -> None:
    for each in made:
        with suppress(OSError):  # usually it is not empty
            each.rmdir()


def _make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)


def _opened(folder: Path, path: Path, flags: int, make: Callable[[Path], None]) -> int:
    """``path`` opened, after its ``folder`` was created: the previous holder may remove that at any moment."""
    for _ in range(_TRIES):
        with suppress(FileNotFoundError):
            make(folder)
            return os.open(path, flags, 0o666)
    make(folder)
    return os.open(path, flags, 0o666)


def _locked(folder: Path, path: Path, flags: int, make: Callable[[Path], None] = _make, *, wait: bool) -> int | None:
    """``path`` opened and locked; None if another process has locked it."""
    while True:
        handle = _opened(folder, path, flags, make)
        if not _lock(handle, wait=wait):
            os.close(handle)
            return None
        if _is_at(handle, path):
            return handle
        os.close(handle)


def _lock(handle: int, *, wait: bool) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        if error.errno in _HELD:
            return False
        if error.errno not in _NO_LOCKS:
            raise
    return True


def _is_at(handle: int, path: Path) -> bool:
    """Whether the opened file still is at ``path``; the previous holder may have removed it."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
