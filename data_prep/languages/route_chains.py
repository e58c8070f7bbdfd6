"""Handlers of routes whose path and verb stand in different calls of a chain, as those of Rust and C++.

``.route("/users", get(|| async {...}).post(|| async {...}))``, ``app.at("/users").get(|_| async {...})``,
``web::resource("/users").route(web::get().to(|| ...))``, ``CROW_ROUTE(app, "/users").methods("POST"_method)([]{...})``.
A route that is given with its handler to one call is found by its text (:mod:`data_prep.languages.text_names`).
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from data_prep.languages.language import Declaration, words
from data_prep.languages.nodes import above, inside, kind_of, node_text, part_of

if TYPE_CHECKING:
    from tree_sitter import Node

_CALL: Final = "call_expression"
_STRINGS: Final = words("string_literal raw_string_literal")
_VERBS: Final = words("get post put patch delete head options any")
_GROUPS: Final = words("nest nest_service group")
"""Calls whose text begins the routes that they are given."""
_SCOPES: Final = words("scope")
"""Calls whose text begins the routes that their results are given."""
_METHODS: Final = "methods"
_WORD: Final = re.compile(r"[A-Za-z]+")
_MACRO: Final = re.compile(r"[A-Z_]*ROUTE")
_MOST: Final = 60
"""Nodes around a handler that are looked at."""


def chained(node: "Node") -> Declaration | None:
    """The declaration of a function literal that is the handler of such a route; None if it is none."""
    call = _given_to(node)
    if call is None:
        return None
    own = [*_chain(call)]
    path, outer = next(filter(None, map(_path, own[1:])), ""), None
    is_own = bool(path)
    if not is_own:
        outer = _given_to(_whole_chain(call))
        path = _path(outer) if outer is not None else ""
        if outer is not None and not path and len(inside(part_of(outer, "arguments"))) == 1:
            path = next(filter(None, map(_path, [*_chain(outer)][1:])), "")
    name = _verb(own) or (_called(call) if is_own and any(map(_MACRO.fullmatch, map(_called, own))) else "")
    if not path or not name:
        return None
    whole = call if is_own or _called(call) == "to" or _before_dot(call) is None else node.parent
    whole = above(call, "expression_statement") or whole if whole == call else whole
    prefix = "".join(reversed([*_prefixes(call if outer is None else outer)]))
    return Declaration(f"{name} {prefix}{path}".replace(".", " "), whole or call, kind="handler")


def _given_to(node: "Node") -> "Node | None":
    """The call that a node is an argument of."""
    return above(node, "arguments argument_list", _CALL)


def _chain(call: "Node") -> "Iterator[Node]":
    """A call, and those whose results it is called on."""
    at: Node | None = call
    while at is not None and at.type == _CALL:
        yield at
        called = part_of(at, "function")
        at = called if kind_of(called) == _CALL else _before_dot(at)


def _before_dot(call: "Node") -> "Node | None":
    """What a call is a method of."""
    called = part_of(call, "function")
    is_one = kind_of(called) == "field_expression"
    return part_of(called, "value") or part_of(called, "argument") if is_one else None


def _whole_chain(call: "Node") -> "Node":
    """The last call of the chain that a call is in."""
    at = call
    while around := above(at, "field_expression", _CALL):
        at = around
    return at


def _called(call: "Node") -> str:
    """The last name of what is called: ``get`` of ``web::get()``."""
    called = part_of(call, "function")
    last = part_of(called, "field") or part_of(called, "name") or called
    return node_text(last) if kind_of(last).endswith("identifier") else ""


def _path(call: "Node") -> str:
    """The path that a call is given, as its first argument, or its second one of a macro; "" if it is none."""
    given = inside(part_of(call, "arguments"))[: 1 + bool(_MACRO.fullmatch(_called(call)))]
    texts = (node_text(each).strip('"') for each in given if each.type in _STRINGS)
    return next((text for text in texts if text.startswith("/") and _called(call) not in _GROUPS | _SCOPES), "")


def _verb(chain: "list[Node]") -> str:
    """What a route is asked with: the nearest verb of the chain, or those that it states; GET of a macro without."""
    for call in chain:
        called = _called(call)
        if called.lower() in _VERBS:
            return called.upper()
        if called == _METHODS:
            stated = (word for each in inside(part_of(call, "arguments")) for word in _WORD.findall(node_text(each)))
            return next((word.upper() for word in stated if word.lower() in _VERBS), "ANY")
        if _MACRO.fullmatch(called) and not any(map(_called, chain[:-1])):
            return "GET"
    return ""


def _prefixes(route: "Node") -> "Iterator[str]":
    """What the calls around a route begin its path with, the innermost first."""
    call: Node | None = route
    for _ in range(_MOST):
        if call is None:
            break
        yield from (text for each in [*_chain(call)][1:] if _called(each) in _SCOPES and (text := _text(each)))
        call = _given_to(_whole_chain(call))
        if call is not None and _called(call) in _GROUPS | _SCOPES and (text := _text(call)):
            yield text


def _text(call: "Node") -> str:
    """The path that a call is given first, without a slash at its end."""
    first = part_of(call, "arguments", "0")
    text = node_text(first).strip('"') if kind_of(first) in _STRINGS else ""
    return "/" + text.strip("/") if text.startswith("/") else ""
