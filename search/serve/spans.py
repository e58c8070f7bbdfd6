"""The positions of the words of identifiers in Java source, which a page highlights."""

import re
from collections.abc import Collection, Iterator
from typing import Final

from data_prep.languages.identifiers import split_identifier

_PIECE: Final = re.compile(
    r"/\*.*?(?:\*/|\Z)|//[^\n]*"  # comments
    r'|"""(?:\\.|[^\\])*?(?:"""|\\?\Z)|"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])*\'?'  # texts, closed or not
    r"|@\s*[\w$]+(?:\.[\w$]+)*"  # annotations, which are not searched
    r"|\d[\w.]*"  # numbers
    r"|(?P<name>[^\W\d][\w$]*|\$[\w$]*)",
    re.DOTALL,
)
KEYWORDS: Final = frozenset((
    "abstract", "assert", "boolean", "break", "byte", "case", "catch", "char", "class", "const", "continue",
    "default", "do", "double", "else", "enum", "extends", "false", "final", "finally", "float", "for", "goto",
    "if", "implements", "import", "instanceof", "int", "interface", "long", "native", "new", "null", "package",
    "private", "protected", "public", "return", "short", "static", "strictfp", "super", "switch",
    "synchronized", "this", "throw", "throws", "transient", "true", "try", "void", "volatile", "while",
))  # fmt: skip
"""Reserved words. ``record``, ``var`` and the like may be names and count as such."""


def word_spans(source: str, words: Collection[str]) -> list[tuple[int, int, str]]:
    """Start, end and word of each of ``words`` in the identifiers of ``source``, in order; 0-based, in characters."""
    return [span for span in _identifier_words(source) if span[2] in words]


def _identifier_words(source: str) -> Iterator[tuple[int, int, str]]:
    for match in _PIECE.finditer(source):
        if (name := match["name"]) and name not in KEYWORDS:
            for start, end, word in _parts(name):
                yield match.start() + start, match.start() + end, word


def _parts(identifier: str) -> Iterator[tuple[int, int, str]]:
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
