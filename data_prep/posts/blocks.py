"""Code elements divided into code and errors, and the type of error that a traceback reports.

SearchBySnippet (Sokolov et al., LREC-COLING 2024, arXiv 2305.11625) calls a block that contains "Error" a traceback and
takes the type of error from it by a regular expression, which it does not print.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from data_prep.posts.config import ErrorRule

_HEADER: Final = "Traceback (most recent call last)"
_FRAME: Final = re.compile(r'^[^\S\n]*File "[^"\n]+", line \d+', re.MULTILINE)
_NAME: Final = r"[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit|Iteration)"
_KEYWORD: Final = re.compile(
    rf"(?:<(?:type|class) ')?(?:[A-Za-z_]\w*\.)*({_NAME})(?:'>)?[ \t]*(?::|$|Traceback \(most recent)"
)
"""A line that begins with the name of an exception: ``pkg.FooError: message``; ``<type 'exceptions.FooError'>: ...`` of
old Pythons; ``FooError          Traceback (most recent call last)`` of IPython."""
_WORD: Final = re.compile(r"\w*")


@dataclass(frozen=True, slots=True)
class Snippets:
    """The code and the errors of a post."""

    code: str  # blocks joined by newlines, "" if there are none
    error: str
    keywords: tuple[str, ...]  # types of error, one per traceback, without repetition


def is_error(block: str, rule: ErrorRule) -> bool:
    """Whether a block is an error message rather than code."""
    if rule == "faithful":
        return "Error" in block
    if _HEADER in block or _FRAME.search(block):
        return True
    return bool(_KEYWORD.match(block.rstrip().rsplit("\n", 1)[-1]))


def error_type(block: str) -> str:
    """The exception that a traceback ends with, without its module; of chained ones the last; "" if there is none."""
    for line in reversed(block.split("\n")):
        if found := _KEYWORD.match(line):
            return found[1]
    at = block.rfind("Error")  # the last word that contains it
    if at < 0:
        return ""
    return _matched(block[:at][::-1])[::-1] + _matched(block[at:])


def _matched(text: str) -> str:
    """The characters of a word that ``text`` begins with."""
    found = _WORD.match(text)
    return found[0] if found else ""


def snippets_of(blocks: Iterable[str], rule: ErrorRule) -> Snippets:
    """``blocks`` of a post, in order, divided into code and errors; blank ones are dropped."""
    code: list[str] = []
    errors: list[str] = []
    for block in blocks:
        if block.strip():
            kept = block.strip("\n")
            (errors if is_error(kept, rule) else code).append(kept)
    types = dict.fromkeys(filter(None, map(error_type, errors)))
    return Snippets("\n".join(code), "\n".join(errors), tuple(types))
