"""Lua: functions, by what they are assigned to as well, and the variables of a file."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from data_prep.languages.language import Declaration, Language, Quote, words
from data_prep.languages.nodes import above, inside, kind_of, node_text, part_of

if TYPE_CHECKING:
    from tree_sitter import Node


_NAMES: Final = words("identifier string dot_index_expression")


def _declaration(node: "Node") -> Declaration | None:
    """A function by its own name, ``add`` of ``M`` for ``M.add``; one without by the field or variable that it is."""
    named, whole = part_of(node, "name"), node
    if node.type == "function_definition":
        around = _assignment(node)
        if around is None:
            return None
        whole, named = around
    while kind_of(named) == "bracket_index_expression" and kind_of(part_of(named, "field")) != "string":
        named = part_of(named, "table")  # of ``t[i]``; what is asked for is written there in ``t["add"]``
    owner = part_of(named, "table")
    name = part_of(named, "field") or part_of(named, "method") if owner is not None else named
    return Declaration(node_text(name).strip("\"'"), whole, node_text(owner))


def _assignment(value: "Node") -> "tuple[Node, Node] | None":
    """The statement or field that a function is the value of, and what names it there."""
    if (field := above(value, "field")) is not None:
        name = part_of(field, "name")
        return (field, name) if name is not None and name.type in _NAMES else None
    statement, values = above(value, "expression_list", "assignment_statement"), value.parent
    if statement is None or values is None:
        return None
    place = [child.id for child in values.named_children].index(value.id)
    name = part_of(statement, "0", str(place))
    return (above(statement, "variable_declaration") or statement, name) if name is not None else None


def _constants(root: "Node") -> Iterator[Declaration]:
    """Variables of a file that are given a value, without modules and functions."""
    for each in root.named_children:
        statement = part_of(each, "0") if each.type == "variable_declaration" else each
        if kind_of(statement) != "assignment_statement":
            continue
        value = part_of(statement, "1", "0")
        is_import = kind_of(value) in ("function_call", "function_definition", "dot_index_expression")
        is_empty = kind_of(value) == "table_constructor" and part_of(value, "0") is None
        if not is_import and not is_empty:
            names = (name for name in inside(part_of(statement, "0")) if name.type == "identifier")
            yield from (Declaration(node_text(name), each) for name in names)


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
