"""A piece of code as typed or pasted: its language, the words of its identifiers, and the names it defines and calls.

The piece need not be whole: it may begin or end anywhere. Its language is the one whose parser skips the least of it.
"""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from tree_sitter import Node, Parser, Tree

from data_prep.languages.fields import LONGEST, code_fields
from data_prep.languages.identifiers import LONGEST_WORD, split_identifier
from data_prep.languages.parsing import loaded_grammar
from data_prep.languages.registry import LANGUAGES, languages
from data_prep.languages.registry import language as language_named
from data_prep.worker_pool import CALLS
from data_prep.worker_process import EndedByItemError

_SELF_NAMES: Final = frozenset(name for each in languages() for name in each.self_names)
"""They are no words in a piece of code, whose language may be another than it seems."""
_START: Final = 1 << 12
"""Characters by which a language is recognised."""
_WEIGHT: Final = 0.5
"""What the share of typical lines counts against the share of skipped text."""
_BROKEN: Final = 0.1
"""Doubt from which a piece is of no known language."""
_PROMPT: Final = re.compile(r"(?m)^(?:>>> ?|\.\.\. ?|In \[\d+\]: ?| +\.\.\.: ?)")
_FENCE: Final = re.compile(r"(?ms)\A\s*```[ \t]*\w*\n(.*?)(?:^```\s*)?\Z")
_WORD: Final = re.compile(r"[^\W\d]\w*")
_MOST_NODES: Final = 20_000


@dataclass(frozen=True, slots=True)
class CodeText:
    """A piece of code."""

    text: str
    language: str  # "" if it is of none that is known
    tokens: Sequence[str]  # words of its identifiers, distinct, in order of first occurrence
    api: Sequence[str]  # for each call the last name before its dot, if there is one, and the called name
    defined: Sequence[str]  # names that it defines, distinct, in order


def read_code(text: str, language: str = "") -> CodeText:
    """The words of a piece of code.

    Text that costs a parser too much is read without one, as text of no language.

    Args:
        text: at most some 65,536 characters.
        language: if it is known.

    Raises:
        ChildProcessError: no process could be started that parses.
    """
    code = textwrap.dedent(_PROMPT.sub("", found[1] if (found := _FENCE.match(text)) else text)).strip("\n")
    try:
        read: CodeText = CALLS.call(f"{__name__}:parsed_code", code, language)
    except EndedByItemError:
        return _without_parser(code)
    return read


def parsed_code(code: str, language: str) -> CodeText:
    """The same in this process, for code that is free of prompts and fences."""
    language = language if language in LANGUAGES else language_of(code)
    if not language:
        return _without_parser(code)
    root, found = _parse(code, language).root_node, language_named(language)
    fields = code_fields("", "", (root, root, None), replace(found, self_names=_SELF_NAMES))
    return CodeText(code, language, fields["tokens"], fields["api"], _defined(root, found.definitions))


def _without_parser(code: str) -> CodeText:
    words = dict.fromkeys(part for name in _WORD.findall(code) for part in split_identifier(name[:LONGEST_WORD]))
    return CodeText(code, "", tuple(word for word in words if len(word) > 1)[:LONGEST], (), ())


def language_of(text: str) -> str:
    """The language of a piece of code; "" if it is of none that is known."""
    part = text[:_START]
    lines = [line for line in part.splitlines() if line.strip()]
    doubt = {
        each.name: each.doubt + _skipped(part, each.name) - _WEIGHT * _typical(lines, each.typical)
        for each in languages()
    }
    best = min(doubt, key=lambda name: doubt[name])
    return best if doubt[best] < _BROKEN else ""


def _typical(lines: Sequence[str], pattern: str) -> float:
    """The share of the lines that have something typical of a language."""
    typical = re.compile(pattern)
    return sum(typical.search(line) is not None for line in lines) / max(1, len(lines))


@lru_cache(maxsize=32)
def _skipped(text: str, language: str) -> float:
    """The share of the text that the parser skips, and what it adds."""
    root = _parse(text, language).root_node
    todo, skipped = [root] if root.has_error else [], 0
    for _ in range(_MOST_NODES):
        if not todo:
            break
        node = todo.pop()
        if node.is_error:  # it may be around everything: what it has parsed does not count
            skipped += sum(each.end_byte - each.start_byte for each in node.children if not each.child_count)
        skipped += node.is_missing
        todo += [each for each in node.children if each.has_error]
    return skipped / max(1, root.end_byte - root.start_byte)


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


def _parse(text: str, language: str) -> Tree:
    return Parser(loaded_grammar(language_named(language).grammar)).parse(text.encode(errors="replace"))
