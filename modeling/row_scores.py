"""Scores of selected codes of a corpus for a query; the codes are encoded on demand."""

from typing import Final

import numpy as np
import torch
from jaxtyping import Float32, Int64

from data_prep.store.batching import Batch
from data_prep.store.tokenizing import TokenizedPairs
from modeling.base import Encoded, NeuralRanker

AT_ONCE: Final = 160
"""Most codes scored at a time: larger batches are padded to longer codes and exceed the caches."""


class RowScores:
    """Scores of any neural model for rows of a corpus; encodings are not cached."""

    def __init__(self, model: NeuralRanker, corpus: TokenizedPairs, *, at_once: int = AT_ONCE) -> None:
        """Score the codes of ``corpus`` with ``model`` on its current device, ``at_once`` of them at a time."""
        self.model, self._corpus, self._at_once = model.eval(), corpus, at_once
        self._device = next(model.parameters()).device

    @torch.inference_mode()
    def scores(self, query: Batch, rows: Int64[np.ndarray, " found"]) -> Float32[np.ndarray, " found"]:
        """The score of each of ``rows``, which may come more than once, for the one query of a batch."""
        distinct, places = np.unique(rows, return_inverse=True)
        order = np.argsort(self._corpus.code_lengths[distinct], kind="stable")  # of like length, little is padding
        found = np.empty(len(distinct), dtype=np.float32)
        asked = self.model.encode_query({field: words.to(self._device) for field, words in query.items()})
        parts = -(-len(order) // self._at_once)
        for some in np.array_split(order, parts) if parts else ():  # of about one size
            found[some] = self.model.score_matrix(asked, self.encoded(distinct[some]))[0].float().cpu().numpy()
        scores: Float32[np.ndarray, " found"] = found[places]
        return scores

    @torch.inference_mode()
    def encoded(self, rows: Int64[np.ndarray, " found"]) -> Encoded:
        """The encoded codes of ``rows``."""
        codes = self._corpus.codes(rows)
        return self.model.encode_code({field: words.to(self._device) for field, words in codes.items()})
