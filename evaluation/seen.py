"""Which queries of a test a model was trained on: those of its training pairs, or of copies of them.

Training leaves out the pairs that are in the tests that it is told of. A test that comes later has to look for them,
by the same rules, and says its figures with and without them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from data_prep.pipeline.overlap import copies_in
from data_prep.store.prepared_data import Split
from evaluation.evaluator import Evaluation
from evaluation.metrics import Measures, exact


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Test queries that the model was trained on, or on copies of their pairs."""

    exact: int  # whose name and tokens are those of a training pair
    near: int  # others, of whose tokens nearly all are
    by_query: int  # whose query is that of a training pair
    queries: Sequence[int]  # all of these, by their places among the ranks
    without: Measures  # the exact metrics of the others; {} if there are none


def seen_in(evaluation: Evaluation, trained: Split) -> Seen:
    """The queries of a test that training on the pairs ``trained`` has seen, with the figures without them.

    Args:
        evaluation: the test.
        trained: the training pairs.
    """
    found = copies_in(evaluation.pool.take(evaluation.golds), trained)
    others = np.delete(evaluation.ranks, found.rows)
    return Seen(
        exact=len(found.exact),
        near=len(found.near),
        by_query=len(found.queries),
        queries=found.rows.tolist(),
        without=exact(others) if len(others) else {},
    )


def said_seen(seen: Seen, queries: int) -> str:
    """How many queries the model was trained on, with the MRR of the others, in a sentence.

    Args:
        seen: what was found.
        queries: number of queries of the test.
    """
    if not seen.queries:
        return "none of the queries is of a pair that it was trained on, or of a copy"
    without = f"MRR {seen.without['mrr']:.3f} without them" if seen.without else "no others are left"
    return (
        f"{len(seen.queries):,} of {queries:,} queries are of pairs that it was trained on ({seen.exact:,} exactly, "
        f"{seen.near:,} nearly, {seen.by_query:,} by their query): {without}"
    )
