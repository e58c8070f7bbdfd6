r"""Text that is parsed in place of a file: parts of it are replaced, and its places can be told as those of the file.

Java reads escapes of Unicode before all else (JLS 3.3), so that they may be parts of names, of comments and of the
structure: ``caf\u00e9`` is a name, ``\u007b`` opens a block. A grammar reads none of them.

Syntax of Java 21 to 25 that the grammar does not know becomes syntax that it knows, with the same words and lines:

- a module import as that of a package
- ``final`` and annotations in the patterns of ``case`` as blanks, and annotations before ``...``
- several patterns of a ``case`` as the parts of one: ``A _, B _`` becomes ``R(A _, B _)``
- a record pattern with a qualified name as one with type arguments: ``A.B(...)`` becomes ``A.B<>(...)``
- a record pattern in the head of a loop as a variable without a name
- ``super(...)`` and ``this(...)`` behind other statements as an array without a name: ``int[]_={...}``
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from tree_sitter import Node

_ESCAPE: Final = re.compile(
    rb"\\\\"  # a backslash behind another one begins no escape
    rb"|((?:\\u(?!00[0-7])[\da-fA-F]{4}){4,})"  # many letters, such as of a table in a string
    rb"|\\u+([dD][89abAB][\da-fA-F]{2})\\u+([dD][c-fC-F][\da-fA-F]{2})|\\u+([\da-fA-F]{4})"
)
_KEPT: Final = frozenset((*range(9), 11, *range(14, 32), 127, *range(0xD800, 0xE000)))
"""Characters that no text should have: their escapes stay as they are."""


class Edit(NamedTuple):
    """A part of a text, and what replaces it; at least as much, so that no place is lost."""

    start: int
    end: int
    text: bytes


class Rewritten:
    """A text with edits."""

    def __init__(self, data: bytes, edits: Iterable[Edit] = (), before: "Rewritten | None" = None) -> None:
        """``edits`` of ``data``, in order and apart; ``before``: what ``data`` is itself the text of."""
        self._edits = [*edits]
        self._starts: list[int] = []
        self._outer: Callable[[int], int] | None = before.place if before and before.is_edited else None
        self.file: bytes = before.file if before else data
        parts: list[bytes] = []
        place = size = 0
        for start, end, text in self._edits:
            parts += data[place:start], text
            size += start - place
            self._starts.append(size)
            size += len(text)
            place = end
        self.text = b"".join((*parts, data[place:])) if parts else data

    def within(self, file: bytes, place: Callable[[int], int]) -> "Rewritten":
        """The same, where the file is itself made of another one, in which ``place`` tells its places."""
        inner = self._outer
        whole = Rewritten(self.text)
        whole._edits, whole._starts, whole.file = self._edits, self._starts, file
        whole._outer = place if inner is None else lambda offset: place(inner(offset))
        return whole

    @property
    def is_edited(self) -> bool:
        """Whether it is another text than the file."""
        return bool(self._edits) or self._outer is not None

    def place(self, offset: int) -> int:
        """Where in the file an offset in the text is, in bytes."""
        number = bisect_right(self._starts, offset) - 1
        if number >= 0:
            _, end, text = edit = self._edits[number]
            inside = offset - self._starts[number]
            offset = end + inside - len(text) if inside >= len(text) else edit.start
        return self._outer(offset) if self._outer else offset

    def source(self, start: int, end: int) -> str:
        """What of the file is between two offsets in the text."""
        return self.file[self.place(start) : self.place(end)].decode(errors="replace")

    def lines(self, node: Node) -> tuple[int, int]:
        """The first and last line of a node in the file, from 1."""
        if not self.is_edited:
            return node.start_point[0] + 1, node.end_point[0] + 1
        return self.line(node.start_byte), self.line(node.end_byte)

    def line(self, offset: int) -> int:
        """The line in the file of an offset in the text, from 1."""
        return bisect_left(self._line_ends, self.place(offset)) + 1

    @cached_property
    def _line_ends(self) -> list[int]:
        return [match.start() for match in re.finditer(b"\n", self.file)]


def unescaped(data: bytes) -> Rewritten:
    """A file with the characters that its escapes stand for."""
    return Rewritten(data, _unescaped(data) if b"\\u" in data else ())


def _unescaped(data: bytes) -> Iterable[Edit]:
    for match in _ESCAPE.finditer(data):
        many, high, low, single = match.groups()
        if many or high:
            units = many.replace(b"\\u", b"") if many else high + low
            text = bytes.fromhex(units.decode()).decode("utf-16-be", "replace")
            yield Edit(*match.span(), text.encode())
        elif single and (code := int(single, 16)) not in _KEPT:
            yield Edit(*match.span(), chr(code).encode())


_NO_CODE: Final = re.compile(
    rb"/\*(?:[^*]|\*(?!/))*+(?:\*/)?|//[^\r\n]*+"
    rb'|"""(?:[^\\"]|\\.|"(?!""))*+(?:""")?'
    rb'|"(?:[^"\\\r\n]|\\[^\r\n])*+"?' rb"|'(?:[^'\\\r\n]|\\[^\r\n])*+'?",
    re.DOTALL,
)  # fmt: skip
_NAME: Final = rb"[\w$]+(?:\s*+\.\s*+[\w$]+)*+"
_TYPE: Final = _NAME + rb"\s*+(?:<[^;{}()]{0,500}>\s*+)?"
_IMPORT: Final = re.compile(rb"\bimport\s+(module)\s+(?=[\w$])")
_ANNOTATION: Final = re.compile(rb"@\s*+(?!interface\b)" + _NAME)
_CASE: Final = re.compile(rb"\bcase\b")
_IN_LABEL: Final = re.compile(rb"->|::|[:,<>({};]|\bcase\b|(?<=[\w$)>\]])\s+when\b(?!\s*[,:]|\s*->)")
_LONGEST: Final = 1000
"""Bytes of a label or pattern that is read."""
_PATTERN: Final = re.compile(
    rb"\s*(?:(?:final\b|@\s*" + _NAME + rb"(?:\s*\([^()]*\))?)\s*)*+" + _TYPE + rb"(?:[\[\]\s]*\b[\w$]+\s*|\(.*)",
    re.DOTALL,
)
_TEST: Final = re.compile(rb"\binstanceof\s+" + _TYPE + rb"(?=\()")
_LOOP: Final = re.compile(rb"\bfor\s*\(\s*(?:final\s+)?" + _TYPE + rb"(?=\()")
_FINAL: Final = re.compile(rb"\bfinal\b")
_QUALIFIED: Final = re.compile(rb"[\w$]+\s*+\.\s*+" + _NAME + rb"(?=\s*\()")
_CALL: Final = re.compile(rb"\b(?:super|this)\s*(?=\()")
_ARGUMENTS: Final = re.compile(rb"<[^;{}()]{0,500}>$")
_HEAD: Final = re.compile(rb"(?:(?<![\w$.@])([\w$.]+)[\[\]\s]+|(?<=([>\]}{;)]))\s*)(?<![\w$.])([\w$]+)\s*+\(")
_BODY: Final = re.compile(rb"\s*+(?:throws\b[\w$.,<>@\s]+)?\{")
_TYPE_HEAD: Final = re.compile(rb"\b(?:class|record|enum)\s+([\w$]+)")
_NO_TYPES: Final = frozenset(b"new return else throw case yield assert do when record".split())
_NO_NAMES: Final = frozenset(b"if for while switch catch synchronized try super this".split())
_NEAR: Final = 500
"""Bytes before such a call in which its qualifier begins."""


def newer_syntax(data: bytes) -> list[Edit]:
    """The edits that make a text parse, in order and apart; none if it has no such syntax."""
    edits = sorted(set(_Newer(data).edits()))
    return [each for place, each in enumerate(edits) if not place or each.start >= edits[place - 1].end]


def method_heads(data: bytes) -> list[int]:
    """Where the names of methods and constructors with a body are, by their text alone, in order."""
    code = _Code(data)
    types = {match[1] for match in _TYPE_HEAD.finditer(code.text)}
    found = []
    for match in _HEAD.finditer(code.text):
        name, body = match[3], _BODY.match(code.text, code.closing.get(match.end() - 1, len(data)) + 1)
        typed = match[1] not in _NO_TYPES if match[1] else match[2] in (b">", b"]") or name in types
        if body and typed and name not in _NO_NAMES:
            found.append(match.start(3))
    return found


class _Code:
    """A text in which comments and strings are blank."""

    def __init__(self, data: bytes) -> None:
        self.text = _NO_CODE.sub(lambda match: (b" " if match[0][:1] == b"/" else b'"') * len(match[0]), data)
        self.closing: dict[int, int] = {}  # place of ( -> that of its pair
        around: list[int] = []
        for match in re.finditer(rb"[()]", self.text):
            if match[0] == b"(":
                around.append(match.start())
            elif around:
                self.closing[around.pop()] = match.start()


class _Newer:
    """The newer syntax of a text."""

    def __init__(self, data: bytes) -> None:
        code = _Code(data)
        self._code, self._closing = code.text, code.closing

    def edits(self) -> Iterator[Edit]:
        """What is replaced, in any order."""
        for match in _IMPORT.finditer(self._code):
            yield self._blank(*match.span(1))
        yield from self._before_dots()
        for match in _CASE.finditer(self._code):
            yield from self._label(match.end())
        for match in _TEST.finditer(self._code):
            yield from self._plain(match.start(), min(match.end() + _LONGEST, self._closing.get(match.end(), 0)))
        for match in _LOOP.finditer(self._code):
            end = self._closing.get(match.end())
            if end and re.compile(rb"\s*:(?!:)").match(self._code, end + 1):
                yield Edit(match.end(), match.end() + 2, b" _")
                yield self._blank(match.end() + 2, end + 1)
        for match in _CALL.finditer(self._code):
            yield from self._call(*match.span())

    def _blank(self, start: int, end: int) -> Edit:
        return Edit(start, end, re.sub(rb"[^\r\n]", b" ", self._code[start:end]))

    def _annotations(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Where annotations begin and end, with their arguments."""
        while match := _ANNOTATION.search(self._code, start, end):
            arguments = re.compile(rb"\s*\(").match(self._code, match.end())
            start = match.end() if arguments is None else self._closing.get(arguments.end() - 1, match.end() - 1) + 1
            yield match.start(), start

    def _before_dots(self) -> Iterator[Edit]:
        blanked = -1
        for start, end in reversed([*self._annotations(0, len(self._code))]):
            space = re.compile(rb"\s*+").match(self._code, end)
            after = space.end() if space else end
            if after == blanked or self._code.startswith(b"...", after):
                blanked = start
                yield self._blank(start, end)

    def _label(self, start: int) -> Iterator[Edit]:
        """The patterns between a ``case`` and its guard, arrow or colon."""
        end, commas = self._end_of_label(start)
        parts = [self._code[left + 1 : right] for left, right in pairwise([start - 1, *commas, end])]
        if end and any(map(_PATTERN.fullmatch, parts)):
            if len(parts) > 1:
                yield Edit(start, start, b" R(")
                yield Edit(end, end, b")")
            yield from self._plain(start, end)

    def _end_of_label(self, start: int) -> tuple[int, list[int]]:
        """Where the patterns of a label end, 0 if it is none, and the commas between them."""
        commas, depth, place = list[int](), 0, start
        while match := _IN_LABEL.search(self._code, place, start + _LONGEST):
            place, mark = match.end(), match[0]
            if mark in (b"->", b":") or mark.endswith(b"when"):
                return match.start(), commas
            if mark in (b"{", b"}", b";", b"case"):
                break
            depth += (mark == b"<") - (mark == b">")
            if mark == b"(":
                place = self._closing.get(match.start(), place)
            elif mark == b"," and depth <= 0:
                commas.append(match.start())
        return 0, commas

    def _plain(self, start: int, end: int) -> Iterator[Edit]:
        """Patterns without what the grammar does not know in them."""
        for match in _FINAL.finditer(self._code, start, end):
            yield self._blank(*match.span())
        annotations = [*self._annotations(start, end)]
        for each in annotations:
            yield self._blank(*each)
        for match in _QUALIFIED.finditer(self._code, start, end):
            if not any(first <= match.start() < last for first, last in annotations):
                yield Edit(match.end(), match.end(), b"<>")

    def _call(self, start: int, arguments: int) -> Iterator[Edit]:
        """A call of another constructor at ``start`` that is not the first statement."""
        while self._code[start - 1 : start].isspace():
            start -= 1
        near = max(0, start - _NEAR)
        before = self._code[near:start]
        if before.endswith(b">") and (generic := _ARGUMENTS.search(before)):
            start, before = near + generic.start(), before[: generic.start()].rstrip()
        end = self._closing.get(arguments)
        statement, dot = start, near + len(before) - 1
        if qualified := before.endswith(b"."):
            before = before[: max(map(before.rfind, (b";", b"{", b"}"))) + 1]
            statement = near + len(before)
        if end is None or not before.endswith((b";", b"}")):
            return
        yield Edit(statement, statement, b" int[]_={")
        if qualified:
            yield Edit(dot, dot + 1, b",")
        yield self._blank(start, arguments + 1)
        yield Edit(end, end + 1, b"}")
