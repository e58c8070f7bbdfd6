"""Escaping of untrusted text for display: control, invisible and unencodable characters are replaced."""

import re
from typing import Final

_MARK: Final = "\ufffd"
_UNSEEN: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # escape sequences begin with one of these
    r"\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
    r"\ud800-\udfff]"  # surrogates: bytes of file names that are not UTF-8
)


def printable(text: str) -> str:
    """``text`` with unprintable characters replaced by a mark; line breaks and tabs remain."""
    return _UNSEEN.sub(_MARK, text)


def one_line(text: str) -> str:
    """:func:`printable` with line breaks also replaced."""
    return printable(text.replace("\n", _MARK))
