"""The quality of the search on a folder of code, whose comments become queries (search/quality/questions.py).

Every method and type of the folder is ranked. Queries from first sentences of comments are asked with all comments
hidden; queries from ``@return`` are asked with first sentences searchable.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from jaxtyping import Int64
from tqdm import tqdm

from evaluation.metrics import Measures, exact, short_columns
from evaluation.significance import Difference, compare
from search.engine.engine import Engine
from search.engine.settings import RankingSettings
from search.engine.signals import Reranker, Retriever
from search.index.code_index import Index
from search.quality.questions import Asked, Questions
from search.retrieval.bm25_index import WEIGHTS, Bm25Index

BASE: Final = "bm25"


@dataclass(frozen=True, slots=True)
class Measured:
    """A configuration of the search, and its results."""

    name: str
    ranks: Int64[np.ndarray, " queries"]
    measures: Measures
    lead: Difference | None  # of its reciprocal ranks from those of the first configuration; None for the first
    listed: float  # share of the queries whose answer is among the candidates


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
    engines = {BASE: Engine(index, None, ranking)}
    beside = f"vectors + {BASE}" if retriever else BASE
    engines |= {
        f"{name} + {beside}": Engine(index, reranker, ranking, retriever) for name, reranker in rerankers.items()
    }
    found: list[Measured] = []
    for name, engine in engines.items():
        rows = questions.rows.tolist()
        asked = zip(questions.words, rows, questions.texts, strict=True)
        shown = tqdm(asked, desc=name, total=len(rows), disable=None)
        ranks = np.array([engine.rank(words, row, text) for words, row, text in shown])
        lead = compare(1 / ranks, 1 / found[0].ranks) if found else None
        asked = zip(questions.words, rows, questions.texts, strict=True)
        listed = sum(row in engine.shortlist(words, text) for words, row, text in asked)
        found.append(Measured(name, ranks, exact(ranks), lead, listed / len(rows)))
    return found


_ASKED: Final[Mapping[Asked, str]] = {
    "comment": "methods whose comment became a query",
    "return": "methods whose @return became a query",
    "member": "methods whose type's name and comment became a query",
    "name": "methods and types whose name became a query",
}


def quality_lines(found: Sequence[Measured], source: Asked, pool: int) -> list[str]:
    """The results as text; ``source`` as in :class:`Questions`."""
    queries = len(found[0].ranks)
    return [
        f"{queries:,} {_ASKED[source]}, each ranked among {pool:,} rows",
        *table(found),
        f"With so many queries, differences of about {noise(found):.3f} in MRR are significant; comments differ from "
        "typed questions. listed: share of queries whose answer is among the candidates",
    ]


def table(found: Sequence[Measured]) -> list[str]:
    """A line of measures for each configuration."""
    wide = max(28, *(len(each.name) + 2 for each in found))
    titles = "".join(f"{each.title:>8}" for each in short_columns())
    lines = [f"{'':<{wide}}{'listed':>8}{titles}   MRR - {BASE} (95 % interval)"]
    for each in found:
        lead = each.lead
        gain = f"   {lead.mean:+.3f} ({lead.low:+.3f} to {lead.high:+.3f}), p = {lead.p_value:.4f}" if lead else ""
        numbers = "".join(f"{metric.text(each.measures):>8}" for metric in short_columns())
        lines.append(f"{each.name:<{wide}}{each.listed:>8.3f}{numbers}{gain}")
    return lines


def noise(found: Sequence[Measured]) -> float:
    """Half the width of the widest interval of a difference."""
    return max((lead.high - lead.low) / 2 for each in found if (lead := each.lead)) if found[1:] else 0.0
