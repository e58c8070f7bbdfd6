"""Functions and comments of a file by tree-sitter, for languages that describe theirs by the kinds of nodes."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Final

from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

from data_prep.errors import UserError
from data_prep.languages.comments import first_sentence, plain_comment
from data_prep.languages.fields import FieldKinds, code_fields, type_fields
from data_prep.languages.source_language import Declaration, FoundFunction, ParsedSource

LARGEST_FILE: Final = 2 << 20
"""Maximum size of a parsed file in bytes; larger ones are data or made by programs."""
MOST_DEEP: Final = 16
"""Maximum nesting of functions and types."""
MOST_READ: Final = 4
"""Maximum times that a file's text is read, since nested functions are read repeatedly."""
MOST_FUNCTIONS: Final = 20_000
"""Maximum functions of a file."""
LONGEST_NAME: Final = 1000
"""Maximum characters of a name with the enclosing types."""

_GAP: Final = re.compile(rb"[ \t\f\r]*(?:\n[ \t\f\r]*)?")
"""What may be between a comment and what it documents: no blank line."""
_HASHES: Final = re.compile(r"(?m)^#+:? ?")


@dataclass(frozen=True)
class Syntax:
    """The kinds of nodes of a language, and what a function's node says about its declaration."""

    language: Language
    functions: frozenset[str]
    types: frozenset[str]  # with a field ``name``, whose name qualifies those of functions inside
    comments: frozenset[str]
    declaration: Callable[[Node], Declaration | None]  # None: a function without a body, or not one of interest
    fields: FieldKinds
    nested: bool  # whether functions inside of functions are found too
    other_types: frozenset[str] = frozenset()  # with a field ``name`` too, whose functions are not qualified by it
    type_declaration: Callable[[Node], Declaration | None] = lambda node: Declaration(_name_of(node), node)
    constants: Callable[[Node], Iterable[Declaration]] = lambda _: ()  # in a file's root
    docstrings: bool = False  # whether a string as a statement is documentation
    sentence: Callable[[str], str] = first_sentence  # of documentation without comment marks
    is_stub: Callable[[Node], bool] = lambda body: not any(child.type != "comment" for child in body.named_children)

    @cached_property
    def query(self) -> Query:
        """Captures the nodes of interest in one pass, in C."""
        lines = [f"[{' '.join(f'({kind})' for kind in sorted(kinds))}] @{mark}" for mark, kinds in self._marks if kinds]
        return Query(
            self.language, "\n".join([*lines, *["(expression_statement . (string) .) @doc"] * self.docstrings])
        )

    @property
    def _marks(self) -> tuple[tuple[str, frozenset[str]], ...]:
        return (
            ("function", self.functions), ("type", self.types), ("other", self.other_types), ("comment", self.comments),
        )  # fmt: skip

    def mark(self, node: Node) -> str:
        """The same for one node."""
        for mark, kinds in self._marks:
            if node.type in kinds and node.is_named:
                return mark
        return "doc" if self.docstrings and is_docstring(node) else ""


def is_docstring(node: Node) -> bool:
    """Whether a node is a statement that consists of a string."""
    if node.type != "expression_statement":
        return False
    return [child.type for child in node.named_children] == ["string"]


def parse(syntax: Syntax, data: bytes) -> ParsedSource:
    """The functions of a file, in source order; those that contain broken text are left out.

    Raises:
        UserError: the file is longer than ``LARGEST_FILE``.
    """
    if len(data) > LARGEST_FILE:
        raise UserError(f"longer than {LARGEST_FILE >> 20} MiB")
    tree = Parser(syntax.language).parse(data)
    root = tree.root_node
    captures = _captures_of_broken(syntax, tree) if root.has_error else QueryCursor(syntax.query).captures(root)
    comments = _Comments(data, captures.get("comment", []))
    strings = [(node.start_byte, node.end_byte) for node in captures.get("doc", [])]
    found, left_out = _functions(syntax, data, captures, comments, inner=False)
    first = next((child.start_byte for child in root.named_children if child.type not in syntax.comments), len(data))
    spans = sorted({(node.start_byte, node.end_byte) for node in comments.nodes} | {*strings})
    return ParsedSource(
        found,
        spans,
        first,
        left_out,
        types=lambda: _types(syntax, data, captures, comments),
        inner=lambda: _functions(syntax, data, captures, comments, inner=True)[0],
        constants=lambda: _constants(syntax, data, root, comments),
    )


def _captures_of_broken(syntax: Syntax, tree: Tree) -> dict[str, list[Node]]:
    """The captures without the query, which is quadratic in the children of an error."""
    captures: dict[str, list[Node]] = {}
    cursor = tree.walk()
    inside = True
    while inside:
        node = cursor.node
        if node is not None and (mark := syntax.mark(node)):
            captures.setdefault(mark, []).append(node)
        inside = cursor.goto_first_child() or cursor.goto_next_sibling()
        while not inside and cursor.goto_parent():
            inside = cursor.goto_next_sibling()
    return captures


def _functions(
    syntax: Syntax, data: bytes, captures: Mapping[str, Sequence[Node]], comments: "_Comments", *, inner: bool
) -> tuple[list[FoundFunction], int]:
    """The functions, or with ``inner`` those inside of others that are none of them, and how many are left out."""
    found: list[FoundFunction] = []
    left_out = to_read = 0
    for node, mark, types, is_nested, depth in _nested(captures):
        if mark != "function" or (is_nested and not syntax.nested) != inner:
            continue
        declared = syntax.declaration(node)
        if declared is None:
            continue
        type_name = ".".join(filter(None, (*types, declared.owner)))
        whole = declared.whole
        to_read += whole.end_byte - whole.start_byte
        fits = depth <= MOST_DEEP and len(found) < MOST_FUNCTIONS and to_read <= MOST_READ * len(data)
        if node.has_error or not fits or len(type_name) + len(declared.name) >= LONGEST_NAME:
            left_out += 1
            continue
        found.append(_found(syntax, data, node, declared, type_name, comments))
    return found, left_out


def _types(
    syntax: Syntax, data: bytes, captures: Mapping[str, Sequence[Node]], comments: "_Comments"
) -> list[FoundFunction]:
    """The named types, as far as they are nested and as many as functions may be."""
    found: list[FoundFunction] = []
    for node, mark, types, _, depth in _nested(captures):
        if mark == "function" or depth > MOST_DEEP or len(found) >= MOST_FUNCTIONS:
            continue
        declared = syntax.type_declaration(node)
        if declared is None or not declared.name or sum(map(len, (*types, declared.name))) + len(types) >= LONGEST_NAME:
            continue
        found.append(_found(syntax, data, node, replace(declared, kind="type"), ".".join(types), comments))
    return found


def _constants(syntax: Syntax, data: bytes, root: Node, comments: "_Comments") -> list[FoundFunction]:
    """The constants, the first of each name, as many as functions may be."""
    declared: dict[str, Declaration] = {}
    for each in islice(syntax.constants(root), MOST_FUNCTIONS):
        if each.name and len(each.name) < LONGEST_NAME:
            declared.setdefault(each.name, replace(each, kind="constant"))
    return [_found(syntax, data, each.whole, each, "", comments) for each in declared.values()]


def _nested(captures: Mapping[str, Sequence[Node]]) -> Iterator[tuple[Node, str, list[str], bool, int]]:
    """Each function and type in source order, its mark, the types around it, whether a function is, and its depth."""
    marks = [(node, mark) for mark in ("function", "type", "other") for node in captures.get(mark, ())]
    marks.sort(key=lambda mark: (mark[0].start_byte, -mark[0].end_byte))
    around: list[tuple[int, str | None]] = []  # end, name of a type or None for a function
    for node, kind in marks:
        while around and around[-1][0] <= node.start_byte:
            around.pop()
        names = [name for _, name in around if name]
        yield node, kind, names, any(name is None for _, name in around), len(around)
        if kind != "other":
            around.append((node.end_byte, _name_of(node) if kind == "type" else None))


def _name_of(node: Node) -> str:
    return node_text(node.child_by_field_name("name"))


def _found(
    syntax: Syntax, data: bytes, node: Node, declared: Declaration, type_name: str, comments: "_Comments"
) -> FoundFunction:
    whole, first = declared.whole, declared.first or declared.whole
    inside = _docstring(node) if syntax.docstrings and declared.kind != "constant" else None
    raw = node_text(inside) if inside is not None else comments.before(first.start_byte)
    doc = plain_comment(_HASHES.sub("", raw) if declared.kind == "constant" else raw)
    body = whole if declared.kind == "constant" else node.child_by_field_name("body")
    parts, inner = (whole, body, inside), syntax.functions | syntax.types | syntax.other_types

    def fields() -> Mapping[str, tuple[str, ...]]:
        if declared.kind == "type":
            return type_fields(declared.name, parts, syntax.fields, inner)
        return code_fields(declared.name, type_name, parts, syntax.fields)

    return FoundFunction(
        name=declared.name,
        type_name=type_name,
        kind=declared.kind or ("method" if type_name else "function"),
        start=first.start_byte,
        end=whole.end_byte,
        start_line=first.start_point[0] + 1,
        end_line=_last_line(data, whole),
        doc=doc,
        query=syntax.sentence(doc),
        docstring=None if inside is None else (inside.start_byte, inside.end_byte),
        is_stub=body is not None and syntax.is_stub(body),
        annotations=(),
        fields=fields,
    )


def _last_line(data: bytes, node: Node) -> int:
    """The last line of a node, which some grammars let end at the start of the next line."""
    return node.end_point[0] + (
        node.end_point[1] > 0 or node.end_byte == 0 or data[node.end_byte - 1 : node.end_byte] != b"\n"
    )


def _docstring(function: Node) -> Node | None:
    body = function.child_by_field_name("body")
    first = next((child for child in body.named_children if child.type != "comment"), None) if body else None
    return first if first is not None and is_docstring(first) else None


def node_text(node: Node | None) -> str:
    """The source text of a node, "" for None."""
    return (node.text or b"").decode(errors="replace") if node is not None else ""


class _Comments:
    """The comments of a file."""

    def __init__(self, data: bytes, nodes: Sequence[Node]) -> None:
        self.data = data
        self.nodes = sorted(nodes, key=lambda node: node.start_byte)
        self._ends = [node.end_byte for node in self.nodes]

    def before(self, start: int) -> str:
        """The comment directly before ``start``: one block comment, or a run of line comments."""
        place = bisect_right(self._ends, start) - 1
        if place < 0 or not self._documents(self.nodes[place], start):
            return ""
        raw = node_text(self.nodes[place])
        if raw.startswith("/*"):
            return raw
        lines = [raw]
        for earlier in range(place - 1, -1, -1):
            text = node_text(self.nodes[earlier])
            if text.startswith("/*") or not self._documents(self.nodes[earlier], self.nodes[earlier + 1].start_byte):
                break
            lines.append(text)
        return "\n".join(reversed(lines))

    def _documents(self, comment: Node, start: int) -> bool:
        """Whether nothing is between a comment and ``start``, and no code on its line before one that is no ``/**``."""
        line = self.data.rfind(b"\n", 0, comment.start_byte) + 1
        alone = not self.data[line : comment.start_byte].strip(b" \t\f\r\xef\xbb\xbf")
        is_doc = self.data[comment.start_byte : comment.start_byte + 3] == b"/**"
        return (alone or is_doc) and _GAP.fullmatch(self.data, comment.end_byte, start) is not None
