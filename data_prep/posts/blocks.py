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
_FRAME: Final = re.compile(r'^\s*File "[^"\n]+", line \d+', re.MULTILINE)
_NAME: Final = r"[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit|Iteration)"
_KEYWORD: Final = re.compile(
    rf"^(?:<(?:type|class) ')?(?:[A-Za-z_]\w*\.)*({_NAME})(?:'>)?[ \t]*(?::|$|Traceback \(most recent)", re.MULTILINE
)
"""A line that begins with the name of an exception: ``pkg.FooError: message``; ``<type 'exceptions.FooError'>: ...`` of
old Pythons; ``FooError          Traceback (most recent call last)`` of IPython."""
_TOKEN: Final = re.compile(r"\w*Error\w*")


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
    lines = block.rstrip().rsplit("\n", 1)
    return bool(_KEYWORD.match(lines[-1]))


def error_type(block: str) -> str:
    """The exception that a traceback ends with, without its module; of chained ones the last; "" if there is none."""
    if found := _KEYWORD.findall(block):
        return str(found[-1])
    tokens = _TOKEN.findall(block)
    return str(tokens[-1]) if tokens else ""


def snippets_of(blocks: Iterable[str], rule: ErrorRule) -> Snippets:
    """``blocks`` of a post, in order, divided into code and errors; blank ones are dropped."""
    kept = [block.strip("\n") for block in blocks if block.strip()]
    errors = [block for block in kept if is_error(block, rule)]
    code = [block for block in kept if not is_error(block, rule)]
    types = dict.fromkeys(filter(None, map(error_type, errors)))
    return Snippets("\n".join(code), "\n".join(errors), tuple(types))
