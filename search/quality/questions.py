"""Questions made from the comments and names of a code base."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

import numpy as np
from jaxtyping import Int64

from data_prep.config import DataConfig
from data_prep.errors import UserError
from data_prep.files.reading import read_regular
from data_prep.languages.java.declarations import LARGEST_FILE, find_declarations, parse_java
from data_prep.languages.java.javadoc import query_words, returned
from search.index.code_index import Index
from search.retrieval.bm25_index import terms_of

Asked = Literal["comment", "return", "member", "name"]
"""A comment's first sentence; the text of its tag @return; the type's name and the sentence; the name alone."""

FEWEST: Final = 20
"""Minimum number of queries."""


@dataclass(frozen=True, eq=False, slots=True)
class Questions:
    """The words of each question, and the row that answers it."""

    rows: Int64[np.ndarray, " queries"]  # ascending
    words: Sequence[Sequence[str]]
    texts: Sequence[str]  # as typed, since they may contain names
    source: Asked


def of_comments(index: Index, most: int, seed: int) -> Questions:
    """The first sentences of comments that data preparation would accept as queries (data_prep.pipeline.filters).

    A sentence that several methods share is used for the first method only.

    Args:
        index: the index whose methods are the answers.
        most: maximum number of questions, 0: all.
        seed: seed of the sampling.

    Raises:
        UserError: there are fewer than FEWEST.
    """
    asked = {row: index.split.word_list("query", row) for row in np.flatnonzero(index.asks).tolist()}
    return _drawn(asked, most, seed, "comment")


def of_returns(index: Index, root: Path, most: int, seed: int) -> Questions:
    """The texts of ``@return`` in the comments of methods, which are read again from the files under ``root``.

    Only of methods with a question in :func:`of_comments`, and only if the text adds a word to that sentence: the index
    may contain the sentence, so that this measures a search in which comments can be found.

    Raises:
        UserError: there are fewer than FEWEST.
        OSError: a file no longer exists, or has become a link.
    """
    least = DataConfig().min_query_words
    asked: dict[int, Sequence[str]] = {}
    edges = index.file_edges.tolist()
    for number, file in enumerate(index.files):
        rows = [row for row in range(edges[number], edges[number + 1]) if index.asks[row]]
        told = _returns(read_regular(root / file.path, LARGEST_FILE + 1)[0]) if rows else {}
        for row in rows:
            words = query_words(told.get(index.split.text(row).start_line, ""))
            known = set(terms_of(index.split.word_list("query", row)))
            if len(words) >= least and not known.issuperset(terms_of(words)):
                asked[row] = words
    return _drawn(asked, most, seed, "return")


def of_members(index: Index, most: int, seed: int) -> Questions:
    """Those of :func:`of_comments`, preceded by the name of the type: ``StringUtils reverses a string``.

    Raises:
        UserError: there are fewer than FEWEST.
    """
    plain = of_comments(index, most, seed)
    types = [index.names[row].rpartition(".")[0].rpartition(".")[2] for row in plain.rows.tolist()]
    texts = [f"{name} {' '.join(words)}".strip() for name, words in zip(types, plain.words, strict=True)]
    asked = [(*query_words(name), *words) for name, words in zip(types, plain.words, strict=True)]
    return replace(plain, words=asked, texts=texts, source="member")


def of_names(index: Index, most: int, seed: int) -> Questions:
    """The names of methods and types: ``nextName``, or ``JsonReader.nextName`` if the short name is not unique.

    Tests are left out, and so is what shares both names with others, such as overloads.

    Raises:
        UserError: there are fewer than FEWEST.
    """
    tests = np.repeat([file.test for file in index.files], np.diff(index.file_edges))
    endings = [(name.rpartition(".")[2], ".".join(name.split(".")[-2:])) for name in index.names]
    borne = Counter(ending.lower() for both in endings for ending in {*both})
    named: dict[int, str] = {}
    for row in np.flatnonzero(~tests).tolist():
        alone = [ending for ending in endings[row] if borne[ending.lower()] == 1 and query_words(ending)]
        if alone:
            named[row] = alone[0]
    found = _drawn({row: query_words(name) for row, name in named.items()}, most, seed, "name")
    return replace(found, texts=[named[row] for row in found.rows.tolist()])


def _returns(data: bytes) -> Mapping[int, str]:
    """First line of each method with an ``@return`` -> its text."""
    found = {each.start_line: returned(each.javadoc) for each in find_declarations(parse_java(data))}
    return {line: sentence for line, sentence in found.items() if sentence}


def asked(what: Asked, index: Index, root: Path, most: int, seed: int) -> Questions:
    """The questions that ``--ask`` names, of the files under ``root``.

    Raises:
        UserError: there are fewer than FEWEST.
        OSError: a file no longer exists.
    """
    if what == "return":
        return of_returns(index, root, most, seed)
    return {"comment": of_comments, "member": of_members, "name": of_names}[what](index, most, seed)


_OF: Final[Mapping[Asked, str]] = {
    "comment": "methods whose comment says what they do",
    "return": "methods whose @return says what their comment does not",
    "member": "methods whose comment says what they do",
    "name": "methods and types with a name of their own",
}


def _drawn(asked: Mapping[int, Sequence[str]], most: int, seed: int, source: Asked) -> Questions:
    """A sample of the distinct questions."""
    first: dict[tuple[str, ...], int] = {}
    for row, words in asked.items():
        first.setdefault(tuple(words), row)
    rows = np.array(sorted(first.values()), dtype=np.int64)
    if len(rows) < FEWEST:
        raise UserError(f"expected {FEWEST} or more {_OF[source]}, found {len(rows)}: too few to measure anything")
    if 0 < most < len(rows):
        rows = np.sort(np.random.default_rng(seed).choice(rows, size=most, replace=False))
    typed: list[Sequence[str]] = [asked[row] for row in rows.tolist()]
    return Questions(rows, typed, [" ".join(each) for each in typed], source)
