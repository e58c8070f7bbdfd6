"""Untrusted text as a person may see it: nothing in it that a terminal obeys, that is not seen, or has no form."""

import re
from typing import Final

_MARK: Final = "\ufffd"
_UNSEEN: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # escape sequences begin with one of these
    r"\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
    r"\ud800-\udfff]"  # half a pair: bytes of a file's name that are no UTF-8
)


def printable(text: str) -> str:
    """``text`` with a mark for each letter that is none; lines and tabs stay."""
    return _UNSEEN.sub(_MARK, text)


def one_line(text: str) -> str:
    """The same on one line, whatever lines ``text`` has."""
    return printable(text.replace("\n", _MARK))
