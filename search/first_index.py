"""Making the index that a question needs: the first of a folder, or again where it is damaged.

It is kept in the cache folder, or, if that cannot be written, in a folder of this process.
"""

import atexit
import errno
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import Final

from data_prep.errors import UserError
from data_prep.files.access import FULL, reason
from data_prep.installation import processors
from experiments.terminal import console
from search.index.build import refresh, sole_maker
from search.index.code_index import rows_of_files
from search.index.freshness import record_path
from search.index.read_part import Watch
from search.index.vectors import DamagedVectorsError, loaded_encoder, vectors_path
from search.opening import check_way, tell_damage

_UNWRITABLE: Final = FULL | {errno.EACCES, errno.EPERM, errno.EROFS}
"""Errors of writing that say that there is no place for an index."""


def made(
    root: Path,
    path: Path,
    *,
    vectors: bool,
    watch: Watch | None = None,
    waiting: Callable[[], None] = lambda: None,
) -> Path:
    """The file of the index of a folder, which is made; if it cannot be written, one for this command alone.

    Args:
        root: the folder.
        path: where it is kept.
        vectors: whether it gets vectors.
        watch: told what is read.
        waiting: called before it is waited for another process that makes it.

    Raises:
        UserError: there is no source file, or the index cannot be made.
        OSError: it cannot be written anywhere.
    """
    why = "it cannot be written"
    if is_writable(path.parent):
        try:
            make(root, path, vectors=vectors, watch=watch, waiting=waiting)
            return path
        except OSError as error:
            if error.errno not in _UNWRITABLE:
                raise
            why = reason(error)
    own = Path(tempfile.mkdtemp(prefix="galm-")) / path.name
    atexit.register(forget, own)
    copies = (path, own), (record_path(path), record_path(own)), (vectors_path(path), vectors_path(own))
    for each, copy in copies:
        with suppress(OSError):  # else it is made again
            shutil.copyfile(each, copy)
    console.complain(
        f"no index can be kept in {path.parent} ({why}): it is made for this command alone; make room there, or set "
        "XDG_CACHE_HOME to a folder of yours"
    )
    try:
        make(root, own, vectors=vectors, watch=watch)
    except BaseException:
        forget(own)
        raise
    return own


def forget(own: Path) -> None:
    """Remove an index that was made for one process, with its folder, and its record."""
    shutil.rmtree(own.parent, ignore_errors=True)
    with suppress(OSError, UserError):
        record_path(own).unlink(missing_ok=True)


def is_kept(path: Path) -> bool:
    """Whether there is an index in the file ``path``, which can be written there again."""
    return path.is_file() and is_writable(path.parent)


def is_writable(folder: Path) -> bool:
    """Whether a folder can be written to, or be made."""
    around = folder, *folder.parents
    nearest = next(each for each in around if os.path.exists(each))  # noqa: PTH110 - which knows no errors
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)


def make_again(root: Path, path: Path, error: UserError) -> None:
    """Make what is damaged again, which is told.

    Args:
        root: the folder.
        path: the file of its index.
        error: why that could not be opened.

    Raises:
        UserError, OSError: as :func:`made`.
    """
    if not isinstance(error, DamagedVectorsError):
        tell_damage(root, error)
        make(root, path, vectors=vectors_path(path).exists())
        return
    from search.index.vector_encoding import maker_of, update_vectors

    console.complain(f"the vectors of the index of {root} are damaged: they are made again")
    with sole_maker(path, console.complain):
        update_vectors(maker_of(path) or "", path, lambda *_: None)


def make(
    root: Path,
    path: Path,
    *,
    vectors: bool,
    watch: Watch | None = None,
    waiting: Callable[[], None] = lambda: None,
) -> None:
    """Make the index of a folder, with its progress and one line of what was done on standard error.

    Args:
        root: the folder.
        path: the file of the index.
        vectors: whether it gets vectors.
        watch: told what is read.
        waiting: called before it is waited for another process that makes it.

    Raises:
        UserError: there is no source file, or the index cannot be made.
        OSError: it cannot be written.
    """
    from search.index.vector_encoding import maker_of, update_vectors

    check_way(root, path)
    started, partly = time.perf_counter(), set[str]()
    tell = lambda where, _: partly.update({where} - {str(path)})  # noqa: E731
    ahead = threading.Thread(target=load_ahead, daemon=True, name="loading")

    def say(line: str) -> None:
        console.complain(line)
        waiting()

    with sole_maker(path, say):
        done = refresh(root, path, processes=processors(), tell=tell, meanwhile=ahead.start, watch=watch)
        try:
            if vectors:
                update_vectors(maker_of(path) or "", path, tell)
        except UserError as error:
            console.complain(f"{error}; answered without vectors")
    said = f"indexed {root}: {rows_of_files(done.rows, done.files)}, {time.perf_counter() - started:.1f} s"
    more = f"; of {len(partly):,} more not all was read, see bash run.sh index {quote(str(root))}" if partly else ""
    console.complain(f"{said}{more}")


def load_ahead() -> None:
    """Load what an answer needs, while other processes read."""
    from search import hits  # noqa: F401
    from search.index import vector_encoding  # noqa: F401
    from search.models.packed import packed_model

    with suppress(UserError, OSError):  # which is told when it is used
        loaded_encoder("")
        packed_model()
