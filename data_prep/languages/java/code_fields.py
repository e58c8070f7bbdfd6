"""The code fields of a method, `clean` profile: name, tokens, api and ast, each a list of words.

The papers call them methodname, tokens, apiseq and sbt. The field ``statements`` is from ``jcg_fields``.
"""

from collections.abc import Iterable
from typing import Final

from tree_sitter import Node

from data_prep.languages.fields import LONGEST
from data_prep.languages.identifiers import split_identifier
from data_prep.languages.java.api_sequence import LEFT_KINDS, Step, api_sequence
from data_prep.languages.java.declarations import FoundMethod
from data_prep.languages.java.scopes import SCOPES

_IDENTIFIERS: Final = frozenset(("identifier", "type_identifier"))
_ANNOTATIONS: Final = frozenset(("annotation", "marker_annotation"))
_COMMENTS: Final = frozenset(("block_comment", "line_comment"))
_OF_WORDS: Final = _IDENTIFIERS | _ANNOTATIONS | SCOPES
"""Kinds of nodes that the fields of words need when they are entered."""


def clean_fields(found: FoundMethod) -> dict[str, tuple[str, ...]]:
    """The fields of a method: those of :func:`word_fields`, and its syntax tree.

    - ast: the kinds of the nodes of the declaration, parents before children.
    """
    steps = walk(found.node)
    return {**_word_fields(found, steps), "ast": tuple(kind for _, kind, leaving in steps if not leaving)[:LONGEST]}


def word_fields(found: FoundMethod) -> dict[str, tuple[str, ...]]:
    """The fields of a method that are words.

    - name: the words of its name, in order.
    - tokens: the words of the identifiers in its body, in order of first occurrence; single characters,
      keywords, literals, annotations and comments are excluded.
    - api: class word and method word of each call (``api_sequence``).
    """
    return _word_fields(found, walk(found.node, _OF_WORDS))


def _word_fields(found: FoundMethod, steps: list[Step]) -> dict[str, tuple[str, ...]]:
    return {
        "name": split_identifier(found.name)[:LONGEST],
        "tokens": _tokens(found.node.child_by_field_name("body"), steps)[:LONGEST],
        "api": api_sequence(found.node, steps, found.type)[:LONGEST],
    }


def walk(root: Node, kinds: frozenset[str] | None = None) -> list[Step]:
    """Every named node, or those of ``kinds``, when entered, and those of LEFT_KINDS when left, in source order.

    Comments are left out.

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
        if kinds is None or kind in kinds:
            steps.append((node, kind, False))
        if kind in LEFT_KINDS:
            todo.append((node, kind, True))
        if kind not in _IDENTIFIERS:
            todo += node.named_children[::-1]
    return steps


def _tokens(body: Node | None, steps: list[Step]) -> tuple[str, ...]:
    if body is None:
        return ()
    start = body.start_byte
    names: dict[bytes | None, None] = {}
    for node, kind, leaving in steps:
        if kind in _IDENTIFIERS:
            if node.start_byte >= start:
                names[node.text] = None
        elif kind in _ANNOTATIONS and not leaving:
            start = max(start, node.end_byte)
    return distinct_words(names)


def distinct_words(names: Iterable[bytes | None]) -> tuple[str, ...]:
    """The words of identifiers in order of first occurrence, without single characters."""
    words: dict[str, None] = {}
    for name in names:
        words.update(dict.fromkeys(split_identifier((name or b"").decode(errors="replace"))))
    return tuple(word for word in words if len(word) > 1)
