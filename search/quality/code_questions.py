"""The search for code measured by code as questions, from the functions of a code base; trace_questions.py has traces.

- ``snippet``: the first half of the lines of a function's body, which its function is to answer.
- ``namesake``: a function's body, which functions of the same name in other files are to answer, without itself and
  what is around it: they often do the same for something else. Only names that few functions have.

Neither has the function's name, parameters or documentation. Tests are left out.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from jaxtyping import Float

from data_prep.languages.registry import language_of
from search.engine.engine import Engine
from search.engine.preview import body
from search.files.languages import language_name
from search.index.code_index import UNIT_KINDS, Index
from search.quality.measure import BASE, Measured, Ranks, measured
from search.quality.questions import drawn
from search.snippets.answer import around, languages_of, query_of_code
from search.snippets.code_search import CodeHit, CodeSearch, CodeWeights
from search.snippets.code_text import Tokens, read_code

LEAST_LINES: Final = 6
"""Lines of a body that is asked by its half."""
LEAST_TOKENS: Final = 24
"""Tokens of a question."""
MOST_NAMESAKES: Final = 5
"""Functions that have a name in other files: what more have, such as ``close``, is not one thing."""
_CODE_STAGES: Final[Mapping[str, CodeWeights]] = {
    "all": CodeWeights(),
    "without copies first": CodeWeights(copies=False),
    "without overlap, copies": CodeWeights(copies=False, overlap=0.0),
    "without vectors, copies": CodeWeights(copies=False, vector_weight=0.0),
}
_DOCSTRING: Final = re.compile(r"\A\s*[rRuU]?(\"\"\"|''').*?\1[^\n]*\n?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class CodeQuestion:
    """A piece of code, and what answers it."""

    text: str
    rows: frozenset[int]  # any of which answers
    without: frozenset[int] = frozenset()  # rows that are not searched


def functions(index: Index) -> Iterator[int]:
    """The rows that are functions or methods with a body, without code of tests."""
    wanted = np.isin(index.kinds, [UNIT_KINDS.index(kind) for kind in ("method", "constructor")])
    for row in np.flatnonzero(wanted).tolist():
        if not index.file(row).test:
            yield row


def body_lines(index: Index, row: int) -> list[str]:
    """The lines of a function's body that are not empty, without Python's documentation."""
    text = index.split.text(row)
    found = body(text.source, text.path)
    if (language := language_of(text.path)) and language.docstrings:
        found = _DOCSTRING.sub("", found)
    return [line for line in found.split("\n") if line.strip()]


def of_halves(index: Index, most: int, seed: int) -> list[CodeQuestion]:
    """The first halves of bodies; every function with the same half answers it.

    Args:
        index: the index whose functions are the answers.
        most: maximum number of questions, 0: all.
        seed: seed of the sampling.

    Raises:
        UserError: there are fewer than FEWEST.
    """
    found: dict[str, set[int]] = defaultdict(set)
    for row in functions(index):
        lines = body_lines(index, row)
        half = "\n".join(lines[: (len(lines) + 1) // 2])
        if len(lines) >= LEAST_LINES and _long(half, index, row):
            found[half].add(row)
    asked = [CodeQuestion(text, frozenset(rows)) for text, rows in found.items()]
    return drawn(asked, most, seed, f"functions with {LEAST_LINES} lines or more")


def of_namesakes(index: Index, most: int, seed: int) -> list[CodeQuestion]:
    """Bodies of functions that have namesakes in other files; arguments as in :func:`of_halves`.

    Raises:
        UserError: there are fewer than FEWEST.
    """
    bodies: dict[int, str] = {}
    named: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row in functions(index):
        text = "\n".join(body_lines(index, row))
        if _long(text, index, row):
            bodies[row] = text
            named[_name(index, row)].append(row)
    files = {row: int(np.searchsorted(index.file_edges, row, side="right")) for row in bodies}
    asked = []
    for row, text in bodies.items():
        others = frozenset(other for other in named[_name(index, row)] if files[other] != files[row])
        if 0 < len(others) <= MOST_NAMESAKES:
            asked.append(CodeQuestion(text, others, frozenset((row,))))
    chosen = drawn(asked, most, seed, "functions whose name functions of other files have")
    return [CodeQuestion(each.text, each.rows, frozenset(around(index, each.without))) for each in chosen]


def _long(text: str, index: Index, row: int) -> bool:
    return len(Tokens.of_unit(text, index.file(row).path).all) >= LEAST_TOKENS


def _name(index: Index, row: int) -> tuple[str, str]:
    """The last part of a function's name, and its language."""
    return index.names[row].rpartition(".")[2], language_name(index.file(row).path)


def measure_pieces(engine: Engine, questions: Sequence[CodeQuestion]) -> list[Measured]:
    """BM25 alone, then the search for code with and without its stages, over pieces of code."""
    search, among = CodeSearch(engine), languages_of(engine.index)
    stages = {name: search.changed(weights) for name, weights in _CODE_STAGES.items()}

    def ranks(question: CodeQuestion) -> Ranks:
        code = query_of_code(read_code(question.text, among=among))
        lexical = engine.index.lexical.scores(code.words)
        lexical[[*question.without]] = -1.0
        found = {BASE: (rank_by(lexical, question.rows), True)}
        for name, each in stages.items():
            hits = each.like(code, top=len(engine.index), without=question.without, fold=False)
            found[name] = rank_of(hits, lexical, question.rows), any(hit.row in question.rows for hit in hits)
        return found

    return measured(questions, ranks, "code")


def rank_by(scores: Float[np.ndarray, " rows"], rows: Collection[int]) -> int:
    """The rank of the best of ``rows``; ties with others count against it."""
    best = max(scores[row] for row in rows)
    return 1 + int(np.count_nonzero(scores >= best)) - sum(bool(scores[row] == best) for row in rows)


def rank_of(hits: Sequence[CodeHit], lexical: Float[np.ndarray, " rows"], rows: Collection[int]) -> int:
    """The same among hits; rows that are none follow, in BM25's order."""
    first = next((hit for hit in hits if hit.row in rows), None)
    if first is None:
        rest = lexical.copy()
        rest[[hit.row for hit in hits]] = np.inf
        return rank_by(rest, rows)
    same = first.score, first.overlap
    return first.rank + sum(
        hit.rank > first.rank and hit.row not in rows and (hit.score, hit.overlap) == same for hit in hits
    )
