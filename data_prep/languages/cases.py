"""Tests that are named by a text: ``it("adds numbers", () => {...})``, ``test "adds numbers" do``.

What they are called is much the same in all languages. They are found by their text, since most calls are none.
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
_BLOCK: Final = re.compile(rb"[{$]|=>|->|\b(?:do|function|fn|fun)\b")
"""What begins a test's code."""
_NEAR: Final = 1000
"""Bytes behind a test's name in which it begins."""
_CALLS: Final = words(
    "call call_expression function_call function_call_expression member_call_expression infix_expression infix apply "
    "function_definition"
)
_ESCAPED: Final = re.compile(r"\\(?=['\"`])")


def cases(root: "Node", data: bytes) -> Iterator[tuple["Node", Declaration]]:
    """The tests of a file with the declarations that name them, in source order.

    Args:
        root: of the file's tree.
        data: its text.
    """
    heads = {head.start("start"): head for head in _HEAD.finditer(data)}
    for place, node in sorted(_calls_at(root, sorted(heads)).items()):
        head = heads[place]
        body = _code_behind(node, head.end())
        if body is not None and _BLOCK.search(data, head.end(), min(node.end_byte, head.end() + _NEAR)):
            name = test_name((head["name"] or head["said"]).decode("utf-8", "replace"))
            yield node, Declaration(name, node, kind="test", body=body)


def test_name(text: str) -> str:
    """A test's description without its quotes, in one line."""
    quote = text[-1:]
    plain = re.sub(rf"(?<!\\){quote}", "", text) if quote in "'\"`" else text
    return " ".join(_ESCAPED.sub("", plain).split())


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


def _code_behind(call: "Node", place: int) -> "Node | None":
    """The longest part of a call that begins behind a place."""
    parts, todo = [], [call]
    while todo:
        inside = todo.pop().named_children
        parts += [each for each in inside if each.start_byte >= place]
        todo += [each for each in inside if each.start_byte < place < each.end_byte]
    return max(parts, key=lambda each: each.end_byte - each.start_byte, default=None)
