"""Ignore files: what their patterns leave out of a folder of sources, as git reads them."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from data_prep.regular_files import read_regular, reason

Tell = Callable[[str, str], None]
"""Told the path of what is left out, and why."""

_MAX_IGNORE_FILE: Final = 1 << 20  # bytes


class Own(NamedTuple):
    """The ignore files of one folder."""

    start: int  # where a path inside of the folder begins
    patterns: tuple[GitIgnoreSpecPattern, ...]  # last first
    any_for_files: re.Pattern[str] | None  # matches wherever one does that can be about a wanted file; None: none can


Patterns = tuple[Own, ...]
"""Of each folder that has some, the nearest first."""


def patterns_of(root: Path, folder: str, names: Iterable[str], ends: tuple[str, ...], tell: Tell) -> Patterns:
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
    return (Own(len(folder) + 1 if folder else 0, tuple(reversed(patterns)), _any_of(for_files)),) if patterns else ()


def _lines(root: Path, path: str, tell: Tell) -> Iterator[tuple[str, str]]:
    try:
        data, _ = read_regular(f"{root}/{path}", _MAX_IGNORE_FILE)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        tell(path, reason(error))
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


def kept(patterns: Patterns, paths: Iterable[str]) -> Iterable[str]:
    """Those of a folder's files that are not left out."""
    if not any(own.any_for_files for own in patterns):
        return paths
    return [path for path in paths if not is_left_out(patterns, path)]


def is_left_out(patterns: Patterns, path: str) -> bool:
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
