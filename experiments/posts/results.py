"""The result of a ranker on posts: ranks per query, from which recall, intervals and tables are computed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from data_prep.errors import UserError
from evaluation.metrics import chance_recall, mrr, recall_at
from evaluation.result_store import ResultStore
from evaluation.significance import Difference, compare
from experiments.posts.pools import Pool

DEPTHS: Final = (5, 10, 20, 50)
"""Depths of recall in the paper."""
_OUTSIDE: Final = re.compile(r"[^\w.+-]+")


@dataclass(frozen=True)
class PostsResult:
    """The ranks of one ranker on one pool."""

    ranker: str
    pool: str
    documents: int
    queries: tuple[str, ...]  # keys of posts
    ranks: tuple[int, ...]
    chance: Mapping[str, float]  # depth -> expected recall of a random order
    kinds: Mapping[str, Sequence[int]]  # kind of query -> places

    @classmethod
    def of(
        cls, ranker: str, pool: Pool, keys: Sequence[str], ranks: np.ndarray, kinds: Mapping[str, Sequence[int]]
    ) -> "PostsResult":
        """The result with the chance of each depth."""
        chance = {str(k): round(chance_recall(len(pool.documents), pool.relevant, k), 5) for k in DEPTHS}
        return cls(ranker, pool.name, len(pool.documents), tuple(keys), tuple(ranks.tolist()), chance, kinds)

    def hits(self, k: int) -> np.ndarray:
        """1 for each query with a relevant document in the top ``k``, else 0."""
        return (np.array(self.ranks) <= k).astype(np.float64)

    def row(self, kind: str = "") -> str:
        """A row of a table: recalls with intervals, and MRR, of all queries or of one kind."""
        ranks = np.array(self.ranks)[list(self.kinds[kind])] if kind else np.array(self.ranks)
        if not len(ranks):
            return f"| {self.ranker} | {kind or 'all'} | 0 |" + " |" * (len(DEPTHS) + 1)
        recalls = (recall_at(ranks, k) for k in DEPTHS)
        cells = [f"{each.value:.3f} ({each.low:.3f} to {each.high:.3f})" for each in recalls]
        return f"| {self.ranker} | {kind or 'all'} | {len(ranks)} | {' | '.join(cells)} | {mrr(ranks):.3f} |"


def table(results: Sequence[PostsResult], kinds: Sequence[str] = ()) -> str:
    """A Markdown table of results on one pool, with chance in its first row."""
    first = results[0]
    heads = " | ".join(f"Recall@{k}" for k in DEPTHS)
    chance = " | ".join(f"{first.chance[str(k)]:.4f}" for k in DEPTHS)
    lines = [
        f"{first.pool} corpus, {first.documents:,} documents; 95 % intervals (Wilson)",
        "",
        f"| ranker | queries | number | {heads} | MRR |",
        "|---|---|---:|" + "---:|" * (len(DEPTHS) + 1),
        f"| chance | all | {len(first.ranks)} | {chance} | |",
    ]
    for result in results:
        lines += [result.row(), *(result.row(kind) for kind in kinds if result.kinds.get(kind))]
    return "\n".join(lines)


def difference(first: PostsResult, second: PostsResult, k: int = 10) -> Difference:
    """Recall@k of the first minus that of the second, over the same queries, with its bootstrap interval.

    Raises:
        UserError: they are of different queries.
    """
    if first.queries != second.queries:
        raise UserError("two results are only compared on the same queries")
    return compare(first.hits(k), second.hits(k))


def difference_line(first: PostsResult, second: PostsResult, k: int = 10) -> str:
    """The difference in words."""
    found = difference(first, second, k)
    ratio = first.hits(k).mean() / max(second.hits(k).mean(), 1e-9)
    return (
        f"{first.ranker} minus {second.ranker}, Recall@{k}: {found.mean:+.3f} "
        f"({found.low:+.3f} to {found.high:+.3f}), {ratio:.2f} times, p = {found.p_value:.4f}"
    )


def save_results(folder: Path, name: str, results: Sequence[PostsResult], about: Mapping[str, Any]) -> Path:
    """Write results as JSON; returns the file.

    Raises:
        OSError: it cannot be written.
    """
    content = {**about, "results": [asdict(result) for result in results]}
    return ResultStore(folder).save(_OUTSIDE.sub("_", name), content)
