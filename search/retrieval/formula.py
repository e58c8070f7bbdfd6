"""The factors of BM25 in Lucene's variant (Kamphuis et al., ECIR 2020): ``idf`` times the saturated frequency.

Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009. A term that occurs in n of N documents, and f
times among the length words of this one, contributes

    ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + k1 * (1 - b + b * length / average_length))
"""

import numpy as np

from data_prep.store.arrays import Float, Int, Num


def idf(holders: Int[np.ndarray, " terms"], documents: int) -> Float[np.ndarray, " terms"]:
    """Inverse document frequency of terms that occur in ``holders`` of ``documents`` documents."""
    return np.asarray(np.log1p((documents - holders + 0.5) / (holders + 0.5)))


def length_norms(lengths: Float[np.ndarray, " documents"], k1: float, b: float) -> Float[np.ndarray, " documents"]:
    """Length norm of each document: ``k1 * (1 - b + b * length / average_length)``."""
    average = max(float(lengths.mean()) if len(lengths) else 0.0, 1e-9)
    return np.asarray(k1 * (1 - b + b * (lengths / average)))


def gains(
    weights: Float[np.ndarray, " entries"], counts: Num[np.ndarray, " entries"], norms: Float[np.ndarray, " entries"]
) -> Float[np.ndarray, " entries"]:
    """Contribution of each term of each document: its weight times its saturated frequency."""
    return np.asarray(weights * counts / (counts + norms))


def counts_by_norm(
    gains: Float[np.ndarray, " entries"], weight: float | Float[np.ndarray, " entries"]
) -> Float[np.ndarray, " entries"]:
    """What :func:`gains` was made from: each count divided by its norm, ``gain / (weight - gain)``."""
    return np.asarray(gains / np.maximum(weight - gains, 1e-7 * weight))
