"""The files that a later question is likely about, read beside all others while the first index is made."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from search.engine.question import asked_words
from search.files.stamps import Found, modified_at
from search.files.words import terms_of
from search.index.read_part import Part, Task, likely_first
from search.serve.partial_index import PartialIndex

_MOST: Final = 24
"""Files that are read for a question."""
_TOGETHER: Final = 8
"""Files of a call, between which the time is looked at."""


def read_ahead(root: Path, asked: str, partial: PartialIndex, read: Callable[[Task], Part], until: float) -> None:
    """Read those files that a question is likely about, by the words of their paths.

    Args:
        root: the folder.
        asked: the question, or the path of a file.
        partial: what was read so far and is sought, which gets the files.
        read: reads some files; a ChildProcessError says that it could not.
        until: the time, as of ``time.monotonic``, from which on no more are read.
    """
    done = partial.paths
    likely = iter([each for each in _likely(partial.sought, asked) if each not in done][:_MOST])
    while time.monotonic() < until and (files := [*_found(root, islice(likely, _TOGETHER))]):
        with suppress(ChildProcessError, UserError):
            partial.add(read(Task(root, files)))


def _likely(paths: Sequence[str], asked: str) -> list[str]:
    """The paths that have words of a question, the likeliest first; of one that names a file, that alone."""
    if named := max((each for each in paths if each in asked), key=len, default=""):
        return [named]
    wanted = frozenset(terms_of(asked_words(asked)))
    some = [Found(each, 0, 0) for each in paths if any(word in each.lower() for word in wanted)]
    return [each.path for each in likely_first(some, asked)]


def _found(root: Path, paths: Iterator[str]) -> Iterator[Found]:
    for each in paths:
        with suppress(OSError):
            status = os.lstat(root / each)
            yield Found(each, status.st_size, modified_at(status))
