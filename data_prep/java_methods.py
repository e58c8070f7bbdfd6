"""Source file -> its methods and constructors with a body, by tree-sitter: fast, and not stopped by broken files."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

import tree_sitter_java
from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

from data_prep.java_types import JavaFileTypes, JavaType, erased, text

LARGEST_FILE: Final = 4 << 20
"""Largest file that is parsed, in bytes: longer ones are tables written by a generator."""

JAVA: Final = Language(tree_sitter_java.language())
_QUERY: Final = Query(
    JAVA,
    """
    (import_declaration) @import
    [(class_declaration) (interface_declaration) (enum_declaration) (record_declaration)
     (annotation_type_declaration) (object_creation_expression (class_body)) (enum_constant body: (class_body))] @type
    (method_declaration body: (block)) @method
    [(constructor_declaration) (compact_constructor_declaration)] @constructor
    (block_comment) @comment
    (ERROR) @error
    (MISSING) @error
    """,
)


@dataclass(frozen=True, slots=True)
class FoundMethod:
    """A method declaration in a parsed file, before its fields are taken."""

    node: Node
    kind: Literal["method", "constructor"]
    type: JavaType | None  # None where the enclosing type is lost in broken text
    javadoc: str  # raw comment with its delimiters, "" where there is none

    @property
    def name(self) -> str:
        """The declared name."""
        return text(self.node.child_by_field_name("name"))

    @property
    def start_line(self) -> int:
        """First line of the declaration, 1-based, Javadoc excluded."""
        return self.node.start_point[0] + 1

    @property
    def end_line(self) -> int:
        """Last line of the declaration, 1-based, inclusive."""
        return self.node.end_point[0] + 1

    @property
    def type_name(self) -> str:
        """The enclosing type, inner types dotted."""
        return self.type.dotted if self.type is not None else ""

    @property
    def annotations(self) -> list[str]:
        """Names of the declaration's annotations, without ``@``, package and arguments."""
        modifiers = self.node.named_children[:1]
        marks = modifiers[0].named_children if modifiers and modifiers[0].type == "modifiers" else ()
        return [
            text(mark.child_by_field_name("name")).rsplit(".", 1)[-1] for mark in marks if "annotation" in mark.type
        ]


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The syntax tree of a file with the marks that methods are found by."""

    data: bytes
    tree: Tree
    captures: dict[str, list[Node]]  # import, type, method, constructor, comment

    @property
    def code_start(self) -> int:
        """Byte at which the first type begins, its annotations included; the length where there is none."""
        return min((node.start_byte for node in self.captures.get("type", [])), default=len(self.data))

    def trouble(self) -> str:
        """What is wrong with the text, "" where all of it parses."""
        if not self.tree.root_node.has_error:
            return ""
        errors = [node.start_point[0] + 1 for node in self.captures.get("error", [])]
        return f"does not parse at line {min(errors)}" if errors else "does not parse"


def parse_java(data: bytes) -> ParsedFile:
    """Parse a file of at most ``LARGEST_FILE`` bytes; broken text gives a tree with error nodes, never an exception.

    Raises:
        ValueError: the file is longer than ``LARGEST_FILE``.
    """
    if len(data) > LARGEST_FILE:
        raise ValueError(f"longer than {LARGEST_FILE >> 20} MiB")
    tree = Parser(JAVA).parse(data)
    return ParsedFile(data, tree, QueryCursor(_QUERY).captures(tree.root_node))


def find_methods(parsed: ParsedFile, *, documented_only: bool = True) -> Iterator[FoundMethod]:
    """Methods and constructors with a body, in source order; those with broken text inside are left out."""
    docs = _Docs(parsed.data, parsed.captures.get("comment", []))
    marks = [(node.start_byte, -node.end_byte, node, name) for name, nodes in parsed.captures.items() for node in nodes]
    types = _Types(parsed.captures.get("import", []))
    for start, end, node, mark in sorted((m for m in marks if m[3] not in ("comment", "import", "error")), key=lambda m: m[:2]):
        enclosing = types.around(start)
        if mark == "type":
            types.enter(node, -end, enclosing)
            continue
        javadoc = docs.before(start)
        if (javadoc or not documented_only) and not node.has_error:
            yield FoundMethod(node, "method" if mark == "method" else "constructor", enclosing, javadoc)


class _Docs:
    """The Javadoc comments of a file, asked for in source order."""

    def __init__(self, data: bytes, comments: list[Node]) -> None:
        self.data = data
        self.comments = sorted(comments, key=lambda node: node.start_byte)
        self.place = 0

    def before(self, start: int) -> str:
        """The Javadoc that ends directly before ``start``, other comments between them passed over."""
        while self.place < len(self.comments) and self.comments[self.place].end_byte <= start:
            self.place += 1
        for place in range(self.place - 1, -1, -1):
            comment = self.comments[place]
            if self.data[comment.end_byte : start].strip():
                return ""
            raw = text(comment)
            if raw.startswith("/**") and len(raw) > len("/**/"):
                return raw
            start = comment.start_byte
        return ""


class _Types:
    """The types around a place in a file, asked for in source order."""

    def __init__(self, imports: list[Node]) -> None:
        self.file = JavaFileTypes()
        self.open: list[tuple[int, JavaType]] = []  # end, type
        for node in imports:
            self.file.add_import(node)

    def around(self, start: int) -> JavaType | None:
        """The innermost type that encloses ``start``."""
        while self.open and self.open[-1][0] <= start:
            self.open.pop()
        return self.open[-1][1] if self.open else None

    def enter(self, node: Node, end: int, enclosing: JavaType | None) -> None:
        """Note a type's declaration, or a class body of an expression or an enum constant."""
        if node.type == "enum_constant":
            name = enclosing.name if enclosing is not None else ""
        elif node.type == "object_creation_expression":
            name = erased(node.child_by_field_name("type")) or ""
        else:
            name = text(node.child_by_field_name("name"))
        found = JavaType(node, name, enclosing, self.file)
        if node.type.endswith("_declaration"):
            self.file.types.setdefault(name, found)
        self.open.append((end, found))
