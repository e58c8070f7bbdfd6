"""Functions that a text names in a call: tests, and handlers of routes and events, ``GET /orders/:id``, ``on close``.

``it("adds numbers", () => {...})`` and ``test "adds numbers" do`` are much the same in all languages. Tests are found
by their text, since most calls are none. So are the handlers of routes, ``get "/orders/:id" do``, of languages without
``Language.handlers``. In the others a handler is a function without a name that a call is given with a text, such as
``router.get("/orders/:id", (req, res) => {...})``. Its name is that of the called function and the text; what a
constant of the file is given is none, unless it is a route. Only the search reads handlers.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from data_prep.languages.identifiers import compiled_later
from data_prep.languages.language import Declaration, words
from data_prep.languages.nodes import above, inside, kind_of, name_of, node_text, part_of

if TYPE_CHECKING:
    from tree_sitter import Node

_STRING: Final = (
    rb"\"\"\"(?:(?!\"\"\")[\s\S]){1,500}\"\"\"|\"(?:[^\"\\\n]|\\.){1,500}\"|'(?:[^'\\\n]|\\.){1,500}'|`[^`]{1,500}`"
)
_CALLED: Final = (
    rb"[xf]?(?:it|specify)|tests?|should|scenario|property|prop|test_that|test(?:Case|Property)|example|bench(?:mark)?"
    rb"|It|Specify|Scenario|Run|TEST_CASE(?:_\w+)?|SCENARIO(?:_\w+)?"
    rb"|(?:TEST_CASE|SCENARIO)_\w+[ \t]*\(\s*[\w:]+(?:<[^<>();{}]*>)?\s*,"
)
_BEFORE: Final = rb"(?m)^[ \t,\[]*(?P<start>(?:\w+\.)?(?:" + _CALLED + rb")(?:\.\w+)*"
_GIVEN: Final = rb"[ \t]*\(?\s*(?P<name>" + _STRING + rb")"
_SAID: Final = rb"(?P<said>(?:(?:it|they|" + _STRING + rb")[ \t]+(?:should|must|can)[ \t]+)?(?:" + _STRING + rb"))"
_HEAD: Final = compiled_later(_BEFORE + _GIVEN + rb"|" + _SAID + rb"[ \t]+in\b)")
_ROUTE: Final = re.compile(
    rb"(?m)^[ \t]*(?P<start>(?P<of>(?:[\w$]+(?:\.|->|::|:))*)(?:Map)?"
    rb"(?P<verb>(?i:get|post|put|patch|delete|head|options|any))"
    rb"[ \t]*\(?[ \t]*(?P<path>'/[^'\n]{0,200}'|\"[^\"\n]{1,200}\"(?:,[ \t]*\"[^\"\n]{1,200}\")*))"
)
_ROUTERS: Final = (b"app.", b"routes.", b"router.", b"route.", b"group.")
"""What routes without a slash are given to, in parts: ``app.get("orders", ":id") { ... }``."""
_FUNCTIONS: Final = words(
    "do_block block lambda_literal lambda_expression anonymous_function anonymous_method_expression arrow_function "
    "function_definition closure_expression do"
)
_AROUND: Final = words("argument annotated_lambda")
_BLOCK: Final = compiled_later(rb"[{$]|=>|->|\b(?:do|function|fn|fun)\b")
"""What begins a test's code."""
_NEAR: Final = 1000
"""Bytes behind a test's name in which it begins."""
_ANY_CALLS: Final = words(
    "call call_expression function_call function_call_expression member_call_expression infix_expression infix apply "
    "function_definition invocation_expression scoped_call_expression"
)
_ESCAPED: Final = compiled_later(r"\\(?=['\"`])")


def cases(root: "Node", data: bytes, *, routes: bool) -> Iterator[tuple["Node", Declaration]]:
    """The tests of a file with the declarations that name them, in source order.

    Args:
        root: of the file's tree.
        data: its text.
        routes: whether handlers of routes are found too.
    """
    found = [*(_ROUTE.finditer(data) if routes else ()), *_HEAD.finditer(data)]
    heads = {head.start("start"): head for head in found}
    for place, node in sorted(_calls_at(root, sorted(heads)).items()):
        head = heads[place]
        parts = _parts_behind(node, head.end())
        if head.re is _ROUTE:
            if (name := _route(head)) and (literals := [each for each in parts if each.type in _FUNCTIONS]):
                yield node, Declaration(name, node, kind="handler", body=literals[-1])
            continue
        body = max(parts, key=lambda each: each.end_byte - each.start_byte, default=None)
        if body is not None and _BLOCK.search(data, head.end(), min(node.end_byte, head.end() + _NEAR)):
            name = test_name((head["name"] or head["said"]).decode("utf-8", "replace"))
            yield node, Declaration(name, node, kind="test", body=body)


def test_name(text: str) -> str:
    """A test's description without its quotes, in one line."""
    quote = text[-1:]
    plain = re.sub(rf"(?<!\\){quote}", "", text) if quote in "'\"`" else text
    return " ".join(_ESCAPED.sub("", plain).split())


def _route(head: re.Match[bytes]) -> str:
    """``GET /orders/:id``; "" if it is none."""
    verb, path = head["verb"].decode().upper(), head["path"].decode("utf-8", "replace")[1:-1]
    if path.startswith("/") or head["of"].lower().endswith(_ROUTERS):
        parts = re.sub(r'"\s*,\s*"', "/", path).lstrip("/")
        return f"{verb} /{parts}".replace(".", " ")
    return ""


def _calls_at(root: "Node", places: Sequence[int]) -> dict[int, "Node"]:
    """The outermost call that begins at each place, if one does."""
    found: dict[int, Node] = {}
    todo = [root] if places else []
    while todo:
        node = todo.pop()
        start, number = node.start_byte, bisect_left(places, node.start_byte)
        if number == len(places) or places[number] >= node.end_byte:
            continue
        if places[number] == start and node.type in _ANY_CALLS:
            found.setdefault(start, node)
        todo += node.children
    return found


def _parts_behind(call: "Node", place: int) -> list["Node"]:
    """The parts of a call that begin behind a place."""
    parts, todo = [], [call]
    while todo:
        inside = todo.pop().named_children
        parts += [_inner(each) for each in inside if each.start_byte >= place]
        todo += [each for each in inside if each.start_byte < place < each.end_byte]
    return parts


def _inner(node: "Node") -> "Node":
    """A node without what is around arguments."""
    return node.named_children[-1] if node.type in _AROUND and node.named_children else node


_LITERALS: Final = words("arrow_function function_expression generator_function func_literal lambda_expression")
_CALLS: Final = words("call_expression method_invocation")
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


def handler(node: "Node") -> Declaration | None:
    """The declaration of a function literal that is given to a call with a text; None if it is none."""
    option = _of_options(node)
    if option is not None:
        return option
    call = _call_of(node)
    for _ in range(2):  # a function around it, such as asyncHandler(async (req, res) => {...})
        if call is None or _text_of(call) is not None:
            break
        call = _call_of(call) if kind_of(part_of(call, "function")) == "identifier" else None
    text = _text_of(call) if call is not None else None
    if call is None or text is None:
        return None
    name = _name(node, call, text)
    if " /" not in name and _is_constant(call):
        return None
    return Declaration(name.replace(".", " "), _whole(call), kind="handler") if name else None


def _name(node: "Node", call: "Node", text: str) -> str:
    called = _called(call)
    lower, body = called.lower(), part_of(node, "body")
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


def _is_constant(call: "Node") -> bool:
    """Whether a constant outside of functions is given the result of a call."""
    at = call
    while around := above(at, "expression_list await_expression as_expression"):
        at = around
    declarator = above(at, _DECLARATORS)
    return declarator is not None and above(declarator.parent, _OUTERMOST) is not None


def _of_options(node: "Node") -> Declaration | None:
    """The function of ``{method: "GET", url: "/orders", handler: async (request) => {...}}``."""
    pair = node if node.type == "method_definition" else above(node, "pair method_definition")
    options = above(pair, "object")
    if pair is None or options is None or _key(pair) not in ("handler", "handle", "callback", "execute"):
        return None
    found = {_key(each): part_of(each, "value") for each in options.named_children if each.type == "pair"}
    texts = {key: _string(value) for key, value in found.items() if value is not None and value.type in _STRINGS}
    path = texts.get("url") or texts.get("path") or ""
    if not path.startswith("/"):
        return None
    name = f"{texts.get('method', 'route').upper()} {path}".replace(".", " ")
    return Declaration(name, pair, kind="handler")


def _key(pair: "Node") -> str:
    return node_text(part_of(pair, "key") or part_of(pair, "name")).strip("'\"")


def _call_of(node: "Node") -> "Node | None":
    """The call whose last function argument a node is."""
    after = node.next_named_sibling
    while after is not None:
        if after.type in _LITERALS:
            return None
        after = after.next_named_sibling
    return above(node, "arguments argument_list", _CALLS)


def _text_of(call: "Node") -> str | None:
    """The text that a call is given first, or that the calls before it in a chain are; None if there is none."""
    for each in _chain(call):
        first = part_of(each, "arguments", "0")
        first = part_of(first, "0") if kind_of(first) == "array" else first
        if first is not None and first.type in _STRINGS:
            text = _string(first)
            return text if len(text) <= _LONGEST and (each == call or text.startswith("/")) else None
    return None


def _chain(call: "Node") -> "Iterator[Node]":
    """A call, and those whose results it is called on: ``app.route("/a").get(...)``."""
    at: Node | None = call
    while at is not None and at.type in _CALLS:
        yield at
        called = part_of(at, "function") or at
        at = part_of(called, "object") or part_of(called, "operand")


def _called(call: "Node") -> str:
    """The last name of what is called."""
    called = part_of(call, "function")
    if called is None:
        return name_of(call)
    last = part_of(called, "property") or part_of(called, "field") or called
    return node_text(last) if last.type.endswith("identifier") else ""


def _string(node: "Node") -> str:
    text = node_text(node)
    return re.sub(r"\$\{[^}]*\}", " ", text[1:-1]) if len(text) > 1 else ""


def _before(call: "Node") -> str:
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


def _whole(call: "Node") -> "Node":
    """The statement that a call is, if it has no other handlers."""
    arguments = part_of(call, "arguments")
    if arguments is not None and any(_has_literal(each) for each in _chain(call) if each != call):
        return arguments
    return above(call, "expression_statement") or call


def _has_literal(call: "Node") -> bool:
    return any(each.type in _LITERALS for each in inside(part_of(call, "arguments")))
