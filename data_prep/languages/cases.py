"""Tests that are named by a text: ``it("adds numbers", () => {...})``, ``test "adds numbers" do``; routes.

What they are called is much the same in all languages. They are found by their text, since most calls are none. So are
the handlers of routes, ``get "/orders/:id" do``, of languages without ``Language.handlers``.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from data_prep.languages.language import Declaration, words

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
_HEAD: Final = re.compile(_BEFORE + _GIVEN + rb"|" + _SAID + rb"[ \t]+in\b)")
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
_BLOCK: Final = re.compile(rb"[{$]|=>|->|\b(?:do|function|fn|fun)\b")
"""What begins a test's code."""
_NEAR: Final = 1000
"""Bytes behind a test's name in which it begins."""
_CALLS: Final = words(
    "call call_expression function_call function_call_expression member_call_expression infix_expression infix apply "
    "function_definition invocation_expression scoped_call_expression"
)
_ESCAPED: Final = re.compile(r"\\(?=['\"`])")


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
        if places[number] == start and node.type in _CALLS:
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
