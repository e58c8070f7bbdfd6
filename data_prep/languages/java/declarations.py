"""Extracts methods, constructors and types of a source file by tree-sitter: fast, and robust to broken files."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import tree_sitter_java
from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

from data_prep.errors import UserError
from data_prep.languages.fields import left_out_lines
from data_prep.languages.java.rewritten import Rewritten, method_heads, newer_syntax, unescaped
from data_prep.languages.java.types import JavaType, OpenTypes
from data_prep.languages.nodes import name_of
from data_prep.languages.own_tree import captures_of_broken
from data_prep.languages.parsing import LONGEST_NAME, MOST_DEEP, MOST_FUNCTIONS, MOST_READ
from data_prep.records import LARGEST_SOURCE

_BLANK: Final = re.compile(rb"(?:\s|//[^\r\n]*+[\r\n])*+")
_NEXT_LINE: Final = re.compile(rb"\r?\n[ \t\f]*")
_LETTER: Final = re.compile(r"\w")
_THREE: Final = re.compile(rb"///(?!/)")
_EMPTY_LINE: Final = re.compile(rb"\n[ \t\f]*\r?\n")
JAVA: Final = Language(tree_sitter_java.language())
_MARKS: Final = {
    "import_declaration": "import",
    **dict.fromkeys(("class_declaration", "interface_declaration", "enum_declaration"), "type"),
    **dict.fromkeys(("record_declaration", "annotation_type_declaration"), "type"),
    **dict.fromkeys(("object_creation_expression", "enum_constant"), "type"),  # if they have a class body
    "method_declaration": "method",
    **dict.fromkeys(("constructor_declaration", "compact_constructor_declaration"), "constructor"),
    "lambda_expression": "lambda",
    "block_comment": "comment",
    "line_comment": "line_comment",
}
"""What a node is captured as, by its kind."""
_QUERY: Final = Query(JAVA, "\n".join(map("({0[0]}) @{0[1]}".format, _MARKS.items())))


Kind = Literal["method", "abstract", "constructor", "type"]
"""What is declared; an abstract method is one without a body."""


@dataclass(slots=True)
class LeftOut:
    """Skipped declarations of a file."""

    declarations: int = 0
    broken: list[int] = field(default_factory=list)  # lines of those that do not parse

    def not_parsed(self) -> str:
        """Which do not parse; "" if all do."""
        return left_out_lines(self.broken)

    def __str__(self) -> str:
        if not self.declarations:
            return ""
        return (
            f"{self.declarations:,} declarations are left out, of more than {MOST_FUNCTIONS:,}, inside of more than "
            f"{MOST_DEEP} others or too long with them, or with a name of {LONGEST_NAME:,} characters or more"
        )


@dataclass(slots=True, unsafe_hash=True)
class FoundMethod:
    """A declaration in a parsed file, before its fields are taken."""

    node: Node
    kind: Kind
    type: JavaType | None  # that encloses it, or its file; None: neither is known
    javadoc: str  # raw comment with its delimiters, "" if there is none
    name: str  # as declared
    type_name: str  # the enclosing type, inner types dotted
    text: Rewritten  # that the node is in

    @property
    def start_line(self) -> int:
        """First line of the declaration, 1-based, Javadoc excluded."""
        return self.text.lines(self.node)[0]

    @property
    def end_line(self) -> int:
        """Last line of the declaration, 1-based, inclusive."""
        return self.text.lines(self.node)[1]

    @property
    def source(self) -> str:
        """The declaration as it is in the file."""
        return self.text.source(self.node.start_byte, self.node.end_byte)

    @property
    def annotations(self) -> list[str]:
        """Names of the declaration's annotations, without ``@``, package and arguments."""
        modifiers = self.node.named_children[:1]
        marks = modifiers[0].named_children if modifiers and modifiers[0].type == "modifiers" else ()
        return [name_of(mark).rsplit(".", 1)[-1] for mark in marks if "annotation" in mark.type]


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The syntax tree of a file with the query captures."""

    text: Rewritten
    tree: Tree
    captures: dict[str, list[Node]]  # those of _MARKS, abstract, error

    @property
    def code_start(self) -> int:
        """Byte offset of the first declaration, with its annotations; the file's length if there is none."""
        nodes = self.captures.get("type") or (*self.captures.get("method", ()), *self.captures.get("abstract", ()))
        return self.text.place(min((node.start_byte for node in nodes), default=len(self.text.text)))

    def comments(self) -> list[tuple[int, int]]:
        """Where the comments are in the file, in order."""
        nodes = (node for kind in ("comment", "line_comment") for node in self.captures.get(kind, ()))
        return sorted((self.text.place(node.start_byte), self.text.place(node.end_byte)) for node in nodes)

    def trouble(self) -> str:
        """The error in the text, "" if all of it parses."""
        return f"does not parse at line {self.broken_line}" if self.broken_line else ""

    @property
    def broken_line(self) -> int:
        """The first line that does not parse, from 1; 0 if all of it does."""
        if not self.tree.root_node.has_error:
            return 0
        return min((self.text.lines(node)[0] for node in self.captures.get("error", ())), default=1)

    @property
    def lost(self) -> list[int]:
        """The lines of methods and constructors with a body that are not declared in the tree of a broken text."""
        if not self.broken_line:
            return []
        nodes = (node for kind in ("method", "constructor") for node in self.captures.get(kind, ()))
        names = (node.child_by_field_name("name") for node in nodes)
        known = {name.start_byte for name in names if name is not None}
        return [self.text.line(place) for place in method_heads(self.text.text) if place not in known]


def parse_java(data: bytes) -> ParsedFile:
    """Parse a file of at most ``LARGEST_SOURCE`` bytes; broken text gives a tree with error nodes, never an exception.

    Raises:
        UserError: the file is longer than ``LARGEST_SOURCE``.
    """
    return parse_text(unescaped(data))


def parse_text(text: Rewritten) -> ParsedFile:
    """The same of a text in which escapes are read; if it does not parse, with newer syntax than the grammar's."""
    if len(text.file) > LARGEST_SOURCE:
        raise UserError(f"longer than {LARGEST_SOURCE >> 20} MiB")
    parsed = _parsed(text)
    if parsed.broken_line and (edits := newer_syntax(text.text)):
        again = _parsed(Rewritten(text.text, edits, text))
        if len(again.captures.get("error", ())) <= len(parsed.captures.get("error", ())):
            return again
    return parsed


def _parsed(text: Rewritten) -> ParsedFile:
    tree = Parser(JAVA).parse(text.text)
    if tree.root_node.has_error:
        return ParsedFile(text, tree, captures_of_broken(tree, _mark))
    captures = QueryCursor(_QUERY).captures(tree.root_node)
    for node in (*captures.pop("type", ()), *captures.pop("method", ())):  # those of which more than the kind counts
        if mark := _mark(node):
            captures.setdefault(mark, []).append(node)
    return ParsedFile(text, tree, captures)


def _mark(node: Node) -> str:
    kind = node.type
    mark = "error" if node.is_missing or kind == "ERROR" else _MARKS.get(kind, "")
    if kind in ("object_creation_expression", "enum_constant"):
        return mark if any(child.type == "class_body" for child in node.named_children) else ""
    if kind == "method_declaration":
        body = node.child_by_field_name("body")
        return "abstract" if body is None else mark if body.type == "block" else ""
    return mark


def find_methods(
    parsed: ParsedFile, *, documented_only: bool = True, left_out: LeftOut | None = None
) -> Iterator[FoundMethod]:
    """Methods and constructors with a body, in source order, without those that contain broken text."""
    for found in find_declarations(parsed, left_out):
        documented = found.javadoc or not documented_only
        if not documented or found.kind not in ("method", "constructor"):
            continue
        if not found.node.has_error:
            yield found
        elif left_out is not None:
            left_out.broken.append(found.start_line)
    if left_out is not None:
        left_out.broken += parsed.lost


def find_declarations(parsed: ParsedFile, left_out: LeftOut | None = None) -> Iterator[FoundMethod]:
    """Methods with and without a body, constructors and named types, in source order, types before their members.

    Declarations beyond ``MOST_DEEP``, ``MOST_FUNCTIONS``, ``MOST_READ`` or ``LONGEST_NAME`` are skipped and counted
    in ``left_out``; so are methods that contain too deep ones, since those would be read with them.
    """
    docs = _Docs(parsed.text.text, parsed.captures)
    types = OpenTypes(parsed.captures.get("import", []))
    file = JavaType(parsed.tree.root_node, "", None, types.file)
    count, to_read, left_out = 0, 0, left_out if left_out is not None else LeftOut()
    for node, kind, too_deep in _nested(parsed):
        enclosing = types.around(node.start_byte)
        if kind == "type":
            types.enter(node, node.end_byte, enclosing)
            if not node.type.endswith("_declaration"):
                continue  # a class body without a name
        name, type_name = name_of(node), enclosing.dotted if enclosing is not None else ""
        found = FoundMethod(node, kind, enclosing or file, docs.before(node.start_byte), name, type_name, parsed.text)
        size = 0 if too_deep or kind == "type" else node.end_byte - node.start_byte
        fits = count < MOST_FUNCTIONS and to_read + size <= MOST_READ * len(parsed.text.text)
        if too_deep or not fits or len(found.type_name) + len(found.name) >= LONGEST_NAME:
            left_out.declarations += 1
        else:
            count, to_read = count + 1, to_read + size
            yield found


def _nested(parsed: ParsedFile) -> Iterator[tuple[Node, Kind, bool]]:
    """Every declaration and class body in source order, and whether it is, or as a method contains, too deep ones."""
    kinds: tuple[Kind, ...] = ("type", "method", "abstract", "constructor")
    marks = [(node, kind) for kind in kinds for node in parsed.captures.get(kind, [])]
    marks.sort(key=lambda mark: (mark[0].start_byte, -mark[0].end_byte))
    around: list[int] = []  # places of the marks that enclose the next one
    too_deep: set[int] = set()
    for place, (node, _) in enumerate(marks):
        while around and marks[around[-1]][0].end_byte <= node.start_byte:
            around.pop()
        if len(around) > MOST_DEEP:
            too_deep.add(place)
            too_deep.update(each for each in around[: MOST_DEEP + 1] if marks[each][1] != "type")
        around.append(place)
    for place, (node, kind) in enumerate(marks):
        yield node, kind, place in too_deep


class _Docs:
    """The Javadoc comments of a file, queried in source order: ``/** ... */``, and runs of lines that begin with ///.

    Runs of lines that only have slashes document nothing, nor do lines behind code. Lines of more slashes, and lines
    before an empty line, are headings of what follows.
    """

    def __init__(self, data: bytes, captures: Mapping[str, Sequence[Node]]) -> None:
        """``captures``: the nodes of comments among those of the text."""
        self.data = data
        self.comments: list[tuple[int, int]] = []
        self.place = 0
        lines = captures.get("line_comment", ()) if b"///" in data else ()
        lines = [node for node in lines if self._is_markdown(node.start_byte)]
        nodes = sorted((*captures.get("comment", ()), *lines), key=lambda node: node.start_byte)
        for node in nodes:
            start, end = self.comments[-1] if self.comments else (0, 0)
            goes_on = data.startswith(b"///", start) and data.startswith(b"///", node.start_byte)
            if goes_on and _NEXT_LINE.fullmatch(data, end, node.start_byte):
                self.comments[-1] = start, node.end_byte
            else:
                self.comments.append((node.start_byte, node.end_byte))

    def _is_markdown(self, start: int) -> bool:
        """Whether a line comment begins with three slashes, and nothing is before it on its line."""
        data = self.data
        return bool(_THREE.match(data, start)) and not data[data.rfind(b"\n", 0, start) + 1 : start].strip()

    def before(self, start: int) -> str:
        """The Javadoc that ends directly before ``start``, skipping other comments between."""
        while self.place < len(self.comments) and self.comments[self.place][1] <= start:
            self.place += 1
        for first, end in self.comments[self.place - 1 :: -1] if self.place else ():
            if not _BLANK.fullmatch(self.data, end, start):
                return ""
            raw = self.data[first:end].decode(errors="replace")
            if raw.startswith("///"):
                documents = _LETTER.search(raw) and not _EMPTY_LINE.search(self.data, end, start)
            else:
                documents = raw.startswith("/**") and len(raw) > len("/**/")
            if documents:
                return raw
            start = first
        return ""
