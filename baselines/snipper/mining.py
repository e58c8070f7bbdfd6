"""Hard negatives: the documents that a model ranks highest for a training query and that do not answer it."""

from collections.abc import Iterable, Sequence, Set

import numpy as np
from jaxtyping import Float, Int64


def hard_negatives(
    blocks: Iterable[Float[np.ndarray, "_ documents"]], forbidden: Sequence[Set[int]], count: int
) -> Int64[np.ndarray, "queries count"]:
    """The ``count`` best documents of each query i without document i, its own, and those of ``forbidden[i]``.

    If there are fewer, the row is filled with i itself, which the loss never takes for a negative.

    Args:
        blocks: scores of all training queries, in order, against all training documents.
        forbidden: duplicates of each query's document.
        count: k of the paper.
    """
    mined = np.empty((len(forbidden), count), np.int64)
    row = 0
    for block in blocks:
        for scores in block:
            banned = forbidden[row] | {row}
            wanted = min(count + len(banned), len(scores))
            top = np.argpartition(-scores, wanted - 1)[:wanted]
            best = [place for place in top[np.lexsort((top, -scores[top]))].tolist() if place not in banned][:count]
            mined[row] = best + [row] * (count - len(best))
            row += 1
    assert row == len(forbidden), f"{row} of {len(forbidden)} queries were scored"
    return mined
