"""Ignore files: which files of a folder their patterns exclude, with git's semantics.

They are not trusted: a pattern with several wildcards, for which Python's ``re`` can take exponential time, is matched
by RE2, in time linear in the path.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import re2
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from data_prep.files.reading import raise_if_passing, read_regular, reason

Tell = Callable[[str, str], None]
"""Called with the path of what is left out, and the reason."""

_MAX_IGNORE_FILE: Final = 1 << 20  # bytes
_LONGEST_LINE: Final = 4096  # characters, as long as a path can be
_QUIET: Final = re2.Options()
_QUIET.log_errors = False
_MOST_FOR_RE: Final = 2  # wildcards; the folders before a name count as one


Matching: TypeAlias = Any
"""A compiled regex of ``re`` or of RE2, which has the same methods."""


class Own(NamedTuple):
    """The ignore files of one folder."""

    start: int  # where a path inside of the folder begins
    before: str  # what precedes that, if the folder is above the root; else ""
    patterns: tuple[tuple[GitIgnoreSpecPattern, Matching], ...]  # last first
    any_for_files: tuple[Matching, ...]  # together they match whatever any pattern for a wanted file matches
    any_for_folders: tuple[Matching, ...]  # the same for folders


Patterns = tuple[Own, ...]
"""Of each folder that has some, nearest first."""


def patterns_of(root: Path, folder: str, names: Iterable[str], ends: tuple[str, ...], tell: Tell) -> Patterns:
    """The patterns of those ignore files ``names`` that are in ``folder``; later ones take precedence."""
    lines = chain.from_iterable(_lines(root, f"{folder}/{name}".lstrip("/"), tell) for name in names)
    return _patterns(lines, folder, ends, tell)


def patterns_in(content: bytes, name: str, ends: tuple[str, ...], tell: Tell) -> Patterns:
    """The patterns in the ``content`` of an ignore file of the root; ``name`` is the file's name."""
    return _patterns(_split(content, name), "", ends, tell)


def seen_from(patterns: Patterns, prefix: str) -> Patterns:
    """The same for paths relative to the folder ``prefix``, "/" at its end."""
    return tuple(own._replace(start=0, before=prefix[own.start :]) for own in patterns)


def _patterns(lines: Iterable[tuple[str, str]], folder: str, ends: tuple[str, ...], tell: Tell) -> Patterns:
    patterns, for_files = [], []
    for line, path in lines:
        try:
            pattern = GitIgnoreSpecPattern(line if len(line) <= _LONGEST_LINE else "!")
            if pattern.include is None or pattern.regex is None:  # a comment or an empty line
                continue
            patterns.append((pattern, _matching(pattern.regex.pattern)))
        except (ValueError, re2.error):
            tell(path, f"{line[:80]!r} is no pattern that can be used, skipped")
            continue
        if _can_end(line, ends):
            for_files.append(pattern)
    start = len(folder) + 1 if folder else 0
    if not patterns:
        return ()
    any_for_folders = _any_of([pattern for pattern, _ in patterns], folders=True)
    return (Own(start, "", tuple(reversed(patterns)), _any_of(for_files, folders=False), any_for_folders),)


def _lines(root: Path, path: str, tell: Tell) -> Iterator[tuple[str, str]]:
    try:
        data, _ = read_regular(f"{root}/{path}", _MAX_IGNORE_FILE)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise_if_passing(error)
        tell(path, reason(error))
        return
    yield from _split(data, path)


def _split(content: bytes, path: str) -> Iterator[tuple[str, str]]:
    return ((line, path) for line in re.split(r"\r?\n", content.decode("utf-8-sig", "replace")))


def _matching(regex: str) -> Matching:
    """A pattern's regex, compiled by ``re``, which is faster, if that cannot backtrack far; else by RE2.

    Raises:
        re2.error: it is too large.
    """
    wildcards = regex.count("[^/]*") + regex.count(".+") + regex.count(".*")
    return re.compile(regex) if wildcards <= _MOST_FOR_RE else re2.compile(regex, _QUIET)


def _can_end(line: str, ends: tuple[str, ...]) -> bool:
    """Whether a path that a line matches can end in one of ``ends``: with ``*.class`` it cannot end in ".java"."""
    tail = re.findall(r"[^\s\\/*?!\[\]]*$", line)[0]  # literal characters
    return any(tail.endswith(end) or end.endswith(tail) for end in ends)


def _any_of(patterns: Sequence[GitIgnoreSpecPattern], *, folders: bool) -> tuple[Matching, ...]:
    """Regexes that match the path of a folder, or of a file, if any of ``patterns`` that may apply to it does."""
    parts = [pattern.regex.pattern for pattern in patterns if pattern.regex]
    unnamed = [re.sub(r"\?P<\w+>", "", part) for part in parts if folders or not part.endswith("(?P<ps_d>/)")]
    found = [_matching(part) for part in unnamed]
    quick = [each.pattern for each in found if isinstance(each, re.Pattern)]
    others = (each for each in found if not isinstance(each, re.Pattern))
    return (*([re.compile("|".join(f"(?:{part})" for part in quick))] if quick else []), *others)


def kept(patterns: Patterns, paths: Sequence[str]) -> Sequence[str]:
    """Those of a folder's files that are not excluded."""
    if not any(own.any_for_files for own in patterns):
        return paths
    return [path for path in paths if not is_left_out(patterns, path)]


def is_left_out(patterns: Patterns, path: str) -> bool:
    """Whether the last pattern that applies to ``path`` excludes it; nearer ignore files come first.

    A folder's path ends with "/".
    """
    is_folder = path.endswith("/")
    for start, before, own, any_for_files, any_for_folders in patterns:
        place = before + path[start:]
        if not any(each.search(place) for each in (any_for_folders if is_folder else any_for_files)):
            continue
        for pattern, matching in own:
            if _is_about(matching, place):
                return pattern.include is True
    return False


def _is_about(matching: Matching, path: str) -> bool:
    """Whether a pattern matches ``path`` itself, not only a folder above it, which was checked before."""
    if matching.groups:  # the group is the "/" after the pattern's last name
        ends = [match.end() for match in matching.finditer(path)]
        return bool(ends) and ends[-1] == len(path)
    return matching.search(path.removesuffix("/")) is not None  # a/** and the like: all inside of a folder, not itself
