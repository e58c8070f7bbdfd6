"""Padded batches of word ids; every padded tensor has a mask."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from data_prep.store.arrays import Ragged
from data_prep.store.tokenizing import PAD


@dataclass(frozen=True, slots=True)
class Words:
    """Word ids of one field of a batch, padded at the end."""

    ids: Int[Tensor, "batch words"]
    mask: Bool[Tensor, "batch words"]  # True at words, False at pads

    def to(self, device: torch.device | str) -> "Words":
        """The same words on ``device``."""
        return Words(self.ids.to(device), self.mask.to(device))


Batch = Mapping[str, Words]
"""Field -> its words: {"query": ...} on the query side, the code fields (CODE_FIELDS) on the other."""


def pad(lists: Ragged) -> Words:
    """Pad lists of ids to the longest one, at least to width 1."""
    lengths = lists.lengths
    width = max(1, int(lengths.max(initial=0)))
    mask = np.arange(width)[None, :] < lengths[:, None]  # [batch, words]
    ids = np.full(mask.shape, PAD, dtype=np.int64)
    ids[mask] = lists.values
    return Words(torch.from_numpy(ids), torch.from_numpy(mask))
