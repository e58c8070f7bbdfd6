"""The route that a question is, such as ``GET /users/42`` or ``http://localhost:5000/users?page=2``, without values."""

import re
from typing import Final

from search.engine.name_reading import NameReader
from search.engine.phrases import Phrases
from search.engine.question import asked_words

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
    """The route that a question is, with its verb but without values; "" if it is none."""
    text = text.strip()
    if found := _ADDRESS.fullmatch(text):
        text = f"{found[1]}{re.split('[?#]', found[2], maxsplit=1)[0]}"
    return _VALUE.sub("", _BEHIND.sub("", text)) if _ROUTE.fullmatch(text) else ""


def route_in(text: str, names: NameReader, phrases: Phrases) -> str:
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
