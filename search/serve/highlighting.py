"""What a page colours in source code: comments, texts, keywords and the like, by the parsers that read the index.

A page marks pieces of plain text by their positions, so that no code becomes markup. Tree-sitter parses what is broken
or cut out of its file too: the pieces are those of its leaves.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final, Literal

import numpy as np

from data_prep.languages.identifiers import split_identifier
from data_prep.languages.language import Language, node_text
from data_prep.languages.own_tree import Node, TreeCursor
from data_prep.languages.parsing import syntax_tree
from data_prep.languages.registry import language_of
from data_prep.store.arrays import Int64
from search.files.embedded import scripts_alone

Kind = Literal["comment", "string", "keyword", "number", "type", "annotation"]
Span = tuple[int, int, str]
"""Start and end in characters from 0, and the kind or the word there."""

_COLOURS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("true", "false", "null", "null_literal", "none", "nil", "this", "super"), "keyword"),
    **dict.fromkeys(("integer", "float", "number", "int_literal", "float_literal"), "number"),
    "type_identifier": "type",
}
"""Leaves with a name of their own, in most grammars; a language has others in its ``colours``."""
_BEFORE_NAMES: Final = (".", ":", "@", "$", "&", "'")
"""What is before a name that is no keyword, such as that of a member."""
_QUOTES: Final = frozenset(('"', "'", "`", '"""'))
_STRINGS: Final = ("string", "escape_sequence", "regex")
_TYPE: Final = re.compile(r"[A-Z][0-9_$]*(?:[a-z]|\Z)")
"""What a type is called, by custom, in most languages."""


def highlighted(source: str, path: str, start: int = 0, end: int | None = None) -> list[Span]:
    """The pieces to colour, ascending and disjoint.

    Args:
        source: a file, or a part of it.
        path: of its file, whose suffix says the language; of another one nothing is coloured.
        start: the first character that is wanted.
        end: the one after the last; None: all.
    """
    found: list[Span] = []
    language = language_of(path)
    for first, last, kind, text in _leaves(source, path, start, end):
        if kind == "identifier" and language and text in language.keywords and _is_keyword(text, language):
            kind = "keyword" if source[first - 1 : first] not in _BEFORE_NAMES else ""
        elif kind == "identifier":
            kind = "type" if _TYPE.match(text) and language and language.capital_types else ""
        if kind and found and found[-1][1:] == (first, kind):
            found[-1] = (found[-1][0], last, kind)
        elif kind:
            found.append((first, last, kind))
    return found


def word_spans(source: str, path: str, words: Collection[str]) -> list[Span]:
    """Where each of ``words`` is in the identifiers of a source, in order; comments, texts and the like are left out.

    ``path`` is that of its file.
    """
    return [
        (first + start, first + end, word)
        for first, _, kind, text in _leaves(source, path, 0, None)
        if kind in ("identifier", "type")
        for start, end, word in _parts(text)
        if word in words
    ]


def _leaves(source: str, path: str, start: int, end: int | None) -> Iterator[tuple[int, int, str, str]]:
    """Start, end, kind and text of each leaf with a kind: a :data:`Kind` or "identifier"."""
    language = language_of(path)
    if language is None or not language.grammar:
        return
    data = scripts_alone(source, path).encode("utf-8", "replace")
    places = _character_places(data)
    first, last = np.searchsorted(places, [start, len(source) if end is None else end]).tolist()
    covered = 0
    annotations = (each for each, colour in language.colours.items() if colour == "annotation")
    whole = {"string_content", *language.comments, *annotations}
    for node in _visited(syntax_tree(language.grammar_of(path), data).walk(), first, last, whole):
        kind = _kind(node, language)
        begin, stop = node.start_byte, _end_of_name(node) if kind == "annotation" else node.end_byte
        if kind and begin >= covered and stop > begin:
            covered = stop
            text = data[begin:stop].decode("utf-8", "replace") if kind in ("identifier", "type") else ""
            yield int(places[begin]), int(places[stop]), kind, text


def _visited(cursor: TreeCursor, first: int, last: int, whole: Collection[str]) -> Iterator[Node]:
    """The leaves, and nodes of kinds ``whole`` above some of them, that are between two bytes, in order."""
    inside = True
    while inside:
        node = cursor.node
        assert node is not None
        wanted = node.end_byte > first and node.start_byte < last
        if wanted and (not node.child_count or node.type in whole):
            yield node
        inside = (wanted and cursor.goto_first_child()) or cursor.goto_next_sibling()
        while not inside and cursor.goto_parent():
            inside = cursor.goto_next_sibling()


def _kind(leaf: Node, language: Language) -> str:
    kind = leaf.type
    if not leaf.is_named:
        return _kind_of_sign(leaf)
    if kind in language.comments:
        return "comment"
    if colour := language.colours.get(kind) or _COLOURS.get(kind):
        return colour
    if kind.endswith("comment"):
        return "comment"
    if kind.removesuffix("_keyword") in language.keywords and node_text(leaf) == kind.removesuffix("_keyword"):
        return "keyword"
    if kind.endswith(("identifier", "identifier_pattern")) or kind in language.identifiers:
        return "identifier"
    if kind.endswith(("integer_literal", "point_literal")):
        return "number"
    return "string" if any(each in kind for each in _STRINGS) else ""


def _kind_of_sign(leaf: Node) -> str:
    kind = leaf.type
    if kind == "/" and leaf.parent is not None and leaf.parent.type == "regex":
        return "string"
    is_word = kind.strip("#@?!").replace("_", "").isalpha()
    return "string" if kind in _QUOTES else "keyword" if is_word else ""


def _is_keyword(text: str, language: Language) -> bool:
    """Whether a name that is a keyword is one wherever it stands: the grammar takes it for a name."""
    return language.keyword_names or text in _COLOURS


def _end_of_name(annotation: Node) -> int:
    """Where the name of an annotation or decorator ends, before its arguments."""
    name = annotation.child_by_field_name("name") or (annotation.named_children or [annotation])[0]
    called = name.child_by_field_name("function") if name.type in ("call", "call_expression") else None
    return (called or name).end_byte


def _character_places(data: bytes) -> Int64[np.ndarray, " bytes"]:
    """The number of characters before each byte, and before the end."""
    begins = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(begins, dtype=np.int64)])


def _parts(identifier: str) -> Iterator[Span]:
    """The words of an identifier and their positions in it."""
    lower = [(letter, place) for place, character in enumerate(identifier) for letter in character.lower()]
    text, places, start = "".join(letter for letter, _ in lower), [place for _, place in lower], 0
    for word in split_identifier(identifier):
        start = text.find(word, start)
        if start < 0:  # a letter whose lower case depends on its neighbours
            return
        end = start + len(word)
        yield places[start], places[end - 1] + 1, word
        start = end
