"""Questions that come with a code base: what the comments of its methods say becomes what is asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from jaxtyping import Int64

from data_prep.config import DataConfig
from data_prep.java_methods import find_declarations, parse_java
from data_prep.javadoc import query_words, returned
from search.index import Index
from search.lexical import terms_of

FEWEST: Final = 20
"""Queries below which nothing is measured."""


@dataclass(frozen=True, eq=False, slots=True)
class Questions:
    """The words of each question, and the row that answers it."""

    rows: Int64[np.ndarray, " queries"]  # ascending
    words: Sequence[Sequence[str]]
    source: str  # "comment": its first sentence; "return": what its tag @return says


def of_comments(index: Index, most: int, seed: int) -> Questions:
    """The first sentences of comments that data preparation would keep as queries (data_prep.filters).

    A sentence that several methods share is asked for its first method only.

    Args:
        index: whose methods are asked for.
        most: how many at most, 0: all.
        seed: of the draw.

    Raises:
        ValueError: there are fewer than FEWEST.
    """
    asked = {row: index.split.word_list("query", row) for row in np.flatnonzero(index.asks).tolist()}
    return _drawn(asked, most, seed, "comment")


def of_returns(index: Index, root: Path, most: int, seed: int) -> Questions:
    """What methods return by the tag ``@return`` of their comment, read from the files under ``root`` again.

    Only of methods with a comment of :func:`of_comments`, and where it says something that this comment does not: the
    index may hold that one, so this asks how a search does that reads comments.

    Raises:
        ValueError: there are fewer than FEWEST.
        OSError: a file is not there any more.
    """
    least = DataConfig().min_query_words
    asked: dict[int, Sequence[str]] = {}
    edges = index.file_edges.tolist()
    for number, file in enumerate(index.files):
        rows = [row for row in range(edges[number], edges[number + 1]) if index.asks[row]]
        told = _returns((root / file.path).read_bytes()) if rows else {}
        for row in rows:
            words = query_words(told.get(index.split.text(row).start_line, ""))
            known = set(terms_of(index.split.word_list("query", row)))
            if len(words) >= least and not known.issuperset(terms_of(words)):
                asked[row] = words
    return _drawn(asked, most, seed, "return")


def _returns(data: bytes) -> Mapping[int, str]:
    """First line of each method that says what it returns -> that."""
    found = {each.start_line: returned(each.javadoc) for each in find_declarations(parse_java(data))}
    return {line: sentence for line, sentence in found.items() if sentence}


def _drawn(asked: Mapping[int, Sequence[str]], most: int, seed: int, source: str) -> Questions:
    """Each question once, and of these some."""
    first: dict[tuple[str, ...], int] = {}
    for row, words in asked.items():
        first.setdefault(tuple(words), row)
    rows = np.array(sorted(first.values()), dtype=np.int64)
    if len(rows) < FEWEST:
        raise ValueError(
            f"expected {FEWEST} or more methods whose comment says what they do, found {len(rows)}: too few to "
            "measure anything"
        )
    if 0 < most < len(rows):
        rows = np.sort(np.random.default_rng(seed).choice(rows, size=most, replace=False))
    return Questions(rows, [asked[row] for row in rows.tolist()], source)
