"""Go: top-level functions and methods with a body, and the comments directly before them."""

from collections.abc import Iterator
from typing import Final

import tree_sitter_go
from tree_sitter import Language, Node

from data_prep.languages.fields import FieldKinds
from data_prep.languages.source_language import Declaration, ParsedSource, SourceLanguage, reserved
from data_prep.languages.syntax import Syntax, node_text, parse

_COMMENTS: Final = frozenset(("comment",))


def _declaration(node: Node) -> Declaration | None:
    if node.child_by_field_name("body") is None:
        return None  # written in assembly
    return Declaration(node_text(node.child_by_field_name("name")), node, _receiver(node))


def _type_declaration(node: Node) -> Declaration:
    parent = node.parent
    alone = parent is not None and parent.type == "type_declaration" and parent.named_child_count == 1
    return Declaration(node_text(node.child_by_field_name("name")), parent if parent and alone else node)


def _constants(root: Node) -> Iterator[Declaration]:
    """The constants and variables of a package, by the first name of each line that declares some."""
    for declared in root.named_children:
        if declared.type in ("const_declaration", "var_declaration"):
            inside = [each for child in declared.named_children for each in (child, *child.named_children)]
            specs = [each for each in inside if each.type in ("const_spec", "var_spec")]
            for spec in specs:
                name = node_text(spec.child_by_field_name("name"))
                yield Declaration(name.strip("_"), declared if len(specs) == 1 else spec)


def _receiver(node: Node) -> str:
    """The type of a method's receiver: ``Server`` in ``func (s *Server[T]) Start()``."""
    found = node.child_by_field_name("receiver")
    parameter = found.named_child(0) if found is not None else None
    kind = parameter.child_by_field_name("type") if parameter is not None else None
    while kind is not None and kind.type in ("pointer_type", "generic_type", "parenthesized_type"):
        kind = kind.child_by_field_name("type") or kind.named_child(0)
    return node_text(kind)


_SYNTAX: Final = Syntax(
    language=Language(tree_sitter_go.language()),
    functions=frozenset(("function_declaration", "method_declaration")),
    types=frozenset(),
    comments=_COMMENTS,
    declaration=_declaration,
    other_types=frozenset(("type_spec", "type_alias")),
    type_declaration=_type_declaration,
    fields=FieldKinds(
        identifiers=frozenset(("identifier", "field_identifier", "type_identifier", "package_identifier")),
        comments=_COMMENTS,
        calls={"call_expression": "function"},
        members={"selector_expression": ("operand", "field"), "qualified_type": ("package", "name")},
        creations=frozenset(),
        self_names=frozenset(),
    ),
    constants=_constants,
    nested=False,
)


def _parse(data: bytes, _: str) -> ParsedSource:
    return parse(_SYNTAX, data)


LANGUAGE: Final = SourceLanguage(
    name="go",
    suffixes=(".go",),
    grammar="tree-sitter-go",
    parse=_parse,
    keywords=reserved(
        "break case chan const continue default defer else fallthrough for func go goto if import interface map "
        "package range return select struct switch type var nil true false iota"
    ),
    test_words=frozenset(("test", "tests", "testing", "testdata", "testutil", "vendor")),
    common_names=frozenset(),
)
