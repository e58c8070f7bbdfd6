"""The index that answers a command: found, made at its first use or for this version, brought up to date, and opened.

A folder that is named has an index of its own. Else it is that of the current folder or of the nearest one above it in
the same git checkout; if there is none, the whole checkout gets one.

Indexes are in the user's cache folder, by the indexed folder, out of reach of what is indexed: a folder from elsewhere
may contain links, or somebody else's index. So no index in it is written or used, unless the user names its file.
"""

import hashlib
import os
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from data_prep.errors import UserError, reason_and_file
from data_prep.files.access import cache_folder, named_path, own_folder
from experiments.terminal import console
from search.index.code_index import Index
from search.index.freshness import CURRENT, Freshness, looked_at, read_record
from search.index.index_file import Head, OtherVersionError, UnusableIndexError, open_index, read_head
from search.index.vectors import DamagedVectorsError, near_rows, vectors_path

if TYPE_CHECKING:
    from search.engine.signals import Retriever


@dataclass(frozen=True, slots=True)
class Source:
    """An index, and what is known of its folder."""

    path: Path
    """The file of the index."""
    root: Path | None
    """The folder; None: not known."""
    freshness: Freshness = CURRENT
    """Which hits may be old."""
    own: bool = True
    """Whether it is in the cache folder; else its file was named."""
    is_above: bool = False
    """Whether it is of a folder above the current one, which nobody has named."""
    is_missing: bool = False
    """Whether it is still to be made."""

    def tell(self, line: str) -> None:
        """Print a line about vectors that cannot be used, unless they are still being made."""
        if not self.freshness.line or self.freshness.trouble:
            console.complain(line)


def source_of(
    typed: str, folder: Path | None = None, start: Path | None = None, *, vectors: bool = True, wait: bool = True
) -> Source:
    """The index that answers, of the files as they are, as far as they could be read in time; a missing one is made.

    Args:
        typed: the value of ``--index``; "": none is named.
        folder: the folder that is named; None: none is.
        start: where the way up begins if neither is named; None: in the current folder.
        vectors: whether vectors are made, if they are missing.
        wait: whether an index is made and brought up to date; else the caller does both.

    Raises:
        UserError: there is no such folder or file, no source file in it, or it may not be indexed without its name.
        OSError: a missing index cannot be written.
    """
    if typed:
        if folder:
            raise UserError(f"--index names the index: leave out {folder}")
        path = named_index(typed)
        return Source(path, *_current(path, None, wait=wait), own=False)
    root, path = _place(folder, start)
    if _must_be_made(root, path, vectors=vectors, tell=wait):
        if not wait:
            return Source(path, root, is_missing=True)
        from search.first_index import made

        return Source(made(root, path, vectors=vectors), root)
    is_above = not folder and root in Path(os.path.realpath(named_path("."))).parents
    return Source(path, *_current(path, root, wait=wait), is_above=is_above)


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


def _must_be_made(root: Path, path: Path, *, vectors: bool, tell: bool) -> bool:
    """Whether there is no index that can be brought up to date; one that cannot be used is told of, if ``tell``."""
    if not os.path.isfile(path):  # noqa: PTH113 - which knows no errors
        return True
    try:
        read_head(path)
    except UnusableIndexError as error:
        if tell:
            tell_damage(root, error)
        return True
    wanted = vectors and not vectors_path(path).exists()
    return wanted and ((record := read_record(path)) is None or record.vectors)


def tell_damage(root: Path, error: UserError) -> None:
    """Print that the index of a folder cannot be used, and is made again."""
    what = "of another version of this program" if isinstance(error, OtherVersionError) else "damaged"
    console.complain(f"the index of {root} is {what}: it is made again")


def _current(path: Path, root: Path | None, *, wait: bool) -> tuple[Path | None, Freshness]:
    """The folder of an index, and what is not read of it yet."""
    root, known = looked_at(path, root)
    if root is None or known.trouble or known == CURRENT or not wait:
        return root, known
    from search.index.reading_on import brought_up_to_date

    return root, brought_up_to_date(path, root, known)


_INDEXES: Final = "indexes"
_FILE: Final = "index"


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


def indexed_above(folder: Path) -> tuple[Path, Path] | None:
    """``folder`` or the nearest folder above it that has an index, and the index.

    A git repository ends the way up: the index of a folder around it is of another tree.
    """
    for each in _way_up(folder):
        if os.path.isfile(place := index_place(each)):  # noqa: PTH113 - which knows no errors
            return each, place
    return None


def tree_top(folder: Path) -> Path:
    """The top of the git checkout that contains ``folder``; the folder itself, if there is none."""
    top = _way_up(folder)[-1]
    return top if os.path.lexists(top / ".git") else folder


def _way_up(folder: Path) -> list[Path]:
    """``folder`` and the folders above it, to the top of the git checkout or of the file system."""
    way: list[Path] = []
    real = Path(os.path.realpath(folder))
    for each in (real, *real.parents):
        way.append(each)
        if os.path.lexists(each / ".git"):
            break
    return way


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


def named_index(typed: str) -> Path:
    """The file that ``--index`` names.

    Raises:
        UserError: it is a folder.
    """
    path = named_path(typed)
    if path.is_dir():
        from shlex import quote

        how = f"bash run.sh search QUESTION {quote(str(path))}"
        raise UserError(f"--index names the file of an index; a folder comes last: {how}")
    return path


def opened_from(source: Source, how: str) -> "tuple[Index, Retriever | None]":
    """As :func:`opened`, memory-mapped; what is damaged of an index in the cache is made again."""
    is_own = source.own and source.root is not None
    try:
        return opened(source.path, how, mapped=True, tell=source.tell, mends=is_own)
    except (UnusableIndexError, DamagedVectorsError) as error:
        if not is_own or source.root is None:
            raise
        from search.first_index import make_again

        make_again(source.root, source.path, error)
    return opened(source.path, how, mapped=True, tell=source.tell)


def opened(
    path: Path,
    how: str,
    *,
    mapped: bool = False,
    tell: Callable[[str], None] = console.complain,
    mends: bool = False,
) -> "tuple[Index, Retriever | None]":
    """An index, memory-mapped if ``mapped``, and a retriever over its vectors; ``how`` is the option ``nearest``.

    Vectors that cannot be used are told, as those that are being made; this is an error only if ``how`` asks for them,
    or if they are damaged and the caller ``mends`` them.
    """
    found, head = _opened_whole(path, mapped=mapped)
    if how == "none" or (how == "" and not vectors_path(path).exists()):
        return found, None
    try:
        return found, near_rows(path, head.content, len(found), how)
    except (UserError, OSError) as error:
        if how or (mends and isinstance(error, DamagedVectorsError)):
            raise
        tell(f"{reason_and_file(error)}; answered without them")
        return found, None


def _opened_whole(path: Path, *, mapped: bool) -> tuple[Index, Head]:
    """An index and its head, which is that of the same file even if another one takes its place meanwhile."""
    for _ in range(5):
        head = read_head(path)
        found = open_index(path, mapped=mapped)
        if read_head(path) == head:
            return found, head
    raise UnusableIndexError(f"the index {path} is replaced again and again: ask again")


def check_answers(index: Index, paths: str, languages: Collection[str] = ()) -> None:
    """Refuse an empty index, or a pattern of paths or languages that none of its files has.

    Raises:
        UserError: there are no rows, or none in files that match.
    """
    if not len(index):
        raise UserError("the index is empty: index a folder that has source files, by `bash run.sh index DIR`")
    from search.engine.filters import path_filter

    if paths and not any(map(path_filter(paths), (file.path for file in index.files))):
        raise UserError(
            f"--path={paths} matches none of the index's {len(index.files):,} files, such as {index.files[0].path}"
        )
    if languages and not any(not file.languages.isdisjoint(languages) for file in index.files):
        there = sorted({file.language for file in index.files})
        raise UserError(
            f"--language={','.join(sorted(languages))} matches none of the index's {len(index.files):,} files, "
            f"which are of {', '.join(there)}"
        )
