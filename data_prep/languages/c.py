"""C: functions with a body, macros with parameters, types and constants.

A macro before a declaration, which no grammar knows, is passed over. The helpers serve C++ too.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from data_prep.languages.language import (
    Declaration,
    Language,
    Quote,
    body_of,
    name_of,
    node_text,
    part_of,
    words,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_MACRO: Final = re.compile(
    rb"(?m)^(?P<indent>[ \t]*(?:(?:static|inline|extern|template *<[^<>\n]*>)[ \t]+)*)"
    rb"(?P<macro>(?!(?:FILE|DIR|BOOL|DWORD|HANDLE|VOID|INT|UINT|LONG|ULONG|SSIZE_T|SIZE_T)\b)[A-Z][A-Z0-9]*_[A-Z0-9_]+"
    rb"(?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\))?)"
    rb"(?=[ \t]*$|[ \t]+(?!\()(?:[\w:<>]+[ \t*&]+)+[\w:~]+\s*\(|[ \t]+(?:class|struct|enum|static|inline|template)\b)"
)
"""A macro before a declaration, such as one that exports it, or alone in its line."""
_ATTRIBUTE: Final = re.compile(rb"\b(?:class|struct)[ \t]+(?P<macro>[A-Z][A-Z0-9]*_[A-Z0-9_]+)[ \t]+(?=\w)")
_CONDITIONS: Final = words("preproc_if preproc_ifdef preproc_else preproc_elif linkage_specification declaration_list")
_BRIEF: Final = re.compile(r"(?m)^\s*[@\\](?:brief|short|details?)\s+")
_CLEAR: Final = re.compile(rb"[^\n]")


def without_macros(data: bytes) -> bytes:
    """The text with blanks in the place of macros that make it none of the grammar's."""
    for pattern in (_MACRO, _ATTRIBUTE):
        data = pattern.sub(_cleared, data)
    return data


def _cleared(found: re.Match[bytes]) -> bytes:
    start, end = found.span("macro")
    before, after = found[0][: start - found.start()], found[0][end - found.start() :]
    return before + _CLEAR.sub(b" ", found["macro"]) + after


def declarator(node: "Node") -> "Node | None":
    """What a declaration names: ``f`` of ``int *(*f(int a))(void)``; None if it names nothing."""
    found = node.child_by_field_name("declarator")
    while found is not None and found.type.endswith("declarator"):
        found = found.child_by_field_name("declarator") or part_of(found, "0")
    return found


def _declaration(node: "Node") -> Declaration | None:
    if node.type == "preproc_function_def":
        return Declaration(name_of(node), node)
    named = declarator(node)
    return Declaration(node_text(named), node) if body_of(node) is not None and named is not None else None


def c_type(node: "Node") -> Declaration | None:
    """A type with members, by its tag or the name that ``typedef`` gives it; another ``typedef`` too."""
    if node.type == "type_definition":
        return Declaration(node_text(declarator(node)), node)
    parent = node.parent
    is_defined = parent is not None and parent.type == "type_definition"
    return None if body_of(node) is None or is_defined else Declaration(name_of(node), node)


def c_constants(root: "Node") -> Iterator[Declaration]:
    """Variables with a value and macros without parameters, outside of functions."""
    todo = [root]
    while todo:
        for each in todo.pop().named_children:
            if each.type in _CONDITIONS or each.type == "namespace_definition":
                todo += [each if each.type in _CONDITIONS else body_of(each) or each]
            elif each.type == "preproc_def" and each.child_by_field_name("value") is not None:
                yield Declaration(name_of(each), each)
            elif each.type == "declaration" and (last := part_of(each, "-1")) is not None:
                yield Declaration(node_text(declarator(last)) if last.type == "init_declarator" else "", each)


LANGUAGE: Final = Language(
    name="c",
    title="C",
    editor_names=("c",),
    suffixes=(".c", ".h"),
    interpreters=words("tcc"),
    keywords=words(
        "auto bool break case char const continue default do double else enum extern false float for goto if inline "
        "int long register restrict return short signed sizeof static struct switch typedef union unsigned void "
        "volatile while NULL true nullptr size_t define include ifdef ifndef endif"
    ),
    typical=r"^\s*#\s*(?:include|define|if|else|endif|undef)\b|\b(?:struct \w+ ?\*|void ?\*|char ?\*|unsigned|\w+_t\b)"
    r"|\bNULL\b|\w->\w|\bsizeof\b|\breturn -?\w+;|\b[a-z]+(?:_[a-z0-9]+)+\(|[(, ]&\w+[,)]",
    grammar="tree_sitter_c:language",
    eased=without_macros,
    plain_doc=lambda doc: _BRIEF.sub("", doc),
    functions=words("function_definition preproc_function_def"),
    other_types=words("struct_specifier union_specifier enum_specifier type_definition"),
    nested=False,
    declaration=_declaration,
    type_declaration=c_type,
    body=lambda node: body_of(node) or node.child_by_field_name("value"),
    constants=c_constants,
    identifiers=words("identifier field_identifier type_identifier"),
    calls={"call_expression": "function"},
    members={"field_expression": ("argument", "field")},
    definitions=words("struct_specifier union_specifier enum_specifier preproc_function_def preproc_def"),
    test_words=words("test tests testing unittest benchmark benchmarks fuzz"),
    declaration_suffixes=(".h",),
    built_folders=words("vendor third_party 3rdparty deps"),
    traces="data_prep.traces.compiled:C",
    colours={
        "primitive_type": "type",
        "system_lib_string": "string",
        "preproc_directive": "annotation",
        "sized_type_specifier": "type",
        "char_literal": "string",
        "number_literal": "number",
    },
    quotes=(Quote('"'), Quote("'")),
)
