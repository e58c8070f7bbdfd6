"""Ranking metrics: per-query ranks first, then aggregates.

Every query has one relevant method, its gold. ``rank = 1 + better + tied``: codes that tie with the gold rank above
it, so that a constant scorer gets no credit. The functions take arrays of 1-based ranks. Where a query seeks several
codes, Top@k and MRR are of the first that is found, recall, nDCG and MAP of all. Of posts, some of which may not be
counted (:func:`best_ranks`), the rank is that of the best relevant one.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

import numpy as np

from data_prep.errors import UserError
from data_prep.store.arrays import Float, Int, Int64, Num
from evaluation.significance import wilson

Ranks = Num[np.ndarray, " queries"]  # 1-based; integers, or halves under the average tie rule


SoughtRanks = Int64[np.ndarray, "queries most"]
"""Of all codes that a query seeks, ascending; 0 where there are fewer."""

Measures = Mapping[str, float]
"""Name of a metric -> its value."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of the ranks of a run's queries, from 0 to 1; higher is better."""

    name: str
    """Its key in metrics.json and in TensorBoard."""
    title: str
    """Of its column."""
    compute: Callable[[Ranks], float]
    published: Callable[[Ranks], float] | None = None
    """The same as the released evaluators compute it; None: they have no such metric."""
    shown: Literal["always", "whole tables", "never"] = "whole tables"
    """Where it has a column: in all tables, in those with all columns, or in none. It is saved in any case."""
    format: str = ".3f"
    over_all: Callable[[SoughtRanks], float] | None = None
    """The same where a query seeks several codes, over all of them; None: of the first that is found."""

    def text(self, measures: Measures) -> str:
        """Its value among ``measures`` as the text of a cell, "" if it is not known."""
        return format(measures[self.name], self.format) if self.name in measures else ""


def count_better_and_tied(
    scores: Float[np.ndarray, "block codes"], gold: Int[np.ndarray, " block"]
) -> tuple[Int[np.ndarray, " block"], Int[np.ndarray, " block"]]:
    """Numbers of codes that score higher than the gold code of each row, and of other codes that score the same.

    Raises:
        UserError: a score is NaN.
    """
    if np.isnan(scores).any():
        row, code = np.argwhere(np.isnan(scores))[0]
        raise UserError(f"scores must be numbers, but query {row} of this block scores NaN against code {code}")
    of_gold = np.take_along_axis(scores, gold[:, None], axis=1)  # [block, 1]
    return (scores > of_gold).sum(axis=1), (scores == of_gold).sum(axis=1) - 1


def sum_of_reciprocal_ranks(scores: Float[np.ndarray, "block codes"], first: int) -> float:
    """Over a block of queries, of which the one at place i seeks the code ``first`` + i."""
    better, tied = count_better_and_tied(scores, np.arange(first, first + len(scores)))
    return float(np.sum(1 / (1 + better + tied)))


def mrr_of_first(scores: Float[np.ndarray, "queries candidates"]) -> float:
    """The MRR of queries whose first candidate is the gold."""
    better, tied = count_better_and_tied(scores, np.zeros(len(scores), dtype=np.int64))
    return mrr(1 + better + tied)


def top_at_k(ranks: Ranks, k: int) -> float:
    """Fraction of queries whose gold is in the top ``k`` (the papers' SuccessRate@k)."""
    return float(np.mean(_checked(ranks) <= k))


def mrr(ranks: Ranks) -> float:
    """Mean of 1 / rank, not truncated."""
    return float(np.mean(1 / _checked(ranks)))


def mrr_at_k(ranks: Ranks, k: int) -> float:
    """Mean of 1 / rank, or 0 if the gold is not in the top ``k``."""
    return float(np.mean((_checked(ranks) <= k) / ranks))


def ndcg_at_k(ranks: Ranks, k: int) -> float:
    """Mean of 1 / log2(1 + rank), or 0 if the gold is not in the top ``k``: nDCG with one relevant item."""
    return float(np.mean((_checked(ranks) <= k) / np.log2(1 + ranks)))


def ndcg_of_several(found: Sequence[int], relevant: int, k: int) -> float:
    """NDCG@k of one query with ``relevant`` relevant items of equal gain, of which those at ranks ``found`` were found.

    The sum of 1 / log2(1 + rank) over the ranks up to ``k``, divided by that of the ranks 1 to min(k, relevant)
    (Järvelin and Kekäläinen, TOIS 2002, with binary gain).

    Raises:
        UserError: nothing is relevant, or more was found than is.
    """
    if not 0 <= len(found) <= relevant or relevant < 1:
        raise UserError(f"expected at most as many ranks as relevant items, got {len(found)} of {relevant}")
    best = np.arange(1, min(k, relevant) + 1)
    ranks = np.array([rank for rank in found if rank <= k], dtype=np.int64)
    return float((1 / np.log2(1 + ranks)).sum() / (1 / np.log2(1 + best)).sum())


def recall_of_all(ranks: SoughtRanks, k: int) -> float:
    """Mean of the fraction of a query's codes that are in the top ``k``."""
    return float(np.mean(((ranks > 0) & (ranks <= k)).sum(axis=1) / (ranks > 0).sum(axis=1)))


def ndcg_of_all(ranks: SoughtRanks, k: int) -> float:
    """Mean of :func:`ndcg_of_several`."""
    return float(np.mean([ndcg_of_several(row[row > 0].tolist(), int((row > 0).sum()), k) for row in ranks]))


def average_precision(ranks: SoughtRanks) -> float:
    """Mean over queries of the mean precision at the rank of each of its codes."""
    number = np.arange(1, ranks.shape[1] + 1)
    precision = np.divide(number, ranks, out=np.zeros(ranks.shape), where=ranks > 0)
    return float(np.mean(precision.sum(axis=1) / (ranks > 0).sum(axis=1)))


def _top(k: int) -> Metric:
    """The released evaluators count a hit if the 0-based position is at most K, that is rank <= K + 1."""
    published = partial(top_at_k, k=k + 1)
    return Metric(f"top{k}", f"Top@{k}", partial(top_at_k, k=k), published, shown="always")


def _recall(k: int, shown: Literal["whole tables", "never"]) -> Metric:
    over_all = partial(recall_of_all, k=k)
    return Metric(f"recall{k}", f"Recall@{k}", partial(top_at_k, k=k), shown=shown, over_all=over_all)


METRICS: Final[tuple[Metric, ...]] = (
    *map(_top, (1, 5, 10)),
    Metric("mrr", "MRR", mrr, published=partial(mrr_at_k, k=10), shown="always"),
    Metric("map", "MAP", mrr, shown="never", over_all=average_precision),
    Metric("ndcg10", "nDCG@10", partial(ndcg_at_k, k=10), over_all=partial(ndcg_of_all, k=10)),
    _recall(5, "never"),  # Top@5, by the name that other fields know
    _recall(10, "never"),
    _recall(50, "whole tables"),
    _recall(100, "whole tables"),
)
"""The metrics of a run, in the order of their columns. A new one is an entry here; tables, pages, metrics.json,
TensorBoard and the published convention follow from it."""


def exact(ranks: Ranks, sought: SoughtRanks | None = None) -> Measures:
    """All metrics by their usual definitions.

    Args:
        ranks: of the first code that each query seeks.
        sought: of all of them, if they may be several.
    """
    found = {each.name: each.compute(ranks) for each in METRICS}
    if sought is None:
        return found
    return found | {each.name: each.over_all(sought) for each in METRICS if each.over_all}


def published_convention(ranks: Ranks) -> Measures:
    """The metrics as the released evaluators of DeepCS, UNIF, CARLCS, TabCS and FcarCS compute them."""
    return {each.name: each.published(ranks) for each in METRICS if each.published}


def short_columns() -> tuple[Metric, ...]:
    """The metrics of all tables."""
    return tuple(each for each in METRICS if each.shown == "always")


def further_columns() -> tuple[Metric, ...]:
    """The metrics that tables with all columns have in addition."""
    return tuple(each for each in METRICS if each.shown == "whole tables")


def published_columns() -> tuple[Metric, ...]:
    """The metrics that have a column by the published convention."""
    return tuple(each for each in short_columns() if each.published)


def chance_ranks(pool: int) -> Int[np.ndarray, " pool"]:
    """Each rank once: its metrics are the expected metrics of a random order of ``pool`` codes."""
    return np.arange(1, pool + 1)


def average_ranks(better: Int[np.ndarray, " queries"], tied: Int[np.ndarray, " queries"]) -> Ranks:
    """Ranks with the gold in the middle of its ties: 1 + better + tied / 2."""
    return 1 + better + tied / 2


def mrr_over_ties(better: Int[np.ndarray, " queries"], tied: Int[np.ndarray, " queries"]) -> float:
    """Mean of 1 / rank, averaged for each query over the positions that its gold could take among its ties.

    With g better and e tied codes: the mean of 1 / (g + 1 + j) for j = 0..e.
    """
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, int((better + tied).max()) + 2))])
    return float(np.mean((harmonic[better + tied + 1] - harmonic[better]) / (tied + 1)))


def optimistic_ranks(better: Int[np.ndarray, " queries"]) -> Ranks:
    """Ranks with the gold first among its ties: only an upper bound, not for result tables."""
    return 1 + better


def ceiling_top1(
    queries: Sequence[Hashable], codes: Sequence[Hashable], candidates: Sequence[Hashable] | None = None
) -> float:
    """Highest possible Top@1: of identical queries, only one can have its gold first; of identical codes, none.

    Args:
        queries: of the pool, in order.
        codes: theirs; identical ones tie, and ties count against the ranker.
        candidates: all codes of the pool; None: ``codes``.
    """
    times = Counter(codes if candidates is None else candidates)
    return len({query for query, code in zip(queries, codes, strict=True) if times[code] == 1}) / len(queries)


def _checked(ranks: Ranks) -> Ranks:
    if not len(ranks):
        raise UserError("measures need the rank of at least one query, but there is none")
    if not (ranks >= 1).all():  # NaN is not
        raise UserError(f"ranks are numbers of 1 or more, not {ranks[~(ranks >= 1)][0]}")
    return ranks


Columns = Sequence[int]
"""Numbers of documents."""


def best_ranks(
    blocks: Iterable[Float[np.ndarray, "_ documents"]], relevant: Sequence[Columns], ignored: Sequence[Columns]
) -> Int64[np.ndarray, " queries"]:
    """The rank of the best relevant document of each query.

    Args:
        blocks: scores of all queries, in order, against all documents.
        relevant: documents sought by each query; at least one.
        ignored: documents that do not count for each query, such as the query's own post.

    Raises:
        UserError: a score is NaN, or a query has no relevant document.
    """
    ranks = np.empty(len(relevant), np.int64)
    row = 0
    for block in blocks:
        for scores in block:
            if not relevant[row]:
                raise UserError(f"query {row} has no relevant document")
            if np.isnan(scores).any():
                raise UserError(f"scores must be numbers, but query {row} scores NaN")
            best = scores[list(relevant[row])].max()
            at_least = scores >= best
            at_least[[*relevant[row], *ignored[row]]] = False
            ranks[row] = 1 + np.count_nonzero(at_least)
            row += 1
    assert row == len(relevant), f"{row} of {len(relevant)} queries were scored"
    return ranks


@dataclass(frozen=True, slots=True)
class Recall:
    """Recall at one depth, with its 95 % interval over queries (:func:`wilson`)."""

    value: float
    low: float
    high: float


def recall_at(ranks: Int64[np.ndarray, " queries"], k: int) -> Recall:
    """The share of queries with a relevant document among the first ``k``.

    Raises:
        UserError: there are no queries.
    """
    return Recall(top_at_k(ranks, k), *wilson(int((ranks <= k).sum()), len(ranks)))


def chance_recall(documents: int, relevant: Sequence[Columns], k: int) -> float:
    """Expected recall at ``k`` of a random order: 1 - C(N - g, k) / C(N, k), averaged over the queries' g."""
    k = min(k, documents)
    misses = []
    for columns in relevant:
        places = np.arange(k)
        misses.append(np.prod(np.maximum(0, documents - len(columns) - places) / (documents - places)))
    return float(1 - np.mean(misses))
