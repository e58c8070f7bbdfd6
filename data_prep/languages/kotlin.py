"""Kotlin: functions, constructors and properties with code, of objects and as extensions too; types and constants.

The grammar does not know bodies of interfaces and objects: they are read as classes.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from data_prep.languages.language import Declaration, Language, Quote, name_of, node_text, part_of, words

if TYPE_CHECKING:
    from tree_sitter import Node

_UNKNOWN: Final = re.compile(
    rb"(?m)^([ \t]*(?:(?:public|private|internal|protected|sealed|expect|actual|external|data|inner"
    rb"|@\w+(?:\([^()\n]*\))?)"
    rb"[ \t]+)*)(fun[ \t]+interface|interface|object)(?=[ \t]+[A-Za-z_`])"
)
_BODIES: Final = words("function_body class_body enum_class_body block")
_ACCESSORS: Final = words("getter setter property_delegate")


def _eased(data: bytes) -> bytes:
    """The text with interfaces and objects as classes."""
    return _UNKNOWN.sub(lambda found: found[1] + b"class".ljust(len(found[2])), data)


def _body(node: "Node") -> "Node | None":
    found = next((child for child in node.named_children if child.type in _BODIES), None)
    return node if found is None and node.type == "property_declaration" else found


def _declaration(node: "Node") -> Declaration | None:
    """A function with a body, by the type that it extends; a constructor; a property with code."""
    if node.type == "property_declaration":
        has_code = any(child.type in _ACCESSORS for child in node.named_children)
        return Declaration(_variable(node), node, _receiver(node)) if has_code else None
    if _body(node) is None:
        return None
    if node.type == "secondary_constructor":
        body = node.parent
        owner = body.parent if body is not None else None
        return Declaration(name_of(owner) if owner is not None else "", node, kind="constructor")
    return Declaration(name_of(node).strip("`"), node, _receiver(node))


def _receiver(node: "Node") -> str:
    """``List`` of ``fun <T> List<T>.second()``."""
    named = node.child_by_field_name("name") or _declared(node)
    before = named.prev_named_sibling if named is not None else None
    while before is not None and before.type in ("nullable_type", "parenthesized_type"):
        before = part_of(before, "0")
    if before is None or before.type != "user_type":
        return ""
    return ".".join(node_text(each) for each in before.named_children if each.type == "identifier")


def _declared(node: "Node") -> "Node | None":
    return next((child for child in node.named_children if child.type == "variable_declaration"), None)


def _variable(node: "Node") -> str:
    declared = _declared(node)
    return node_text(part_of(declared, "0")) if declared is not None else ""


def _type_declaration(node: "Node") -> Declaration | None:
    if node.type == "type_alias":
        return Declaration(node_text(node.child_by_field_name("type") or part_of(node, "0")), node)
    return None if node.type == "companion_object" else Declaration(name_of(node).strip("`"), node)


def _constants(root: "Node") -> Iterator[Declaration]:
    for each in root.named_children:
        if each.type == "property_declaration" and not any(child.type in _ACCESSORS for child in each.named_children):
            yield Declaration(_variable(each), each)


LANGUAGE: Final = Language(
    name="kotlin",
    title="Kotlin",
    editor_names=("kotlin",),
    suffixes=(".kt",),
    other_suffixes=(".kts",),
    interpreters=words("kotlin kotlinc kscript"),
    quotes=(Quote('"""', lines=True, escapes=False), Quote('"'), Quote("'")),
    keywords=words(
        "abstract actual annotation as break by catch class companion const constructor continue crossinline data do "
        "else enum expect external false final finally for fun get if import in infix init inline inner interface "
        "internal is it lateinit noinline null object open operator out override package private protected public "
        "reified return sealed set super suspend tailrec this throw true try typealias val var vararg when where while"
    ),
    typical=r"\bfun (?:<\w|[\w.]+\()|\bval \w+(?:: \w| =)|\b(?:data|sealed|open) class\b|\bcompanion object\b"
    r"|\bwhen ?\(|\?:"
    r"|\bsuspend\b|\?\.let\b|\{ it\b",
    doubt=0.25,
    grammar="tree_sitter_kotlin:language",
    eased=_eased,
    functions=words("function_declaration secondary_constructor property_declaration"),
    types=words("class_declaration object_declaration companion_object"),
    other_types=words("type_alias"),
    comments=words("line_comment block_comment"),
    nested=False,
    declaration=_declaration,
    type_declaration=_type_declaration,
    body=_body,
    constants=_constants,
    identifiers=words("identifier"),
    calls={"call_expression": "0"},
    members={"navigation_expression": ("0", "-1")},
    self_names=words("this super"),
    definitions=words("function_declaration class_declaration object_declaration"),
    test_words=words("test tests testing unittest androidtest jvmtest commontest benchmark benchmarks fixtures"),
    common_names=words("toString hashCode equals"),
    built_folders=words("build"),
    traces="data_prep.traces.java:JAVA",
    colours={
        "annotation": "annotation",
        "number_literal": "number",
        "user_type": "type",
        "character_literal": "string",
    },
)
