"""Losses over a score matrix with the gold pairs on the diagonal; duplicates of a pair are never its negatives.

There may be more codes than queries: the additional codes are hard negatives, for which no query is ranked.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from training.config import LossConfig, Negatives


def hinges(
    scores: Float[Tensor, "queries codes"], negatives: Bool[Tensor, "queries codes"], margin: float
) -> tuple[Float[Tensor, "queries codes"], Float[Tensor, "queries queries"]]:
    """Hinge loss of each negative for its row's query and for its column's code; 0 where there is no negative.

    Row term: max(0, margin - s(q_i, c_i) + s(q_i, c_j)); column term: max(0, margin - s(q_j, c_j) + s(q_i, c_j)).
    """
    gold = scores.diagonal()
    rows = (margin - gold[:, None] + scores).clamp(min=0).masked_fill(~negatives, 0.0)
    own = slice(len(scores))  # the gold codes
    columns = (margin - gold[None, :] + scores[:, own]).clamp(min=0).masked_fill(~negatives[:, own], 0.0)
    return rows, columns


def ranking_loss(
    scores: Float[Tensor, "queries codes"],
    negatives: Bool[Tensor, "queries codes"],
    margin: float,
    kind: Negatives,
) -> Float[Tensor, ""]:
    """Bidirectional ranking loss, GALM eq. 14 with both terms hinged, averaged over the pairs of the batch."""
    rows, columns = hinges(scores, negatives, margin)
    if kind == "hardest":
        return (rows.amax(1) + columns.amax(0)).mean()
    if kind in ("random", "random_query"):
        chance = torch.rand(negatives.shape, device=scores.device).masked_fill(~negatives, -1.0)
        by_row, by_column = chance.argmax(1, keepdim=True), chance[:, : len(scores)].argmax(0, keepdim=True)
        of_query, of_code = rows.gather(1, by_row).squeeze(1), columns.gather(0, by_column).squeeze(0)
        return (of_code if kind == "random_query" else of_query + of_code).mean()
    if kind == "sum":
        return (rows.sum(1) + columns.sum(0)).mean()
    of_queries, of_codes = negatives.sum(1), negatives[:, : len(scores)].sum(0)
    return (rows.sum(1) / of_queries.clamp(min=1) + columns.sum(0) / of_codes.clamp(min=1)).mean()


def cross_entropy(
    scores: Float[Tensor, "queries codes"],
    negatives: Bool[Tensor, "queries codes"],
    temperature: float,
    *,
    both: bool = True,
) -> Float[Tensor, ""]:
    """-log softmax of the gold among itself and its negatives, over rows and, if ``both``, over columns, averaged."""
    gold = torch.eye(*scores.shape, dtype=torch.bool, device=scores.device)
    logits = (scores / temperature).masked_fill(~(negatives | gold), float("-inf"))
    rows = logits.diagonal() - logits.logsumexp(1)
    if not both:
        return -rows.mean()
    columns = logits.diagonal() - logits[:, : len(scores)].logsumexp(0)
    return -(rows + columns).mean() / 2


@dataclass(frozen=True, slots=True)
class Loss:
    """The configured loss; call it with the scores, the negatives and the number of epochs so far."""

    config: LossConfig

    def __call__(
        self, scores: Float[Tensor, "queries codes"], negatives: Bool[Tensor, "queries codes"], epoch: float
    ) -> Float[Tensor, ""]:
        """The loss at ``epoch`` (0 at the start, fractional within an epoch)."""
        if self.config.kind == "cross_entropy":
            both = self.config.directions == "both"
            return cross_entropy(scores, negatives, self.config.temperature, both=both)
        return ranking_loss(scores, negatives, self.config.margin, self._negatives(epoch))

    def selects(self, epoch: float) -> bool:
        """Whether the loss at ``epoch`` depends on a few scores only: those of the golds, and of one negative each."""
        return self.config.kind == "ranking" and self._negatives(epoch) not in ("average", "sum")

    def remark(self, epoch: int) -> str:
        """What is said where the loss rises in an epoch (1-based), the first over the hardest negatives; else ""."""
        before, now = self._negatives(epoch - 2.0), self._negatives(math.nextafter(epoch, 0))
        is_switch = self.config.kind == "ranking" and before == "average" and now == "hardest"
        return "higher, since it is now over the hardest negatives, not their average" if is_switch else ""

    def _negatives(self, epoch: float) -> Negatives:
        kind = self.config.negatives
        return "average" if kind == "hardest" and epoch < self.config.warmup_epochs else kind
