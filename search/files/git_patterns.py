"""The patterns of ignore files: what git takes a line for, and a regex that matches what git's ``wildmatch`` does.

Everything is bytes, as in git: ``?`` is one byte. A regex takes time at most proportional to the length of the pattern
times that of the path, whoever wrote it: what follows a wildcard is looked for in an atomic group, at its first place
alone, since a later one would leave less for the rest.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import Final, NamedTuple

FOLDER: Final = b"\0"
"""What a folder's path ends with; no name contains it."""
_WILDCARD: Final = re.compile(rb"[*?\[\\]")
_TOKEN: Final = re.compile(
    rb"(?P<stars>\*+)|(?P<any>\?)|(?P<set>\[)|\\(?P<escaped>.)|(?P<literal>[^*?\[\\]+)", re.DOTALL
)
_MEMBER: Final = re.compile(rb"\[:(?P<named>[^\]]*):\]|\\(?P<escaped>.)|(?P<plain>[^\\])", re.DOTALL)
_RANGE_END: Final = re.compile(rb"-(?!\])(?:\\(?P<escaped>.)|(?P<plain>[^\\]))", re.DOTALL)


@lru_cache
def _ascii(members: bytes) -> frozenset[int]:
    """The ASCII characters that the inside of a set matches."""
    return frozenset(code for code in range(1, 128) if re.fullmatch(b"[" + members + b"]", bytes([code])))


_NAMED: Final[Mapping[bytes, bytes]] = {
    b"alnum": rb"a-zA-Z0-9",
    b"alpha": rb"a-zA-Z",
    b"blank": rb" \t",
    b"cntrl": rb"\x01-\x1f\x7f",
    b"digit": rb"0-9",
    b"graph": rb"!-~",
    b"lower": rb"a-z",
    b"print": rb" -~",
    b"punct": rb"!-/:-@\[-`{-~",
    b"space": rb" \t\n\r",
    b"upper": rb"A-Z",
    b"xdigit": rb"0-9a-fA-F",
}


class Line(NamedTuple):
    """What a line of an ignore file says."""

    excludes: bool  # False: with "!", what it matches is kept
    of_folders: bool  # with "/" at its end
    of_names: bool  # it is about the last name of a path; else about the path as seen from the ignore file
    glob: bytes


def read_line(line: bytes) -> Line | None:
    """What a line says; None for a comment, or for what matches nothing."""
    if line.startswith(b"#"):
        return None
    glob = _trimmed(line.removesuffix(b"\r").partition(b"\0")[0])
    excludes = not glob.startswith(b"!")
    glob = glob if excludes else glob[1:]
    of_folders = glob.endswith(b"/")
    glob = glob.removesuffix(b"/")
    of_names = b"/" not in glob
    glob = glob.removeprefix(b"/")
    if glob.startswith(b"**/") and len(glob) > 3 and b"/" not in glob[3:]:
        of_names, glob = True, glob[3:]
    return Line(excludes, of_folders, of_names, glob) if glob else None


def _trimmed(line: bytes) -> bytes:
    """A line without spaces at its end; one after a backslash stays."""
    bare = line.rstrip(b" ")
    is_escaped = (len(bare) - len(bare.rstrip(b"\\"))) % 2
    return line[: len(bare) + is_escaped]


class Kind(IntEnum):
    """The kind of a part of a pattern."""

    LITERAL = 0
    ONE = 1  # one character: the text is a regex of it
    STAR = 2  # whatever contains no "/"; as the following one, the text is a regex that takes as little as it can
    STARS = 3  # folders


class Part(NamedTuple):
    """A part of a pattern: a literal, or a regex of what it matches."""

    kind: Kind
    text: bytes


def parts_of(line: Line) -> Sequence[Part] | None:
    """The parts of a line's pattern; None if it is malformed, and so matches nothing."""
    wildcard = _WILDCARD.search(line.glob)
    if wildcard is None:
        return [Part(Kind.LITERAL, line.glob)]
    found = list(_parts(line.glob, wildcard.start(), line.of_names))
    return None if None in found else [part for part in found if part is not None]


def _parts(glob: bytes, head: int, of_names: bool) -> Iterator[Part | None]:
    """The parts of a pattern; ``head``: where the literal ends that git compares first, so that ``**`` may follow."""
    place = 0
    while place < len(glob):
        token = _TOKEN.match(glob, place)
        if token is None:  # a backslash at the end
            yield None
            return
        start, place = place, token.end()
        if token["set"]:
            part, place = _set_at(glob, place)
            yield part
        elif token["stars"]:
            can_cross = not of_names and len(token["stars"]) > 1 and (start in (0, head) or glob[start - 1] == b"/"[0])
            part, place = _stars_at(glob, place, can_cross=can_cross)
            yield part
        elif token["any"]:
            yield Part(Kind.ONE, rb"[^/\0]")
        else:
            yield Part(Kind.LITERAL, token["escaped"] or token["literal"])


def _stars_at(glob: bytes, place: int, *, can_cross: bool) -> tuple[Part, int]:
    """Asterisks that end at ``place``, and where what follows begins; ``can_cross``: they may match several folders."""
    if can_cross and glob.startswith(b"/", place):
        return Part(Kind.STARS, rb"(?:[^\0]*?/)??"), place + 1
    if can_cross and (place == len(glob) or glob.startswith(rb"\/", place)):
        return Part(Kind.STARS, rb"[^\0]*?"), place
    return Part(Kind.STAR, rb"[^/\0]*?"), place


def _set_at(glob: bytes, place: int) -> tuple[Part | None, int]:
    """The set whose "[" is before ``place``, and where it ends; None if it is malformed, or nothing is in it."""
    negated = glob.startswith((b"!", b"^"), place)
    start = place = place + negated
    members: set[int] = set()
    before = 0  # the character before, if a range can begin with it
    while place == start or not glob.startswith(b"]", place):
        ranged = _RANGE_END.match(glob, place) if before else None
        found = ranged or _MEMBER.match(glob, place)
        named = None if found is None or ranged else found["named"]
        if found is None or (named is not None and named not in _NAMED):
            return None, len(glob)
        place = found.end()
        if named is not None:
            members |= _ascii(_NAMED[named])
            before = 0
            continue
        (code,) = found["escaped"] or found["plain"]
        members |= set(range(before, code + 1)) if ranged else {code}
        before = 0 if ranged else code
    return _one_of(members, negated=negated), place + 1


def _one_of(members: set[int], *, negated: bool) -> Part | None:
    inside = members | {*b"/\0"} if negated else members - {*b"/\0"}
    text = b"".join(b"\\x%02x" % code for code in sorted(inside))
    return Part(Kind.ONE, (b"[^" if negated else b"[") + text + b"]") if text else None


def regex_of(parts: Sequence[Part]) -> bytes:
    """The regex of a pattern."""
    last = {part.kind: place for place, part in enumerate(parts)}
    regex: list[bytes] = []
    waiting: list[Kind] = []  # of the groups that are open
    for place, (kind, text) in enumerate(parts):
        if kind < Kind.STAR:
            regex.append(text if kind else re.escape(text))
            continue
        while waiting and waiting[-1] <= kind:
            regex.append(b")")
            waiting.pop()
        waiting.append(kind)
        regex += (b"(?:" if place == last[kind] else b"(?>", text)  # what follows the last one is at the end
    return b"".join(regex) + b")" * len(waiting)
