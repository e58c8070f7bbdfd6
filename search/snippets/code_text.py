"""A piece of code as typed or pasted: its language, the words of its identifiers, and the names it defines and calls.

The piece need not be whole: it may begin or end anywhere. Its language is the one whose parser skips the least of it.
Its tokens are without comments and spaces; of their runs in common with those of a unit it depends what counts as a
copy.
"""

import re
import textwrap
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import sqrt
from typing import Final, Literal

from data_prep.languages.fields import LONGEST, code_fields
from data_prep.languages.identifiers import LONGEST_WORD, split_identifier
from data_prep.languages.own_tree import Node
from data_prep.languages.pieces import language_of, syntax_tree_of
from data_prep.languages.registry import LANGUAGES, languages
from data_prep.languages.registry import language as language_named
from data_prep.worker_pool import CALLS
from data_prep.worker_process import EndedByItemError
from search.files.languages import language_name

LONGEST_TEXT: Final = 1 << 18
"""Characters that are read of a part, half from each end; longer ones lose their middle."""
_SELF_NAMES: Final = frozenset(name for each in languages() for name in each.self_names)
"""They are no words in a piece of code, whose language may be another than it seems."""
_PROMPT: Final = re.compile(r"(?m)^(?:>>> ?|\.\.\. ?|In \[\d+\]: ?| +\.\.\.: ?)")
_FENCE: Final = re.compile(r"(?ms)\A\s*```[ \t]*\w*\n(.*?)(?:^```\s*)?\Z")
_WORD: Final = re.compile(r"[^\W\d]\w*")
_MOST_NODES: Final = 20_000
Copy = Literal["", "near", "exact"]
"""What a unit has of a piece of code: all of it in one run; most of it; neither."""

RUN: Final = 2
"""Tokens of a run, for the overlap that ranks."""
COPIED_RUN: Final = 4
"""The same, for near copies."""
COPIED: Final = 0.8
"""Share of a piece's runs of COPIED_RUN tokens from which a unit that has them is a near copy."""
SHORTEST: Final = 12
"""Tokens from which a piece of code can have copies: less than that is everywhere."""
_MOST_TOKENS: Final = 20_000
"""Tokens that are read of a piece of code."""
_STRING: Final = (
    r"\"\"\"(?:[^\\]|\\.)*?(?:\"\"\"|\Z)|'''(?:[^\\]|\\.)*?(?:'''|\Z)"
    r"|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?|`(?:\\.|[^`\\])*`?"
)
_TOKEN: Final = r"(?:[^\W\d]\w*|\d[\w.]*|[^\w\s])"


@dataclass(frozen=True, slots=True)
class CodeText:
    """A piece of code."""

    text: str
    language: str  # "" if it is of none that is known
    tokens: Sequence[str]  # words of its identifiers, distinct, in order of first occurrence
    api: Sequence[str]  # for each call the last name before its dot, if there is one, and the called name
    defined: Sequence[str]  # names that it defines, distinct, in order


def read_code(text: str, language: str = "", among: Collection[str] = ()) -> CodeText:
    """The words of a piece of code.

    Text that costs a parser too much is read without one, as text of no language.

    Args:
        text: at most some 65,536 characters.
        language: if it is known.
        among: languages that it is likely in, if it is not: those of the code that is searched.

    Raises:
        ChildProcessError: no process could be started that parses.
    """
    code = textwrap.dedent(_PROMPT.sub("", found[1] if (found := _FENCE.match(text)) else text)).strip("\n")
    try:
        read: CodeText = CALLS.call(f"{__name__}:parsed_code", code, language, tuple(among))
    except EndedByItemError:
        return _without_parser(code)
    return read


def parsed_code(code: str, language: str, among: Sequence[str] = ()) -> CodeText:
    """The same in this process, for code that is free of prompts and fences."""
    language = language if language in LANGUAGES else language_of(code, likely=among)
    if not language or not language_named(language).grammar:
        return replace(_without_parser(code), language=language)
    found = language_named(language)
    root = syntax_tree_of(code.encode(errors="replace"), found).root_node
    fields = code_fields("", "", (root, root, None), replace(found, self_names=_SELF_NAMES))
    return CodeText(code, language, fields["tokens"], fields["api"], _defined(root, found.definitions))


def _without_parser(code: str) -> CodeText:
    words = dict.fromkeys(part for name in _WORD.findall(code) for part in split_identifier(name[:LONGEST_WORD]))
    return CodeText(code, "", tuple(word for word in words if len(word) > 1)[:LONGEST], (), ())


def _defined(root: Node, definitions: frozenset[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    todo = [root]
    for _ in range(_MOST_NODES):
        if not todo or len(found) >= LONGEST:
            break
        node = todo.pop()
        if node.type in definitions and (name := node.child_by_field_name("name")) is not None:
            found[(name.text or b"")[:LONGEST_WORD].decode(errors="replace")] = None
        todo += reversed(node.named_children)
    return tuple(found)


def shortened(text: str, longest: int = LONGEST_TEXT) -> str:
    """A text without its middle, if it is longer than ``longest`` characters."""
    return text if len(text) <= longest else f"{text[: longest // 2]}\n{text[-longest // 2 :]}"


@dataclass(frozen=True, slots=True)
class Tokens:
    """A piece of code as runs of tokens."""

    all: Sequence[str]
    runs: frozenset[tuple[str, ...]]  # of RUN tokens
    copied: frozenset[tuple[str, ...]]  # of COPIED_RUN tokens

    @classmethod
    def of(cls, text: str, language: str) -> "Tokens":
        """The tokens of a text; strings are one token each, comments none."""
        found = [match[1] for match in _pattern(language).finditer(text) if match[1]][:_MOST_TOKENS]
        return cls(found, _runs(found, RUN), _runs(found, COPIED_RUN))

    @classmethod
    def of_unit(cls, text: str, path: str) -> "Tokens":
        """The tokens of a unit of the file ``path``."""
        return cls.of(text, language_name(path))

    def overlap(self, other: "Tokens") -> float:
        """The cosine of the two sets of runs: their intersection by the root of the product of their sizes; 0 to 1."""
        size = sqrt(len(self.runs) * len(other.runs))
        return len(self.runs & other.runs) / size if size else 0.0

    def copy_in(self, other: "Tokens") -> Copy:
        """What ``other`` has of these tokens."""
        if len(self.all) < SHORTEST or not self.copied:
            return ""
        share = len(self.copied & other.copied) / len(self.copied)
        if share == 1 and "\0".join(self.all) in "\0".join(other.all):
            return "exact"
        return "near" if share >= COPIED else ""


def _runs(tokens: Sequence[str], length: int) -> frozenset[tuple[str, ...]]:
    return frozenset(zip(*(tokens[start:] for start in range(length)), strict=False))


@cache
def _pattern(language: str) -> re.Pattern[str]:
    """Tokens of a language in group 1; comments outside of it."""
    comment = _comment(language) if language else r"(?!)"
    return re.compile(f"({_STRING}|(?!{comment}){_TOKEN})|{comment}", re.DOTALL)


def _comment(language: str) -> str:
    """Regular expression of a comment; documents are read as most languages are."""
    found = language_named(language) if language in LANGUAGES else None
    line, block = (found.comment_mark, found.block_comment) if found else ("//", ("/*", "*/"))
    of_lines = rf"(?:{line})[^\n]*"
    return rf"{of_lines}|{re.escape(block[0])}.*?(?:{re.escape(block[1])}|\Z)" if block else of_lines
