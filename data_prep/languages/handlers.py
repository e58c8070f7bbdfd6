"""Functions without a name that are given to a call with a text: ``router.get("/orders/:id", (req, res) => {...})``.

They are handlers of routes and events and the like. Their name is that of the called function and the text:
``GET /orders/:id``, ``on close``. Only the search reads them. Test cases are none: :mod:`data_prep.languages.cases`
finds those of some languages. Nor is what a constant of the file is given, unless it is a route.
"""

import re
from collections.abc import Iterator
from typing import Final

from data_prep.languages.language import Declaration, name_of, node_text, words
from data_prep.languages.own_tree import Node

_LITERALS: Final = words("arrow_function function_expression generator_function func_literal lambda_expression")
_CALLS: Final = words("call_expression method_invocation")
_ARGUMENTS: Final = words("arguments argument_list")
_STRINGS: Final = words("string template_string interpreted_string_literal raw_string_literal string_literal")
_BLOCKS: Final = words("statement_block block")
_VERBS: Final = words("get post put patch delete del head options all any use ws sse")
"""Called functions that are methods of HTTP, or stand for all of them."""
_ROUTES: Final = _VERBS | words("route handle handlefunc handler match method path group namespace scope mount add")
_GROUPS: Final = words("route group path namespace scope mount")
"""Called functions whose text begins the routes inside of them."""
_OTHERS: Final = words(
    "it test specify bench fit xit "
    "describe context suite fdescribe xdescribe define require replace replaceall split join map filter foreach reduce "
    "then catch finally import run assertthrows"
)
"""Called functions that are given functions for other reasons, or with others inside."""
_DECLARATORS: Final = words("variable_declarator var_spec const_spec")
_OUTERMOST: Final = words("program source_file export_statement")
_LONGEST: Final = 200
"""Characters of a text that names something."""
_OUTSIDE: Final = 60
"""How many nodes around a handler are looked at for what begins its route."""


def handler(node: Node) -> Declaration | None:
    """The declaration of a function literal that is given to a call with a text; None if it is none."""
    option = _of_options(node)
    if option is not None:
        return option
    call = _call_of(node)
    for _ in range(2):  # a function around it, such as asyncHandler(async (req, res) => {...})
        if call is None or _text_of(call) is not None:
            break
        called = call.child_by_field_name("function")
        call = _call_of(call) if called is not None and called.type == "identifier" else None
    text = _text_of(call) if call is not None else None
    if call is None or text is None:
        return None
    name = _name(node, call, text)
    if " /" not in name and _is_constant(call):
        return None
    return Declaration(name.replace(".", " "), _whole(call), kind="handler") if name else None


def _name(node: Node, call: Node, text: str) -> str:
    called = _called(call)
    lower, body = called.lower(), node.child_by_field_name("body")
    stated, _, path = text.partition(" ")
    if stated.lower() in _VERBS and path.startswith("/"):  # as Go has it since 1.22
        return f"{stated} {_before(call)}{path}"
    if lower in _ROUTES and (text.startswith(("/", "*")) or (lower in _VERBS and not text)):
        verb = called.upper() if lower in _VERBS else called
        return f"{verb} {_before(call)}{text}"
    if lower in _OTHERS or not text.strip() or body is None:
        return ""
    if body.type not in _BLOCKS or body.end_point[0] == body.start_point[0]:
        return ""
    return f"{called} {' '.join(text.split())}"


def _is_constant(call: Node) -> bool:
    """Whether a constant outside of functions is given the result of a call."""
    at = call.parent
    while at is not None and at.type in ("expression_list", "await_expression", "as_expression"):
        at = at.parent
    statement = at.parent if at is not None and at.type in _DECLARATORS else None
    around = statement.parent if statement is not None else None
    return around is not None and around.type in _OUTERMOST


def _of_options(node: Node) -> Declaration | None:
    """The function of ``{method: "GET", url: "/orders", handler: async (request) => {...}}``."""
    pair = node if node.type == "method_definition" else node.parent
    if pair is None or pair.type not in ("pair", "method_definition"):
        return None
    options = pair.parent
    if options is None or options.type != "object" or _key(pair) not in ("handler", "handle", "callback", "execute"):
        return None
    found = {_key(each): each.child_by_field_name("value") for each in options.named_children if each.type == "pair"}
    texts = {key: _string(value) for key, value in found.items() if value is not None and value.type in _STRINGS}
    path = texts.get("url") or texts.get("path") or ""
    if not path.startswith("/"):
        return None
    name = f"{texts.get('method', 'route').upper()} {path}".replace(".", " ")
    return Declaration(name, pair, kind="handler")


def _key(pair: Node) -> str:
    return node_text(pair.child_by_field_name("key") or pair.child_by_field_name("name")).strip("'\"")


def _call_of(node: Node) -> Node | None:
    """The call whose last function argument a node is."""
    arguments = node.parent
    if arguments is None or arguments.type not in _ARGUMENTS:
        return None
    after = node.next_named_sibling
    while after is not None:
        if after.type in _LITERALS:
            return None
        after = after.next_named_sibling
    call = arguments.parent
    return call if call is not None and call.type in _CALLS else None


def _text_of(call: Node) -> str | None:
    """The text that a call is given first, or that the calls before it in a chain are; None if there is none."""
    for each in _chain(call):
        arguments = each.child_by_field_name("arguments")
        first = _first(arguments)
        first = _first(first) if first is not None and first.type == "array" else first
        if first is not None and first.type in _STRINGS:
            text = _string(first)
            return text if len(text) <= _LONGEST and (each == call or text.startswith("/")) else None
    return None


def _first(node: Node | None) -> Node | None:
    return node.named_child(0) if node is not None and node.named_child_count else None


def _chain(call: Node) -> Iterator[Node]:
    """A call, and those whose results it is called on: ``app.route("/a").get(...)``."""
    at: Node | None = call
    while at is not None and at.type in _CALLS:
        yield at
        called = at.child_by_field_name("function") or at
        at = called.child_by_field_name("object") or called.child_by_field_name("operand")


def _called(call: Node) -> str:
    """The last name of what is called."""
    called = call.child_by_field_name("function")
    if called is None:
        return name_of(call)
    last = called.child_by_field_name("property") or called.child_by_field_name("field") or called
    return node_text(last) if last.type.endswith("identifier") else ""


def _string(node: Node) -> str:
    text = node_text(node)
    return re.sub(r"\$\{[^}]*\}", " ", text[1:-1]) if len(text) > 1 else ""


def _before(call: Node) -> str:
    """What the calls around one begin its route with."""
    parts: list[str] = []
    at = call.parent
    for _ in range(_OUTSIDE):
        if at is None:
            break
        if at.type in _CALLS and _called(at).lower() in _GROUPS and (text := _text_of(at)) and at != call:
            parts.append(f"/{text.strip('/')}")
        at = at.parent
    return "".join(reversed(parts))


def _whole(call: Node) -> Node:
    """The statement that a call is, if it has no other handlers."""
    inner = [each for each in _chain(call) if each != call]
    arguments = call.child_by_field_name("arguments")
    if arguments is not None and any(_has_literal(each) for each in inner):
        return arguments
    parent = call.parent
    return parent if parent is not None and parent.type == "expression_statement" else call


def _has_literal(call: Node) -> bool:
    arguments = call.child_by_field_name("arguments")
    return arguments is not None and any(each.type in _LITERALS for each in arguments.named_children)
