"""A walk through a folder: the files that no ignore file excludes, what it does not look into, and what decided that.

Submodules of a checkout are known by its ``.gitmodules`` files, which are read and never obeyed.
"""

import os
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from data_prep.files.access import raise_if_passing, read_regular, reason
from search.files.generations import first_catalogues
from search.files.ignore_files import IgnoreFiles, Patterns, Tell
from search.files.stamps import Seen
from search.files.unread import PROJECT, Unread, is_written, scripts

_FILE: Final = ".gitmodules"
_LARGEST: Final = 1 << 20  # bytes
_PATH: Final = re.compile(rb'^[ \t]*path[ \t]*=[ \t]*"?([^"\r\n]+?)"?[ \t]*\r?$', re.MULTILINE)


class Submodules:
    """Which folders below a root are submodules."""

    def __init__(self, root: Path, top: Path, prefix: str, seen: Seen) -> None:
        """Read the file of the checkout.

        Args:
            root: the folder that is walked.
            top: the top of the checkout that contains it.
            prefix: of ``root`` inside of ``top``, "/" at its end; "" at the top.
            seen: is told which files are read.
        """
        self._root, self._seen = root, seen
        named = self._named(f"{top}/{_FILE}", "")
        self._known = {path.removeprefix(prefix) for path in named if path.startswith(prefix)}

    def has(self, folder: str) -> bool:
        """Whether a folder is one; then those inside of it are known from here on."""
        if folder not in self._known:
            return False
        self._known |= self._named(f"{self._root}/{folder}/{_FILE}", f"{folder}/")
        return True

    def _named(self, file: str, start: str) -> set[str]:
        self._seen.look(file)
        try:
            data, _ = read_regular(file, _LARGEST)
        except OSError as error:
            raise_if_passing(error)
            return set()
        return {start + os.fsdecode(path).rstrip("/") for path in _PATH.findall(data)}


IGNORE_FILE: Final = ".galmignore"
"""Excludes files even if git tracks them; written like a ``.gitignore``."""
_WALK_IGNORE_FILES: Final = (".gitignore", ".ignore", IGNORE_FILE)  # later ones take precedence


class Waiting(NamedTuple):
    """A folder to look into."""

    path: str  # "" for the root
    patterns: Patterns  # from above it
    doubted: bool = False  # whether it is left out unless it is a package


class Walk:
    """The walk through one folder."""

    def __init__(
        self,
        root: Path,
        ends: tuple[str, ...],
        ignored: IgnoreFiles,
        unread: Unread,
        tell: Tell,
        seen: Seen,
        *,
        in_git: bool,
        submodules: Submodules | None = None,
        enters: bool = False,
    ) -> None:
        """Prepare it.

        Args:
            root: the folder.
            ends: of the names of files that are wanted.
            ignored: the ignore files of the folder.
            unread: where what is not read is counted.
            tell: called with a path and why it is left out.
            seen: is told of each folder before it is looked into.
            in_git: whether git may track what is left out; other repositories are skipped then.
            submodules: which of the other repositories are submodules.
            enters: whether submodules are not skipped.
        """
        self._is_catalogue = first_catalogues(root)
        self._root, self._ends, self._ignored, self._unread, self._tell = root, ends, ignored, unread, tell
        self._in_git, self._seen, self._submodules, self._enters = in_git, seen, submodules, enters
        self.left_out: list[str] = []
        """Files and folders ("/" at the end) that are left out and that git may track, in its checkout."""
        self.doubted: dict[str, Patterns] = {}
        """Folders that are left out, unless git tracks sources in them; and the patterns above them."""

    def files(self, first: Waiting, *, trusting: bool = False) -> Iterator[str]:
        """The files in a folder and below it; ``trusting``: also in folders that are called like those of built files.

        A script of a language that is read is one of them, whatever its name.
        """
        waiting = [first]
        while waiting:
            here = waiting.pop()
            self._seen.look(f"{self._root}/{here.path}" if here.path else str(self._root))
            inside = self._inside(here)
            if inside is None:
                continue
            if self._in_git and here.path and any(name == ".git" for name, _ in inside):
                here = here._replace(patterns=())  # git applies no patterns of the repository around it
            files = [name for name, is_folder in inside if not is_folder]
            ignore_files = [name for name in _WALK_IGNORE_FILES if name in files]
            patterns = self._ignored.patterns_of(self._root, here.path, ignore_files) + here.patterns
            start = f"{here.path}/" if here.path else ""
            folders = [start + name for name, is_folder in inside if is_folder and name != ".git"]
            for path in self._texts(folders):
                if next_one := self._entered(path, patterns, files, trusting=trusting):
                    waiting.append(next_one)
            yield from self._found(start, files, patterns)

    def _inside(self, here: Waiting) -> list[tuple[str, bool]] | None:
        """The names in a folder, and whether each is a folder; None if it is not looked into."""
        try:
            with os.scandir(f"{self._root}/{here.path}") as entries:
                inside = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except OSError as error:
            raise_if_passing(error)
            self._tell(here.path or ".", reason(error))
            return None
        names = [name for name, _ in inside] if here.path else []
        if self._in_git and ".git" in names and not self._is_entered(here.path):
            return None
        if self._unread.is_foreign(here.path, names):
            self._leave(here.path, may_be_tracked=False)
            return None
        if here.doubted and "__init__.py" not in names and not self._is_written(here.path, names):
            self.doubted[here.path] = here.patterns
            self._leave(here.path)
            return None
        return inside

    def _is_written(self, folder: str, names: Collection[str]) -> bool:
        """Whether people wrote the sources of a folder that is called like one of built files; git knows it itself."""
        return not (self._in_git or PROJECT.isdisjoint(names)) and is_written(self._root / folder)

    def _is_entered(self, repository: str) -> bool:
        """Whether a repository inside of the checkout is looked into; one that is not is told of."""
        is_submodule = self._submodules is not None and self._submodules.has(repository)
        if is_submodule and self._enters:
            return True
        self._unread.repositories[repository] = is_submodule
        how = "a git submodule, not looked into (--submodules=true reads it)"
        self._tell(repository, how if is_submodule else "a git repository of its own, not looked into")
        return False

    def _leave(self, folder: str, *, may_be_tracked: bool = True) -> None:
        self._unread.folders.append(folder)
        if self._in_git and may_be_tracked:
            self.left_out.append(f"{folder}/")

    def _entered(self, path: str, patterns: Patterns, beside: Collection[str], *, trusting: bool) -> Waiting | None:
        """A folder to look into next; None: it is left out."""
        if self._ignored.leaves_out(patterns, f"{path}/"):
            self.left_out += [f"{path}/"] * self._in_git
            return None
        if self._unread.is_of_others(path):
            self._leave(path, may_be_tracked=path.rpartition("/")[2].startswith("."))
            return None
        return Waiting(path, patterns, not trusting and self._unread.is_doubtful(path, beside))

    def _found(self, start: str, files: Sequence[str], patterns: Patterns) -> Sequence[str]:
        """The files of one folder that are read; the others are counted."""
        named = [start + name for name in files if name.endswith(self._ends) or self._is_catalogue(start + name)]
        wanted = self._texts(named)
        found = self._ignored.kept(patterns, wanted)
        if self._in_git and len(found) < len(wanted):
            self.left_out += set(wanted).difference(found)
        if len(wanted) == len(files):
            return found
        own = {*named}
        others = [start + name for name in files if name != ".git" and start + name not in own]
        read = self._ignored.kept(patterns, [*scripts(self._root, others)])
        own = {*read}
        unread = [path for path in others if path not in own] if own else others
        self._unread.count_later(lambda: self._ignored.kept(patterns, unread))
        return [*found, *self._texts([*read])] if read else found

    def tracked(self, paths: Sequence[str], below: tuple[str, ...]) -> Iterator[str]:
        """What is read of files that git tracks in what was left out; the others are counted.

        ``below``: folders ("/" at the end) in which all but ignored sources was found and counted already.
        """
        read = [path for path in paths if path.endswith(self._ends) or self._is_catalogue(path)]
        own = {*read}
        others = [path for path in paths if path not in own and not path.startswith(below)]
        found = set(scripts(self._root, others))
        self._unread.count_later(lambda: [path for path in others if path not in found])
        read += found
        around = {path[:place] for path in paths for place, letter in enumerate(path) if letter == "/"}
        self._unread.folders[:] = [path for path in self._unread.folders if path not in around]
        return iter(read)

    def _texts(self, names: Sequence[str]) -> Sequence[str]:
        return as_texts([os.fsencode(name) for name in names], self._tell)


def as_texts(names: Sequence[bytes], tell: Tell) -> list[str]:
    """Those of ``names`` that are UTF-8."""
    try:
        return b"\0".join(names).decode().split("\0") if names else []
    except UnicodeDecodeError:
        return [text for name in names if (text := _as_text(name, tell)) is not None]


def _as_text(name: bytes, tell: Tell) -> str | None:
    try:
        return name.decode()
    except UnicodeDecodeError:
        tell(name.decode("utf-8", "backslashreplace"), "its name is no UTF-8")
        return None
