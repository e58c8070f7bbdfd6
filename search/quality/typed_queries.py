"""The search measured by questions that people typed: NDCG@10 by file, by category, and each stage beside the others.

A hit counts by its file; files are in the order of their best hit. Of a query's relevant files, secondary ones among
them, each found at rank r of the first 10 gives 1 / log2(1 + r); the sum is divided by that of a perfect order. A file
is a relevant one if the path of one ends with that of the other, at a "/".
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from jaxtyping import Float

from data_prep.files.printable import one_line
from evaluation.metrics import ndcg_of_several
from evaluation.significance import Difference, bootstrap_interval, compare
from search.engine.engine import Engine
from search.quality.query_file import QueryFile, TypedQuery

DEPTH: Final = 10
"""Files of an answer that count."""
ALL: Final = "all"
FAILED: Final = 0.5
"""NDCG@10 below which a query is listed as failed."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer of a stage or setting of the search to a query."""

    ndcg: float  # NDCG@10
    found: Sequence[str]  # the paths of the first ten files, best first
    ranks: Sequence[int]  # of each relevant file among all that were found, from 1; 0: it was not found


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds on the clock that a stage took."""

    first: float  # for all queries in turn, in which a model encodes rows when they are first scored
    again: float  # for a query that is asked again, the median


@dataclass(frozen=True, slots=True)
class MeasuredQueries:
    """A stage or setting of the search, and its answer to every query."""

    name: str
    answers: Sequence[Answered]
    lead: Difference | None  # from the first, the whole search; None for itself
    times: Times | None = None  # None: not measured

    @property
    def values(self) -> Float[np.ndarray, " queries"]:
        """NDCG@10 of each query."""
        return np.array([each.ndcg for each in self.answers])


def measure_queries(engines: Mapping[str, Engine], asked: QueryFile) -> list[MeasuredQueries]:
    """NDCG@10 of each of ``engines``, each compared with the first by a paired test, and the time that it takes."""
    found = {name: _timed(engine, asked) for name, engine in engines.items()}
    measured = compared({name: answers for name, (answers, _) in found.items()})
    return [replace(each, times=found[each.name][1]) for each in measured]


def _timed(engine: Engine, asked: QueryFile) -> tuple[list[Answered], Times]:
    started = time.perf_counter()
    answers = [answered(engine, each, asked.root) for each in asked.queries]
    first, again = time.perf_counter() - started, []
    for each in asked.queries:
        started = time.perf_counter()
        engine.search(each.text, top=DEPTH, by_file=True)
        again.append(time.perf_counter() - started)
    return answers, Times(first, float(np.median(again)))


def compared(answers: Mapping[str, Sequence[Answered]]) -> list[MeasuredQueries]:
    """The answers of stages by name, each compared with those of the first."""
    measured: list[MeasuredQueries] = []
    for name, own in answers.items():
        alone = MeasuredQueries(name, own, None)
        lead = compare(alone.values, measured[0].values) if measured else None
        measured.append(MeasuredQueries(name, own, lead))
    return measured


def answered(engine: Engine, query: TypedQuery, root: str = "") -> Answered:
    """The answer to a query; paths are seen from the folder that has ``root`` inside."""
    index = engine.index
    hits = engine.search(query.text, top=max(1, len(index.files)), by_file=True)
    found = [seen(root, index.file(hit.row).path) for hit in hits]
    ranks = [_rank(found, path) for path in query.paths]
    return Answered(ndcg_by_file(found[:DEPTH], query.paths), found[:DEPTH], ranks)


def seen(root: str, path: str) -> str:
    """A path inside of the folder ``root``."""
    return f"{root.strip('/')}/{path}" if root.strip("/") else path


def ndcg_by_file(found: Sequence[str], relevant: Sequence[str]) -> float:
    """NDCG@10 of an order of files; each relevant file counts once, at its first match."""
    ranks = [rank for path in relevant if (rank := _rank(found, path))]
    return ndcg_of_several(ranks, len(relevant), DEPTH)


def _rank(found: Sequence[str], path: str) -> int:
    """The 1-based rank of a relevant path; 0 if it was not found."""
    return next((rank for rank, each in enumerate(found, start=1) if same_file(each, path)), 0)


def same_file(path: str, other: str) -> bool:
    """Whether one path ends with the other."""
    return f"/{path}".endswith(f"/{other}") or f"/{other}".endswith(f"/{path}")


def unmatched(queries: Sequence[TypedQuery], paths: Sequence[str]) -> list[str]:
    """The relevant paths that match none of ``paths``, the indexed files."""
    wanted = dict.fromkeys(path for query in queries for path in query.paths)
    return [path for path in wanted if not any(same_file(path, each) for each in paths)]


def of_categories(queries: Sequence[TypedQuery]) -> dict[str, list[int]]:
    """Category -> positions of its queries; all of them first."""
    found: dict[str, list[int]] = {ALL: [*range(len(queries))]}
    for place, each in enumerate(queries):
        found.setdefault(one_line(each.category), []).append(place)
    return found


def interval(values: Float[np.ndarray, " queries"]) -> tuple[float, float]:
    """The 95 % bootstrap interval of the mean."""
    return bootstrap_interval(values, np.zeros_like(values))


def query_lines(measured: Sequence[MeasuredQueries], queries: Sequence[TypedQuery], files: int) -> list[str]:
    """The results as text: by category, differences from the whole search, and what failed."""
    places = of_categories(queries)
    wide = max(20, *(len(each.name) + 2 for each in measured))
    what = f"NDCG@10 by file (95 % interval) and the difference from {measured[0].name}"
    lines = [f"{len(queries):,} queries over {files:,} files; {what}", ""]
    for name, own in places.items():
        lines.append(f"{name}, {len(own)} {'queries' if len(own) > 1 else 'query'}")
        lines += [_line(each, own, wide, with_lead=name == ALL) for each in measured]
    return [*lines, *_times(measured, wide), *_failures(measured[0], queries)]


def _times(measured: Sequence[MeasuredQueries], wide: int) -> list[str]:
    timed = [(each.name, each.times) for each in measured if each.times]
    what = "seconds: of a question asked again (median); of all, the first time, with the encoding of rows as needed"
    lines = [f"  {name:<{wide}}{own.again:.4f}{own.first:>10.2f}" for name, own in timed]
    return [what, *lines] if lines else []


def _line(each: MeasuredQueries, own: Sequence[int], wide: int, *, with_lead: bool) -> str:
    values = each.values[own]
    low, high = interval(values)
    lead = each.lead if with_lead else None
    gain = f"   {lead.mean:+.3f} ({lead.low:+.3f} to {lead.high:+.3f}), p = {lead.p_value:.4f}" if lead else ""
    return f"  {each.name:<{wide}}{values.mean():.3f} ({low:.3f} to {high:.3f}){gain}"


def _failures(whole: MeasuredQueries, queries: Sequence[TypedQuery]) -> list[str]:
    failed = [place for place in np.argsort(whole.values, kind="stable").tolist() if whole.values[place] < FAILED]
    lines = [f"below {FAILED} with {whole.name}: {len(failed)}"] if failed else []
    for place in failed:
        query, own = queries[place], whole.answers[place]
        first = ", ".join(map(one_line, own.found[:3])) or "nothing"
        ranked = zip(query.paths[:3], own.ranks[:3], strict=True)
        wanted = ", ".join(f"{one_line(path)} ({f'rank {rank}' if rank else 'not found'})" for path, rank in ranked)
        lines.append(f"  {whole.values[place]:.2f}  {one_line(query.text)}: expected {wanted}; found {first}")
    return lines
