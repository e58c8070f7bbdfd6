"""Scala 2 and 3: methods with a body, in extensions too; classes, objects, traits, enums, givens; constants."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from data_prep.languages.identifiers import TESTS_IN_CAPITALS
from data_prep.languages.language import Declaration, Language, Quote, words
from data_prep.languages.nodes import kind_of, name_of, names_in, node_text, part_of, statements

if TYPE_CHECKING:
    from tree_sitter import Node

_NAMES, _PATTERNS = words("identifier"), words("identifiers tuple_pattern")
_AROUND: Final = words("object_definition package_object package_clause")
_TYPES: Final = words(
    "class_definition object_definition trait_definition enum_definition given_definition extension_definition "
    "package_object"
)


def _declaration(node: "Node") -> Declaration:
    """A method; of an extension, by the type that it extends."""
    name = name_of(node).strip("`")
    return Declaration(name, node, kind="constructor" if name == "this" else "")


def _scope_name(node: "Node") -> str:
    """A type's name; what an extension extends, or a given without a name gives, without its parameters."""
    if part_of(node, "name"):
        return name_of(node).strip("`")
    given = part_of(node, "return_type")
    if (parameter := part_of(node, "parameters", "0")) is not None:
        given = part_of(parameter, "type")
    while kind_of(given) == "generic_type":
        given = part_of(given, "type")
    return node_text(given)


def _type_declaration(node: "Node") -> Declaration | None:
    only_qualifies = node.type == "extension_definition" or part_of(node, "name") is None
    return None if only_qualifies else Declaration(_scope_name(node), node)


def _constants(root: "Node") -> Iterator[Declaration]:
    """Values of a file, and of its objects."""
    for each in statements(root, _AROUND):
        if each.type == "val_definition":
            yield from (Declaration(name, each) for name in names_in(part_of(each, "pattern"), _NAMES, _PATTERNS))


LANGUAGE: Final = Language(
    name="scala",
    title="Scala",
    editor_names=("scala",),
    suffixes=(".scala",),
    other_suffixes=(".sc", ".sbt", ".mill"),
    interpreters=words("scala amm scala-cli"),
    quotes=(Quote('"""', lines=True, escapes=False), Quote('"')),
    keywords=words(
        "abstract case catch class def derives do else end enum export extends extension false final finally for "
        "forSome given if implicit import infix inline lazy match new null object open opaque override package private "
        "protected return sealed super then this throw trait true try type using val var while with yield Unit Int "
        "String Boolean"
    ),
    typical=r"\bdef \w+(?:\[|\(|:| =)|\b(?:case class|sealed trait|object \w|implicit|given"
    r"|extends \w+.* with)\b|\bval \w+"
    r"(?:: \w[\w\[\]]*)? = |\): \w[\w\[\], ]* =|\bcase .* =>|\bmatch \{",
    doubt=0.25,
    body_mark="={",
    grammar="tree_sitter_scala:language",
    functions=words("function_definition"),
    types=_TYPES,
    other_types=words("type_definition"),
    comments=words("comment block_comment"),
    nested=False,
    declaration=_declaration,
    type_declaration=_type_declaration,
    scope_name=_scope_name,
    constants=_constants,
    signatures=words("function_declaration"),
    signatures_in=_TYPES | words("template_body"),
    signature=_declaration,
    is_stub=lambda body: node_text(body) == "???",
    identifiers=words("identifier type_identifier operator_identifier"),
    calls={"call_expression": "function", "instance_expression": "0"},
    members={
        "field_expression": ("value", "field"),
        "generic_function": ("", "function"),
        "generic_type": ("", "type"),
        "stable_type_identifier": ("0", "-1"),
    },
    creations=words("instance_expression"),
    self_names=words("this"),
    definitions=words("function_definition class_definition object_definition trait_definition enum_definition"),
    test_words=words("test tests testing spec specs it benchmark benchmarks fixtures"),
    test_files=rf"{TESTS_IN_CAPITALS}|(?<=[a-z\d])(?:Specs?|Suite)",
    common_names=words("toString hashCode equals apply unapply"),
    gathering_files=words("package.scala"),
    built_folders=words("target"),
    traces="data_prep.traces.java:JAVA",
    colours={"annotation": "annotation", "boolean_literal": "keyword", "modifiers": "keyword"},
)
