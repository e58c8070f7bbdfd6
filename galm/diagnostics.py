"""Whether a graph carries anything: how flat its softmaxes are, and how alike its nodes have become.

A softmax whose entropy is that of the uniform distribution weighs all words alike, and nodes without variance inside a
graph have lost which word they are of: then edges that are learned, given or all equal give the same score, and a
comparison of them says nothing.
"""

from collections.abc import Mapping
from typing import Final

import torch
from jaxtyping import Bool, Float
from torch import Tensor

FLAT: Final = 0.95
"""Mean relative entropy of the edges of a layer from which on they are as good as uniform."""
ALIKE: Final = 0.05
"""Share of the variance of a layer's nodes inside graphs below which nodes of a graph are as good as equal."""


def relative_entropy(
    weights: Float[Tensor, "graphs rows columns"],
    rows: Bool[Tensor, "graphs rows"],
    columns: Bool[Tensor, "graphs columns"],
) -> float:
    """Mean of H(row) / log n over the rows that have n of two columns or more: 1 of a uniform row, 0 of a one-hot one.

    NaN where there is no such row.
    """
    entropy = torch.special.entr(weights).sum(-1)  # [graphs, rows]
    count = columns.sum(-1, keepdim=True)  # [graphs, 1]
    used = rows & (count > 1)
    return float((entropy / count.clamp(min=2).log())[used].mean())


def share_inside(states: Float[Tensor, "graphs nodes width"], mask: Bool[Tensor, "graphs nodes"]) -> float:
    """Variance of the nodes around the mean of their graph, as a share of their whole variance.

    NaN where all nodes are equal.
    """
    weights = mask[..., None].to(states.dtype)
    graph_mean = (states * weights).sum(1, keepdim=True) / weights.sum(1, keepdim=True).clamp(min=1)
    mean = states[mask].mean(0)
    inside = ((states - graph_mean) * weights).square().sum()
    return float(inside / ((states - mean) * weights).square().sum())


def degenerate_parts(found: Mapping[str, float]) -> str:
    """Names and values of what is flat or alike among diagnostics; "" where nothing is."""
    flat = [name for name, value in found.items() if name.endswith("edge_entropy") and value >= FLAT]
    alike = [name for name, value in found.items() if name.endswith("node_variance") and value < ALIKE]
    parts = [
        *(f"{name} {found[name]:.3f} (1: uniform)" for name in flat),
        *(f"{name} {found[name]:.3f} (0: all nodes of a graph are equal)" for name in alike),
    ]
    return ", ".join(parts)
