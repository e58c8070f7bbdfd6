"""Code as the question, measured: ranks of what answers pieces of code, and frames of stack traces that are found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from jaxtyping import Float
from tqdm import tqdm

from data_prep.languages.identifiers import query_words
from evaluation.metrics import exact
from evaluation.significance import bootstrap_interval, compare
from search.engine.engine import Engine
from search.index.code_index import Index
from search.quality.code_questions import CodeAsked, CodeQuestion, of_halves, of_namesakes
from search.quality.made_traces import TraceQuestion, of_traces
from search.quality.measure import BASE, Measured, noise, table
from search.snippets.answer import Wanted, answer_text, query_of_code
from search.snippets.code_search import CodeHit, CodeSearch, CodeWeights
from search.snippets.code_text import read_code

_STAGES: Final[Mapping[str, CodeWeights]] = {
    "all": CodeWeights(),
    "without copies first": CodeWeights(copies=False),
    "without overlap, copies": CodeWeights(copies=False, overlap=0.0),
    "without vectors, copies": CodeWeights(copies=False, vector_weight=0.0),
}
_ASKED: Final[Mapping[CodeAsked, str]] = {
    "snippet": "first halves of functions' bodies",
    "namesake": "functions' bodies that functions of the same name in other files answer",
    "trace": "stack traces whose innermost function answers",
}


@dataclass(frozen=True, slots=True)
class FramesFound:
    """The frames of traces: the share of each trace's that is placed right, and what the others are."""

    right: Float[np.ndarray, " traces"]  # share of the frames in the index that are placed in their function
    elsewhere: float  # share of all these frames that are placed in another one
    outside: float  # share of the library's frames that are placed in the index
    frames: int


@dataclass(frozen=True, slots=True)
class MeasuredCode:
    """The results of questions that are code."""

    asked: CodeAsked
    found: Sequence[Measured]  # BM25 first
    frames: Mapping[str, FramesFound]  # of traces, by how they were asked


def measure_code(engine: Engine, root: Path, asked: CodeAsked, most: int, seed: int) -> MeasuredCode:
    """Ask at most ``most`` questions (0: all) of the kind ``asked`` about the index of ``engine``.

    Raises:
        ValueError: there are too few.
        OSError: a file under ``root``, the index's folder, no longer exists.
    """
    if asked == "trace":
        return _measure_traces(engine, of_traces(engine.index, root, most, seed))
    return _measure_pieces(engine, asked, (of_halves if asked == "snippet" else of_namesakes)(engine.index, most, seed))


def _measure_pieces(engine: Engine, asked: CodeAsked, questions: Sequence[CodeQuestion]) -> MeasuredCode:
    ranks: dict[str, list[int]] = {name: [] for name in (BASE, *_STAGES)}
    search, listed = CodeSearch(engine), 0
    stages = {name: search.changed(weights) for name, weights in _STAGES.items()}
    for question in tqdm(questions, desc=asked, disable=None):
        code = query_of_code(read_code(question.text))
        lexical = engine.index.lexical.scores(code.words)
        lexical[[*question.without]] = -1.0
        ranks[BASE].append(_rank_by(lexical, question.rows))
        hits: Sequence[CodeHit] = ()
        for name, each in stages.items():
            hits = each.like(code, top=len(engine.index), without=question.without)
            ranks[name].append(_rank(hits, lexical, question.rows))
        listed += any(hit.row in question.rows for hit in hits)
    shares = dict.fromkeys(_STAGES, listed / len(questions))
    return MeasuredCode(asked, _measured(ranks, shares), {})


def _measure_traces(engine: Engine, questions: Sequence[TraceQuestion]) -> MeasuredCode:
    ways = {"lines as in the index": "text", "lines moved": "moved"}
    ranks: dict[str, list[int]] = {name: [] for name in (BASE, *ways)}
    placed: dict[str, list[list[int | None]]] = {name: [] for name in ways}
    for question in tqdm(questions, desc="trace", disable=None):
        lexical = engine.index.lexical.scores(query_words(question.moved))
        ranks[BASE].append(_rank_by(lexical, {question.innermost}))
        for name, way in ways.items():
            answer = answer_text(engine, getattr(question, way), Wanted(top=len(engine.index)))
            rows = [each.row for each in answer.frames]
            placed[name].append(rows)
            last = answer.trace is not None and answer.trace.innermost_last
            inside = dict.fromkeys(row for row in (rows[::-1] if last else rows) if row is not None)
            first = [*inside].index(question.innermost) + 1 if question.innermost in inside else 0
            ranks[name].append(first or len(inside) + _rank(answer.hits, lexical, {question.innermost}))
    frames = {name: frames_found(questions, rows) for name, rows in placed.items()}
    return MeasuredCode("trace", _measured(ranks, {}), frames)


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


def _rank_by(scores: Float[np.ndarray, " rows"], rows: frozenset[int] | set[int]) -> int:
    """The rank of the best of ``rows``; ties with others count against it."""
    best = max(scores[row] for row in rows)
    return 1 + int(np.count_nonzero(scores >= best)) - sum(bool(scores[row] == best) for row in rows)


def _rank(hits: Sequence[CodeHit], lexical: Float[np.ndarray, " rows"], rows: frozenset[int] | set[int]) -> int:
    """The same among hits; rows that are none follow, in BM25's order."""
    first = next((hit for hit in hits if hit.row in rows), None)
    if first is None:
        rest = lexical.copy()
        rest[[hit.row for hit in hits]] = np.inf
        return _rank_by(rest, rows)
    same = first.score, first.overlap
    return first.rank + sum(
        hit.rank > first.rank and hit.row not in rows and (hit.score, hit.overlap) == same for hit in hits
    )


def _measured(ranks: Mapping[str, Sequence[int]], listed: Mapping[str, float]) -> list[Measured]:
    found: list[Measured] = []
    for name, own in ranks.items():
        each = np.array(own)
        lead = compare(1 / each, 1 / found[0].ranks) if found else None
        found.append(Measured(name, each, exact(each), lead, listed.get(name, 1.0)))
    return found


def code_lines(measured: MeasuredCode, index: Index) -> list[str]:
    """The results as text."""
    queries, pool = len(measured.found[0].ranks), len(index)
    lines = [f"{queries:,} {_ASKED[measured.asked]}, each ranked among {pool:,} functions, types and files"]
    lines += table(measured.found)
    for name, each in measured.frames.items():
        low, high = bootstrap_interval(each.right, np.zeros_like(each.right))
        lines.append(
            f"{name}: {each.frames:,} frames, of a trace's {each.right.mean():.3f} ({low:.3f} to {high:.3f}) are "
            f"placed in their function; {each.elsewhere:.3f} of all in another one; all of the trace's in "
            f"{np.mean(each.right == 1):.3f} of the traces; of frames of a library {each.outside:.3f} are placed at all"
        )
    return [*lines, f"With so many queries, differences of about {noise(measured.found):.3f} in MRR are significant"]
