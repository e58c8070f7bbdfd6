"""PHP: functions and methods with a body; classes, interfaces, traits and enums; constants."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from data_prep.languages.identifiers import TESTS_IN_CAPITALS, compiled_later
from data_prep.languages.language import IN_TYPE, Declaration, Language, words
from data_prep.languages.nodes import kind_of, name_of, node_text, part_of, statements

if TYPE_CHECKING:
    from tree_sitter import Node

_OF_TOOLS: Final = compiled_later(r"(?m)^#+ ?|^(?:phpcs:|phpstan-|psalm-|@codingStandards).*$\n?")
"""Marks of comments, and what a linter passes over."""

_CLOSURES: Final = words("anonymous_function arrow_function anonymous_function_creation_expression")
_AROUND: Final = words("namespace_definition")
_TYPES: Final = words("class_declaration interface_declaration trait_declaration enum_declaration")


def _declaration(node: "Node") -> Declaration | None:
    if part_of(node, "body") is None:
        return None
    return Declaration(name_of(node), node, kind="constructor" if name_of(node) == "__construct" else "")


def _is_stub(body: "Node") -> bool:
    """Whether its first statement throws."""
    first = next((child for child in body.named_children if child.type != "comment"), None)
    is_thrown = kind_of(first) == "expression_statement" and kind_of(part_of(first, "0")) == "throw_expression"
    return first is None or is_thrown


def _constants(root: "Node") -> Iterator[Declaration]:
    """What ``const`` and ``define`` name, and what is given a closure, outside of types, in namespaces too."""
    for each in statements(root, _AROUND):
        if each.type == "const_declaration":
            yield from (Declaration(node_text(part_of(one, "0")), each) for one in each.named_children)
        elif each.type == "expression_statement" and (name := _defined(each) or _closure(each)):
            yield Declaration(name, each)


def _defined(statement: "Node") -> str:
    """``LIMIT`` of ``define('LIMIT', 3);``."""
    is_one = node_text(part_of(statement, "0", "function")) == "define"
    return node_text(part_of(statement, "0", "arguments", "0")).strip("'\"") if is_one else ""


def _closure(statement: "Node") -> str:
    """``total`` of ``$total = function ($x) {...};``."""
    left, right = part_of(statement, "0", "left"), part_of(statement, "0", "right")
    is_one = kind_of(right) in _CLOSURES and kind_of(left) == "variable_name"
    return node_text(left).removeprefix("$") if is_one else ""


LANGUAGE: Final = Language(
    name="php",
    title="PHP",
    editor_names=("php",),
    suffixes=(".php",),
    other_suffixes=(".phtml", ".inc", ".php5", ".phps"),
    interpreters=words("php"),
    other_comment=r"#(?!\[)",
    keywords=words(
        "abstract and array as bool break callable case catch class clone const continue declare default do echo else "
        "elseif empty enum extends false final finally float fn for foreach function global goto if implements include "
        "instanceof insteadof int interface isset list match mixed namespace new null or parent private protected "
        "public readonly require require_once return self static string switch this throw trait true try unset use var "
        "void while xor yield"
    ),
    typical=r"\$\w+\s*(?:->|=|;|\))|<\?php|::\w+\(|\bfunction \w+\(.*\$|=> \$",
    grammar="tree_sitter_php:language_php",
    piece_grammar="tree_sitter_php:language_php_only",
    pieces=((f"<?php {IN_TYPE[0]}", IN_TYPE[1]), ("<?php\n", "")),
    functions=words("function_definition method_declaration"),
    types=_TYPES,
    nested=False,
    plain_doc=lambda doc: _OF_TOOLS.sub("", doc).strip(),
    is_stub=_is_stub,
    declaration=_declaration,
    constants=_constants,
    signatures=words("method_declaration"),
    signatures_in=_TYPES | words("namespace_definition compound_statement declaration_list"),
    identifiers=words("name relative_scope"),
    calls={
        "function_call_expression": "function",
        "member_call_expression": "",
        "nullsafe_member_call_expression": "",
        "scoped_call_expression": "",
        "object_creation_expression": "0",
    },
    members={
        "member_call_expression": ("object", "name"),
        "nullsafe_member_call_expression": ("object", "name"),
        "scoped_call_expression": ("scope", "name"),
        "member_access_expression": ("object", "name"),
        "variable_name": ("", "0"),
        "qualified_name": ("prefix", "-1"),
    },
    creations=words("object_creation_expression"),
    self_names=words("this self static parent"),
    definitions=words(
        "function_definition method_declaration class_declaration interface_declaration trait_declaration"
    ),
    test_words=words("test tests testing spec fixtures"),
    test_files=TESTS_IN_CAPITALS,
    common_names=words("__toString __get __set __call"),
    built_folders=words("vendor"),
    traces="data_prep.traces.scripts:PHP",
    colours={"variable_name": "type", "boolean": "keyword", "primitive_type": "type", "attribute_group": "annotation"},
)
