"""Python: module-level functions, and methods of classes that are not inside of functions, with their docstrings."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from data_prep.languages.language import Declaration, Language, Quote, words
from data_prep.languages.nodes import above, is_docstring, name_of, names_in, node_text, part_of

if TYPE_CHECKING:
    from tree_sitter import Node

_NAMES: Final = words("identifier")
_PATTERNS: Final = words("pattern_list tuple_pattern list_pattern list_splat_pattern")


def _declaration(node: "Node") -> Declaration:
    return Declaration(name_of(node), above(node, "decorated_definition") or node)


def _constants(root: "Node") -> Iterator[Declaration]:
    """The names that a module gives to values and types, without those with a meaning to Python, as ``__all__``."""
    for statement in root.named_children:
        if statement.type == "type_alias_statement":
            yield Declaration(re.split(r"\W", node_text(part_of(statement, "left")))[0], statement)
        assigned = part_of(statement, "0") if statement.type == "expression_statement" else None
        while assigned is not None and assigned.type == "assignment":
            for name in names_in(part_of(assigned, "left"), _NAMES, _PATTERNS):
                if not name.startswith("__"):
                    yield Declaration(name, statement)
            assigned = part_of(assigned, "right")


def _called(call: "Node") -> "Node | None":
    """What is called; of ``Pool[int]()`` the class without its type arguments, unlike ``HANDLERS[key]()``."""
    value = part_of(call, "function", "value")
    name = node_text(value).rpartition(".")[2].lstrip("_")
    return value if name[:1].isupper() and not name.isupper() else part_of(call, "function")


def _is_stub(body: "Node") -> bool:
    """Whether the first statement after the docstring passes, raises or is an ellipsis."""
    rest = [child for child in body.named_children if child.type != "comment" and not is_docstring(child)]
    return not rest or rest[0].type in ("pass_statement", "raise_statement") or node_text(rest[0]) == "..."


LANGUAGE: Final = Language(
    name="python",
    title="Python",
    in_corpora=True,
    editor_names=("python",),
    suffixes=(".py",),
    other_suffixes=(".pyi", ".pyw", ".ipynb"),
    file_names=words("SConstruct SConscript wscript"),
    interpreters=words("python pypy jython ipython uv pipx sage"),
    line_comment="#",
    block_comment=None,
    quotes=(Quote('"""', lines=True), Quote("'''", lines=True), Quote('"'), Quote("'")),
    keywords=words(
        "False None True and as assert async await break class continue def del elif else except finally for from "
        "global if import in is lambda nonlocal not or pass raise return try while with yield self cls"
    ),
    typical=r"^\s*(?:def|class|elif|except|with|for|if|while|else)\b.*:\s*(?:#.*)?$|\bself\.|\bNone\b",
    body_mark=":",
    closing="",
    filler="pass",
    grammar="tree_sitter_python:language",
    functions=words("function_definition"),
    types=words("class_definition"),
    nested=False,
    docstrings=True,
    declaration=_declaration,
    type_declaration=_declaration,
    constants=_constants,
    is_stub=_is_stub,
    identifiers=words("identifier"),
    calls={"call": _called},
    members={"attribute": ("object", "attribute")},
    self_names=words("self cls"),
    definitions=words("function_definition class_definition"),
    test_words=words("test tests testing conftest unittest unittests"),
    test_files="/conftest",
    gathering_files=words("__init__.py"),
    traces="data_prep.traces.python:PYTHON",
    colours={"ellipsis": "keyword", "decorator": "annotation"},
)
