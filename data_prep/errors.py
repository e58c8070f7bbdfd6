"""Mistakes apart from faults: only a :class:`UserError` says in one line what cannot be used, and what to do."""

from typing import Final

NOTHING_FOUND: Final = 1
"""Exit code of a search without a hit."""
MISTAKE: Final = 2
"""Exit code after a mistake of a person or in a file, and after a full disk or memory."""
FAULT: Final = 70
"""Exit code after a fault of the program (``EX_SOFTWARE`` of sysexits.h)."""


class UserError(ValueError):
    """A mistake of the caller or in a file; its message says what was expected, what came and what to do.

    Every other exception is a fault of this program, or of a model that somebody wrote, and ends with its traceback.
    """
