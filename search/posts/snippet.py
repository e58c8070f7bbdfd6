"""A pasted snippet: code, and the output of a program with its traceback. Nothing of it leaves this machine."""

import re
from typing import Final

from baselines.snipper.texts import QueryText
from data_prep.errors import UserError
from data_prep.posts.blocks import error_type

LONGEST: Final = 1 << 18
"""Characters that are read of a part, half from each end; longer ones lose their middle."""
_ERROR_STARTS: Final = re.compile(
    r"^.*Traceback \(most recent call last\)|^[^\S\n]*File \"[^\"\n]+\", line \d+"
    r"|^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit|Iteration)\s*(?::|$)",
    re.MULTILINE,
)


def read_snippet(text: str) -> QueryText:
    """The query of a program's text or output: what comes before the first line of an error counts as code.

    Raises:
        UserError: there is nothing in it.
    """
    start = found.start() if (found := _ERROR_STARTS.search(text)) else len(text)
    code, error = text[:start].strip("\n"), text[start:].strip("\n")
    if not text.strip():
        raise UserError(
            "expected code or an error: python app.py 2>&1 | bash run.sh posts search, or --snippet=FILE; got nothing"
        )
    return QueryText(shortened(code), shortened(error))


def keyword_of(query: QueryText) -> str:
    """The type of error of a query, "" if it has none."""
    return error_type(query.error) if query.error else ""


def shortened(text: str, longest: int = LONGEST) -> str:
    """A text without its middle, if it is longer than ``longest`` characters."""
    return text if len(text) <= longest else f"{text[: longest // 2]}\n{text[-longest // 2 :]}"
