"""The source files of a folder: those that git lists or, without git, those that a walk finds.

The walk respects ``.gitignore`` and ``.ignore`` files as git does, and passes hidden folders over. ``.galmignore``
files, of the same form, are respected in both cases. No link is ever followed, and nothing is written.
"""

import os
import re
import stat
import subprocess
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, groupby
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
    paths = _walked(root, ends, tell) if listed is None else _without_ignored(root, listed, ends, tell)
    found, start = [], f"{root}/"
    for path in paths:
        try:
            status = os.lstat(start + path)
        except FileNotFoundError:  # deleted, but in git's index still
            continue
        except OSError as error:
            tell(path, _reason(error))
            continue
        if stat.S_ISREG(status.st_mode):
            found.append(Found(path, status.st_size, status.st_mtime_ns))
    found.sort()
    return found


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
    return _as_texts(list(wanted), tell) if names else None


def _as_texts(names: Sequence[bytes], tell: Tell) -> list[str]:
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


def _without_ignored(root: Path, paths: Sequence[str], ends: tuple[str, ...], tell: Tell) -> Iterator[str]:
    """Those of the paths that git lists that no own ignore file leaves out, nor a link above them."""
    known: dict[str, _Patterns | None] = {"": _patterns_of(root, "", (IGNORE_FILE,), ends, tell)}

    for folder, inside in groupby(paths, lambda path: path.rpartition("/")[0]):
        unknown, above = [], folder
        while above not in known:
            unknown.append(above)
            above = above.rpartition("/")[0]
        for each in reversed(unknown):
            patterns = known[each.rpartition("/")[0]]
            is_open = patterns is not None and _is_folder(root, each, tell) and not _is_left_out(patterns, f"{each}/")
            own = _patterns_of(root, each, (IGNORE_FILE,), ends, tell) if is_open else ()
            known[each] = own + patterns if is_open and patterns is not None else None
        patterns = known[folder]
        if patterns is not None:
            yield from _kept(patterns, inside)


def _walked(root: Path, ends: tuple[str, ...], tell: Tell) -> Iterator[str]:
    waiting: list[tuple[str, _Patterns]] = [("", ())]
    while waiting:
        folder, above = waiting.pop()
        try:
            with os.scandir(f"{root}/{folder}") as entries:
                inside = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except OSError as error:
            tell(folder or ".", _reason(error))
            continue
        files = [name for name, is_folder in inside if not is_folder]
        ignore_files = [name for name in _WALK_IGNORE_FILES if name in files]
        patterns = _patterns_of(root, folder, ignore_files, ends, tell) + above
        start = f"{folder}/" if folder else ""
        folders = [start + name for name, is_folder in inside if is_folder and not name.startswith(".")]
        for path in _as_texts([os.fsencode(path) for path in folders], tell):
            if not _is_left_out(patterns, f"{path}/"):
                waiting.append((path, patterns))
        wanted = [os.fsencode(start + name) for name in files if name.endswith(ends)]
        yield from _kept(patterns, _as_texts(wanted, tell))


def _is_folder(root: Path, folder: str, tell: Tell) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(f"{root}/{folder}").st_mode)
    except FileNotFoundError:
        return False
    except OSError as error:
        tell(folder, _reason(error))
        return False


class _Own(NamedTuple):
    """The ignore files of one folder."""

    start: int  # where a path inside of the folder begins
    patterns: tuple[GitIgnoreSpecPattern, ...]  # last first
    any_for_files: re.Pattern[str] | None  # matches wherever one does that can be about a wanted file; None: none can


_Patterns = tuple[_Own, ...]
"""Of each folder that has some, the nearest first."""


def _patterns_of(root: Path, folder: str, names: Iterable[str], ends: tuple[str, ...], tell: Tell) -> _Patterns:
    """What the ignore files ``names`` in ``folder`` say, where they are there; a later one outweighs those before."""
    patterns, for_files = [], []
    for line, path in chain.from_iterable(_lines(root, f"{folder}/{name}".lstrip("/"), tell) for name in names):
        try:
            pattern = GitIgnoreSpecPattern(line)
        except ValueError:
            tell(path, f"{line!r} is no pattern, passed over")
            continue
        if pattern.include is None:  # a comment or an empty line
            continue
        patterns.append(pattern)
        if _can_end(line, ends):
            for_files.append(pattern)
    return (_Own(len(folder) + 1 if folder else 0, tuple(reversed(patterns)), _any_of(for_files)),) if patterns else ()


def _lines(root: Path, path: str, tell: Tell) -> Iterator[tuple[str, str]]:
    try:
        data, _ = read_regular(f"{root}/{path}", _MAX_IGNORE_FILE)
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, ValueError) as error:
        tell(path, _reason(error) if isinstance(error, OSError) else str(error))
        return
    yield from ((line, path) for line in re.split(r"\r?\n", data.decode("utf-8-sig", "replace")))


def _can_end(line: str, ends: tuple[str, ...]) -> bool:
    """Whether what a line of an ignore file matches can end in one of ``ends``: ``*.class`` cannot end in ".java"."""
    tail = re.findall(r"[\w.+-]*$", line)[0]  # stands for itself
    return any(tail.endswith(end) or end.endswith(tail) for end in ends)


def _any_of(patterns: Sequence[GitIgnoreSpecPattern]) -> re.Pattern[str] | None:
    """What matches the path of a file wherever one of ``patterns`` does that is not for folders alone."""
    parts = [pattern.regex.pattern for pattern in patterns if pattern.regex]
    unnamed = [re.sub(r"\?P<\w+>", "", part) for part in parts if not part.endswith("(?P<ps_d>/)")]
    return re.compile("|".join(f"(?:{part})" for part in unnamed)) if unnamed else None


def _kept(patterns: _Patterns, paths: Iterable[str]) -> Iterable[str]:
    """Those of a folder's files that are not left out."""
    if not any(own.any_for_files for own in patterns):
        return paths
    return [path for path in paths if not _is_left_out(patterns, path)]


def _is_left_out(patterns: _Patterns, path: str) -> bool:
    """What the last pattern says that is about ``path``, a folder's with "/" at its end; the nearest file's first."""
    is_folder = path.endswith("/")
    for start, own, any_for_files in patterns:
        if not is_folder and (any_for_files is None or not any_for_files.search(path[start:])):
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
