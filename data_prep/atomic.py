"""Writes that are either whole or absent: into a neighbour first, then renamed into place."""

import errno
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SUFFIX = ".tmp"
_LEFTOVER = re.compile(r"\.(?P<name>.+)\.(?P<pid>\d+)\.[^.]+\.tmp")


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write ``content`` (text as UTF-8) to ``path``; a reader sees the old file or the new one, never a part.

    Raises:
        OSError: when the folder is missing, not writable or full; ``path`` is then as it was.
    """
    data = content.encode() if isinstance(content, str) else content
    with atomic_file(path) as new:
        new.write_bytes(data)


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a neighbour of ``path`` to write to; it becomes ``path`` when the block ends without an error.

    Raises:
        OSError: when the folder cannot be written to, or ``path`` is there and no regular file.
    """
    check_replaceable(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=_prefix(path), suffix=_SUFFIX)
    os.close(handle)
    new = Path(name)
    try:
        yield new
        new.chmod(0o666 & ~_umask())
        _sync(new)
        new.replace(path)
        _sync(path.parent)
    finally:
        new.unlink(missing_ok=True)


def check_replaceable(path: Path) -> None:
    """Refuse to put a file in the place of a folder, a pipe or a device, such as ``/dev/null``.

    Raises:
        OSError: ``path`` is there and no regular file, or a link without end.
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
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yield an empty neighbour folder; it becomes ``path``, in place of an older one, when the block ends well.

    What killed runs left of the same folder is removed first. Between the removal of an older folder and the new
    one's arrival lies one rename: a run killed just there leaves no folder, never a mixed one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(path)
    new = Path(tempfile.mkdtemp(dir=path.parent, prefix=_prefix(path), suffix=_SUFFIX))
    try:
        yield new
        new.chmod(0o777 & ~_umask())
        for file in sorted(new.rglob("*")):
            _sync(file)
        _sync(new)
        _swap(new, path)
        _sync(path.parent)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def remove_leftovers(path: Path) -> None:
    """Remove unfinished neighbours of ``path`` whose writer no longer lives."""
    for neighbour in path.parent.glob(f".{path.name}.*.tmp"):
        found = _LEFTOVER.fullmatch(neighbour.name)
        if found and found["name"] == path.name and not _lives(int(found["pid"])):
            if neighbour.is_dir():
                shutil.rmtree(neighbour, ignore_errors=True)
            else:
                neighbour.unlink(missing_ok=True)


def _prefix(path: Path) -> str:
    return f".{path.name}.{os.getpid()}."


def _swap(new: Path, path: Path) -> None:
    if not path.exists():
        new.replace(path)
        return
    old = Path(tempfile.mkdtemp(dir=path.parent, prefix=_prefix(path), suffix=_SUFFIX))
    try:
        path.replace(old / "old")
        new.replace(path)
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
