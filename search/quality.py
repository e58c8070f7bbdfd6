"""How well does the search do on one's own code? Documented methods become queries, their comments hidden.

The first sentence of a method's comment is the query, and every method and type of the folder is a candidate; no
comment is read. Only comments that data preparation would keep as a query are used (data_prep.filters), a sentence that
several methods share for its first method only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from jaxtyping import Int64
from tqdm import tqdm

from evaluation.metrics import Measures, exact
from evaluation.significance import Difference, compare
from search.engine import Engine, Ranking, Reads
from search.index import Index
from search.lexical import WEIGHTS, Lexical

FEWEST: Final = 20
"""Queries below which nothing is measured."""
BASE: Final = "bm25"


@dataclass(frozen=True, slots=True)
class Measured:
    """A way to search, and how it did."""

    name: str
    ranks: Int64[np.ndarray, " queries"]
    measures: Measures
    lead: Difference | None  # of its reciprocal ranks over those of the first way; None for the first


def without_comments(index: Index) -> Index:
    """The same index, of which no comment is found."""
    return replace(index, lexical=Lexical.of(index.split, {**WEIGHTS, "query": 0}))


def question_rows(index: Index, most: int, seed: int) -> Int64[np.ndarray, " queries"]:
    """Rows whose comment is asked for, at most ``most`` (0: all), drawn by ``seed``; in order.

    Raises:
        ValueError: there are fewer than FEWEST.
    """
    first: dict[bytes, int] = {}
    for row in np.flatnonzero(index.asks).tolist():
        first.setdefault(index.split.words["query"][row].tobytes(), row)
    rows = np.array(sorted(first.values()), dtype=np.int64)
    if len(rows) < FEWEST:
        raise ValueError(
            f"expected {FEWEST} or more methods whose comment says what they do, found {len(rows)}: too few to "
            "measure anything"
        )
    if 0 < most < len(rows):
        rows = np.sort(np.random.default_rng(seed).choice(rows, size=most, replace=False))
    return rows


def measure_quality(
    index: Index, readers: Mapping[str, Reads], ranking: Ranking, rows: Int64[np.ndarray, " queries"]
) -> list[Measured]:
    """BM25 alone, then each of ``readers`` with it, over the same queries.

    Args:
        index: its comments are hidden here.
        readers: models over the rows of ``index``, by name.
        ranking: how both are mixed.
        rows: whose comments are the queries.
    """
    hidden = without_comments(index)
    engines = {BASE: Engine(hidden, None, ranking)}
    engines |= {f"{name} + {BASE}": Engine(hidden, reader, ranking) for name, reader in readers.items()}
    found: list[Measured] = []
    for name, engine in engines.items():
        ranks = np.array([engine.rank(_query(index, row), row) for row in tqdm(rows.tolist(), desc=name, disable=None)])
        lead = compare(1 / ranks, 1 / found[0].ranks) if found else None
        found.append(Measured(name, ranks, exact(ranks), lead))
    return found


def quality_lines(found: Sequence[Measured], pool: int) -> list[str]:
    """What a person reads of it."""
    queries = len(found[0].ranks)
    lines = [
        f"{queries:,} methods whose comment became a query, each ranked among {pool:,} methods and types",
        f"{'':<24}{'Top@1':>8}{'Top@5':>8}{'Top@10':>8}{'MRR':>8}   MRR - {BASE} (95 % interval)",
    ]
    for each in found:
        m, lead = each.measures, each.lead
        gain = f"   {lead.mean:+.3f} ({lead.low:+.3f} to {lead.high:+.3f}), p = {lead.p_value:.4f}" if lead else ""
        lines.append(f"{each.name:<24}{m.top1:>8.3f}{m.top5:>8.3f}{m.top10:>8.3f}{m.mrr:>8.3f}{gain}")
    width = max((lead.high - lead.low) / 2 for each in found if (lead := each.lead)) if found[1:] else 0.0
    lines.append(
        f"So many queries tell differences of about {width:.3f} in MRR from chance; comments are no typed questions"
    )
    return lines


def _query(index: Index, row: int) -> list[str]:
    return index.split.word_list("query", row)
