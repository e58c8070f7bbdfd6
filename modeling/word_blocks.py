"""Split a batch into small blocks of rows with similar numbers of words, which need little padding."""

from jaxtyping import Bool, Float, Int
from torch import Tensor, arange

from modeling.base import Encoded


def word_blocks(
    states: Float[Tensor, "batch words dim"], mask: Bool[Tensor, "batch words"], rows: int
) -> tuple[list[Encoded], Int[Tensor, " batch"]]:
    """Blocks of at most ``rows`` rows, shortest first, each as wide as its longest row and at least 1.

    In a block a row's words keep their order and precede its pads, wherever the pads were.

    Returns:
        The blocks, and for each row of the batch its index in the concatenated blocks.
    """
    lengths = mask.sum(1)
    order = lengths.argsort(stable=True)
    starts = arange(len(mask), device=mask.device)[:, None] * mask.shape[1]
    places = mask.sort(dim=1, descending=True, stable=True).indices + starts  # of each row, words before pads
    flat = states.flatten(0, 1)
    blocks = []
    for chosen in order.split(rows):
        width = max(1, int(lengths[chosen[-1]]))
        found = flat.index_select(0, places[chosen, :width].flatten()).view(len(chosen), width, -1)
        blocks.append(Encoded(found, arange(width, device=mask.device) < lengths[chosen, None]))
    return blocks, order.argsort()
