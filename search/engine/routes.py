"""What answers a route that a question asks for with its verb: ``POST /orders``.

The verb stands in what is before a function's body, as ``@router.post("/orders")`` or ``[HttpPost]``. Of a controller,
whose path stands before the class, it is a method of that.
"""

import re
from collections.abc import Mapping
from typing import Final

from search.index.code_index import UNIT_KINDS, WHOLE_FILE, Index

ASKED: Final = re.compile(r"(?i)\A(get|post|put|patch|delete|head|options|any)\s+(?=/\S*\Z)")
"""What stands before a route."""
_HEAD: Final = 400
"""Characters of a function in which its verb is."""
_MORE: Final = 3.0
"""What a row with the verb weighs over one without."""
_TYPE: Final = UNIT_KINDS.index("type")


def with_verb(index: Index, verb: str, rows: Mapping[int, float]) -> dict[int, float]:
    """Rows that have a route, those with the verb before the others, and those in a type which has the route.

    Args:
        index: of the rows.
        verb: such as POST.
        rows: what each weighs.
    """
    small, capital = verb.lower(), verb.capitalize()
    forms = rf"(?<![A-Za-z]){small}(?![a-z])", verb.upper(), rf"(?:@|Map|Http){capital}(?![a-z])", rf"@{capital}[A-Z]"
    written, found = re.compile("|".join(forms)), dict[int, float]()
    for row, weight in rows.items():
        for inner in _inside(index, row) if index.kinds[row] == _TYPE else (row,):
            if index.kinds[inner] not in (_TYPE, WHOLE_FILE) and written.search(index.text(inner).source[:_HEAD]):
                found[inner] = max(found.get(inner, 0.0), _MORE * weight)
    return {**{row: weight / _MORE for row, weight in rows.items()}, **found} if found else dict(rows)


def _inside(index: Index, row: int) -> list[int]:
    """The rows of what is in a type."""
    file, type_ = index.file_number(row), f"{index.names[row]}."
    return [each for each in range(*index.file_edges[file : file + 2].tolist()) if index.names[each].startswith(type_)]
