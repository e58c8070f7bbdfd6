"""Functions by name and arity, as Elixir has them: ``Shop.handle/2``, ``&handle/2``, ``fun Shop:handle/2``."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from search.index.code_index import Index

_ASKED: Final = re.compile(r"(?:&|fun\s+)?(?:Elixir\.)?((?:\w+[.:])*[a-z_]\w*[?!]?)/(\d{1,3})")
_HEAD: Final = re.compile(r"(?m)^[ \t]*(?:@\w*callback|def\w*)[ \t]+([\w?!]+)(\()?")
_LONGEST: Final = 2000
"""Characters of the parameters of a function."""


def of_arity(index: Index, query: str, called: Callable[[str], Mapping[int, float]]) -> Mapping[int, float]:
    """The functions that a question means by name and arity, and how good a reading each is; none if it is no such.

    Args:
        index: of the functions.
        query: the question.
        called: what has a dotted name.
    """
    asked = _ASKED.fullmatch(query.strip())
    if asked is None:
        return {}
    found = called(asked[1].replace(":", "."))
    rows = [row for row in found if index.file(row).language == "elixir"]
    fits = {row: takes_as_many(index.text(row).source, int(asked[2])) for row in rows}
    return {row: found[row] + fit for row, fit in fits.items() if fit}


def takes_as_many(source: str, wanted: int) -> float:
    """Whether a function can be called with so many arguments, by its text: 1, 0.5 if by defaults, or 0."""
    head = _HEAD.search(source)
    if head is None or head[2] is None:
        return float(head is not None and wanted == 0)
    depth, commas, defaults, is_empty = 0, 0, 0, True
    for place in range(head.end(), min(len(source), head.end() + _LONGEST)):
        sign = source[place]
        if sign == ")" and not depth:
            break
        depth += (sign in "([{") - (sign in ")]}")
        commas += sign == "," and not depth
        defaults += source.startswith("\\\\", place)
        is_empty &= sign.isspace()
    most = 0 if is_empty else commas + 1
    return float(wanted == most) or 0.5 * (most - defaults <= wanted < most)
