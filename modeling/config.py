"""Configuration of the loss."""

from dataclasses import dataclass
from typing import Final, Literal

from data_prep.bounds import check_bounds, real

Negatives = Literal["average", "sum", "hardest", "random", "random_query"]


@dataclass(frozen=True, slots=True)
class LossConfig:
    """The loss and the choice of its negatives (section ``loss``)."""

    kind: Literal["ranking", "cross_entropy"] = "ranking"
    """Bidirectional ranking loss (GALM eq. 14, SCAN, VSE++), or in-batch cross-entropy in both directions."""
    margin: float = 0.2
    """Margin of the ranking loss, in units of the score (VSE++, GSMN: 0.2; the TabCS release: 0.05)."""
    negatives: Negatives = "hardest"
    """All negatives of the batch averaged or summed, the hardest per row and column (VSE++), or a random one (eq. 14).

    ``random_query``: a random query per code, and no codes (as the releases of DeepCS, CARLCS, TabCS and FcarCS do).
    """
    warmup_epochs: float = 1.0
    """Epochs of averaged negatives before ``hardest``, which can stall from random weights."""
    temperature: float = 1.0
    """Scores are divided by this in the cross-entropy."""
    directions: Literal["both", "queries"] = "both"
    """Whether the cross-entropy is over the codes of each query and the queries of each code, or only the former."""

    def __post_init__(self) -> None:
        check_bounds(self, _BOUNDS, "loss")


_BOUNDS: Final = {
    "margin": real(0, 1000, above=True),
    "warmup_epochs": real(0, 100_000),
    "temperature": real(0, 1000, above=True),
}
