"""The loss of SnippeR (arXiv 2305.11625, section 4).

    L = -log( exp(q·d+) / (exp(q·d+) + sum_j exp(q·d-_j)) )

The negatives d- of a query are its own hard negatives, and the documents and hard negatives of the rest of the batch.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor


class NegativeLogLikelihood:
    """The loss of a batch, averaged over its queries; call it with scores, negatives and the epochs so far."""

    def __init__(self, temperature: float = 1.0) -> None:
        """Scores are divided by ``temperature``; the paper's is 1."""
        self.temperature = temperature

    def __call__(
        self,
        scores: Float[Tensor, "queries documents"],
        negatives: Bool[Tensor, "queries documents"],
        epochs: float,  # noqa: ARG002 - the loss is the same in every epoch
    ) -> Float[Tensor, ""]:
        """Query i's own document is document i; others that are not among its ``negatives`` are ignored."""
        gold = torch.eye(*scores.shape, dtype=torch.bool, device=scores.device)
        logits = (scores / self.temperature).masked_fill(~(negatives | gold), float("-inf"))
        return (logits.logsumexp(1) - logits.diagonal()).mean()
