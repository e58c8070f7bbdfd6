"""The index that answers a command: found, made at its first use or again for this version, and brought up to date.

A folder that is named has an index of its own. Else it is that of the current folder or of the nearest one above it in
the same git checkout; if there is none, the whole checkout gets one.
"""

import os
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from data_prep.errors import UserError
from data_prep.files.named_paths import named_path
from experiments.terminal import console
from search.index.freshness import CURRENT, Freshness, looked_at, read_record
from search.index.index_file import OtherVersionError, read_head
from search.index.vectors import vectors_path
from search.opening import check_way, index_place, indexed_above, named_index, tree_top


@dataclass(frozen=True, slots=True)
class Source:
    """An index, and what is known of its folder."""

    path: Path
    """The file of the index."""
    root: Path | None
    """The folder; None: not known."""
    freshness: Freshness = CURRENT
    """Which hits may be old."""

    def tell(self, line: str) -> None:
        """Print a line about vectors that cannot be used, unless they are still being made."""
        if not self.freshness.line or self.freshness.trouble:
            console.complain(line)


def source_of(
    typed: str, folder: Path | None = None, start: Path | None = None, *, vectors: bool = True, wait: bool = True
) -> Source:
    """The index that answers, of the files as they are, as far as they could be read in time.

    Args:
        typed: the value of ``--index``; "": none is named.
        folder: the folder that is named; None: none is.
        start: where the way up begins if neither is named; None: in the current folder.
        vectors: whether vectors are made, if they are missing.
        wait: whether to bring an index that exists up to date; else somebody else does.

    Raises:
        UserError: there is no such folder or file, no source file in it, or it may not be indexed without its name.
        OSError: a missing index cannot be written.
    """
    if typed:
        if folder:
            raise UserError(f"--index names the index: leave out {folder}")
        path = named_index(typed)
        return Source(path, *_current(path, None, wait=wait))
    root, path = _place(folder, start)
    if _must_be_made(root, path, vectors=vectors):
        make(root, path, vectors=vectors)
        return Source(path, root)
    return Source(path, *_current(path, root, wait=wait))


def _place(folder: Path | None, start: Path | None) -> tuple[Path, Path]:
    """The folder whose index answers, and its file, which may not exist yet."""
    if folder:
        return folder, index_place(folder)
    here = start or named_path(".")
    if found := indexed_above(here):
        return found
    root = tree_top(here)
    _check_unnamed(root)
    return root, index_place(root)


def _check_unnamed(root: Path) -> None:
    """Refuse to index what nobody has named and everything is in."""
    home = Path(os.path.realpath(os.path.expanduser("~")))  # noqa: PTH111 - which knows no error
    real = Path(os.path.realpath(root))
    if home.is_relative_to(real) or real == Path(real.anchor):
        what = "your home folder" if real == home else "a folder with all of yours"
        raise UserError(
            f"{root} is {what}, which is indexed only if it is named: go into a project, or name a folder, "
            'bash run.sh search "QUESTION" DIR'
        )


def _must_be_made(root: Path, path: Path, *, vectors: bool) -> bool:
    """Whether there is no index that can be brought up to date; one of another version is told of."""
    if not path.is_file():
        return True
    try:
        read_head(path)
    except OtherVersionError:
        console.complain(f"the index of {root} is of another version of this program: it is made again")
        return True
    if not vectors or vectors_path(path).exists():
        return False
    record = read_record(path)
    return record is None or record.vectors


def make(root: Path, path: Path, *, vectors: bool) -> None:
    """Make the index of a folder, with its progress and one line of what was done on standard error.

    Args:
        root: the folder.
        path: the file of the index.
        vectors: whether it gets vectors.

    Raises:
        UserError: there is no source file, or the index cannot be made.
        OSError: it cannot be written.
    """
    from search.index.build import refresh, sole_maker
    from search.index.code_index import rows_of_files
    from search.index.vectors import maker_of, update_vectors

    check_way(root, path)
    started, partly = time.perf_counter(), set[str]()
    tell = lambda where, _: partly.add(where)  # noqa: E731
    with sole_maker(path, console.complain):
        done = refresh(root, path, processes=os.cpu_count() or 1, tell=tell, meanwhile=_load_ahead)
        try:
            if vectors:
                update_vectors(maker_of(path) or "", path, tell)
        except UserError as error:
            console.complain(f"{error}; answered without vectors")
    said = f"indexed {root}: {rows_of_files(done.rows, done.files)}, {time.perf_counter() - started:.1f} s"
    more = f"; of {len(partly):,} more not all was read, see bash run.sh index {root}" if partly else ""
    console.complain(f"{said}{more}")


def _load_ahead() -> None:
    """Load what an answer needs in a thread, while other processes read."""

    def load() -> None:
        from search.engine import engine, packed_reranker
        from search.index import encoders, vector_encoding

        del engine, packed_reranker, vector_encoding
        with suppress(UserError, OSError):  # which is told when it is used
            encoders.loaded_encoder("")

    threading.Thread(target=load, daemon=True, name="loading").start()


def _current(path: Path, root: Path | None, *, wait: bool) -> tuple[Path | None, Freshness]:
    """The folder of an index, and what is not read of it yet."""
    root, known = looked_at(path, root)
    if root is None or known.trouble or known == CURRENT or not wait:
        return root, known
    from search.index.updating import brought_up_to_date

    return root, brought_up_to_date(path, root, known)
