"""R: functions by what they are assigned to, classes of S4, R6, S7 and ggproto with their methods, and variables.

And its source as tokens: what is a string, a quoted name or a comment, so that ``#`` in a string begins no comment. By
R's language definition (chapter 10) and ``?Quotes``: strings in either quotes and names in backticks may have line ends
and escapes; raw strings, ``r"--[...]--"``, end at the same bracket, dashes and quote, and have no escapes; ``%...%`` is
an operator, whatever stands inside. What is not closed, which R refuses, ends with its line.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from data_prep.languages.identifiers import compiled_later
from data_prep.languages.language import Declaration, Language, Quote, words
from data_prep.languages.nodes import above, inside, kind_of, node_text, part_of

if TYPE_CHECKING:
    from tree_sitter import Node

TokenKind = Literal["string", "name", "comment", "operator", "bracket"]

_TOKEN: Final = compiled_later(
    r"(?P<comment>#[^\n]*)|(?P<raw>(?<![\w.])[rR][\"']-*[(\[{])|(?P<string>[\"'])|(?P<name>`)"
    r"|(?P<operator>%[^%\n]*%)|(?P<bracket>[()\[\]{}])"
)
_CLOSED: Final = {quote: compiled_later(rf"(?s)(?:[^{quote}\\]|\\.)*+{quote}") for quote in "\"'`"}
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}


class Token(NamedTuple):
    """A part of a source text; names without backticks, numbers and other operators are none."""

    kind: TokenKind
    start: int
    end: int


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a source with line feeds as line ends, in order; in time proportional to its length."""
    open_ended: set[str] = set()  # marks that were not closed once: looking for them to the end again takes the square
    place = 0
    while found := _TOKEN.search(text, place):
        kind = found.lastgroup
        place = found.end()
        if kind in ("raw", "string", "name"):
            mark = "raw" if kind == "raw" else found[0]
            line_end = text.find("\n", place)
            line_end = len(text) if line_end < 0 else line_end
            closed = _end(text, found, line_end if mark in open_ended else len(text))
            if closed is None:
                open_ended.add(mark)
            place = line_end if closed is None else closed
        yield Token("string" if kind == "raw" else kind, found.start(), place)  # type: ignore[arg-type]


def _end(text: str, opened: re.Match[str], stop: int) -> int | None:
    """Where the string or name that ``opened`` begins ends; None if it is not closed before ``stop``."""
    if opened.lastgroup != "raw":
        closed = _CLOSED[opened[0]].match(text, opened.end(), stop)
        return closed.end() if closed else None
    closing = f"{_CLOSING[opened[0][-1]]}{opened[0][2:-1]}{opened[0][1]}"
    start = text.find(closing, opened.end(), stop)
    return None if start < 0 else start + len(closing)


_CLASSES: Final = words("setClass setRefClass setClassUnion R6Class new_class ggproto proto")
"""Called functions that make a type."""
_GENERICS: Final = words("setGeneric new_generic setMethod setReplaceMethod setValidity")
"""Called functions that name the function that they are given."""
_NAMING: Final = _GENERICS | words("method")
"""Called functions that are no part of the function that they name."""
_LISTS: Final = words("list alist list2")
_SIGNATURES: Final = words("signature c list")
_OF_TYPE: Final = words("methods set")
"""Functions of a class that add methods to it: ``Stack$set("public", "push", function(x) ...)``."""
_IMPORTS: Final = words("library require import")
_DEEPEST: Final = 4
"""Lists in lists in which a function is named by its place."""
_MARKUP: Final = compiled_later(
    r"\\[a-zA-Z]+(?:\[[^\]\n]{0,200}\])?\{([^{}\n]{0,500})\}|(?<![\w)\]])\[`?([\w.:]+(?:\(\))?)`?\](?!\()"
)
_MARK: Final = compiled_later(r"(?m)^['*] ?|^[-=#]{3,}[ \t]*|[ \t]*[-=#]{4,}[ \t]*$")
_TAG: Final = compiled_later(r"(?m)^@(?:title|description|details)\b")
"""What begins a paragraph of documentation."""


def _plain_doc(doc: str) -> str:
    """Documentation without the marks of roxygen, and without the lines of headings."""
    doc = _TAG.sub("\n", _MARK.sub("", doc)).strip()
    for _ in range(2):
        doc = _MARKUP.sub(lambda found: found[1] or found[2] or "", doc)
    return doc


def _plain(node: "Node | None") -> str:
    """A name or a text without its quotes."""
    text = node_text(node)
    quote = text[:1]
    return text[1:-1] if quote in ("'", '"', "`") and len(text) > 1 and text.endswith(quote) else text


def _called(call: "Node") -> str:
    """The name of a called function, without its package or object."""
    called = part_of(call, "function")
    if kind_of(called) in ("namespace_operator", "extract_operator"):
        called = part_of(called, "rhs")
    return _plain(called) if kind_of(called) in ("identifier", "string") else ""


def _given(call: "Node", name: str, place: int) -> "Node | None":
    """The argument of a name, or else the one at a place among those without one."""
    unnamed = []
    for each in inside(part_of(call, "arguments")):
        if each.type != "argument":
            unnamed.append(each)
        elif name and _plain(part_of(each, "name")) == name:
            return part_of(each, "value")
    unnamed = [each for each in unnamed if each.type not in ("comment", "ERROR")]
    return unnamed[place] if place < len(unnamed) else None


def _first_name(node: "Node | None") -> str:
    """The name that a node is, or the first one of a signature."""
    if node is not None and node.type == "call" and _called(node) in _SIGNATURES:
        node = part_of(node, "arguments", "0")
        node = part_of(node, "value") if kind_of(node) == "argument" else node
    return _plain(node) if kind_of(node) in ("identifier", "string", "namespace_operator") else ""


def _target(node: "Node | None") -> tuple[str, str]:
    """The name and the owner that the target of an assignment states."""
    if kind_of(node) == "extract_operator":
        owner = part_of(node, "lhs")
        return _plain(part_of(node, "rhs")), _plain(owner) if kind_of(owner) == "identifier" else ""
    if node is not None and node.type == "call":  # method(speak, Dog) <- function(x) ... of S7
        named = (_given(node, "generic", 0), _given(node, "class", 1)) if _called(node) == "method" else (None, None)
        return _first_name(named[0]), _first_name(named[1])
    if kind_of(node) == "subset":
        while kind_of(node) == "subset" and (inner := part_of(node, "-1")):
            node = inner
        return (_plain(node), "") if kind_of(node) == "string" else ("", "")
    return (_plain(node), "") if kind_of(node) in ("identifier", "string") else ("", "")


def _call_around(node: "Node") -> "Node | None":
    """The call that a node is an argument of."""
    arguments = above(node, "argument", "arguments") or above(node, "arguments")
    return arguments.parent if arguments is not None else None


def _assigned(node: "Node") -> "Node | None":
    """The assignment whose value a node is, in brackets or not."""
    return above(above(node, "parenthesized_expression") or node, "assignment definition")


def _declaration(node: "Node") -> Declaration | None:
    """A function by what it is assigned to, or the argument that it is."""
    around, body = _assigned(node), part_of(node, "body")
    if around is None and body is not None and body.type == "assignment" and _is_right(body):
        return Declaration(_target(part_of(body, "name"))[0], node)
    if around is not None:
        name, owner = _target(part_of(around, "name"))
        return Declaration(name, around, owner if owner not in _SELF else "") if name else None
    if argument := above(node, "argument"):
        return _named_argument(argument)
    call = _call_around(node)
    return _of_call(call) if call is not None else None


def _is_right(assignment: "Node") -> bool:
    """Whether an assignment has its name behind its value."""
    return any(each.type in ("->", "->>") for each in assignment.children)


def _named_argument(argument: "Node") -> Declaration | None:
    """A function in a list, or in the description of a class."""
    name, call = _plain(part_of(argument, "name")), _call_around(argument)
    outer = _call_around(argument)
    for _ in range(_DEEPEST):
        if outer is None or _called(outer) not in _LISTS:
            break
        outer = _call_around(outer)
    if call is not None and _called(call) in _GENERICS:
        return _of_call(call)
    owner = _owner(outer) if outer is not None and _called(outer) in _OF_TYPE else ""
    is_part = call is not None and (owner or _called(call) in _LISTS or _called(call) in _CLASSES)
    body = part_of(argument, "-1")
    first = part_of(body.children[-1], "0") if body is not None and body.children else None
    doc = first if kind_of(first) == "string" else None
    return Declaration(name, argument, owner, doc=doc) if is_part and name else None


def _owner(call: "Node") -> str:
    """The object whose function is called."""
    called = part_of(call, "function")
    return _plain(part_of(called, "lhs")) if kind_of(called) == "extract_operator" else ""


def _of_call(call: "Node") -> Declaration | None:
    """A function that a call names, or that is all that a call is given: ``memoise(function(x) ...)``."""
    called = _called(call)
    whole = _assigned(call) or call
    if called == "setValidity":
        return Declaration("validity", whole, _first_name(_given(call, "Class", 0)))
    if called in ("setMethod", "setReplaceMethod"):
        name = _first_name(_given(call, "f", 0)) + "<-" * (called == "setReplaceMethod")
        return Declaration(name, whole, _first_name(_given(call, "signature", 1)))
    if called in _GENERICS:
        return Declaration(_first_name(_given(call, "name", 0)), whole)
    if called == "set" and _owner(call):
        return Declaration(_first_name(_given(call, "name", 1)), call, _owner(call))
    if whole is call or len(inside(part_of(call, "arguments"))) != 1:
        return None
    name, owner = _target(part_of(whole, "name"))
    return Declaration(name, whole, owner) if name else None


def _type_name(call: "Node") -> str:
    """The name of a class: the text that it is given, or what it is assigned to."""
    stated = next(filter(None, (_given(call, each, 9) for each in ("Class", "classname", "name"))), None)
    stated = stated or _given(call, "", 0)
    return _plain(stated) if kind_of(stated) == "string" else _target(part_of(_assigned(call), "name"))[0]


def _is_one(node: "Node", mark: str) -> bool:
    return mark == "function" or (_called(node) in _CLASSES if mark == "type" else _called(node) not in _NAMING)


def _type_declaration(call: "Node") -> Declaration | None:
    name = _type_name(call)
    return Declaration(name, _assigned(call) or call) if name else None


def _constants(root: "Node") -> Iterator[Declaration]:
    """What a file assigns outside of functions, without functions and classes."""
    for each in root.named_children:
        value = part_of(each, "value") if each.type == "assignment" else None
        names = [part_of(each, "name")]
        while kind_of(value) == "assignment":  # a <- b <- 3
            names.append(part_of(value, "name"))
            value = part_of(value, "value")
        if value is not None and not (value.type == "call" and _called(value) in _CLASSES | _IMPORTS):
            named = (name for name in names if kind_of(name) in ("identifier", "string"))
            yield from (Declaration(_plain(name), each) for name in named)


_SELF: Final = words("self private super .self")

LANGUAGE: Final = Language(
    name="r",
    title="R",
    editor_names=("r",),
    suffixes=(".R", ".r"),
    interpreters=words("Rscript littler R r"),
    line_comment="#",
    block_comment=None,
    quotes=(Quote('"', lines=True), Quote("'", lines=True), Quote("`", lines=True)),
    keywords=words("if else repeat while function for next break TRUE FALSE NULL Inf NaN NA in return"),
    typical=r"^\s*[\w.$]+ *<<?- |%>%| %[^%\s]+% |\|>\s*$|\b(?:library|is[._]\w+|stopifnot|c|paste0?|[slv]apply|nrow"
    r"|ncol|seq_\w+|tryCatch|missing|invisible|data\.frame|stop|caller_env)\(|^#'|\b(?:TRUE|FALSE|NULL)\b|\w\$\w"
    r"|\b[a-z]\w+::[a-z]\w+\(|\bfunction\([\w., ]*\) (?![{\w]*$)",
    doubt=0.05,
    grammar="data_prep.languages.r_tree:tree",
    functions=words("function_definition"),
    types=words("call"),
    nested=False,
    plain_doc=_plain_doc,
    is_one=_is_one,
    declaration=_declaration,
    type_declaration=_type_declaration,
    scope_name=_type_name,
    constants=_constants,
    is_stub=lambda body: body.type == "braced_expression" and all(each.type == "comment" for each in body.children),
    identifiers=words("identifier"),
    calls={"call": "function"},
    members={"namespace_operator": ("lhs", "rhs"), "extract_operator": ("lhs", "rhs")},
    self_names=_SELF,
    definitions=words("definition"),
    test_words=words("test tests testthat"),
    traces="data_prep.traces.scripts:R",
    colours={"return": "keyword"},
    capital_types=False,
)
