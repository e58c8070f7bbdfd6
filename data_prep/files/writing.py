"""Writing files: atomically, to a temporary neighbour that is renamed into place, and by one process at a time.

The system releases a lock when its process ends for any reason.
"""

import errno
import fcntl
import glob
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.files.access import FULL, make_own_folder

_HELD: Final = frozenset({errno.EAGAIN, errno.EACCES})
_READ_ONLY: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_NO_LOCKS: Final = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL})
"""Errors of file systems without locks; these are ignored."""
_TRIES: Final = 100
_make: Final = partial(Path.mkdir, parents=True, exist_ok=True)
_LEFTOVER: Final = re.compile(r"\.(?P<name>.+)\.(?P<pid>\d+)\.[^.]+\.tmp")
_TAKEN: Final = frozenset({errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR})


def write_atomically(path: Path, content: bytes | str, *, private: bool = False) -> None:
    """Write ``content`` (text as UTF-8) to ``path``; a reader sees the old file or the new one, never a part.

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

    If it is ``private``, only the user may read it, as what is stored of the user's code; else the umask decides, as
    for data and runs, which users of one checkout share.

    Raises:
        OSError: the temporary file cannot be written, or ``path`` exists and is not a regular file; it names ``path``.
    """
    with suppress(FileNotFoundError):
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):  # a pipe or a device, such as /dev/null
            raise OSError(errno.EINVAL, "not a regular file", str(path))
    with _new_neighbour(path) as new:
        new.touch(0o600 if private else 0o666, exist_ok=False)
        yield new
        _sync(new)
        new.replace(path)
        _sync(path.parent)


@contextmanager
def _new_neighbour(path: Path) -> Iterator[Path]:
    """A temporary name beside ``path``, that errors do not name; leftovers of killed runs are removed first."""
    remove_leftovers(path)
    new = _neighbour(path)
    try:
        with naming(path, new):
            yield new
    finally:
        _remove(new)


@contextmanager
def atomic_folder(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield an empty temporary folder, which replaces ``path`` when the block ends without an error.

    A run that is killed between the removal of an older folder and the rename of the new one leaves no folder, never a
    partial one. ``private``: as in :func:`atomic_file`.

    Raises:
        OSError: the temporary folder cannot be written; it names ``path``.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _new_neighbour(path) as new:
        new.mkdir(0o700 if private else 0o777)
        yield new
        for file in (*sorted(new.rglob("*")), new):
            _sync(file)
        _swap(new, path)
        _sync(path.parent)


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

    Also True if the location is not writable, since then no process can write there. The file's folder is created, for
    the user alone if ``private``, and removed again if it remains empty. If another process holds the lock, ``waiting``
    is called before waiting for it; None: do not wait.

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
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), path.stat()):  # the previous holder may have removed it
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
