r"""Text that is parsed in place of a file: parts of it are replaced, and its places can be told as those of the file.

Java reads escapes of Unicode before all else (JLS 3.3), so that they may be parts of names, of comments and of the
structure: ``caf\u00e9`` is a name, ``\u007b`` opens a block. A grammar reads none of them.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from functools import cached_property
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
