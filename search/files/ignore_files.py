"""Ignore files: which files of a folder their patterns exclude, with git's semantics.

They are not trusted, so that what they cost is limited: see :data:`_MOST`. A plain name, a plain path and ``*.ending``
are looked up, so that thousands of them cost nothing; what has other wildcards is matched by one regex of a folder.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from data_prep.files.access import raise_if_passing, read_regular, reason
from search.files.git_patterns import FOLDER, Kind, Line, Part, parts_of, read_line, regex_of
from search.files.stamps import How

Tell = Callable[[str, str], None]
"""Called with the path of what is left out, and the reason."""

_MAX_IGNORE_FILE: Final = 1 << 20  # bytes
_LONGEST_LINE: Final = 4096  # bytes, as long as a path can be
_MOST: Final = 10_000_000_000
"""What the ignore files of a tree may cost, in units of about a nanosecond: a million lines, or 64 MiB, or 1.2 MB of
regexes, which are some 30,000 patterns with wildcards."""
_BYTE: Final = 150  # to read one, in these units, by the memory that it takes
_LINE: Final = 10_000  # distinct ones
_COMPILED: Final = 8000  # a byte of a regex
_LOOKUP: Final = 2  # per byte of a path, to look up an ending; a regex costs its length
_FREE: Final = 500_000
"""What each path may cost besides: less than to parse a file."""


class Table:
    """Patterns for one kind of subject, names or paths."""

    def __init__(self) -> None:
        self.exact: dict[bytes, int] = {}  # what is matched -> the number of the last pattern that does
        self.endings: dict[bytes, int] = {}
        self.lengths: Sequence[int] = ()  # of endings
        self.sources: dict[bytes, int] = {}  # regexes
        self.regex: re.Pattern[bytes] | None = None  # of all of them, the last first
        self.numbers: Sequence[int] = ()  # of its groups

    def add(self, line: Line, number: int) -> None:
        """Add the pattern of a line; later ones have greater numbers."""
        parts = parts_of(line)
        if parts is None:
            return
        end = FOLDER if line.of_folders else b""
        if _is_plain(parts):
            self.exact[_text(parts) + end] = number
        elif line.of_names and parts[0].kind is Kind.STAR and _is_plain(parts[1:]):
            self.endings[_text(parts[1:]) + end] = number
        else:
            self.sources[regex_of(parts) + (rb"\0" if end else rb"\0?")] = number

    def finish(self, compiled: Callable[[bytes], re.Pattern[bytes] | None]) -> None:
        """Make the table ready; ``compiled``: of a regex, None if it is not affordable."""
        self.lengths = sorted({len(each) for each in self.endings})
        found = sorted(((number, source) for source, number in self.sources.items()), reverse=True)
        self.numbers = [number for number, _ in found]
        self.regex = compiled(b"|".join(source + b"()" for _, source in found)) if found else None

    @property
    def size(self) -> int:
        """What it costs to look up a subject, for each of its bytes."""
        return (len(self.regex.pattern) if self.regex else 0) + _LOOKUP * len(self.lengths)

    def last(self, subject: bytes) -> int:
        """The number of the last pattern that matches a name or a path; -1: none."""
        found = self._looked_up(subject)
        if subject.endswith(FOLDER):  # what is for files too
            found = max(found, self._looked_up(subject[:-1]))
        if self.regex and (match := self.regex.fullmatch(subject)) and match.lastindex:
            found = max(found, self.numbers[match.lastindex - 1])
        return found

    def _looked_up(self, subject: bytes) -> int:
        found = self.exact.get(subject, -1)
        for length in self.lengths:
            if (ending := subject[-length:]) in self.endings:
                found = max(found, self.endings[ending])
        return found


def _is_plain(parts: Sequence[Part]) -> bool:
    """Whether parts have no wildcard."""
    return bool(parts) and all(part.kind is Kind.LITERAL for part in parts)


def _text(parts: Sequence[Part]) -> bytes:
    return b"".join(part.text for part in parts)


class Own(NamedTuple):
    """The ignore files of one folder."""

    start: int  # where a path inside of the folder begins
    before: str  # what precedes that, if the folder is above the root; else ""
    names: Table
    paths: Table
    excluding: Sequence[bool]  # by number: whether the pattern excludes what it matches
    size: int  # of both tables


Patterns = tuple[Own, ...]
"""Of each folder that has some, nearest first."""


def seen_from(patterns: Patterns, prefix: str) -> Patterns:
    """The same for paths relative to the folder ``prefix``, "/" at its end."""
    return tuple(own._replace(start=0, before=prefix[own.start :]) for own in patterns)


class IgnoreFiles:
    """The ignore files of one tree, and what may still be spent on them."""

    def __init__(self, tell: Tell, look: Callable[[str, How], None] = lambda *_: None) -> None:
        """Nothing is read yet.

        Args:
            tell: called once for each limit that is met.
            look: called with the path of each file that is looked for, before it is read.
        """
        self._tell, self._look, self._left = tell, look, _MOST
        self._compiled: dict[bytes, re.Pattern[bytes]] = {}  # many folders have equal ones

    def patterns_of(self, root: Path, folder: str, names: Iterable[str], *, follow: bool = False) -> Patterns:
        """The patterns of those ignore files ``names`` that are in ``folder``; later ones take precedence.

        ``follow``: a file may be a link, as git has it for those outside of the tree.
        """
        paths = [f"{folder}/{name}".lstrip("/") for name in names]
        lines = [line for path in paths for line in self._lines(root, path, follow=follow)]
        if not lines:
            return ()
        tables = Table(), Table()
        for number, line in enumerate(lines):
            tables[0 if line.of_names else 1].add(line, number)
        for table in tables:
            table.finish(lambda regex: self._regex(regex, paths[0]))
        start = len(folder) + 1 if folder else 0
        return (Own(start, "", *tables, [line.excludes for line in lines], sum(table.size for table in tables)),)

    def _lines(self, root: Path, path: str, *, follow: bool) -> Sequence[Line]:
        self._look(f"{root}/{path}", "target" if follow else "itself")
        try:
            data, _ = read_regular(f"{root}/{path}", _MAX_IGNORE_FILE + 1, follow=follow)
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            raise_if_passing(error)
            self._tell(path, reason(error))
            return ()
        if len(data) > _MAX_IGNORE_FILE:
            self._tell(path, f"only the lines in its first {_MAX_IGNORE_FILE:,} bytes are used")
            data = data[:_MAX_IGNORE_FILE].rpartition(b"\n")[0]
        lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        lines = list(dict.fromkeys(reversed(lines)))  # of equal ones the last counts
        if not self._affords(_BYTE * len(data) + _LINE * len(lines)):
            self._tell(path, "left out, since the ignore files of this folder have too many lines")
            return ()
        for line in lines:
            if len(line) > _LONGEST_LINE:
                start = line[:80].decode(errors="replace")
                self._tell(path, f"{start!r}... has more than {_LONGEST_LINE:,} bytes, skipped")
        return [found for line in reversed(lines) if len(line) <= _LONGEST_LINE and (found := read_line(line))]

    def _affords(self, cost: int) -> bool:
        """Spend ``cost``, if so much is left."""
        if cost > self._left:
            return False
        self._left -= cost
        return True

    def _goes_on(self, cost: int) -> bool:
        """Spend ``cost`` on a path; from the first on that is not affordable, nothing is."""
        if self._affords(cost):
            return True
        self._left = 0
        self._tell(".", "its ignore files have too many patterns for so many files: not all were left out by them")
        return False

    def _regex(self, source: bytes, path: str) -> re.Pattern[bytes] | None:
        if source not in self._compiled:
            if not self._affords(_COMPILED * len(source)):
                self._tell(path, "too many patterns with wildcards: only names, paths and *.ending are used of it")
                return None
            self._compiled[source] = re.compile(source, re.DOTALL)
            re.purge()  # else it would be kept, whatever its size
        return self._compiled[source]

    def kept(self, patterns: Patterns, paths: Sequence[str]) -> Sequence[str]:
        """Those of a folder's files that are not excluded."""
        return [path for path in paths if not self.leaves_out(patterns, path)] if patterns else paths

    def leaves_out(self, patterns: Patterns, path: str) -> bool:
        """Whether the last pattern that applies to ``path`` excludes it; nearer ignore files come first.

        A folder's path ends with "/". Paths for which nothing can be spent any more are not left out.
        """
        end, left = (FOLDER if path.endswith("/") else b""), _FREE
        for start, before, names, paths, excluding, size in patterns:
            place = (before + path[start:]).encode(errors="surrogateescape").removesuffix(b"/") + end
            cost = size * len(place)
            if cost > left and not self._goes_on(cost - left):
                return False
            left = left - cost if left > cost else 0
            number = max(names.last(place.rpartition(b"/")[2]), paths.last(place))
            if number >= 0:
                return excluding[number]
        return False
