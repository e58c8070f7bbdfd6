"""What a person is told: mistakes apart from faults, and untrusted text with its unprintable characters replaced."""

import re
from typing import Final

NOTHING_FOUND: Final = 1
"""Exit code of a search without a hit."""
MISTAKE: Final = 2
"""Exit code after a mistake of a person or in a file, and after a full disk or memory."""
FAULT: Final = 70
"""Exit code after a fault of the program (``EX_SOFTWARE`` of sysexits.h)."""
_MARK: Final = "\ufffd"
_UNSEEN: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # escape sequences begin with one of these
    r"\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
    r"\ud800-\udfff]"  # surrogates: bytes of file names that are not UTF-8
)


class UserError(ValueError):
    """A mistake of the caller or in a file; its message says what was expected, what came and what to do.

    Every other exception is a fault of this program, or of a model that somebody wrote, and ends with its traceback.
    """


def printable(text: str) -> str:
    """``text`` with unprintable characters replaced by a mark; line breaks and tabs remain."""
    return _UNSEEN.sub(_MARK, text)


def one_line(text: str) -> str:
    """:func:`printable` with line breaks also replaced."""
    return printable(text.replace("\n", _MARK))
