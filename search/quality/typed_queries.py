"""The search measured by questions that people typed: NDCG@10 by file, and each stage of the search beside the others.

A hit counts by its file; files are in the order of their best hit. Of a query's relevant files, secondary ones among
them, each found at rank r of the first 10 gives 1 / log2(1 + r); the sum is divided by that of a perfect order. A file
is a relevant one if the path of one ends with that of the other, at a "/".

The result is one JSON object, which ``quality --json`` prints and the page shows (docs/search-quality.md).
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from data_prep.errors import one_line
from data_prep.store.arrays import Float
from evaluation.metrics import ndcg_of_several
from evaluation.significance import Difference, bootstrap_interval, compare
from search.engine.engine import Engine
from search.engine.file_ranking import stemmed
from search.engine.question import RankingSettings, words_of
from search.engine.signals import Reranker, Retriever
from search.index.code_index import Index
from search.quality.query_file import QueryFile, TypedQuery
from search.retrieval.word_index import KINDS

DEPTH: Final = 10
"""Files of an answer that count."""
SPREAD: Final = 0.3
"""Difference of two scores that is much by chance."""
ALL: Final = "all"
"""The category of all queries."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer of a stage or setting of the search to a query."""

    ndcg: float  # NDCG@10
    found: Sequence[str]  # the paths of the first ten files, best first
    ranks: Sequence[int]  # of each relevant file among all that were found, from 1; 0: it was not found


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
    beside = ("vectors + " if retriever and rerankers else "") + ("files + bm25" if ranking.files else "bm25")
    alone = replace(ranking, files=0.0)
    if not rerankers:
        return {beside: Engine(index, None, ranking), "bm25": Engine(index, None, alone)}
    (label, reranker), *others = rerankers.items()
    engines = {f"{label} + {beside}": Engine(index, reranker, ranking, retriever)}
    if ranking.files:
        engines["without files"] = Engine(index, reranker, alone, retriever)
    if retriever:
        engines["without vectors"] = Engine(index, reranker, ranking)
    engines["without models"] = Engine(index, None, ranking)
    engines["bm25"] = Engine(index, None, alone)
    return engines | {f"{name} + {beside}": Engine(index, each, ranking, retriever) for name, each in others}


def measure_queries(engines: Mapping[str, Engine], asked: QueryFile) -> dict[str, Any]:
    """The record of the answers of each of ``engines``, with the time that it takes.

    Its ``seconds`` are, on the clock: ``first`` for all queries in turn, in which a model encodes rows when they are
    first scored; ``again`` for a query that is asked again, the median.
    """
    answers, seconds = {}, {}
    for name, engine in engines.items():
        started = time.perf_counter()
        answers[name] = [answered(engine, each, asked.root) for each in asked.queries]
        first, again = time.perf_counter() - started, []
        for each in asked.queries:
            started = time.perf_counter()
            engine.search(each.text, top=DEPTH, by_file=True)
            again.append(time.perf_counter() - started)
        seconds[name] = {"first": first, "again": float(np.median(again))}
    index = next(iter(engines.values())).index
    return as_record(answers, asked, index, seconds)


def answered(engine: Engine, query: TypedQuery, root: str = "") -> Answered:
    """The answer to a query; paths are seen from the folder that has ``root`` inside."""
    index = engine.index
    hits = engine.search(query.text, top=max(1, len(index.files)), by_file=True)
    found = [seen(root, index.file(row).path) for hit in hits for row in hit.rows]
    ranks = [_rank(found, path) for path in query.paths]
    return Answered(ndcg_by_file(found[:DEPTH], query.paths), found[:DEPTH], ranks)


def seen(root: str, path: str) -> str:
    """A path inside of the folder ``root``."""
    return f"{root.strip('/')}/{path}" if root.strip("/") else path


def ndcg_by_file(found: Sequence[str], relevant: Sequence[str]) -> float:
    """NDCG@10 of an order of files; each relevant file counts once, at its first match."""
    ranks = [rank for path in relevant if (rank := _rank(found, path))]
    return ndcg_of_several(ranks, len(relevant), DEPTH)


def smooth_ndcg(found: Sequence[str], scores: Sequence[float], relevant: Sequence[str]) -> float:
    """NDCG@10 by ranks that change gradually with the scores; near that of the order if these are far apart.

    Of a file whose score is higher by d a relevant one has the share sigmoid(d / SPREAD) before it. So its rank is 1
    plus the sum of these over the others. It counts less, the further it is behind rank DEPTH.

    Args:
        found: paths of files, best first.
        scores: theirs.
        relevant: the paths of those that are, each of which counts at its first match.
    """
    gained, own = 0.0, np.array(scores, np.float64)
    for place in (rank - 1 for path in relevant if (rank := _rank(found, path))):
        mean = 0.5 + float(_sigmoid((own - own[place]) / SPREAD).sum())  # itself is a half
        gained += float(_sigmoid(np.array(DEPTH + 0.5 - mean))) / np.log2(1 + mean)
    return gained / float((1 / np.log2(1 + np.arange(1, min(DEPTH, len(relevant)) + 1))).sum())


def _sigmoid(values: Float[np.ndarray, " *any"]) -> Float[np.ndarray, " *any"]:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -30, 30))))


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


def as_record(
    answers: Mapping[str, Sequence[Answered]],
    asked: QueryFile,
    index: Index,
    seconds: Mapping[str, Mapping[str, float]] | None = None,
) -> dict[str, Any]:
    """The results as one JSON object.

    Args:
        answers: stage or setting of the search, the whole search first -> its answer to every query.
        asked: the queries.
        index: what is searched.
        seconds: how long each took; None: not measured.
    """
    values = {name: np.array([each.ndcg for each in own]) for name, own in answers.items()}
    whole = next(iter(values))
    categories: dict[str, list[int]] = {ALL: [*range(len(asked.queries))]}
    for place, each in enumerate(asked.queries):
        categories.setdefault(one_line(each.category), []).append(place)
    stages = [
        {
            "name": name,
            "categories": {category: _summary(own[places]) for category, places in categories.items()},
            "difference": None if name == whole else _difference(compare(own, values[whole])),
            "seconds": None if seconds is None else seconds[name],
            "queries": [
                {"query": query.text, "category": query.category, "ndcg": round(float(one.ndcg), 6), "found": one.found}
                for query, one in zip(asked.queries, answers[name], strict=True)
            ],
        }
        for name, own in values.items()
    ]
    why = _reasons(answers, asked, index)
    return {"measure": "NDCG@10 by file", "files": len(index.files), "stages": stages, "why": why}


def _summary(values: Float[np.ndarray, " queries"]) -> dict[str, float | int]:
    low, high = bootstrap_interval(values)
    return {"queries": len(values), "ndcg": float(values.mean()), "low": low, "high": high}


def _difference(lead: Difference) -> dict[str, float]:
    return {"mean": lead.mean, "low": lead.low, "high": lead.high, "p_value": lead.p_value}


def _reasons(answers: Mapping[str, Sequence[Answered]], asked: QueryFile, index: Index) -> list[dict[str, Any]]:
    """For each query where its relevant files were found by each stage, with which of its words, and what was before.

    What was before are the first files of the whole search that are not relevant, up to the last relevant one.
    """
    paths = [seen(asked.root, file.path) for file in index.files]
    numbers = {path: number for number, path in enumerate(paths)}
    found = []
    for place, query in enumerate(asked.queries):
        stems, whole = stemmed(words_of(query.text)), next(iter(answers.values()))[place]
        relevant = []
        for number, path in enumerate(query.paths):
            there = next((file for file, own in enumerate(paths) if same_file(own, path)), None)
            relevant.append(
                {
                    "path": path,
                    "indexed": "" if there is None else index.files[there].path,
                    "ranks": {name: own[place].ranks[number] or None for name, own in answers.items()},
                    "words": {} if there is None else words_in(index, there, stems),
                }
            )
        last = DEPTH if 0 in whole.ranks else max(whole.ranks)
        before = [path for path in whole.found[:last] if not any(same_file(path, own) for own in query.paths)]
        others = [
            {"path": index.files[numbers[path]].path, "words": words_in(index, numbers[path], stems)} for path in before
        ]
        told = {"query": query.text, "category": query.category, "ndcg": round(float(whole.ndcg), 6)}
        found.append({**told, "relevant": relevant, "before": others})
    return found


def words_in(index: Index, file: int, stems: Mapping[str, str]) -> dict[str, list[str]]:
    """The words that a file has, and where: in its text, comments, name (stem) or folders."""
    found = {}
    for word, stem in stems.items():
        _, files, counts = index.whole.postings((stem,))
        place = int(np.searchsorted(files, file))
        if place < len(files) and files[place] == file:
            found[word] = [kind for kind in KINDS if counts[kind][place]]
    return found
