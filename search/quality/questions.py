"""Questions made from comments and names of a code base, also under the text above a cursor, and examples for a page.

The cursor is at one of two places: before the function that answers, in its own file (Scotch); or before the first call
of it in another file, where it would have been needed. At the latter, lines that have its name are left out, since
nobody would have written them yet; only functions whose name no other row has are asked for. A context from the same
file also names the file, which the other does not.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal, TypeVar

import numpy as np
from jaxtyping import Int64

from data_prep.config import DataConfig
from data_prep.errors import UserError
from data_prep.files.access import read_regular
from data_prep.languages.comments import returned
from data_prep.languages.identifiers import query_words
from data_prep.languages.java.declarations import find_declarations, parse_java
from data_prep.records import LARGEST_SOURCE
from data_prep.store.arrays import Bool
from search.cursor import nearest, words_above
from search.files.words import terms_of
from search.index.code_index import CONSTANT, WHOLE_FILE, Index

Question = TypeVar("Question")
Asked = Literal["comment", "return", "member", "name"]
"""A comment's first sentence; the text of its tag @return; the type's name and the sentence; the name alone."""

Under = Literal["", "file", "call"]
"""No contexts; those of the function's own file; those of its first call in another file."""

FEWEST: Final = 20
"""Minimum number of queries."""
_CALL: Final = re.compile(r"(?<![\w$])([A-Za-z_$][\w$]{3,})[ \t]*\(")
"""A call of a function with a name of 4 characters or more, or its declaration."""


@dataclass(frozen=True, eq=False, slots=True)
class Questions:
    """The words of each question, and the row that answers it."""

    rows: Int64[np.ndarray, " queries"]  # ascending
    words: Sequence[Sequence[str]]
    texts: Sequence[str]  # as typed, since they may contain names
    source: Asked
    contexts: Sequence[Sequence[str]] = ()  # the words above the cursor of each, nearest last; empty: none


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
        told = _returns(read_regular(root / file.path, LARGEST_SOURCE + 1)[0]) if rows else {}
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


def questions_of(what: Asked, index: Index, root: Path, most: int, seed: int) -> Questions:
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
    rows = drawn(sorted(first.values()), most, seed, _OF[source])
    typed: list[Sequence[str]] = [asked[row] for row in rows]
    return Questions(np.array(rows, dtype=np.int64), typed, [" ".join(each) for each in typed], source)


def drawn(asked: Sequence[Question], most: int, seed: int, what: str) -> list[Question]:
    """A sample of questions, in their order.

    Raises:
        UserError: there are fewer than FEWEST; ``what`` says what was expected.
    """
    if len(asked) < FEWEST:
        raise UserError(f"expected {FEWEST} or more {what}, found {len(asked)}: too few to measure anything")
    if not 0 < most < len(asked):
        return [*asked]
    places = np.sort(np.random.default_rng(seed).choice(len(asked), size=most, replace=False))
    return [asked[place] for place in places.tolist()]


def with_contexts(questions: Questions, index: Index, root: Path, under: Under) -> Questions:
    """The questions that have a context of this kind.

    Raises:
        UserError: there are fewer than FEWEST.
        OSError: a file no longer exists.
    """
    texts = [read_regular(root / file.path, LARGEST_SOURCE)[0].decode("utf-8", "replace") for file in index.files]
    found = _of_own_files(questions, index, texts) if under == "file" else _of_calls(questions, index, texts)
    kept = [place for place in range(len(questions.rows)) if found.get(place)]
    if len(kept) < FEWEST:
        raise UserError(
            f"expected {FEWEST} or more questions whose function has a context, found {len(kept)} of "
            f"{len(questions.rows):,}: too few to measure anything"
        )
    return replace(
        questions,
        rows=questions.rows[kept],
        words=[questions.words[place] for place in kept],
        texts=[questions.texts[place] for place in kept],
        contexts=[found[place] for place in kept],
    )


def exchanged(contexts: Sequence[Sequence[str]], seed: int) -> list[Sequence[str]]:
    """The contexts, each of another question: they are passed on along a random cycle."""
    cycle = np.random.default_rng(seed).permutation(len(contexts)).tolist()
    giver = dict(zip(cycle, [*cycle[-1:], *cycle[:-1]], strict=True))
    return [contexts[giver[place]] for place in range(len(contexts))]


def _of_own_files(questions: Questions, index: Index, texts: Sequence[str]) -> Mapping[int, Sequence[str]]:
    """The place of a question -> the words above its function."""
    found = {}
    for place, row in enumerate(questions.rows.tolist()):
        number = index.file_number(row)
        lines = texts[number].split("\n")[: index.split.text(row).start_line - 1]
        found[place] = words_above("\n".join(lines), index.files[number].language)
    return found


def _of_calls(questions: Questions, index: Index, texts: Sequence[str]) -> Mapping[int, Sequence[str]]:
    """The place of a question -> the words above the first call of its function in another file."""
    borne = Counter(name.rpartition(".")[2] for name in index.names)
    wanted = {}
    for place, row in enumerate(questions.rows.tolist()):
        name = index.names[row].rpartition(".")[2]
        if borne[name] == 1:
            wanted[name] = place, index.file_number(row)
    found: dict[int, Sequence[str]] = {}
    for number, text in enumerate(texts):
        if index.files[number].test:
            continue
        for match in _CALL.finditer(text):
            place, own = wanted.get(match[1], (-1, -1))
            if place < 0 or own == number or place in found:
                continue
            if index.files[own].language != index.files[number].language:
                continue
            lines = nearest(text[: match.start()]).split("\n")[:-1]
            above = "\n".join(line for line in lines if match[1] not in line)
            found[place] = words_above(above, index.files[number].language)
    return found


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
