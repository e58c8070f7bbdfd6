"""What collectors of logs and people put before each line of a trace, taken away.

A prefix is what stands before a line that looks like a frame. The others of the trace have one of the same shape: its
words are the same, what begins with a digit, such as a time, may change. So no collector has to be known: syslog,
journald, docker compose, Kubernetes, GitHub Actions, npm, quotes, any logger. Lines of several services that run beside
each other are put together again, by the words of their prefixes.
"""

import re
from collections import Counter
from collections.abc import Sequence
from os.path import commonprefix
from typing import Final

_LONGEST: Final = 300
"""Characters of a prefix."""
_MOST: Final = 8
"""Prefixes of different shapes that are taken away."""
_SAMPLE: Final = 200
"""Lines by which it is seen whether all have a prefix of one shape."""
_NEARLY: Final = 0.95
"""The share of these that must have it."""
_PIECES: Final = re.compile(
    r"(?P<space>\s+)|(?P<exact>\[\d{1,3}\])|(?P<number>\d[\w.,:/+-]*)|(?P<word>[^\W\d][\w-]*)|(?P<other>.)"
)
_OWN: Final = re.compile(r"[\s|+│┃║╭─┌❯›→❱*-]*|\s*E|\s*\[errors\]: \[|\s*[\w$.<>]+\*")
"""What a trace itself has before a frame: margins of groups, marks."""
_NO_PREFIX: Final = re.compile(r"\s*[^\W\d]\w*|.*[/\\][\w.-]*")
"""A word, and the start of a path."""
_MARK: Final = re.compile(r"\s+[E>❯]\s*$|(?<=[|:\]])(?:\s+[|+])+\s*$|(?:\s*[│┃╭┌+][-─━]*)+\s*$")
"""The end of a prefix that is the trace's own."""
_NAMED: Final = re.compile(r"(?:^|(?<=\s))[\w.<>']+ {3,}$")
"""The error that is named before IPython's header."""
_NOTHING: Final = re.compile("")
"""The shape of no prefix."""


def without_prefixes(lines: Sequence[str], looks: re.Pattern[str]) -> list[str]:
    """Lines without their prefixes, those of one kind of prefix after those of another.

    Args:
        lines: of a text.
        looks: what a line with a frame has.
    """
    shapes, bare = _shapes(lines, looks)
    streams: dict[re.Pattern[str], list[str]] = {}
    last = _NOTHING
    for line in lines:
        if shape := next((each for each in shapes if each.match(line)), None):
            last = shape
        streams.setdefault(shape or (last if bare else _NOTHING), []).append(line)
    cut = [_cut(each, shape) for shape, each in streams.items()]
    return cut[0] if len(cut) == 1 else [line for each in cut for line in [*each, ""]]


def _cut(lines: Sequence[str], shape: re.Pattern[str]) -> list[str]:
    """Lines without a prefix, and those that had one without the space that all of these have in front."""
    ends = [found.end() if (found := shape.match(line)) else -1 for line in lines]
    behind = [line[end:] for line, end in zip(lines, ends, strict=True) if end >= 0 and line[end:].strip()]
    spaces = [line[: len(line) - len(line.lstrip())] for line in behind]
    margin = len(commonprefix(spaces))  # noqa: RUF071  (no paths)
    return [line if end < 0 else line[end + margin :] for line, end in zip(lines, ends, strict=True)]


def _shapes(lines: Sequence[str], looks: re.Pattern[str]) -> tuple[list[re.Pattern[str]], int]:
    """The shapes of the prefixes, the commonest first, and how many frames have none."""
    found: Counter[str] = Counter()
    bare = 0  # frames without a prefix
    for line in lines:
        if begins := looks.search(line):
            before = line[: begins.start()] if begins.start() <= _LONGEST else ""
            before = _NAMED.sub("", before) if begins[0].startswith("Traceback") else before
            prefix = _MARK.sub("", before).rstrip()
            if not prefix or _OWN.fullmatch(before):
                bare += 1
            elif not _NO_PREFIX.fullmatch(prefix):
                found[_shape(prefix, line[len(prefix) : len(prefix) + 1])] += 1
    if not bare and not found and (common := _common(lines, looks)):
        return [re.compile(common)], 0
    least = 2 if bare or len(found) > 1 else 1
    return [re.compile(shape) for shape, times in found.most_common(_MOST) if times >= least], bare


def _common(lines: Sequence[str], looks: re.Pattern[str]) -> str:
    """The longest shape that nearly all lines share before their frames; "" if there is none."""
    some = [line for line in lines if line.strip()][:_SAMPLE]
    for line in some[:3]:
        ends = [found.end() for found in _PIECES.finditer(line[:_LONGEST]) if not found["space"]]
        for end in reversed(ends):
            if line[end - 1] in "([{<" or _OWN.fullmatch(line[:end]) or _NO_PREFIX.fullmatch(line[:end]):
                continue
            shape = _shape(line[:end], line[end : end + 1])
            found = [(each, match) for each in some if (match := re.match(shape, each))]
            before = all(not (begins := looks.search(each)) or match.end() <= begins.start() for each, match in found)
            if len(found) >= max(3, _NEARLY * len(some)) and before:
                return shape
    return ""


def _shape(prefix: str, follows: str) -> str:
    """The regular expression of all prefixes of the same shape."""
    pieces = []
    for piece in _PIECES.finditer(prefix):
        kind = piece.lastgroup
        pieces.append(r"\s+" if kind == "space" else r"\d[\w.,:/+-]*" if kind == "number" else re.escape(piece[0]))
    return "".join(pieces) + (r"(?=\s|$)" if follows.isspace() else "")
