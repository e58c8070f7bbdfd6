"""Measures of the matching task: does this code answer this text? Half of the pairs match."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from data_prep.errors import UserError


@dataclass(frozen=True, slots=True)
class Matching:
    """Measures of decisions, each from 0 to 1; precision, recall and F1 are of the class "match"."""

    accuracy: float
    precision: float  # 0 if no pair was predicted to match
    recall: float
    f1: float


def matching(said: Bool[np.ndarray, " pairs"], true: Bool[np.ndarray, " pairs"]) -> Matching:
    """The measures of the predictions ``said`` against the labels ``true``.

    Raises:
        UserError: there is no matching pair.
    """
    if not true.any():
        raise UserError("matching needs at least one pair that matches, but there is none")
    hits = int((said & true).sum())
    precision = hits / int(said.sum()) if said.any() else 0.0
    recall = hits / int(true.sum())
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return Matching(float((said == true).mean()), precision, recall, f1)


def best_threshold(scores: Float[np.ndarray, " pairs"], true: Bool[np.ndarray, " pairs"]) -> float:
    """The score threshold for a match with the best accuracy on these pairs; the lowest if several are equal.

    Raises:
        UserError: a score is NaN, or there is no pair.
    """
    if not len(scores) or np.isnan(scores).any():
        raise UserError(f"a threshold needs scores that are numbers, but of {len(scores)} some are not")
    order = np.argsort(scores, kind="stable")
    ordered, matches = scores[order], true[order]
    # right[k]: number of correct decisions if the k lowest are predicted not to match
    right = np.concatenate([[0], np.cumsum(~matches)]) + np.concatenate([np.cumsum(matches[::-1])[::-1], [0]])
    possible = np.concatenate([[True], ordered[1:] != ordered[:-1], [True]])
    best = int(np.argmax(np.where(possible, right, -1)))
    return float(ordered[best]) if best < len(ordered) else float(np.nextafter(ordered[-1], np.inf))
