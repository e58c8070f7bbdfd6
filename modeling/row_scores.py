"""Scores of some codes of a corpus for a query, the codes encoded when they are asked for."""

from typing import Final

import numpy as np
import torch
from jaxtyping import Float32, Int64

from data_prep.store.batching import Batch
from data_prep.store.prepared_data import Split
from modeling.contract import Encoded, Matcher, PairTokenizer

AT_ONCE: Final = 160
"""Codes that are scored at a time, at most: of many at once, the longest makes all long, and caches are too small."""


class RowScores:
    """Any matcher over the rows of a corpus, whose words become ids once; its vectors are not kept."""

    def __init__(self, matcher: Matcher, encoder: PairTokenizer, corpus: Split, *, at_once: int = AT_ONCE) -> None:
        """``matcher`` on the device where it is, over words that ``encoder`` turns to ids; ``at_once`` codes a time."""
        self._at_once = at_once
        self.matcher, self._corpus = matcher.eval(), encoder.encode(corpus)
        self._device = next(matcher.parameters()).device

    @torch.inference_mode()
    def scores(self, query: Batch, rows: Int64[np.ndarray, " found"]) -> Float32[np.ndarray, " found"]:
        """The score of each of ``rows``, which may come more than once, for the one query of a batch."""
        distinct, places = np.unique(rows, return_inverse=True)
        order = np.argsort(self._corpus.code_lengths[distinct], kind="stable")  # of like length, little is padding
        found = np.empty(len(distinct), dtype=np.float32)
        asked = self.matcher.encode_query({field: words.to(self._device) for field, words in query.items()})
        parts = -(-len(order) // self._at_once)
        for some in np.array_split(order, parts) if parts else ():  # of about one size
            found[some] = self.matcher.score_matrix(asked, self.encoded(distinct[some]))[0].float().cpu().numpy()
        scores: Float32[np.ndarray, " found"] = found[places]
        return scores

    @torch.inference_mode()
    def encoded(self, rows: Int64[np.ndarray, " found"]) -> Encoded:
        """The codes ``rows``."""
        codes = self._corpus.codes(rows)
        return self.matcher.encode_code({field: words.to(self._device) for field, words in codes.items()})
