"""Names that stand in texts, whether or not a parser knows what defines them: a macro may, or another package."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Final

import numpy as np

from search.engine.near_words import NearNames
from search.engine.question import asked_words
from search.files.words import stem_of, terms_of
from search.index.code_index import Index

_READ: Final = 200
"""Rows whose text is read for names."""
_MEANINGS: Final = 9
"""Words that a name may have been meant to have, taken together."""
_NAME: Final = re.compile(r"[^\W\d]\w{2,}")


def rows_with(index: Index, typed: str) -> list[int]:
    """The rows whose text has a name that is no part of a longer one, as it is typed."""
    files = np.ones(len(index.files), np.bool_)
    for stem in terms_of(asked_words(typed)):
        has = np.zeros(len(files), np.bool_)
        has[index.whole.having(stem)] = True
        files &= has
    rows = [row for place in np.flatnonzero(files).tolist() for row in range(*index.file_edges[place : place + 2])]
    written, stored = rf"(?<![\w$-]){re.escape(typed)}(?![\w$])", json.dumps(typed)[1:-1].encode()
    return [row for row in rows if index.split.has(row, stored) and re.search(written, index.split.text(row).source)]


def near_written(index: Index, name: str, words: NearNames) -> list[str]:
    """Names that are nearest to one that nothing has, of the texts that have words near to its own.

    Args:
        index: of the texts.
        name: without dots, of several words.
        words: those of the index.
    """
    meant = []
    for word in asked_words(name):
        own = stem_of(word)
        is_there = index.lexical.holders(own) or len(index.whole.having(own))
        meant.append([own] if is_there else [*dict.fromkeys(map(stem_of, words.near(word)))])
    rows: dict[int, None] = {}
    for _, stems in zip(range(_MEANINGS), product(*meant), strict=False):
        if stems:
            rows |= dict.fromkeys(islice(_having(index, stems), _READ))
    found = (each for row in [*rows][: 2 * _READ] for each in _NAME.findall(index.text(row).source))
    return NearNames(found).near(name)


def _having(index: Index, stems: Sequence[str]) -> Iterator[int]:
    """The rows that have some stems, at least one, and then all of the files that do."""
    yield from sorted(set.intersection(*({*index.lexical.postings(stem)[0].tolist()} for stem in stems)))
    for file in sorted(set.intersection(*({*index.whole.having(stem).tolist()} for stem in stems))):
        yield from range(*index.file_edges[file : file + 2].tolist())
