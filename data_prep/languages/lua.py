"""Lua: functions, by what they are assigned to as well, and the variables of a file."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from data_prep.languages.language import Declaration, Language, Quote, body_of, node_text, part_of, words

if TYPE_CHECKING:
    from tree_sitter import Node


_NAMES: Final = words("identifier string dot_index_expression")


def _declaration(node: "Node") -> Declaration | None:
    """A function by its own name, ``add`` of ``M`` for ``M.add``; one without by the field or variable that it is."""
    named, whole = node.child_by_field_name("name"), node
    if node.type == "function_definition":
        around = _assignment(node)
        if around is None:
            return None
        whole, named = around
    while named is not None and named.type == "bracket_index_expression" and not _is_text(named):
        named = named.child_by_field_name("table")
    owner = named.child_by_field_name("table") if named is not None else None
    name = named
    if named is not None and owner is not None:
        name = named.child_by_field_name("field") or named.child_by_field_name("method")
    return Declaration(node_text(name).strip("\"'"), whole, node_text(owner))


def _is_text(access: "Node") -> bool:
    """Whether what a table is asked for is written there, as in ``t["add"]``."""
    field = access.child_by_field_name("field")
    return field is not None and field.type == "string"


def _assignment(value: "Node") -> "tuple[Node, Node] | None":
    """The statement or field that a function is the value of, and what names it there."""
    parent = value.parent
    if parent is not None and parent.type == "field":
        name = parent.child_by_field_name("name")
        return (parent, name) if name is not None and name.type in _NAMES else None
    statement = parent.parent if parent is not None and parent.type == "expression_list" else None
    if parent is None or statement is None or statement.type != "assignment_statement":
        return None
    names, place = part_of(statement, "0"), [child.id for child in parent.named_children].index(value.id)
    name = part_of(names, str(place)) if names is not None else None
    outer = statement.parent
    whole = outer if outer is not None and outer.type == "variable_declaration" else statement
    return (whole, name) if name is not None else None


def _constants(root: "Node") -> Iterator[Declaration]:
    """Variables of a file that are given a value, without modules and functions."""
    for each in root.named_children:
        statement = part_of(each, "0") if each.type == "variable_declaration" else each
        if statement is None or statement.type != "assignment_statement":
            continue
        names, values = (side.named_children if (side := part_of(statement, place)) else [] for place in ("0", "1"))
        value = values[0] if values else None
        is_import = value is not None and value.type in ("function_call", "function_definition", "dot_index_expression")
        is_empty = value is not None and value.type == "table_constructor" and not value.named_child_count
        if not is_import and not is_empty:
            yield from (Declaration(node_text(name), each) for name in names if name.type == "identifier")


LANGUAGE: Final = Language(
    name="lua",
    title="Lua",
    editor_names=("lua",),
    suffixes=(".lua",),
    other_suffixes=(".luau", ".rockspec"),
    interpreters=words("lua luajit texlua"),
    line_comment="--",
    block_comment=("--[[", "]]"),
    quotes=(Quote("[[", lines=True, escapes=False), Quote('"'), Quote("'")),
    keywords=words(
        "and break do else elseif end false for function goto if in local nil not or repeat return then true until "
        "while self require pairs ipairs"
    ),
    typical=r"^\s*(?:local \w|end\b[,)]?$|elseif\b|function \w+[.:])|\bthen\s*$|\brequire ?\(?['\"]|~="
    r"|\bnil\b|\blocal function\b|^\s*--",
    body_mark="",
    closing=r"(?:end\b|[\])}])",
    grammar="tree_sitter_lua:language",
    functions=words("function_declaration function_definition"),
    declaration=_declaration,
    body=body_of,
    constants=_constants,
    identifiers=words("identifier"),
    calls={"function_call": "name"},
    members={"dot_index_expression": ("table", "field"), "method_index_expression": ("table", "method")},
    self_names=words("self"),
    definitions=words("function_declaration"),
    test_words=words("test tests spec specs fixtures"),
    gathering_files=words("init.lua"),
    traces="data_prep.traces.scripts:LUA",
    keyword_names=True,
)
