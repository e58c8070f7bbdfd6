"""The search measured by questions that people typed: NDCG@10 by file, and each stage of the search beside the others.

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

from evaluation.metrics import ndcg_of_several
from evaluation.significance import Difference, compare
from search.engine.engine import Engine
from search.engine.settings import RankingSettings
from search.engine.signals import Reranker, Retriever
from search.index.code_index import Index
from search.quality.query_file import QueryFile, TypedQuery

DEPTH: Final = 10
"""Files of an answer that count."""


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


def stages(
    index: Index, rerankers: Mapping[str, Reranker], retriever: Retriever | None, ranking: RankingSettings
) -> dict[str, Engine]:
    """The whole search, then its stages and other models, by what they are called.

    Args:
        index: what is searched.
        rerankers: by their labels, that of the whole search first; none: there is no model.
        retriever: the vectors of the rows; None: there are none.
        ranking: the settings.
    """
    beside = ("vectors + " if retriever and rerankers else "") + ("files + bm25" if ranking.by_file else "bm25")
    alone = replace(ranking, files=0.0, by_file=0.0)
    if not rerankers:
        return {beside: Engine(index, None, ranking), "bm25": Engine(index, None, alone)}
    (label, reranker), *others = rerankers.items()
    engines = {f"{label} + {beside}": Engine(index, reranker, ranking, retriever)}
    if ranking.by_file:
        engines["without files"] = Engine(index, reranker, alone, retriever)
    if retriever:
        engines["without vectors"] = Engine(index, reranker, ranking)
    engines["without models"] = Engine(index, None, ranking)
    engines["bm25"] = Engine(index, None, alone)
    return engines | {f"{name} + {beside}": Engine(index, each, ranking, retriever) for name, each in others}
