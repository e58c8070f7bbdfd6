"""Zig: functions with a body, types that constants are given, other constants; ``///``."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from data_prep.languages.easing import Easing, eased
from data_prep.languages.identifiers import compiled_later
from data_prep.languages.language import Declaration, Language, words
from data_prep.languages.nodes import above, kind_of, name_of, node_text, part_of

if TYPE_CHECKING:
    from tree_sitter import Node

_CONTAINERS: Final = words(
    "struct_declaration enum_declaration union_declaration opaque_declaration error_set_declaration"
)
_NEXT_NAME: Final = compiled_later(rb",(?=\s*(?:const|var)\s)")


def _apart(easing: Easing) -> None:
    """Each name of ``const a, const b = f();`` as a declaration."""
    for found in _NEXT_NAME.finditer(easing.text):
        easing.put(found.start(), b";")


def _declaration(node: "Node") -> Declaration | None:
    return Declaration(name_of(node), node) if part_of(node, "body") is not None else None


def _scope_name(node: "Node") -> str:
    """The constant's name; of a type without one, that of the function that returns it."""
    around: Node | None = node
    while around is not None and node.type in _CONTAINERS and around.type != "function_declaration":
        around = around.parent
    named = (child for child in (around or node).named_children if child.type == "identifier")
    return node_text(next(named, None))


def _is_type(node: "Node") -> bool:
    """Whether a constant is given a type, or a function returns it."""
    if node.type == "variable_declaration":
        return _body(node) is not None
    return above(node, "return_expression") is not None


def _body(node: "Node") -> "Node | None":
    """Of a constant, the type that it is given."""
    if node.type != "variable_declaration":
        return part_of(node, "body")
    value = part_of(node, "-1")
    return value if kind_of(value) in _CONTAINERS else None


def _constants(root: "Node") -> Iterator[Declaration]:
    """Constants and variables of a file, without types and imports."""
    for each in root.named_children:
        value = part_of(each, "-1") if each.type == "variable_declaration" else None
        if value is not None and value.type not in _CONTAINERS and not node_text(value).startswith("@import"):
            yield Declaration(_scope_name(each), each)


LANGUAGE: Final = Language(
    name="zig",
    title="Zig",
    editor_names=("zig",),
    suffixes=(".zig",),
    other_suffixes=(".zon",),
    interpreters=words("zig"),
    block_comment=None,
    keywords=words(
        "addrspace align allowzero and anyframe anytype asm async await break callconv catch comptime const continue "
        "defer else enum errdefer error export extern fn for if inline noalias noinline nosuspend opaque or orelse "
        "packed pub resume return linksection struct suspend switch test threadlocal true false null undefined try "
        "union unreachable usingnamespace var volatile while"
    ),
    typical=r"\b(?:pub fn|comptime|orelse|errdefer|usize|anytype|@import)\b|@\w+\("
    r"|\bconst \w+(?:: [\w\[\]]+)? = |\.\{|!void|\btry \w",
    doubt=0.25,
    filler="comptime {}",
    grammar="tree_sitter_zig:language",
    eased=partial(eased, (_apart,)),
    cases=False,  # they stand in the files of what they test, and hide it
    functions=words("function_declaration"),
    types=_CONTAINERS | words("variable_declaration"),
    is_one=lambda node, mark: mark != "type" or _is_type(node),
    declaration=_declaration,
    type_declaration=lambda node: None if node.type in _CONTAINERS else Declaration(_scope_name(node), node),
    scope_name=_scope_name,
    body=_body,
    constants=_constants,
    signatures=words("function_declaration"),
    signatures_in=_CONTAINERS | words("variable_declaration"),
    identifiers=words("identifier"),
    calls={"call_expression": "function"},
    members={
        "field_expression": ("object", "member"),
        "error_union_type": ("", "ok"),
        **dict.fromkeys(("null_coercion_expression", "dereference_expression"), ("", "0")),
    },
    self_names=words("self Self"),
    definitions=words("function_declaration"),
    test_words=words("test tests testing bench fuzz"),
    common_names=words("format deinit init"),
    built_folders=words("zig-out zig-cache"),
    traces="data_prep.traces.compiled:ZIG",
    colours={"builtin_type": "type", "builtin_identifier": "keyword", "multiline_string": "string"},
)
