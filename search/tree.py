"""The source files of a folder: those that git lists or, without git, those that a walk finds.

The walk respects ``.gitignore`` and ``.ignore`` files as git does, and passes hidden folders over. ``.galmignore``
files, of the same form, are respected in both cases. No link is ever followed, and nothing is written.
"""

import os
import stat
import subprocess
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

from data_prep.java_methods import LARGEST_FILE
from data_prep.regular_files import read_regular, reason
from search.ignore_files import Patterns, Tell, is_left_out, kept, patterns_of

IGNORE_FILE: Final = ".galmignore"
"""Names what is not to be found although git has it; written like a ``.gitignore``."""
_WALK_IGNORE_FILES: Final = (".gitignore", ".ignore", IGNORE_FILE)  # a later one outweighs those before
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
            tell(path, reason(error))
            continue
        if stat.S_ISREG(status.st_mode):
            found.append(Found(path, status.st_size, status.st_mtime_ns))
    found.sort()
    return found


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
    known: dict[str, Patterns | None] = {"": patterns_of(root, "", (IGNORE_FILE,), ends, tell)}
    for folder, inside in groupby(paths, lambda path: path.rpartition("/")[0]):
        unknown, above = [], folder
        while above not in known:
            unknown.append(above)
            above = above.rpartition("/")[0]
        for each in reversed(unknown):
            patterns = known[each.rpartition("/")[0]]
            known[each] = None
            if patterns is not None and _is_folder(root, each, tell) and not is_left_out(patterns, f"{each}/"):
                known[each] = patterns_of(root, each, (IGNORE_FILE,), ends, tell) + patterns
        patterns = known[folder]
        if patterns is not None:
            yield from kept(patterns, inside)


def _walked(root: Path, ends: tuple[str, ...], tell: Tell) -> Iterator[str]:
    waiting: list[tuple[str, Patterns]] = [("", ())]
    while waiting:
        folder, above = waiting.pop()
        try:
            with os.scandir(f"{root}/{folder}") as entries:
                inside = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except OSError as error:
            tell(folder or ".", reason(error))
            continue
        files = [name for name, is_folder in inside if not is_folder]
        ignore_files = [name for name in _WALK_IGNORE_FILES if name in files]
        patterns = patterns_of(root, folder, ignore_files, ends, tell) + above
        start = f"{folder}/" if folder else ""
        folders = [start + name for name, is_folder in inside if is_folder and not name.startswith(".")]
        for path in _as_texts([os.fsencode(path) for path in folders], tell):
            if not is_left_out(patterns, f"{path}/"):
                waiting.append((path, patterns))
        wanted = [os.fsencode(start + name) for name in files if name.endswith(ends)]
        yield from kept(patterns, _as_texts(wanted, tell))


def _is_folder(root: Path, folder: str, tell: Tell) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(f"{root}/{folder}").st_mode)
    except FileNotFoundError:
        return False
    except OSError as error:
        tell(folder, reason(error))
        return False
