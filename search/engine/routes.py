"""The route that a question is, such as ``GET /users/42`` or ``http://localhost:5000/users?page=2``, without values.

The verb of a route, as in ``POST /orders``, stands in what is before a function's body, as ``@router.post`` or
``[HttpPost]``. Of a controller, whose path stands before the class, it is a method of that.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from search.engine.question import asked_words
from search.index.code_index import UNIT_KINDS, WHOLE_FILE, Index

if TYPE_CHECKING:
    from search.engine.matching import LineOwners
    from search.engine.name_reading import NameReader
    from search.engine.phrases import Phrases

_ADDRESS: Final = re.compile(
    r"((?:[A-Za-z]+\s+)?)(?:[a-z][a-z+]{1,9}://[^\s/?#]+|(?:localhost|(?:\d{1,3}\.){3}\d{1,3}|[\w.-]+):\d{2,5})(/\S*)",
    re.IGNORECASE,
)
"""What stands before an address, its scheme, host and port, and the rest of it."""
_ROUTE: Final = re.compile(r"(?:[A-Za-z]+\s+)?/(?:\S*/)?[a-z_-]{3,}\S*|[a-z][\w-]{2,}(?:/[\w-]+)*/\d+/?", re.IGNORECASE)
_BEHIND: Final = re.compile(r"\?(?:[\w\[\].%-]+=\S*)?\Z|\?[\w\[\].%-]+=\S*|#\S*")
"""The query and the fragment."""
_VALUE: Final = re.compile(r"/(?:\d+|(?=[^/\s]*\d)[0-9a-f]{4,}[0-9a-f-]{4,})(?=/|\Z)", re.IGNORECASE)
"""A part that is a number or looks like an identifier of a record."""


def route_of(text: str) -> str:
    """The route that a question is, with its verb, without values, a slash for the last one; "" if it is none."""
    text = text.strip()
    if found := _ADDRESS.fullmatch(text):
        text = f"{found[1]}{re.split('[?#]', found[2], maxsplit=1)[0]}"
    if not _ROUTE.fullmatch(text):
        return ""
    plain = _BEHIND.sub("", text)
    return _VALUE.sub(lambda found: "/" if found.end() == len(plain) else "", plain)


def route_in(text: str, names: "NameReader", phrases: "Phrases") -> str:
    """As :func:`route_of`, unless the question is the path of a file, or an address that is written in one.

    Args:
        text: the question.
        names: of the rows of an index.
        phrases: of its files.
    """
    if not (route := route_of(text)) or ((reading := names.read(text)) and not reading.is_near):
        return ""
    is_written = _ADDRESS.fullmatch(text.strip()) and phrases.having(asked_words(text)).any()
    return "" if is_written else route


ROUTE_WITH_VERB: Final = re.compile(r"(?i)\A(get|post|put|patch|delete|head|options|any)\s+(?=/\S*\Z)")
"""What stands before a route."""
_HANDLER: Final = re.compile(r"(?:.*\.)?(GET|POST|PUT|PATCH|DELETE|DEL|HEAD|OPTIONS) /")
_HEAD: Final = 400  # characters of a function in which its verb is
_MORE: Final = 3.0  # what a row with the verb weighs over one without
_HANDLES: Final = 4.0  # the same of a handler that is called by the verb, which functions around it have too
_SERVES: Final = 2.0  # what what serves a route weighs at least, a quarter of it
_PATH: Final = re.compile(r"/\S+|\S+/")
_TYPE: Final = UNIT_KINDS.index("type")


def with_handlers(
    index: Index, names: "NameReader", owners: "LineOwners", typed: str, rows: Mapping[int, float]
) -> dict[int, float]:
    """What rows weigh for a question that may be a route, those that serve it before the others.

    Args:
        index: of the rows.
        names: of the rows.
        owners: of the lines of its files.
        typed: the question, without values.
        rows: what each weighs by its words.
    """
    verb = ROUTE_WITH_VERB.match(typed)
    found = with_verb(index, verb[1], rows) if verb else {**rows}
    path = ROUTE_WITH_VERB.sub("", typed)
    if not (_PATH.fullmatch(path) and (verb or not names.paths.is_file(path))):
        return found
    from search.engine.route_table import RouteTable

    serving = RouteTable(index, names, owners).serving(verb[1].upper() if verb else "", path)
    return {**found, **dict.fromkeys(serving, _HANDLES * max([_SERVES, *found.values()]))}


def with_verb(index: Index, verb: str, rows: Mapping[int, float]) -> dict[int, float]:
    """Rows that have a route, those with the verb before the others, and those in a type which has the route.

    What handles it with another verb stands for what handles it with this one.

    Args:
        index: of the rows.
        verb: such as POST.
        rows: what each weighs.
    """
    small, capital = verb.lower(), verb.capitalize()
    forms = rf"(?<![A-Za-z]){small}(?![a-z])", verb.upper(), rf"(?:@|Map|Http){capital}(?![a-z])", rf"@{capital}[A-Z]"
    written, found = re.compile("|".join(forms)), dict[int, float]()
    others = [row for row in rows if (of := _HANDLER.match(index.names[row])) and of[1].lower() != small]
    for row, weight in rows.items():
        if row in others:
            own = _with_own_verb(index, row, verb.upper())
        else:
            inside = [inner for inner in _inside(index, row) if index.kinds[inner] not in (_TYPE, WHOLE_FILE)]
            own = [inner for inner in inside if written.search(index.text(inner).source[:_HEAD])]
        for inner in own:
            is_handler = (of := _HANDLER.match(index.names[inner])) is not None and of[1].lower() == small
            best = max(rows.values()) if is_handler else weight
            found[inner] = max(found.get(inner, 0.0), (_HANDLES if is_handler else _MORE) * best)
    return {**rows, **{row: rows[row] / _MORE for row in (rows if found else others)}, **found}


def _with_own_verb(index: Index, row: int, verb: str) -> list[int]:
    """The handlers in a row's file of its route with a verb."""
    file, name = index.file_number(row), f"{verb} {index.names[row].partition(' ')[2]}"
    return [each for each in index.rows_of(file) if index.names[each] == name]


def _inside(index: Index, row: int) -> list[int]:
    """A row, or the rows of what is in it if it is a type."""
    if index.kinds[row] != _TYPE:
        return [row]
    file, type_ = index.file_number(row), f"{index.names[row]}."
    return [each for each in index.rows_of(file) if index.names[each].startswith(type_)]
