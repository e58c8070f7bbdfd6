"""Settings of BM25 compared on the development sets: ``bash run.sh posts tune``."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

from data_prep.errors import UserError
from data_prep.posts.sets import PostSets
from data_prep.posts.store import prepare_posts
from evaluation.metrics import mrr, top_at_k
from experiments.posts.config import PostsBm25Config, PostsPlan
from experiments.posts.pools import duplicate_pool, same_post_pool
from experiments.posts.rankers import Bm25Ranker


def tuned_page(plan: PostsPlan, command: str, say: Callable[[str], None]) -> str:
    """A table of settings, the best by mean MRR over both development sets first.

    Raises:
        UserError: the dump is not available, or has no development queries.
    """
    sets = PostSets(prepare_posts(plan.data, command=command, say=say).posts, plan.data)
    parts = plan.loop.parts
    pools = [same_post_pool(sets, parts), duplicate_pool(sets, parts, body=plan.evaluate.body)]
    pools = [pool for pool in pools if len(pool.queries)]
    if not pools:
        raise UserError("there are no development queries to tune on: take a larger dump")
    rows = []
    for config in _settings(plan.model):
        cells, total = "", 0.0
        for pool in pools:
            ranks = pool.ranks(Bm25Ranker(config).over(pool))
            cells += f" {top_at_k(ranks, 10):.3f} | {mrr(ranks):.4f} |"
            total += mrr(ranks) / len(pools)
        rows.append(
            (total, f"| {config.words} | {config.k1} | {config.b} | {config.title_weight} |{cells} {total:.4f} |")
        )
        say(rows[-1][1])
    heads = " | ".join(f"{pool.name} Recall@10 | MRR" for pool in pools)
    best = [line for _, line in sorted(rows, reverse=True)]
    rule = "|---" * (5 + 2 * len(pools)) + "|"
    return "\n".join([f"| words | k1 | b | title weight | {heads} | mean MRR |", rule, *best])


def _settings(config: PostsBm25Config) -> Iterator[PostsBm25Config]:
    yield replace(config, words="okapi", k1=1.2, b=0.75, title_weight=1)
    for k1, b, weight in product((1.2, 2.5), (0.5, 0.75, 1.0), (1, 3)):
        yield replace(config, k1=k1, b=b, title_weight=weight)
