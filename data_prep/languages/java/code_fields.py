"""The code fields of a method, `clean` profile: name, tokens, api and ast, each a list of words.

The papers call them methodname, tokens, apiseq and sbt. The field ``statements`` is from ``parsed_fields``.
"""

from typing import Final

from tree_sitter import Node

from data_prep.languages.identifiers import split_identifier
from data_prep.languages.java.api_sequence import LEFT_KINDS, Step, api_sequence
from data_prep.languages.java.declarations import FoundMethod
from data_prep.languages.java.types import text

LONGEST: Final = 1000
"""Maximum words of a field."""

_IDENTIFIERS: Final = frozenset(("identifier", "type_identifier"))
_ANNOTATIONS: Final = frozenset(("annotation", "marker_annotation"))
_COMMENTS: Final = frozenset(("block_comment", "line_comment"))


def clean_fields(found: FoundMethod) -> dict[str, tuple[str, ...]]:
    """The fields of a method.

    - name: the words of its name, in order.
    - tokens: the words of the identifiers in its body, in order of first occurrence; single characters,
      keywords, literals, annotations and comments are excluded.
    - api: class word and method word of each call (``api_sequence``).
    - ast: the kinds of the nodes of the declaration, parents before children.
    """
    steps = walk(found.node)
    return {
        "name": split_identifier(found.name)[:LONGEST],
        "tokens": _tokens(found.node.child_by_field_name("body"), steps)[:LONGEST],
        "api": api_sequence(found.node, steps, found.type)[:LONGEST],
        "ast": tuple(kind for _, kind, leaving in steps if not leaving)[:LONGEST],
    }


def walk(root: Node) -> list[Step]:
    """Every named node except comments when entered, and those of LEFT_KINDS when left, in source order.

    Iterative, so that deeply nested text does not overflow the stack.
    """
    steps: list[Step] = []
    todo: list[Node | Step] = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, tuple):
            steps.append(node)
            continue
        kind = node.type
        if kind in _COMMENTS:
            continue
        steps.append((node, kind, False))
        if kind in LEFT_KINDS:
            todo.append((node, kind, True))
        todo += reversed(node.named_children)
    return steps


def _tokens(body: Node | None, steps: list[Step]) -> tuple[str, ...]:
    if body is None:
        return ()
    start = body.start_byte
    words: dict[str, None] = {}
    for node, kind, leaving in steps:
        if leaving:
            continue
        if kind in _ANNOTATIONS:
            start = max(start, node.end_byte)
        elif kind in _IDENTIFIERS and node.start_byte >= start:
            words.update(dict.fromkeys(split_identifier(text(node))))
    return tuple(word for word in words if len(word) > 1)
