"""Rust: functions and methods with a body, macros, types, traits and modules, constants; ``///`` and attributes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from data_prep.languages.language import Declaration, Language, Quote, words
from data_prep.languages.nodes import above, kind_of, name_of, node_text, part_of
from data_prep.languages.route_chains import chained

if TYPE_CHECKING:
    from tree_sitter import Node

_TOKENS: Final = words("token_tree token_repetition")


def _type_declaration(node: "Node") -> Declaration | None:
    """A type, trait, or module with a body; an ``impl`` only qualifies what is inside."""
    empty = node.type == "mod_item" and part_of(node, "body") is None
    return None if empty or node.type == "impl_item" else Declaration(name_of(node), node)


def _scope_name(node: "Node") -> str:
    """The type of an ``impl``, without its parameters and path: ``Store`` of ``impl<T> fmt::Debug for a::Store<T>``."""
    named = part_of(node, "type" if node.type == "impl_item" else "name")
    while kind_of(named) in ("generic_type", "reference_type", "scoped_type_identifier"):
        named = part_of(named, "name" if kind_of(named) == "scoped_type_identifier" else "type")
    return node_text(named)


def _in_macro(arguments: "Node") -> "Node | None":
    """``len`` of ``jobs.len()`` among what a macro is given, which the grammar leaves as words."""
    before = arguments.prev_sibling if node_text(arguments).startswith("(") else None
    if before is not None and before.type == "!":
        before = before.prev_sibling
    if before is None or before.type != "identifier" or not above(before, _TOKENS):
        return None
    is_declared = kind_of(before.prev_sibling) in ("fn", "struct", "enum", "$")
    return None if is_declared else before


def _before_dot(arguments: "Node") -> "Node | None":
    """``jobs`` of it."""
    name = _in_macro(arguments)
    dot = name.prev_sibling if name is not None else None
    before = dot.prev_sibling if dot is not None and dot.type in (".", "::") else None
    return before if kind_of(before) == "identifier" else None


def _constants(root: "Node") -> Iterator[Declaration]:
    for each in root.named_children:
        if each.type in ("const_item", "static_item"):
            yield Declaration(name_of(each), each)


LANGUAGE: Final = Language(
    name="rust",
    title="Rust",
    editor_names=("rust",),
    suffixes=(".rs",),
    interpreters=words("rust-script cargo"),
    quotes=(Quote('r#"', lines=True, escapes=False), Quote('"', lines=True)),
    keywords=words(
        "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod "
        "move mut pub ref return self Self static struct super trait true type unsafe use where while union"
    ),
    typical=r"\b(?:fn \w+[<(]|let mut|impl\b|pub\b|mut\b|crate\b|Some\(|Ok\(|Err\(|Self\b)|::<|&(?:mut|self"
    r"|str|')|\b\w+!\("
    r"|#!?\[|\blet \w+ = |\w+: &\w|\) -> \w|\.await\b|\w\?;",
    grammar="tree_sitter_rust:language",
    handlers=words("closure_expression"),
    handler=chained,
    functions=words("function_item macro_definition"),
    types=words("impl_item trait_item mod_item struct_item enum_item union_item"),
    other_types=words("type_item"),
    comments=words("line_comment block_comment"),
    before=words("attribute_item"),
    nested=False,
    type_declaration=_type_declaration,
    scope_name=_scope_name,
    constants=_constants,
    signatures=words("function_signature_item"),
    signatures_in=words("foreign_mod_item mod_item trait_item declaration_list"),
    is_stub=lambda body: node_text(body).strip("{} \n\t") in ("", "todo!()", "unimplemented!()"),
    identifiers=words("identifier field_identifier type_identifier shorthand_field_identifier"),
    calls={"call_expression": "function", "macro_invocation": "macro", "token_tree": ""},
    members={
        "field_expression": ("value", "field"),
        "scoped_identifier": ("path", "name"),
        "scoped_type_identifier": ("path", "name"),
        "generic_function": ("", "function"),
        **dict.fromkeys(("generic_type", "qualified_type"), ("", "type")),
        **dict.fromkeys(("bracketed_type", "try_expression"), ("", "0")),
        "token_tree": (_before_dot, _in_macro),
    },
    self_names=words("self Self"),
    definitions=words("function_item struct_item enum_item trait_item macro_definition const_item"),
    gathering_files=words("mod.rs"),
    test_words=words("test tests testing benches bench fixtures"),
    common_names=words("fmt clone eq default hash drop"),
    built_folders=words("target"),
    traces="data_prep.traces.compiled:RUST",
    colours={
        "primitive_type": "type",
        "attribute_item": "annotation",
        "lifetime": "type",
        "self": "keyword",
        "mutable_specifier": "keyword",
        "crate": "keyword",
        "boolean_literal": "keyword",
        "char_literal": "string",
    },
)
