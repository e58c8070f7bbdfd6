"""Patterns of paths, by which a search is restricted: ``src/*``."""

import fnmatch
import re
from collections.abc import Callable
from typing import Final

from data_prep.errors import UserError

LONGEST_PATTERN: Final = 500
"""Maximum number of characters."""


def path_matcher(pattern: str) -> Callable[[str], bool]:
    """What tells whether a path matches; fnmatch itself would keep every pattern that anyone has asked for.

    Raises:
        UserError: it is too long.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise UserError(f"path has at most {LONGEST_PATTERN} characters, this one has {len(pattern):,}")
    match = re.compile(fnmatch.translate(pattern)).match
    return lambda path: match(path) is not None
