"""The terms of BM25 in Lucene's form (Kamphuis et al., ECIR 2020): ``idf`` times the saturated frequency.

Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009. A term that n of N documents hold, and this one f
times among its length words, adds

    ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + k1 * (1 - b + b * length / average_length))
"""

import numpy as np
from jaxtyping import Float, Int


def idf(holders: Int[np.ndarray, " terms"], documents: int) -> Float[np.ndarray, " terms"]:
    """How much a term weighs that ``holders`` of so many ``documents`` hold."""
    return np.asarray(np.log1p((documents - holders + 0.5) / (holders + 0.5)))


def length_norms(lengths: Float[np.ndarray, " documents"], k1: float, b: float) -> Float[np.ndarray, " documents"]:
    """What a frequency is held against in each document: ``k1`` times its length relative to the average."""
    average = max(float(lengths.mean()) if len(lengths) else 0.0, 1e-9)
    return np.asarray(k1 * (1 - b + b * (lengths / average)))


def gains(
    weights: Float[np.ndarray, " entries"], counts: Int[np.ndarray, " entries"], norms: Float[np.ndarray, " entries"]
) -> Float[np.ndarray, " entries"]:
    """What each term of each document adds: its weight times its frequency, saturated."""
    return np.asarray(weights * counts / (counts + norms))
