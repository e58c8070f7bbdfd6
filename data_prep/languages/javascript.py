"""JavaScript: every function with a body, named or not, methods and fields that are functions; JSDoc or comments."""

from collections.abc import Iterator
from typing import Final

import tree_sitter_javascript
from tree_sitter import Language, Node

from data_prep.languages.fields import FieldKinds
from data_prep.languages.source_language import Declaration, ParsedSource, SourceLanguage, reserved
from data_prep.languages.syntax import Syntax, node_text, parse

COMMENTS: Final = frozenset(("comment", "html_comment"))
FUNCTIONS: Final = frozenset((
    "function_declaration", "function_expression", "generator_function", "generator_function_declaration",
    "arrow_function", "method_definition",
))  # fmt: skip
FIELDS: Final = FieldKinds(
    identifiers=frozenset((
        "identifier", "property_identifier", "private_property_identifier", "type_identifier",
        "shorthand_property_identifier", "shorthand_property_identifier_pattern",
    )),
    comments=COMMENTS,
    calls={"call_expression": "function", "new_expression": "constructor"},
    members={"member_expression": ("object", "property")},
    creations=frozenset(("new_expression",)),
    self_names=frozenset(("this",)),
)  # fmt: skip
KEYWORDS: Final = reserved(
    "async await break case catch class const continue debugger default delete do else enum export extends false "
    "finally for from function get if import in instanceof let new null of return set static super switch this throw "
    "true try typeof undefined var void while with yield"
)
TEST_WORDS: Final = frozenset(("test", "tests", "testing", "spec", "specs", "mocks", "e2e", "fixtures"))
COMMON_NAMES: Final = frozenset(("toString", "toLocaleString", "valueOf"))
_NAMED_BY: Final = {
    "variable_declarator": "name",
    "pair": "key",
    "field_definition": "property",
    "public_field_definition": "name",
    "assignment_expression": "left",
}
"""What a function may be the value of -> the field with its name."""
_AROUND: Final = frozenset(("lexical_declaration", "variable_declaration", "expression_statement", "export_statement"))


def declaration(node: Node) -> Declaration | None:
    """The name of a function, by itself or by what it is assigned to, and the statement with both."""
    return None if node.child_by_field_name("body") is None else type_declaration(node)


def type_declaration(node: Node) -> Declaration:
    """The same of a function or type, with or without a body."""
    named, whole, kind = node.child_by_field_name("name"), node, ""
    parent = node.parent
    if parent is not None and parent.type in _NAMED_BY:
        whole, named = parent, named or parent.child_by_field_name(_NAMED_BY[parent.type])
        kind = "method" if parent.type == "pair" else ""
    if node.type == "method_definition" and node_text(named) == "constructor":
        kind = "constructor"
    name, whole, owner = _name(named, whole)
    return Declaration(name, whole, owner, kind, _first(whole))


def constants(root: Node) -> Iterator[Declaration]:
    """The constants and variables of a module, without what is imported by ``require``."""
    for statement in root.named_children:
        declared = statement.child_by_field_name("declaration") if statement.type == "export_statement" else statement
        if declared is None or declared.type not in ("lexical_declaration", "variable_declaration"):
            continue
        for each in declared.named_children:
            named, value = (each.child_by_field_name(field) for field in ("name", "value"))
            if named is not None and named.type == "identifier" and value is not None and not _is_import(value):
                yield Declaration(node_text(named), _whole(each))


def _is_import(value: Node) -> bool:
    """Whether a value is that of ``require``, or a member of it."""
    while value.type == "member_expression" and (inside := value.child_by_field_name("object")) is not None:
        value = inside
    return value.type == "call_expression" and node_text(value.child_by_field_name("function")) == "require"


def _name(named: Node | None, inner: Node) -> tuple[str, Node, str]:
    """Name, whole declaration, and the type that the name is assigned to a member of."""
    owner = ""
    if named is not None and named.type == "member_expression":
        names = node_text(named).split(".")
        if names == ["module", "exports"]:
            return "", _whole(inner), ""
        if "prototype" in names[1:-1]:
            owner = names[names.index("prototype") - 1]
        elif len(names) == 2 and names[0][:1].isupper():
            owner = names[0]
        named = named.child_by_field_name("property")
    name = node_text(named).strip("'\"#`") if named is not None else ""
    return name if name.isidentifier() or name.replace("$", "_").isidentifier() else "", _whole(inner), owner


def _first(node: Node) -> Node:
    """The first of the decorators before a member of a class, else the member."""
    before = node.prev_named_sibling
    while before is not None and before.type == "decorator":
        node, before = before, before.prev_named_sibling
    return node


def _whole(node: Node) -> Node:
    """The statement around a declaration, if it has no other."""
    parent = node.parent
    while parent is not None and parent.type in _AROUND and parent.named_child_count == 1:
        node, parent = parent, parent.parent
    return node


_SYNTAX: Final = Syntax(
    language=Language(tree_sitter_javascript.language()),
    functions=FUNCTIONS,
    types=frozenset(("class_declaration", "class")),
    comments=COMMENTS,
    declaration=declaration,
    type_declaration=type_declaration,
    constants=constants,
    fields=FIELDS,
    nested=True,
)


def is_minified(path: str) -> bool:
    """Whether a path is that of a bundle or a file without spaces."""
    name = path.rpartition("/")[2].lower()
    return any(part in name for part in (".min.", "-min.", ".bundle.", ".prod.", ".umd.", ".iife.", ".chunk."))


def _parse(data: bytes, _: str) -> ParsedSource:
    return parse(_SYNTAX, data)


LANGUAGE: Final = SourceLanguage(
    name="javascript",
    suffixes=(".js", ".mjs", ".cjs", ".jsx"),
    grammar="tree-sitter-javascript",
    parse=_parse,
    keywords=KEYWORDS,
    test_words=TEST_WORDS,
    common_names=COMMON_NAMES,
    is_minified=is_minified,
)
