"""Elixir: functions and macros, all clauses of a name and arity, modules and protocols; ``@doc``, ``@moduledoc``."""

from typing import TYPE_CHECKING, Final

from data_prep.languages.language import Declaration, Language, Quote, words
from data_prep.languages.nodes import above, inside, kind_of, node_text, part_of

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS: Final = words("def defp defmacro defmacrop defguard defguardp defdelegate")
_TYPES: Final = words("defmodule defprotocol defimpl")
_BETWEEN: Final = words("unary_operator comment")
_NO_CALLS: Final = (
    _FUNCTIONS
    | _TYPES
    | words("alias import require use defstruct defexception defoverridable")
    | words("case cond for if unless with receive try quote unquote unquote_splicing super")
)
_DOCUMENTATION: Final = ("doc", "moduledoc", "typedoc")
_OF_FUNCTION: Final = words("doc spec impl deprecated since dialyzer")
_OF_MODULE: Final = words(
    "moduledoc behaviour type typep typedoc opaque callback macrocallback optional_callbacks derive enforce_keys "
    "external_resource before_compile after_compile on_load vsn"
)
"""Attributes that say nothing of the function behind them; others do if no blank line is between."""


def _target(node: "Node | None") -> str:
    return node_text(part_of(node, "target"))


def _is_one(node: "Node", mark: str) -> bool:
    if mark == "doc":
        return any(_documentation(node, name) for name in _DOCUMENTATION)
    if mark != "call":
        return _target(node) in (_FUNCTIONS if mark == "function" else _TYPES)
    if node.type == "binary_operator":
        return _operator(node) == "|>"
    is_other = _operator(node.parent) == "@" or _is_head(node) or _is_access(node)
    return not is_other and _target(node) not in _NO_CALLS


def _operator(node: "Node | None") -> str:
    return node_text(part_of(node, "operator"))


def _is_head(node: "Node") -> bool:
    """Whether a call is the head of a function, with a guard or not."""
    around = above(node, "binary_operator")
    head = around if around is not None and part_of(around, "0") == node else node
    return _is_function(above(head, "arguments", "call"))


def _is_access(node: "Node") -> bool:
    """Whether it is none, but the access to a field: ``state.jobs``."""
    target = part_of(node, "target")
    is_last = target is not None and target.type == "dot" and target.next_sibling is None
    return is_last and kind_of(part_of(target, "left")) in ("identifier", "call")


def _argument(node: "Node") -> "Node | None":
    """The first argument of a call: the head of a function, the name of a module."""
    arguments = next((child for child in node.named_children if child.type == "arguments"), None)
    return part_of(arguments, "0")


def _body(node: "Node") -> "Node | None":
    """``do ... end``, or what follows ``do:``."""
    block = part_of(node, "-1")
    if kind_of(block) == "do_block":
        return block
    last = part_of(block, "-1") if kind_of(block) == "arguments" else None
    return last if kind_of(last) == "keywords" else None


def _head(node: "Node") -> "tuple[str, Node | None]":
    """The name of a function and its head, without its guard: ``add`` of ``def add(x) when x > 1``."""
    head = _argument(node)
    if _operator(head) == "when":
        head = part_of(head, "left")
    return _operator(head) or node_text(part_of(head, "target") or head), head


def _function(node: "Node") -> tuple[str, int]:
    """The name and the arity of a function: those with others are other functions."""
    name, head = _head(node)
    parts = inside(head) if kind_of(head) == "call" else []
    return name, next((part.named_child_count for part in parts if part.type == "arguments"), 0)


def _is_function(node: "Node | None") -> bool:
    return kind_of(node) == "call" and _target(node) in _FUNCTIONS


def _declaration(node: "Node") -> Declaration | None:
    """All clauses that follow each other, with the attributes before the first; None for a further clause."""
    attributes: list[Node] = []
    own, before = _function(node), node.prev_named_sibling
    while before is not None and (before.type == "comment" or _belongs(before, (attributes or [node])[-1])):
        attributes += [before] if before.type == "unary_operator" else []
        before = before.prev_named_sibling
    if before is not None and _is_function(before) and _function(before) == own:
        return None
    doc = next(filter(None, (_documentation(each, "doc") for each in attributes)), None)
    first = attributes[-1] if attributes else None
    return Declaration(own[0], node, first=first, more=_clauses(node, own), doc=doc)


def _belongs(attribute: "Node", following: "Node") -> bool:
    """Whether an attribute is of the function behind it."""
    operand = part_of(attribute, "operand") if attribute.type == "unary_operator" else None
    if operand is None:
        return False
    name, lines = _target(operand), following.start_point[0] - attribute.end_point[0]
    return name in _OF_FUNCTION or (lines <= 1 and name not in _OF_MODULE)


def _clauses(node: "Node", own: tuple[str, int]) -> "list[Node]":
    """The clauses of a function that follow one."""
    found, after = [], node.next_named_sibling
    while after is not None and (after.type in _BETWEEN or (_is_function(after) and _function(after) == own)):
        found += [after] if after.type == "call" else []
        after = after.next_named_sibling
    return found


def _documentation(attribute: "Node", name: str) -> "Node | None":
    """The text of ``@doc \"\"\"...\"\"\"``."""
    operand = part_of(attribute, "operand")
    text = _argument(operand) if operand is not None and _target(operand) == name else None
    return text if kind_of(text) in ("string", "sigil") else None


def _type_declaration(node: "Node") -> Declaration | None:
    """A module or protocol; an implementation only qualifies what is inside."""
    if _target(node) == "defimpl":
        return None
    first = (each for each in inside(_body(node))[:3] if each.type == "unary_operator")
    docs = (_documentation(each, "moduledoc") for each in first)
    return Declaration(_scope_name(node), node, doc=next(filter(None, docs), None))


def _callback(attribute: "Node") -> Declaration | None:
    """``fetch`` of ``@callback fetch(key :: atom) :: term``, with the ``@doc`` before it."""
    operand = part_of(attribute, "operand")
    if operand is None or _target(operand) not in ("callback", "macrocallback"):
        return None
    head, before = _argument(operand), attribute.prev_named_sibling
    while kind_of(head) == "binary_operator":
        head = part_of(head, "left")
    doc = _documentation(before, "doc") if before is not None and before.type == "unary_operator" else None
    name = node_text(part_of(head, "target") or head)
    return Declaration(name, attribute, first=before if doc is not None else None, doc=doc)


def _scope_name(node: "Node") -> str:
    return node_text(_argument(node))


def _plain_doc(doc: str) -> str:
    """A sigil's text, such as that of ``~S\"\"\"``."""
    return doc.removeprefix("~S").removeprefix("~s").strip('"\n ') if doc.startswith(("~S", "~s")) else doc


LANGUAGE: Final = Language(
    name="elixir",
    title="Elixir",
    editor_names=("elixir",),
    suffixes=(".ex",),
    other_suffixes=(".exs",),
    interpreters=words("elixir iex mix"),
    line_comment="#",
    block_comment=None,
    quotes=(Quote('"""', lines=True), Quote('"', lines=True)),
    keywords=words(
        "after alias and case catch cond def defdelegate defexception defguard defimpl defmacro defmacrop defmodule "
        "defp defprotocol defstruct do else end false fn for if import in nil not or quote raise receive require "
        "rescue super throw true try unless unquote use when with"
    ),
    typical=r"\bdefp? \w+[?!]?(?:\(.*\))? do\b|\bdefmodule\b|\|>|^\s*end\s*$|%\{|\bdo:|@\w+ |:ok\b|\{:\w+,|\bfn .* ->",
    doubt=0.25,
    body_mark="",
    closing=r"(?:end\b|[\])}])",
    stray='((identifier) @stray (#eq? @stray "end"))',
    grammar="tree_sitter_elixir:language",
    functions=words("call"),
    types=words("call"),
    documentation=words("unary_operator"),
    nested=False,
    is_one=_is_one,
    declaration=_declaration,
    type_declaration=_type_declaration,
    scope_name=_scope_name,
    body=_body,
    plain_doc=_plain_doc,
    signatures=words("unary_operator"),
    signatures_in=words("call do_block"),
    signature=_callback,
    identifiers=words("identifier alias"),
    calls={"call": "target", "binary_operator": "right"},
    members={"dot": ("left", "right")},
    self_names=words("__MODULE__"),
    definitions=frozenset(),
    test_words=words("test tests fixtures"),
    common_names=words("inspect"),
    built_folders=words("deps _build"),
    traces="data_prep.traces.scripts:ELIXIR",
    keyword_names=True,
    colours={"alias": "type", "atom": "string", "quoted_content": "string", "keyword": "string", "boolean": "keyword"},
)
