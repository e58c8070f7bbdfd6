"""The fields of code of any language, by rules that look at letters only: for models that were trained on Java's.

A name, the words of all identifiers, the words of what is called. No grammar: the same rules for Go, R or Python, so
that what a model does on them is its own and not a parser's.
"""

import re
from collections.abc import Iterable
from typing import Final

from data_prep.gencodesearchnet.records import Example
from data_prep.languages.fields import LONGEST
from data_prep.languages.identifiers import query_words, split_identifier
from data_prep.records import Method, Pair
from data_prep.store.prepared_data import Split

_IDENTIFIER: Final = re.compile(r"[^\W\d][\w$]*")
_DECLARED: Final = re.compile(r"\b(?:def|function|func|fun|fn|sub)\s+(?:\([^()]*\)\s*)?([^\W\d][\w$]*)")
_ASSIGNED: Final = re.compile(r"^\s*([^\W\d][\w$.]*)\s*(?:<-|=(?!=))")
_CALLED: Final = re.compile(r"([^\W\d][\w$]*)\s*\(")
_KEYWORDS: Final = frozenset((
    "abstract", "and", "as", "assert", "async", "await", "begin", "boolean", "break", "byte", "case", "catch", "chan",
    "char", "class", "const", "continue", "def", "default", "defer", "delete", "do", "double", "echo", "elif", "else",
    "elseif", "elsif", "end", "ensure", "enum", "except", "export", "extends", "false", "final", "finally", "float",
    "for", "foreach", "from", "func", "function", "global", "go", "goto", "if", "implements", "import", "in", "int",
    "interface", "is", "lambda", "let", "long", "module", "native", "new", "next", "nil", "none", "not", "null",
    "or", "package", "pass", "private", "protected", "public", "raise", "range", "rescue", "return", "self", "short",
    "static", "string", "struct", "super", "switch", "then", "this", "throw", "throws", "true", "try", "type", "typeof",
    "unless", "until", "use", "var", "void", "while", "with", "yield",
))  # fmt: skip
"""Keywords of the languages, lower-case."""


def code_fields(code: str) -> dict[str, tuple[str, ...]]:
    """The words of a piece of code, as fields of the names that models know.

    - name: of what it declares; else of what it first assigns to, as R does; else of what it first calls; else its
      first identifier. A model that compares name words with the query would favour code without a name.
    - tokens: the words of its identifiers, each at its first place only, without single letters and keywords.
    - api: the names it calls, as written, in order.
    - ast: none.
    """
    called = [name for name in _CALLED.findall(code) if name.lower() not in _KEYWORDS]
    declared = _DECLARED.search(code) or _ASSIGNED.match(code)
    found = [name for name in _IDENTIFIER.findall(code) if name.lower() not in _KEYWORDS]
    name = declared.group(1) if declared else next(iter([*called, *found]), "")
    words = dict.fromkeys(word for each in found for word in split_identifier(each))
    tokens = tuple(word for word in words if len(word) > 1 and word not in _KEYWORDS)
    api = called[1:] if declared and called[:1] == [name] else called
    return {
        "name": split_identifier(name)[:LONGEST],
        "tokens": tokens[:LONGEST],
        "api": tuple(api[:LONGEST]),
        "ast": (),
    }


def as_split(name: str, pairs: Iterable[Example]) -> Split:
    """Texts and codes as pairs of a prepared data set, in order."""
    return Split.of(name, [_pair(name, number, pair) for number, pair in enumerate(pairs, start=1)])


def _pair(origin: str, number: int, pair: Example) -> Pair:
    text, code = pair.text.strip(), pair.code.strip()
    method = Method(origin, origin, number, number, "", "", "method", code, "", code_fields(code))
    return Pair(method, text, query_words(text))
