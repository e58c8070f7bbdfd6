"""The search measured by questions that are made from the code of a folder, and by those that are pieces of its code.

Every method and type of the folder is ranked. Queries from first sentences of comments are asked with all comments
hidden; queries from ``@return`` are asked with first sentences searchable. A piece of code is the first half of a
function's body, or a body that functions of the same name in other files answer.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import numpy as np
from jaxtyping import Float, Int64
from tqdm import tqdm

from data_prep.errors import UserError
from data_prep.languages.registry import language_of
from data_prep.pipeline.shards import CorpusFile
from data_prep.store.split import PairText, Texts
from evaluation.metrics import Measures, exact
from evaluation.significance import Difference, compare
from search.engine.engine import Engine
from search.engine.preview import body
from search.engine.question import RankingSettings
from search.engine.signals import Reranker, Retriever
from search.files.languages import language_name
from search.index.code_index import UNIT_KINDS, Index
from search.index.read_part import callers_index, lexical_index
from search.quality.questions import Questions, drawn, exchanged
from search.retrieval.word_index import WEIGHTS
from search.snippets.answer import around, languages_of, query_of_code
from search.snippets.code_search import CodeHit, CodeSearch, CodeWeights
from search.snippets.code_text import Tokens, read_code

BASE: Final = "bm25"

Question = TypeVar("Question")
Ranks = Mapping[str, tuple[int, bool | float]]
"""Configuration of the search -> rank of what answers, and whether it is a candidate (NaN: not looked up)."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A configuration of the search, and its results."""

    name: str
    ranks: Int64[np.ndarray, " queries"]
    measures: Measures
    lead: Difference | None  # of its reciprocal ranks from those it is compared with; None: it is compared with none
    listed: float  # share of the queries whose answer is among the candidates; NaN: not measured


def measured(
    questions: Iterable[Question],
    ranks_of: Callable[[Question], Ranks],
    what: str,
    base: Mapping[str, str] | None = None,
) -> list[Measured]:
    """The results of all configurations of the search over the same questions.

    Args:
        questions: in order.
        ranks_of: what each configuration reaches on a question.
        what: is asked, for the progress bar.
        base: configuration -> the one that it is compared with; None: the first, for all others.
    """
    each = [ranks_of(question) for question in tqdm([*questions], desc=what, disable=None)]
    ranks = {name: np.array([own[name][0] for own in each]) for name in each[0]}
    base = dict.fromkeys([*ranks][1:], next(iter(ranks))) if base is None else base
    found = []
    for name, own in ranks.items():
        lead = compare(1 / own, 1 / ranks[base[name]]) if name in base else None
        found.append(Measured(name, own, exact(own), lead, float(np.mean([one[name][1] for one in each]))))
    return found


def with_comments(index: Index, weight: int) -> Index:
    """The same index, in which each word of a comment counts ``weight`` times; 0: comments are not searched."""
    lexical = lexical_index(index.split, {**WEIGHTS, "query": weight})
    return replace(index, lexical=lexical, callers=callers_index(index, comments=weight > 0))


def without_documentation(index: Index) -> Index:
    """The same index, in whose sources there are no comments and docstrings: for models that read source text."""
    split = index.split
    texts = [split.text(row) for row in range(len(split))]
    return replace(index, split=replace(split, texts=Texts.of(replace(text, source=_bare(text)) for text in texts)))


def _bare(text: PairText) -> str:
    language, data = language_of(text.path), text.source.encode("utf-8", "replace")
    if language is None:
        return text.source
    try:
        found = language.parse(data, text.path)
    except UserError:  # what does not parse keeps its comments
        return text.source
    spans = sorted({*found.comments, *(each.docstring for each in found.types() if each.docstring)})
    return CorpusFile("", "", "", data, spans, ()).stripped(0, len(data)).decode("utf-8", "replace")


def measure_quality(
    index: Index,
    rerankers: Mapping[str, Reranker],
    ranking: RankingSettings,
    questions: Questions,
    retriever: Retriever | None = None,
) -> list[Measured]:
    """BM25 alone, then each of ``rerankers`` with it, over the same queries.

    Args:
        index: the index to search.
        rerankers: rerankers over the rows of ``index``, by name.
        ranking: the ranking settings.
        questions: the queries.
        retriever: a dense retriever that adds rows to the candidates.
    """
    beside = f"vectors + {BASE}" if retriever else BASE
    engines = {BASE: Engine(index, None, ranking)}
    engines |= {f"{name} + {beside}": Engine(index, each, ranking, retriever) for name, each in rerankers.items()}

    def ranks(question: tuple[Sequence[str], int, str]) -> Ranks:
        words, row, text = question
        return {
            name: (each.rank(words, row, text), row in each.shortlist(words, text)) for name, each in engines.items()
        }

    asked = zip(questions.words, questions.rows.tolist(), questions.texts, strict=True)
    return measured(asked, ranks, questions.source)


def measure_contexts(engines: Mapping[str, Engine], questions: Questions, seed: int) -> list[Measured]:
    """Each engine without contexts, with them and with exchanged ones; leads are over the same engine without."""
    nothing = [()] * len(questions.rows)
    contexts = {"": nothing, "in context": questions.contexts, "in another's": exchanged(questions.contexts, seed)}
    names = {(engine, kind): f"{engine} {kind}".strip() for engine in engines for kind in contexts}

    def ranks(place: int) -> Ranks:
        words, row, text = questions.words[place], int(questions.rows[place]), questions.texts[place]
        return {
            name: (engines[engine].rank(words, row, text, contexts[kind][place]), math.nan)
            for (engine, kind), name in names.items()
        }

    base = {name: engine for (engine, kind), name in names.items() if kind}
    return measured(range(len(questions.rows)), ranks, questions.source, base)


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
    files = {row: index.file_number(row) for row in bodies}
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
