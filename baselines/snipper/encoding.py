"""Vectors of many texts, in batches of texts of similar length."""

from typing import Final, Literal

import numpy as np
import torch
from jaxtyping import Float32
from tqdm import tqdm

from baselines.snipper.encoder import SnippetEncoder
from data_prep.store.batching import pad
from data_prep.store.ragged_lists import Ragged

_TOKENS_PER_BATCH: Final = 16_384


@torch.no_grad()
def encode_texts(
    model: SnippetEncoder, ids: Ragged, side: Literal["query", "code"]
) -> Float32[np.ndarray, "texts dim"]:
    """The vectors of queries or documents, in order; the model is left in the mode it had."""
    device = next(model.parameters()).device
    encode = model.encode_query if side == "query" else model.encode_code
    training = model.training
    model.eval()
    order, lengths = np.argsort(-ids.lengths, kind="stable"), ids.lengths
    vectors, at = np.zeros((0, 0), np.float32), 0
    with tqdm(total=len(ids), desc="encoding", unit=" texts", disable=None, leave=False) as bar:
        while at < len(order):
            rows = order[at : at + max(1, _TOKENS_PER_BATCH // max(1, int(lengths[order[at]])))]
            found = encode({side: pad(ids.take(rows)).to(device)}).states[:, 0].float().cpu().numpy()
            vectors = vectors if at else np.zeros((len(ids), found.shape[1]), np.float32)
            vectors[rows] = found
            at += len(rows)
            bar.update(len(rows))
    model.train(training)
    return vectors
