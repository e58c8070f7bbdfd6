"""The search measured on a folder of code by questions that are made from it: ranks of what answers them.

Every method and type of the folder is ranked. Queries from first sentences of comments are asked with all comments
hidden; queries from ``@return`` are asked with first sentences searchable. Where code is the question, the ranks are
those of what answers pieces of code, and of the innermost function of stack traces.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import numpy as np
from tqdm import tqdm

from data_prep.array_types import Float, Int64
from data_prep.languages.identifiers import query_words
from evaluation.metrics import Measures, exact
from evaluation.significance import Difference, compare
from search.engine.engine import Engine
from search.engine.settings import RankingSettings
from search.engine.signals import Reranker, Retriever
from search.index.code_index import Index
from search.quality.code_questions import CodeQuestion
from search.quality.questions import Questions, exchanged
from search.quality.trace_questions import TraceQuestion
from search.retrieval.bm25_index import WEIGHTS, Bm25Index
from search.snippets.answer import Wanted, answer_text, query_of_code
from search.snippets.code_search import CodeHit, CodeSearch, CodeWeights
from search.snippets.code_text import read_code

BASE: Final = "bm25"
_CODE_STAGES: Final[Mapping[str, CodeWeights]] = {
    "all": CodeWeights(),
    "without copies first": CodeWeights(copies=False),
    "without overlap, copies": CodeWeights(copies=False, overlap=0.0),
    "without vectors, copies": CodeWeights(copies=False, vector_weight=0.0),
}
_TRACES: Final = {"lines as in the index": "text", "lines moved": "moved"}
"""How the traces are asked -> the field of the question."""

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
    return replace(index, lexical=Bm25Index.of(index.split, {**WEIGHTS, "query": weight}))


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


@dataclass(frozen=True, slots=True)
class FramesFound:
    """The frames of traces: the share of each trace's that is placed right, and what the others are."""

    right: Float[np.ndarray, " traces"]  # share of the frames in the index that are placed in their function
    elsewhere: float  # share of all these frames that are placed in another one
    outside: float  # share of the library's frames that are placed in the index
    frames: int


def measure_pieces(engine: Engine, questions: Sequence[CodeQuestion]) -> list[Measured]:
    """BM25 alone, then the search for code with and without its stages, over pieces of code."""
    search = CodeSearch(engine)
    stages = {name: search.changed(weights) for name, weights in _CODE_STAGES.items()}

    def ranks(question: CodeQuestion) -> Ranks:
        code = query_of_code(read_code(question.text))
        lexical = engine.index.lexical.scores(code.words)
        lexical[[*question.without]] = -1.0
        found = {BASE: (rank_by(lexical, question.rows), True)}
        for name, each in stages.items():
            hits = each.like(code, top=len(engine.index), without=question.without)
            found[name] = rank_of(hits, lexical, question.rows), any(hit.row in question.rows for hit in hits)
        return found

    return measured(questions, ranks, "code")


def measure_traces(engine: Engine, questions: Sequence[TraceQuestion]) -> tuple[list[Measured], dict[str, FramesFound]]:
    """BM25 alone, then stack traces as they are read, and their frames, by how the traces are asked."""
    placed: dict[str, list[list[int | None]]] = {name: [] for name in _TRACES}

    def ranks(question: TraceQuestion) -> Ranks:
        lexical, own = engine.index.lexical.scores(query_words(question.moved)), {question.innermost}
        found = {BASE: (rank_by(lexical, own), True)}
        for name, way in _TRACES.items():
            answer = answer_text(engine, getattr(question, way), Wanted(top=len(engine.index)))
            rows = [each.row for each in answer.frames]
            placed[name].append(rows)
            last = answer.trace is not None and answer.trace.innermost_last
            inside = [*dict.fromkeys(row for row in (rows[::-1] if last else rows) if row is not None)]
            first = inside.index(question.innermost) + 1 if question.innermost in inside else 0
            found[name] = first or len(inside) + rank_of(answer.hits, lexical, own), True
        return found

    found = measured(questions, ranks, "trace")
    return found, {name: frames_found(questions, rows) for name, rows in placed.items()}


def frames_found(questions: Sequence[TraceQuestion], placed: Sequence[Sequence[int | None]]) -> FramesFound:
    """What the rows ``placed``, which frames of each trace got, are beside those that they should have got."""
    right, wrong, outside, inside, strange = [], 0, 0, 0, 0
    for question, rows in zip(questions, placed, strict=True):
        found = [*rows, *[None] * len(question.rows)][: len(question.rows)]
        pairs = [*zip(question.rows, found, strict=True)]
        own = [(wanted, got) for wanted, got in pairs if wanted is not None]
        right.append(sum(wanted == got for wanted, got in own) / len(own))
        wrong += sum(got is not None and wanted != got for wanted, got in own)
        outside += sum(got is not None for wanted, got in pairs if wanted is None)
        inside, strange = inside + len(own), strange + len(pairs) - len(own)
    return FramesFound(np.array(right), wrong / inside, outside / strange, inside)


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
