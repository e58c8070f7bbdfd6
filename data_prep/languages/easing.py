"""Blanks in a text for what its grammar does not know: branches of ``#if``, macros, and the like of a language.

Rules see the text without comments, strings and directives, so they change nothing there. Places stay as they are.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from data_prep.languages.identifiers import compiled, compiled_later
from data_prep.languages.nodes import node_text

if TYPE_CHECKING:
    from tree_sitter import Node

_LITERAL: Final = compiled_later(
    rb"(?s)//[^\n]*|/\*.*?(?:\*/|\Z)|\$(?<!\$\$)\$*\"\"\".*?(?:\"{3,}|\Z)|\"(?<!\$\")\"\".*?(?:\"{3,}|\Z)"
    rb"|R(?<!\wR)\"(?P<end>[^()\\\s\"]{0,16})\(.*?(?:\)(?P=end)\"|\Z)"
    rb"|#(?<!##)(?P<more>#*)\".*?(?:\"#(?P=more)|\Z)|@\$?\"(?:[^\"]|\"\")*\"?"
    rb"|\$(?<!\$\$)\$*\"(?:[^\"\\\n]|\\.)*\"?|\"(?<!\$\")(?:[^\"\\\n]|\\.)*\"?"
    rb"|'(?<![0-9a-fA-F]')(?:[^'\\\n]|\\.)*'?"
)
"""A comment, which begins with a slash, or a text. Each form begins with a byte, so what has none is passed fast."""
_DIRECTIVE: Final = compiled_later(rb"(?s)\n[ \t]*#[ \t]*(?P<name>\w+)(?P<rest>(?:[^\n\\]|\\.)*)")
_IS_ITSELF: Final = compiled_later(rb"\s*(\w+)\s+\1\s*")
"""``#define A A``, which is found among the values of an ``enum``."""
_BRACKET: Final = compiled_later(rb"[()\[\]{}]")
_PAREN: Final = compiled_later(rb"[()]")
_SPACE: Final = ord(" ")
_GAP: Final = compiled_later(rb"\s*(?=\{)")
_BLANK, _QUOTED = b" " * 10 + b"\n" + b" " * 245, b'"' * 10 + b"\n" + b'"' * 245
"""What :meth:`bytes.translate` makes blanks or quotes by; line breaks stay."""
_BEGIN: Final = (b"if", b"ifdef", b"ifndef")
_GO_ON: Final = (b"elif", b"else", b"elseif", b"elifdef", b"elifndef", b"endif")
_LEFT: Final = (b"define", b"include", b"pragma", b"undef", b"error", b"warning", b"line", b"import")
"""Directives that grammars know."""
_DEEPEST: Final = 30
"""Nested conditions whose branches are looked at; each is read once more."""

_MACRO: Final = compiled_later(rb"[A-Z_](?<!\w[A-Z_])\w+")
"""What the name of a macro looks like; rules say more."""
OPEN: Final = compiled_later(rb"[ \t]*\(")
_FAR: Final = 600
"""Bytes before a name that a rule looks at."""
_TYPED_CALL: Final = compiled_later(r"[^\s<>()]+<[\w.,?<>\[\] ]+>(?:\(| ?\{)")

Rule: TypeAlias = Callable[["Easing"], None]


class Easing:
    """A text while blanks are put into it, with a line break before it: every line is behind one, as rules expect.

    A pattern that begins with a byte is found much faster than one that begins with the start of a line or word.
    """

    def __init__(self, data: bytes) -> None:
        """``data``: of which comments, strings and directives are hidden from the rules."""
        data = b"\n" + data
        self.data = bytearray(data)
        self.strings: list[tuple[int, int]] = []
        self._comments: list[tuple[int, int]] = []
        self._seen = bytearray(_LITERAL.sub(self._hidden, data))
        self._comments_inside()
        self._conditions()
        self._closing: dict[int, int] | None = None
        self._macros: dict[bytes, list[int]] = {}
        for found in _MACRO.finditer(self._seen):
            self._macros.setdefault(found[0], []).append(found.start())
        self._places = cache(self._places_of)

    def _hidden(self, found: re.Match[bytes]) -> bytes:
        is_comment = found[0].startswith(b"/")
        (self._comments if is_comment else self.strings).append(found.span())
        return found[0].translate(_BLANK if is_comment else _QUOTED)

    @property
    def text(self) -> bytes:
        """What the rules see."""
        return bytes(self._seen)

    def clear(self, start: int, end: int) -> None:
        """Put blanks from one place to another."""
        self.put(start, bytes(self.data[start:end]).translate(_BLANK))

    def put(self, start: int, text: bytes) -> None:
        """Put a text in the place of another one of its length."""
        self.data[start : start + len(text)] = self._seen[start : start + len(text)] = text

    def macros(self, name: bytes) -> Iterator[tuple[int, int]]:
        """Where the names begin and end that match a pattern, and are not blank yet."""
        for start, end in self._places(name):
            if self._seen[start] != _SPACE:
                yield start, end

    def _places_of(self, name: bytes) -> list[tuple[int, int]]:
        fits = compiled(name).fullmatch
        known = [(each, places) for each, places in self._macros.items() if fits(each)]
        return sorted((start, start + len(each)) for each, places in known for start in places)

    def closing(self, start: int) -> int:
        """Where the parenthesis at a place is closed; -1 if it is not, or is none."""
        if self._closing is None:
            self._closing = {}
            opened: list[int] = []
            for found in _PAREN.finditer(self._seen):
                if found[0] == b"(":
                    opened.append(found.start())
                elif opened:
                    self._closing[opened.pop()] = found.start()
        return self._closing.get(start, -1)

    def _conditions(self) -> None:
        """Blank the conditions; of branches that are no whole statements together, all but one as well."""
        around: list[list[tuple[int, int, bool]]] = []  # the branches of each: start, end, whether it is never compiled
        for found in _DIRECTIVE.finditer(self.text):
            name, is_never = found["name"], found["rest"].strip() in (b"0", b"false")
            if name in _BEGIN:
                around.append([(found.end(), found.end(), is_never)])
            elif around and name in _GO_ON:
                start, _, was_never = around[-1][-1]
                around[-1][-1] = (start, found.start(), was_never)
                if name == b"endif":
                    self._drop(around.pop(), len(around))
                else:
                    around[-1].append((found.end(), found.end(), is_never))
            if name in _LEFT and not _IS_ITSELF.fullmatch(found["rest"]):
                self._seen[found.start() : found.end()] = found[0].translate(_BLANK)
            else:
                self.clear(*found.span())

    def _comments_inside(self) -> None:
        """Blank comments inside of directives that go on in the next line: for the grammar, they end these."""
        directives = [*_DIRECTIVE.finditer(self.text)][::-1]
        for start, end in self._comments:
            while directives and directives[-1].end() <= start:
                directives.pop()
            if (
                directives
                and directives[-1].start() <= start
                and b"\n" in directives[-1]["rest"] + self.data[start:end]
            ):
                self.clear(start, end)

    def _drop(self, branches: Sequence[tuple[int, int, bool]], depth: int) -> None:
        kept = next((number for number, each in enumerate(branches) if not each[2]), -1)
        several = len(branches) > 1 and depth < _DEEPEST
        together = not several or all(self._is_whole(start, end) for start, end, _ in branches)
        for number, (start, end, is_never) in enumerate(branches):
            if is_never or (number != kept and not together):
                self.clear(start, end)

    def _is_whole(self, start: int, end: int) -> bool:
        text = bytes(self._seen[start:end]).strip()
        depth = 0
        for found in _BRACKET.finditer(text):
            depth += 1 if found[0] in b"([{" else -1
            if depth < 0:
                return False
        return not text or (depth == 0 and text[-1] in b";},:" and text[:1] != b"{")


def near(text: bytes, start: int, step: int) -> bytes:
    """The character before (-1) or from (1) a place on that is no blank; nothing at the text's end."""
    place = start if step > 0 else start - 1
    while 0 <= place < len(text) and text[place] in b" \t\n":
        place += step
    return text[place : place + 1] if place >= 0 else b""


@lru_cache(maxsize=2)  # of a broken file it is asked for again by its repair
def eased(rules: tuple[Rule, ...], data: bytes) -> bytes:
    """A text with the blanks that rules put into it, in their order."""
    easing = Easing(data)
    for rule in rules:
        rule(easing)
    return bytes(easing.data[1:])


def without(patterns: Sequence[bytes], easing: Easing) -> None:
    """Blank the last group of some patterns."""
    for pattern in patterns:
        for found in compiled(pattern).finditer(easing.text):
            easing.clear(*found.span(found.re.groups))


def without_call(
    before: bytes, behind: bytes, name: bytes, easing: Easing, *, called: bool = False, after: bytes = b""
) -> None:
    """Blank a name, with the parentheses that follow it directly, where what is before and behind match.

    Args:
        before: a pattern.
        behind: another one.
        name: one of the name alone.
        easing: the text.
        called: only a name with parentheses.
        after: what is before ends with one of these, blanks apart, which is looked at first; nothing: with anything.
    """
    text, head, tail = easing.text, compiled(before + rb"\Z"), compiled(behind)
    for start, end in [*easing.macros(name)]:
        opened = OPEN.match(text, end)
        if (called and not opened) or (after and near(text, start, -1) not in after):
            continue
        for last in (easing.closing(opened.end() - 1) + 1 if opened else 0, end):
            if last and tail.match(text, last):
                if head.search(text, max(0, start - _FAR), start):
                    easing.clear(start, last)
                break


def ended_calls(head: bytes, easing: Easing) -> None:
    """``each(a, b);{`` of a macro ``each(a, b) {`` that is a loop; ``head``: what begins it, with its parenthesis."""
    text = easing.text
    for found in compiled(head).finditer(text):
        end = easing.closing(found.end() - 1) + 1
        gap = _GAP.match(text, end) if end else None
        if gap and (place := text.find(b" ", *gap.span())) >= 0:
            easing.put(place, b";")
        elif gap:  # there is no place for it
            easing.clear(found.end() - len(found[0].lstrip(b"\n\t }")), end)


def without_arguments(head: bytes, easing: Easing) -> None:
    """``TEST_CASE(   ) {``, a function, of a macro ``TEST_CASE("adds") {``; ``head``: what is left, from its start on.

    Its first parenthesis is that of the arguments.
    """
    text = easing.text
    for found in compiled(head).finditer(text):
        end = easing.closing(text.index(b"(", found.start()))
        if end > 0 and _GAP.match(text, end + 1):
            easing.clear(found.end(), end)


def compared_call(node: "Node") -> "Node | None":
    """What is called by ``f<T>(x)``, which grammars read as two comparisons; None where some are compared."""
    if not _TYPED_CALL.match(node_text(node)):
        return None
    first = node
    while first.type == node.type:
        first = first.named_children[0]
    return first
