"""What may be asked of an index, from what it has: questions, a name, and a pattern of paths."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Final

import numpy as np

from data_prep.store.arrays import Bool
from search.index.code_index import CONSTANT, WHOLE_FILE, Index

QUESTIONS: Final = 3
_LOOKED: Final = 600
"""Rows that are looked at."""
_QUESTION: Final = re.compile(r"[A-Z][a-z]+(?: [a-z]+(?:-[a-z]+)?){2,6} [a-z]{5,}\.?")
"""The first sentence of a comment that could have been typed."""
_NAME: Final = re.compile(r"[A-Za-z]\w{2,20}\.[a-z]\w{2,20}", re.ASCII)


def examples_of(index: Index) -> dict[str, Any]:
    """Questions that comments of the code answer, the name of a method, and a folder; what it lacks is left out.

    Texts are of the indexed code, which is not trusted: they consist of letters, digits and few other characters.
    """
    said = (index.split.text(row).query_text.strip() for row in _some(index, index.asks > 0))
    by_verb = {each.split()[0]: each.rstrip(".").lower() for each in said if _QUESTION.fullmatch(each)}
    questions = [*by_verb.values()]
    declared = ~np.isin(index.kinds, (WHOLE_FILE, CONSTANT))
    names = filter(_NAME.fullmatch, (index.names[row] for row in _some(index, declared)))
    shown = questions[:: max(1, len(questions) // QUESTIONS)][:QUESTIONS]
    found: dict[str, Any] = {"questions": shown, "name": next(names, ""), "path": _folder(index)}
    return {key: value for key, value in found.items() if value}


def _some(index: Index, wanted: Bool[np.ndarray, " rows"]) -> Iterator[int]:
    """Rows of files that are no tests, from all over the index."""
    rows = np.flatnonzero(wanted).tolist()
    return (row for row in rows[:: max(1, len(rows) // _LOOKED)] if not index.file(row).test)


def _folder(index: Index) -> str:
    """The end of the folder with most files that are no tests; "" if there is none of a plain name."""
    folders = Counter(PurePosixPath(file.path).parts[:-1][-2:] for file in index.files if not file.test)
    names = ("/".join(parts) for parts, _ in folders.most_common())
    return next((each for each in names if re.fullmatch(r"\w[\w./-]{0,40}", each, re.ASCII)), "")
