"""Python: module-level functions, and methods of classes that are not inside of functions, with their docstrings."""

from collections.abc import Iterator
from typing import Final

import tree_sitter_python
from tree_sitter import Language, Node

from data_prep.languages.fields import FieldKinds
from data_prep.languages.source_language import Declaration, ParsedSource, SourceLanguage, reserved
from data_prep.languages.syntax import Syntax, is_docstring, node_text, parse

_COMMENTS: Final = frozenset(("comment",))
_NOTHING: Final = ("pass_statement", "raise_statement")


def _declaration(node: Node) -> Declaration:
    parent = node.parent
    decorated = parent is not None and parent.type == "decorated_definition"
    return Declaration(node_text(node.child_by_field_name("name")), parent if parent and decorated else node)


def _constants(root: Node) -> Iterator[Declaration]:
    """The names that a module assigns to, without those that have a meaning to Python, such as ``__all__``."""
    for statement in root.named_children:
        assigned = statement.named_child(0) if statement.type == "expression_statement" else None
        left = assigned.child_by_field_name("left") if assigned is not None and assigned.type == "assignment" else None
        if left is not None and left.type == "identifier" and not (name := node_text(left)).startswith("__"):
            yield Declaration(name, statement)


def _is_stub(body: Node) -> bool:
    """Whether the first statement after the docstring passes, raises or is an ellipsis."""
    rest = [child for child in body.named_children if child.type not in _COMMENTS and not is_docstring(child)]
    return not rest or rest[0].type in _NOTHING or node_text(rest[0]) == "..."


_SYNTAX: Final = Syntax(
    language=Language(tree_sitter_python.language()),
    functions=frozenset(("function_definition",)),
    types=frozenset(("class_definition",)),
    comments=_COMMENTS,
    declaration=_declaration,
    type_declaration=_declaration,
    fields=FieldKinds(
        identifiers=frozenset(("identifier",)),
        comments=_COMMENTS,
        calls={"call": "function"},
        members={"attribute": ("object", "attribute")},
        creations=frozenset(),
        self_names=frozenset(("self", "cls")),
    ),
    nested=False,
    constants=_constants,
    docstrings=True,
    is_stub=_is_stub,
)


def _parse(data: bytes, _: str) -> ParsedSource:
    return parse(_SYNTAX, data)


LANGUAGE: Final = SourceLanguage(
    name="python",
    suffixes=(".py",),
    grammar="tree-sitter-python",
    parse=_parse,
    keywords=reserved(
        "False None True and as assert async await break class continue def del elif else except finally for from "
        "global if import in is lambda nonlocal not or pass raise return try while with yield self cls"
    ),
    test_words=frozenset(("test", "tests", "testing", "conftest", "unittest", "unittests")),
    common_names=frozenset(),
)
