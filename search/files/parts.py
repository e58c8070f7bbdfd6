"""Half-typed source part by part: what parses where it stands is kept, and of the rest as little is lost as can be.

Lines that are indented equally begin the parts of a block. A part that does not parse inside of the heads around it is
looked into: its own lines without what is indented more, then each block of that. What cannot be divided is repaired by
itself (:mod:`search.files.repair`), or made blank.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final

from data_prep.languages.identifiers import compiled_later
from data_prep.languages.language import Language
from search.files.heads import short_heads, with_other_head
from search.files.repair import LARGEST, Piece, Repaired, repaired

_MOST_DEEP: Final = 40
_MOST_READ: Final = 12  # times a file's length that is parsed in parts at most
_LEFT_OUT: Final = 8  # own lines of a part that are left out one by one
_GOES_ON: Final = (
    rb"[)\]}>|&?:.=]|\{(?!%)|(?:else|elif|elsif|except|finally|catch|case|default|extends|implements|throws|rescue"
    rb"|ensure)\b"
)
"""What begins a line that belongs to the part before, beside what closes a block of the language."""
_WAITS: Final = compiled_later(
    rb"#?\[{1,2}[A-Za-z][^\[\]]*\]{1,2}\s*$|@(?!interface\b)[\w.]+\s*(?:\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)?)?\s*(?:(?://|#)[^\n]*)?$"
    rb"|template\s*<.*>\s*$|//|/?\*|#|$"
)
"""A line that belongs to the part behind it: a decorator, the parameters of a template or a comment."""
_CLOSES: Final = compiled_later(rb"[)\]}]++\s*+")
_OPENS: Final = compiled_later(rb"(?:[{(\[]|:|=>?|->)\s*(?:(?://|#)[^\n]*)?$")
"""The end of a line that blocks follow."""
_ENDS: Final = compiled_later(rb"[;}]\s*(?:(?://|#)[^\n]*)?$")
"""The end of a line that ends a statement."""
_COMMENT: Final = compiled_later(rb"(?:^|\s)(?://|#).*$")

Span = tuple[int, int]
"""The first of some lines, from 0, and the one behind the last."""


@dataclass(frozen=True, slots=True)
class _Around:
    """What is around some lines."""

    before: bytes = b""
    after: bytes = b""
    depth: int = 0


def repaired_by_parts(data: bytes, typed: bytes, language: Language, parses: Callable[[bytes], bool]) -> Repaired:
    """The file with as little changed as it needs to be parsed.

    Args:
        data: the file, in which something may be blank.
        typed: the same as it is typed, which says how its lines are indented.
        language: its language.
        parses: whether a text has no syntax error.
    """
    if len(data) > LARGEST:
        return Repaired(data, [])
    return _Parts(data, typed, language, parses).mended()


class _Parts:
    """The parts of one file."""

    def __init__(self, data: bytes, typed: bytes, language: Language, parses: Callable[[bytes], bool]) -> None:
        self._lines, self._typed = data.split(b"\n"), typed.split(b"\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in self._lines)]
        inside = repaired(data, language, typed).inside  # strings and comments of several lines
        numbers = [[bisect_right(self._starts, place) for place in each] for each in inside]
        self._inside = {line for first, last in numbers for line in range(first, last)}
        self._indents = [self._indent(line) for line in range(len(self._lines))]
        self._language, self._parses = language, parses
        self._left = _MOST_READ * len(data) + 1000  # bytes that may be parsed yet
        self._added: list[Piece] = []
        self._has_colons = language.body_mark == ":"
        self._goes_on_with = re.compile(_GOES_ON + (b"|" + language.closing.encode() if language.closing else b""))

    def mended(self) -> Repaired:
        """The file, mended."""
        self._mend_block((0, len(self._lines)), _Around())
        return Repaired(b"\n".join(self._lines), self._added)

    def _indent(self, line: int) -> int | None:
        """How much a line is indented; None if it begins nothing."""
        typed = self._typed[line]
        begins = self._lines[line].strip() and line not in self._inside
        return len(typed) - len(typed.lstrip()) if begins else None

    def _own_indents(self, span: Span) -> list[int]:
        return [each for line in range(*span) if (each := self._indents[line]) is not None]

    def _fits(self, lines: Sequence[bytes], around: _Around) -> bool:
        """Whether they parse in their place."""
        text = b"".join((around.before, *(line + b"\n" for line in lines), around.after))
        self._left -= len(text)
        return self._left > 0 and self._parses(text)

    def _mend_block(self, block: Span, around: _Around) -> None:
        """Mend each part that does not parse, not even with the next one; nothing once too much was parsed."""
        parts = [*self._divided(block)]
        fit = [self._fits(self._lines[first:end], around) for first, end in parts]
        for number, (first, end) in enumerate(parts):
            if not fit[number] and self._left > 0:
                if number + 1 < len(parts) and not fit[number + 1]:
                    both = first, parts[number + 1][1]
                    fit[number + 1] = self._fits(self._lines[slice(*both)], around) or self._divides(both, around)
                    if fit[number + 1]:
                        continue
                self._mend((first, end), around)

    def _divided(self, block: Span) -> Iterator[Span]:
        """The parts of a block."""
        first, end = block
        base, start, waits = min(self._own_indents(block), default=0), first, True
        for line in range(first, end):
            indent = self._indents[line]
            if indent is None or indent > base:
                continue
            bare = self._lines[line].lstrip()
            if not waits and not self._goes_on_with.match(bare):
                yield start, line
                start = line
            follows = self._follows((line, end))
            unindented = follows < end and self._indents[follows] == base and not self._has_colons
            goes_on = waits and bare[:1] != b"}" and _CLOSES.fullmatch(bare) is not None
            waits = goes_on or _WAITS.match(bare) is not None or (unindented and self._opens(line))
        yield start, end

    def _divides(self, part: Span, around: _Around) -> bool:
        """Mend the blocks of a part one by one; whether that can be done, since the rest parses without them."""
        if around.depth >= _MOST_DEEP:
            return False
        found = [[*self._bodies(part, long=long)] for long in (True, False)]
        return any(bool(bodies) and self._mend_bodies(part, bodies, around, as_it_is=True) for bodies in found) or any(
            bool(bodies) and self._mend_bodies(part, bodies, around, as_it_is=False) for bodies in found[::-1]
        )

    def _mend(self, part: Span, around: _Around) -> None:
        """Change a part that does not parse."""
        lines = self._lines[slice(*part)]
        if self._divides(part, around):
            return
        fixed = (not self._has_colons and self._with_other_head(part, around)) or self._repaired(part, lines)
        if self._fits([fixed.text], around):
            self._take(part, fixed)
            return
        bodies = [*self._bodies(part, long=False)] if around.depth < _MOST_DEEP and not self._has_colons else []
        for body in bodies:
            self._mend_block(body, replace(around, depth=around.depth + 1))
        self._blank({*range(*part)}.difference(*(range(*body) for body in bodies)))

    def _with_other_head(self, part: Span, around: _Around) -> Repaired | None:
        """The lines of a function without blocks whose head is broken, with another head; None if they do not parse."""
        waits = lambda line: _WAITS.match(line) is not None  # noqa: E731
        fits = lambda lines: self._fits(lines, around)  # noqa: E731
        return with_other_head(self._lines[slice(*part)], self._indents[slice(*part)], waits, fits)

    def _bodies(self, part: Span, *, long: bool) -> Iterator[Span]:
        """The blocks of a part: the lines that are indented more than its own, behind those of its heads.

        ``long``: whether heads may go on in such lines.
        """
        own, start, head = next(iter(self._own_indents(part)), 0), -1, False
        for line in range(*part):
            indent = self._indents[line]
            if indent is not None and indent <= own:
                if start >= 0:
                    yield start, line
                start, head = -1, long and not self._opens(line) and self._goes_on((line + 1, part[1]), own)
            elif indent is not None and head:
                head = not self._opens(line)
            elif start < 0 and indent is not None:
                start = line
        if start >= 0:
            yield start, part[1]

    def _follows(self, rest: Span) -> int:
        """The next line that begins something behind the first of some, or the end."""
        return next((each for each in range(rest[0] + 1, rest[1]) if self._indents[each] is not None), rest[1])

    def _opens(self, line: int) -> bool:
        return _OPENS.search(self._lines[line]) is not None

    def _goes_on(self, rest: Span, own: int) -> bool:
        """Whether a head has more lines: one of them opens a block before one ends a statement."""
        for line in range(*rest):
            indent = self._indents[line]
            if indent is not None and (indent <= own or _ENDS.search(self._lines[line])):
                return False
            if indent is not None and self._opens(line):
                return True
        return False

    def _mend_bodies(self, part: Span, bodies: Sequence[Span], around: _Around, *, as_it_is: bool) -> bool:
        """Mend the blocks of a part one by one; whether that can be done, since the rest parses without them.

        ``as_it_is``: whether the rest may not be changed.
        """
        bones = self._lines[slice(*part)]
        for first, end in bodies:
            bones[first - part[0] : end - part[0]] = self._empty((first, end))
        if as_it_is and not self._fits(bones, around):
            return False
        if not as_it_is and not (bones := self._mended_bones(part, bones, bodies, around)):
            return False
        for first, end in bodies:
            before = around.before + b"".join(line + b"\n" for line in bones[: first - part[0]])
            after = b"".join(line + b"\n" for line in bones[end - part[0] :]) + around.after
            self._mend_block((first, end), _Around(before, after, around.depth + 1))
        return True

    def _empty(self, body: Span) -> list[bytes]:
        """The lines of a block with nothing in it."""
        empty = [b""] * (body[1] - body[0])
        if self._language.filler:
            empty[0] = b" " * min(self._own_indents(body), default=0) + self._language.filler.encode()
        return empty

    def _mended_bones(self, part: Span, bones: Sequence[bytes], bodies: Sequence[Span], around: _Around) -> list[bytes]:
        """The lines of a part, of which the ``bodies`` are empty, so that they parse; nothing if they cannot."""
        own = {*range(*part)}.difference(*(range(*body) for body in bodies))
        follows = {line: self._follows((line, part[1])) for line in own}
        odd = {line for line in own if self._opens(line) == (follows[line] in (*own, part[1]))}
        return (
            self._without_a_line(part, bones, odd, around)
            or self._closed(part, bones, own, around)
            or self._without_a_line(part, bones, own - odd, around)
        )

    def _closed(self, part: Span, bones: Sequence[bytes], own: set[int], around: _Around) -> list[bytes]:
        """The ``own`` lines of a part, repaired, with its blocks empty; nothing if they do not parse then."""
        text = b"\n".join(bones)
        fixed = self._repaired(part, bones)
        code = len(text.rstrip())
        at_end = [piece for piece in fixed.added if piece.place >= code] if part[1] - 1 not in own else []
        fixed = Repaired(fixed.plain, [piece for piece in fixed.added if piece not in at_end])
        lines = fixed.text.split(b"\n")
        lines[-1] += (closing := b"".join(piece.text for piece in at_end))
        if not self._fits(lines, around):
            return []
        self._take(part, fixed, own)
        if closing:
            self._added.append(Piece(self._code_end(part), closing))
        return lines

    def _without_a_line(
        self, part: Span, bones: Sequence[bytes], some: Collection[int], around: _Around
    ) -> list[bytes]:
        """The same without one of ``some`` lines, or with a brace at the end of one before a block."""
        for line in sorted(some, reverse=True)[:_LEFT_OUT]:
            lines, number = [*bones], line - part[0]
            is_empty = line + 1 < part[1] and bones[number + 1].strip() == self._language.filler.encode()
            if not self._opens(line) and not self._has_colons and is_empty:
                lines[number] += b" {"
                if self._fits(lines, around):
                    self._added.append(Piece(self._code_end((line, line + 1)), b" {"))
                    return lines
            heads = short_heads(bones[number], colon=self._has_colons) if is_empty else [(b"", b"")]
            for kept, text in heads if bones[number].strip() else ():
                lines[number] = kept + text
                if self._fits(lines, around):
                    self._lines[line] = kept + b" " * (len(self._lines[line]) - len(kept))
                    self._added += [Piece(self._starts[line] + len(kept), text)] if text else []
                    return lines
        return []

    def _repaired(self, part: Span, lines: Sequence[bytes]) -> Repaired:
        """The lines of a part, repaired; what is no more as long as it was typed is read as it is."""
        pairs = zip(self._typed[slice(*part)], lines, strict=True)
        typed = b"\n".join(typed if len(typed) == len(line) else line for typed, line in pairs)
        return repaired(b"\n".join(lines), self._language, typed)

    def _code_end(self, part: Span) -> int:
        """Where the code of a part ends."""
        line = next((each for each in range(part[1] - 1, part[0], -1) if self._lines[each].strip()), part[0])
        return self._starts[line] + len(_COMMENT.sub(b"", self._lines[line]).rstrip())

    def _take(self, part: Span, fixed: Repaired, own: Collection[int] | None = None) -> None:
        """Have the lines of a part, or only its ``own``, as they were repaired."""
        lines = fixed.plain.split(b"\n")
        starts = [0, *accumulate(len(line) + 1 for line in lines)]
        for piece in fixed.added:
            number = bisect_right(starts, piece.place) - 1
            self._added.append(Piece(self._starts[part[0] + number] + piece.place - starts[number], piece.text))
        for number, line in enumerate(lines, part[0]):
            if own is None or number in own:
                self._lines[number] = line

    def _blank(self, lines: Collection[int]) -> None:
        """Make lines blank, but for a statement without meaning where a block may need one."""
        if self._has_colons:
            line = next((each for each in sorted(lines) if self._indents[each] is not None), min(lines))
            self._added.append(Piece(self._starts[line] + (self._indents[line] or 0), b"pass"))
        for line in lines:
            self._lines[line] = b" " * len(self._lines[line])
