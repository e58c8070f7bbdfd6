"""R's source as a syntax tree: brackets, calls, members, functions and assignments; all else is a row of its parts.

What the search asks for needs no precedence of operators: an assignment and a function take all that follows in their
statement, as in R. Nodes are called as in tree-sitter's grammar of R. Kinds of its own are ``definition``, the
assignment of a function, and ``argument``, one that is given by its name. No function calls itself, so that no text
is nested too deeply.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from data_prep.languages.language import words
from data_prep.languages.own_tree import OwnNode, OwnTree, Source
from data_prep.languages.r import tokens

_WORD: Final = re.compile(
    r"(?P<number>0[xX][\da-fA-F.pP+-]+[Li]?|\.?\d(?:[\d.]|[eE][+-]?(?=\d))*+[Li]?)"
    r"|(?P<identifier>(?:[^\W\d_]|[\x80-\xff.])(?:[\w.]|[\x80-\xff])*+|_(?!\w))"
    r"|(?P<member>:::?(?=[\w.`\"']|\Z)|[$@])"
    r"|(?P<left><<?-|:=)|(?P<right>->>?)|(?P<equal>=(?!=))|(?P<function>\\)|(?P<stop>[\n;,])"
    r"|(?P<operator>\|>|[<>=!]=|&&|\|\||\*\*|[-+*/^<>!&|~?:])|(?P<error>[^\s\x00-\x1f])"
)
_KINDS: Final = {
    **dict.fromkeys(words("if else for while repeat in next break"), "keyword"),
    **dict.fromkeys(("TRUE", "FALSE"), "true"),
    **dict.fromkeys(("NULL", "NA", "Inf", "NaN", "NA_integer_", "NA_real_", "NA_character_"), "null"),
    **{each: each for each in ("function", "return")},
}
"""What an identifier is, if it is none."""
_PREFIXES: Final = words("- + ! ~ ?")
_CLOSED_BY: Final = {"(": ")", "[": "]", "{": "}"}
_ASSIGNED: Final = ("left", "equal", "right")
_BROKEN_BRACKETS: Final = 50
"""Open brackets among which that of a closing one is looked for."""


@dataclass(slots=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


@dataclass(slots=True)
class _Open:
    """What takes the rest of its statement: an assignment, a function, the branch of an ``if``."""

    kind: str
    first: int  # its place among the parts of the statement
    after: int  # the place of the first part that it takes


@dataclass(slots=True)
class _Frame:
    """An open bracket, or the whole text."""

    bracket: str
    start: int
    role: str  # the kind of the node
    parts: list[OwnNode] = field(default_factory=list)  # of the statement
    open: list[_Open] = field(default_factory=list)
    done: list[OwnNode] = field(default_factory=list)  # earlier statements
    wanted: bool = True  # whether an operand is, not an operator
    head: str = ""  # the keyword whose condition or parameters come next


def tree(data: bytes) -> OwnTree:
    """The tree of a text."""
    return OwnTree(_Parser(data).parsed())


def _tokens(text: str) -> list[_Token]:
    found, place = list[_Token](), 0
    for token in tokens(text):
        _add_words(found, text, place, token.start)
        found.append(_Token(token.kind, text[token.start : token.end], token.start, token.end))
        place = token.end
    _add_words(found, text, place, len(text))
    return found


def _add_words(found: list[_Token], text: str, start: int, end: int) -> None:
    for match in _WORD.finditer(text, start, end):
        word, kind = match[0], match.lastgroup or ""
        kind = _KINDS.get(word, kind) if kind == "identifier" else kind
        found.append(_Token(kind, word, match.start(), match.end()))


class _Parser:
    def __init__(self, data: bytes) -> None:
        self._source = Source(data)
        self._frame = _Frame("", 0, "program")
        self._frames = [self._frame]  # the open ones, the last of which is that one
        self._tokens = _tokens(data.decode("latin-1"))  # a character is a byte

    def parsed(self) -> OwnNode:
        """The root."""
        take = {
            "comment": self._comment, "bracket": self._bracket, "stop": self._stop, "keyword": self._keyword,
            "function": self._function, "member": self._operator, "operator": self._operator, "error": self._error,
            **dict.fromkeys(_ASSIGNED, self._assignment),
        }  # fmt: skip
        for number, token in enumerate(self._tokens):
            if token.text != "\n" or not self._goes_on(number):
                take.get(token.kind, self._operand)(token)
        end = len(self._source.data)
        while len(self._frames) > 1:
            self._close(end, broken=True)
        self._end_statement(end)
        return OwnNode(self._source, "program", (0, end), self._frames[0].done)

    def _node(self, kind: str, children: Sequence[OwnNode], **fields: OwnNode) -> OwnNode:
        return OwnNode(self._source, kind, (children[0].start_byte, children[-1].end_byte), children, fields)

    def _leaf(self, token: _Token, kind: str = "") -> OwnNode:
        return OwnNode(self._source, kind or token.text, (token.start, token.end), named=bool(kind))

    def _goes_on(self, number: int) -> bool:
        """Whether a line end does not end a statement."""
        if self._frame.bracket in ("(", "["):
            return True
        for place in range(number + 1, min(number + 50, len(self._tokens))):
            each = self._tokens[place]
            if each.text != "\n" and each.kind != "comment":
                return each.text == "else"
        return False

    def _comment(self, token: _Token) -> None:
        self._frame.parts.append(self._leaf(token, "comment"))

    def _stop(self, token: _Token) -> None:
        """A line's end, a semicolon or a comma."""
        frame = self._frame
        if token.text == "," and frame.bracket not in ("(", "["):
            self._error(token)
        elif token.text != "\n" or not frame.wanted or not any(each.type != "comment" for each in frame.parts):
            self._end_statement(token.start)

    def _keyword(self, token: _Token) -> None:
        frame = self._frame
        if token.text == "else":
            known = [each.kind for each in frame.open]
            if "if" not in known:
                self._error(token)
                return
            while frame.open[-1].kind != "if":
                self._reduce()
            frame.open.pop()
        elif not frame.wanted and token.text != "in":
            self._error(token)
            return
        frame.head = token.text if token.text in ("if", "for", "while") else ""
        if token.text == "if":
            frame.open.append(_Open("if", len(frame.parts), len(frame.parts)))
        frame.parts.append(self._leaf(token))
        frame.wanted = token.text not in ("next", "break")

    def _function(self, token: _Token) -> None:
        frame = self._frame
        if not frame.wanted:
            self._error(token)
            return
        frame.open.append(_Open("function", len(frame.parts), len(frame.parts) + 2))
        frame.parts.append(OwnNode(self._source, "function", (token.start, token.end), named=False))
        frame.head = "function"

    def _operand(self, token: _Token) -> None:
        kind = "identifier" if token.kind == "name" else token.kind
        self._add(OwnNode(self._source, kind, (token.start, token.end)))

    def _add(self, node: OwnNode) -> None:
        """An operand, which may be the name behind a ``$`` or ``::``."""
        frame = self._frame
        if not frame.wanted or frame.head:  # a line's end is missing
            frame.parts.append(OwnNode(self._source, "ERROR", (node.start_byte, node.start_byte)))
            self._end_statement(node.start_byte)
        frame.parts.append(node)
        frame.wanted = False
        if len(frame.parts) > 2 and frame.parts[-2].type in ("$", "@", "::", ":::"):
            place = self._last(len(frame.parts) - 3)
            parts = frame.parts[place:]
            kind = "namespace_operator" if ":" in parts[-2].type else "extract_operator"
            frame.parts[place:] = [self._node(kind, parts, lhs=parts[0], rhs=node)]

    def _last(self, place: int) -> int:
        """The place of the last part up to one that is no comment."""
        while place > 0 and self._frame.parts[place].type == "comment":
            place -= 1
        return place

    def _operator(self, token: _Token) -> None:
        frame = self._frame
        if frame.wanted and token.text not in _PREFIXES:
            self._error(token)
            return
        frame.parts.append(self._leaf(token))
        frame.wanted = True

    def _assignment(self, token: _Token) -> None:
        frame = self._frame
        if frame.wanted:
            self._error(token)
            return
        place = len(frame.parts)
        if token.kind == "right":  # what is before it is the value
            first = frame.open[-1].after if frame.open else 0
            first = next((number for number in range(first, place) if frame.parts[number].type != "comment"), first)
        else:
            first = self._last(place - 1)
        frame.open.append(_Open(token.kind, first, place + 1))
        frame.parts.append(self._leaf(token))
        frame.wanted = True

    def _error(self, token: _Token) -> None:
        leaf = self._leaf(token)
        self._frame.parts.append(OwnNode(self._source, "ERROR", (token.start, token.end), [leaf]))

    def _bracket(self, token: _Token) -> None:
        frame = self._frame
        if token.text in _CLOSED_BY:
            role = {"{": "braced_expression", "[": "subset", "(": "parenthesized_expression"}[token.text]
            if token.text != "{" and frame.head:
                role = "parameters" if frame.head == "function" else role
            elif token.text == "(" and not frame.wanted:
                role = "arguments"
            elif token.text == "[" and frame.wanted and (frame.role != "subset" or frame.parts):
                self._error(token)
            self._frame = _Frame(token.text, token.start, role)
            self._frames.append(self._frame)
            return
        near = self._frames[: -_BROKEN_BRACKETS - 1 : -1]
        depth = next((each for each, open in enumerate(near) if _CLOSED_BY.get(open.bracket) == token.text), -1)
        for _ in range(depth):
            self._close(token.start, broken=True)
        if depth < 0:
            self._error(token)
        else:
            self._close(token.end)

    def _close(self, end: int, *, broken: bool = False) -> None:
        """The end of a bracket; a ``broken`` one is not closed in the text."""
        self._end_statement(end - (not broken))
        closed = self._frames.pop()
        self._frame = self._frames[-1]
        if broken:
            closed.done.append(OwnNode(self._source, "ERROR", (end, end)))
        node = OwnNode(self._source, closed.role, (closed.start, end), closed.done)
        frame = self._frame
        if frame.head:
            frame.parts.append(node)
            frame.head, frame.wanted = "", True
        elif closed.bracket == "{" or frame.wanted:
            self._add(node)
        else:
            place = self._last(len(frame.parts) - 1)
            parts = [*frame.parts[place:], node]
            fields = {"function": parts[0], "arguments": node}
            frame.parts[place:] = [self._node("call" if closed.role == "arguments" else "subset", parts, **fields)]

    def _end_statement(self, end: int) -> None:
        frame = self._frame
        if frame.wanted and any(not each.is_named or each.type == "parameters" for each in frame.parts[-1:]):
            empty = frame.role in ("arguments", "parameters", "subset") and frame.parts[-1].type == "="
            if not empty:
                frame.parts.append(OwnNode(self._source, "ERROR", (end, end)))
        while frame.open:
            self._reduce()
        frame.done += frame.parts
        frame.parts, frame.wanted, frame.head = [], True, ""

    def _reduce(self) -> None:
        """End what was opened last."""
        frame = self._frame
        opened, parts = frame.open.pop(), frame.parts
        end = self._last(len(parts) - 1) + 1
        if opened.kind == "if" or end <= opened.after:
            return
        taken = parts[opened.after : end]
        value = taken[0] if len(taken) == 1 else self._node("expression", taken)
        before = parts[opened.first : opened.after]
        if opened.kind == "function":
            node = self._node("function_definition", [*before, value], parameters=before[1], body=value)
        else:
            node = self._assigned(opened.kind, before, value)
        parts[opened.first : end] = [node]

    def _assigned(self, kind: str, before: Sequence[OwnNode], value: OwnNode) -> OwnNode:
        """An assignment; from left to right, what is taken is its target."""
        children = [*before, value]
        target = before[0]
        if kind == "right":
            own = before[0] if len(before) == 2 else self._node("expression", before[:-1])
            children, target, value = [own, before[-1], value], value, own
        if kind == "equal" and self._frame.role in ("arguments", "parameters"):
            return self._node("argument", children, name=target, value=value)
        is_function = value.type == "function_definition"
        return self._node("definition" if is_function else "assignment", children, name=target, value=value)
