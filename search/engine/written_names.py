"""Names that stand in texts, whether or not a parser knows what defines them: a macro may, or another package."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, product
from pathlib import Path
from typing import Final

import numpy as np

from search.engine.near_words import NearNames
from search.engine.question import asked_words
from search.files.words import stem_of, terms_of
from search.index.code_index import Index, text_at

_READ: Final = 200
"""Rows whose text is read for names."""
_FILES: Final = 20
"""Files that are read for names."""
_MEANINGS: Final = 9
"""Words that a name may have been meant to have, taken together."""
_EDITS: Final = 2
"""Letters by which the lengths of near names may differ."""


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


def is_written(index: Index, name: str, stems: Sequence[str], running: Sequence[int], root: Path | None) -> bool:
    """Whether a text has a name that is no part of a longer one, ignoring case.

    Args:
        index: of the texts.
        name: as it is typed.
        stems: of its words.
        running: the rows that have its words one after the other.
        root: the indexed folder; None: not known.
    """
    rows: set[int] = set()
    for place, stem in enumerate(sorted(stems, key=index.lexical.holders)):
        own = index.lexical.postings(stem)[0].tolist()
        rows = {*own} if place == 0 else rows.intersection(own)
    written, plain = rf"(?<![\w$]){re.escape(name)}(?![\w$])", name.lower()
    texts = chain((index.text(row).source for row in sorted(rows)[:_READ]), _whole_texts(index, running, root))
    having = (each for each in texts if plain in each.lower() or not (name.isascii() and each.isascii()))
    return any(re.search(written, each, re.IGNORECASE) for each in having)


def _whole_texts(index: Index, rows: Iterable[int], root: Path | None) -> Iterator[str]:
    """The texts of the first _FILES files that are among some rows as a whole, of which the index has the beginning."""
    for row in islice(filter(index.is_whole_file, rows), _FILES):
        yield text_at(index, index.file_number(row), root) or index.text(row).source


def near_written(index: Index, name: str, words: NearNames, stems: NearNames, root: Path | None) -> list[str]:
    """Names that are nearest to one that nothing has, of the texts that have words near to its own.

    Args:
        index: of the texts.
        name: without dots, of several words.
        words: those of the index's rows.
        stems: those of its files.
        root: the indexed folder; None: not known.
    """
    meant: list[list[str]] = []
    for word in asked_words(name):
        own = stem_of(word)
        is_there = index.lexical.holders(own) or len(index.whole.having(own))
        meant.append([own] if is_there else [*dict.fromkeys((*map(stem_of, words.near(word)), *stems.near(own)))])
    rows: dict[int, None] = {}
    for each in islice(product(*meant) if meant else (), _MEANINGS):
        rows |= dict.fromkeys(islice(_having(index, each), _READ))
    texts = chain((index.text(row).source for row in [*rows][: 2 * _READ]), _whole_texts(index, rows, root))
    as_long = re.compile(rf"\b[^\W\d]\w{{{max(2, len(name) - _EDITS - 1)},{len(name) + _EDITS - 1}}}\b")
    return NearNames(chain.from_iterable(map(as_long.findall, texts))).near(name)


def _having(index: Index, stems: Sequence[str]) -> Iterator[int]:
    """The rows that have some stems, at least one, and then all of the files that do."""
    yield from sorted(set.intersection(*({*index.lexical.postings(stem)[0].tolist()} for stem in stems)))
    for file in sorted(set.intersection(*({*index.whole.having(stem).tolist()} for stem in stems))):
        yield from range(*index.file_edges[file : file + 2].tolist())
