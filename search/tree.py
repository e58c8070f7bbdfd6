"""The source files of a folder: those that git lists or, without git, those that a walk finds.

The walk respects ``.gitignore`` and ``.ignore`` files as git does, and passes hidden folders over. ``.galmignore``
files, of the same form, are respected in both cases. No link is ever followed, and nothing is written.
"""

import os
import re
import stat
import subprocess
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from data_prep.java_methods import LARGEST_FILE

Tell = Callable[[str, str], None]
"""Told the path of what is left out, and why."""

IGNORE_FILE: Final = ".galmignore"
"""Names what is not to be found although git has it; written like a ``.gitignore``."""
_WALK_IGNORE_FILES: Final = (".gitignore", ".ignore", IGNORE_FILE)  # a later one outweighs those before
_MAX_IGNORE_FILE: Final = 1 << 20  # bytes
_BINARY_WITHIN: Final = 8 << 10  # bytes
_GIT_SECONDS: Final = 60
_SUBMODULE: Final = b"160000 "  # mode, as ``git ls-files -s`` begins a line
_OTHER_PLACES: Final = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY")
"""What a git hook sets, and what would lead git to another repository than the folder's."""


class Found(NamedTuple):
    """A source file, as it was when it was found."""

    path: str  # "/"-separated, relative to the root
    size: int  # bytes
    modified: int  # nanoseconds, st_mtime_ns


class GitError(Exception):
    """Why git gave no answer."""


def git(root: Path, *arguments: str) -> bytes:
    """What ``git ARGUMENTS`` prints in ``root``; no network, no lock, no file system monitor that a repository names.

    Raises:
        GitError: git is missing, fails, or takes longer than a minute.
    """
    kept = {name: value for name, value in os.environ.items() if name not in _OTHER_PLACES}
    # "none" is no transport, so a clone that lacks objects cannot fetch them
    environment = kept | {"GIT_OPTIONAL_LOCKS": "0", "GIT_ALLOW_PROTOCOL": "none", "LC_ALL": "C"}
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(root), *arguments]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, env=environment, timeout=_GIT_SECONDS, check=False
        )
    except FileNotFoundError:
        raise GitError("git is not installed") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError(" ".join(str(error).split())) from error
    if done.returncode:
        raise GitError((done.stderr.decode("utf-8", "replace").strip() or "no reason given").splitlines()[0])
    return done.stdout


def found_files(root: Path, suffixes: Collection[str], tell: Tell) -> list[Found]:
    """The regular files in ``root`` that end in one of ``suffixes`` (".java"), sorted by path.

    Raises:
        ValueError: ``root`` is missing or no folder.
    """
    if not root.is_dir():
        raise ValueError(
            f"{root} {'is no folder' if root.exists() else 'does not exist'}: expected a folder of sources"
        )
    ends = tuple(suffixes)
    listed = _listed_by_git(root, ends, tell)
    ignored = _Ignored(root, _WALK_IGNORE_FILES if listed is None else (IGNORE_FILE,), tell)
    paths = _walked(root, ends, ignored, tell) if listed is None else iter(listed)
    found, start = [], f"{root}/"
    for path in paths:
        patterns = ignored.patterns_in(path.rpartition("/")[0])
        if patterns is None or (patterns and _is_left_out(patterns, path)):
            continue
        try:
            status = os.lstat(start + path)
        except FileNotFoundError:  # deleted, but in git's index still
            continue
        except OSError as error:
            tell(path, _reason(error))
            continue
        if stat.S_ISREG(status.st_mode):
            found.append(Found(path, status.st_size, status.st_mtime_ns))
    return sorted(found, key=lambda each: each.path)


def read_regular(path: Path | str, most: int) -> tuple[bytes, os.stat_result]:
    """At most ``most`` bytes of a file, and its status after they were read; a link is not followed.

    Raises:
        OSError: the file cannot be read, or is a link.
        ValueError: it is no regular file.
    """
    number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe would block
    try:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("not a regular file")
        with os.fdopen(number, "rb", closefd=False) as file:
            data = file.read(min(most, status.st_size + 1))
        return data, os.fstat(number)
    finally:
        os.close(number)


def read_source(root: Path, found: Found) -> bytes:
    """The bytes of a found file; of one that is too long to parse, one byte more than may be parsed.

    Raises:
        OSError: the file cannot be read, or has become a link.
        ValueError: it is not as it was found, or it is binary.
    """
    data, status = read_regular(root / found.path, LARGEST_FILE + 1)
    if (status.st_size, status.st_mtime_ns) != (found.size, found.modified):
        raise ValueError("changed while it was read")
    if b"\0" in data[:_BINARY_WITHIN]:
        raise ValueError(f"binary: a NUL byte in its first {_BINARY_WITHIN >> 10} KiB")
    return data


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _listed_by_git(root: Path, ends: tuple[str, ...], tell: Tell) -> list[str] | None:
    """The paths that git tracks or would track; None where it cannot say, and where it ignores all of ``root``."""
    place = root.resolve()
    top = next((folder for folder in (place, *place.parents) if (folder / ".git").exists()), None)
    if top is None:
        return None
    try:
        names = git(root, "ls-files", "-co", "--exclude-standard", "-z").split(b"\0")[:-1]
        others = [name for name in names if name.endswith(b"/")]
        if (top / ".gitmodules").exists():
            staged = git(root, "ls-files", "-s", "-z").split(b"\0")
            others += [entry.partition(b"\t")[2] for entry in staged if entry.startswith(_SUBMODULE)]
    except GitError as error:
        tell(".", f"git does not list its files ({error}); found by a walk instead")
        return None
    for name in others:
        tell(name.decode("utf-8", "backslashreplace"), "a git repository of its own, not looked into")
    byte_ends = tuple(end.encode() for end in ends)
    wanted = dict.fromkeys(name for name in names if name.endswith(byte_ends))  # in a conflict listed more than once
    return [path for name in wanted if (path := _as_text(name, tell)) is not None] if names else None


def _walked(root: Path, ends: tuple[str, ...], ignored: "_Ignored", tell: Tell) -> Iterator[str]:
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        if ignored.patterns_in(folder) is None:
            continue
        try:
            with os.scandir(f"{root}/{folder}") as entries:
                inside = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except OSError as error:
            tell(folder or ".", _reason(error))
            continue
        for name, is_folder in inside:
            if name.startswith(".") if is_folder else not name.endswith(ends):
                continue
            path = _as_text(os.fsencode(f"{folder}/{name}" if folder else name), tell)
            if path is not None and is_folder:
                waiting.append(path)
            elif path is not None:
                yield path


def _as_text(name: bytes, tell: Tell) -> str | None:
    try:
        return name.decode()
    except UnicodeDecodeError:
        tell(name.decode("utf-8", "backslashreplace"), "its name is no UTF-8")
        return None


_Patterns = tuple[tuple[int, tuple[GitIgnoreSpecPattern, ...], re.Pattern[str]], ...]
"""For each folder with an ignore file, nearest first: where a path inside it begins; its patterns, last first; and what
matches wherever one of these does, which is seldom the case."""


class _Ignored:
    """The ignore files of a tree."""

    def __init__(self, root: Path, names: tuple[str, ...], tell: Tell) -> None:
        self._root, self._names, self._tell = root, names, tell
        self._known: dict[str, _Patterns | None] = {"": self._own("")}

    def patterns_in(self, folder: str) -> _Patterns | None:
        """The patterns that hold in ``folder``; None where it is left out, or a link, or inside of such a one."""
        if folder in self._known:
            return self._known[folder]
        unknown, above = [], folder
        while above not in self._known:
            unknown.append(above)
            above = above.rpartition("/")[0]
        for each in reversed(unknown):
            patterns = self._known[each.rpartition("/")[0]]
            is_open = patterns is not None and self._is_folder(each) and not _is_left_out(patterns, f"{each}/")
            self._known[each] = self._own(each) + patterns if is_open and patterns is not None else None
        return self._known[folder]

    def _is_folder(self, folder: str) -> bool:
        try:
            return stat.S_ISDIR(os.lstat(f"{self._root}/{folder}").st_mode)
        except FileNotFoundError:
            return False
        except OSError as error:
            self._tell(folder, _reason(error))
            return False

    def _own(self, folder: str) -> _Patterns:
        patterns = [pattern for name in self._names for pattern in self._read(f"{folder}/{name}".lstrip("/"))]
        return ((len(folder) + 1 if folder else 0, tuple(reversed(patterns)), _any_of(patterns)),) if patterns else ()

    def _read(self, path: str) -> Iterator[GitIgnoreSpecPattern]:
        try:
            data, _ = read_regular(f"{self._root}/{path}", _MAX_IGNORE_FILE)
        except (FileNotFoundError, NotADirectoryError):
            return
        except (OSError, ValueError) as error:
            self._tell(path, _reason(error) if isinstance(error, OSError) else str(error))
            return
        for line in re.split(r"\r?\n", data.decode("utf-8-sig", "replace")):
            try:
                pattern = GitIgnoreSpecPattern(line)
            except ValueError:
                self._tell(path, f"{line!r} is no pattern, passed over")
                continue
            if pattern.include is not None:  # None: a comment or an empty line
                yield pattern


def _any_of(patterns: Sequence[GitIgnoreSpecPattern]) -> re.Pattern[str]:
    """What matches the path of a file wherever one of ``patterns`` does that is not for folders alone."""
    parts = [pattern.regex.pattern for pattern in patterns if pattern.regex]
    unnamed = [re.sub(r"\?P<\w+>", "", part) for part in parts if not part.endswith("(?P<ps_d>/)")]
    return re.compile("|".join(f"(?:{part})" for part in unnamed) or "(?!)")


def _is_left_out(patterns: _Patterns, path: str) -> bool:
    """What the last pattern says that is about ``path``, a folder's with "/" at its end; the nearest file's first."""
    for start, own, any_of in patterns:
        if not path.endswith("/") and not any_of.search(path[start:]):
            continue
        for pattern in own:
            if _is_about(pattern, path[start:]):
                return pattern.include is True
    return False


def _is_about(pattern: GitIgnoreSpecPattern, path: str) -> bool:
    """Whether ``pattern`` matches ``path`` itself, not only a folder above it, which was asked about before."""
    regex = pattern.regex
    assert regex is not None
    if regex.groups:  # the group is the "/" after the name that the pattern ends with
        ends = [match.end() for match in regex.finditer(path)]
        return bool(ends) and ends[-1] == len(path)
    return regex.search(path.removesuffix("/")) is not None  # a/** and the like: all inside of a folder, but not itself
