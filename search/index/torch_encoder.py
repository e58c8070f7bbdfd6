"""A trained bi-encoder of any kind for the rows of an index, by torch.

All batches have one size and one width, the longest that the model reads, so that every sum has the same terms in the
same order.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import pad

from data_prep.array_types import Float16, Float32, Int64
from data_prep.errors import UserError
from data_prep.store.batching import Batch, Words
from data_prep.store.prepared_data import Split
from data_prep.store.tokenizing import TokenizedPairs
from modeling.bi_encoder import BiEncoder
from search.engine.query_words import query_split
from search.index.vector_file import BATCH
from search.models.folder import DEFAULT_BI_ENCODER, model_hash
from search.models.packed_model import load_model


class TorchEncoder:
    """A :class:`search.index.vector_encoding.RowEncoder` for any bi-encoder over words."""

    def __init__(self, run: Path | None = None) -> None:
        """Load the model of a finished run, or a packed one; None: the shipped one.

        Raises:
            UserError: there is no model, or it is not a bi-encoder.
        """
        folder = run or DEFAULT_BI_ENCODER
        ranker, encoder = load_model(folder)
        if not isinstance(ranker, BiEncoder):
            raise UserError(f"the model in {folder} makes no vector of a method")
        self.run, self._ranker, self._encoder = str(run or ""), ranker, encoder
        self.fields = ranker.code_fields
        self._context_words: int = getattr(ranker.config, "context_words", 0)
        self.model = model_hash(folder)
        self.dim = self.query(("a",)).shape[1]

    @torch.inference_mode()
    def query(self, words: Sequence[str], context: Sequence[str] = ()) -> Float32[np.ndarray, "1 dim"]:
        """The vector of a query, with norm 1; ``context``: the words above the cursor, if the model reads them."""
        ids = self._encoder.encode(query_split(words, context[max(0, len(context) - self._context_words) :]))
        return self._ranker.encode_query(ids.queries([0])).states[:, 0].float().numpy()

    def ids(self, rows: Split) -> TokenizedPairs:
        """The rows as ids of the model."""
        return self._encoder.encode(rows)

    @torch.inference_mode()
    def vectors(self, ids: TokenizedPairs, rows: Int64[np.ndarray, " batch"]) -> Float16[np.ndarray, "batch dim"]:
        """The vectors of at most BATCH ``rows``, with norm 1; 0 for rows without words.

        Raises:
            UserError: the model gives NaN.
        """
        full = np.resize(rows, BATCH)  # repeated
        states = self._ranker.encode_code(self._full_width(ids.codes(full))).states[: len(rows), 0].float().numpy()
        if not np.isfinite(states).all():
            raise UserError(
                f"the model in {self.run or DEFAULT_BI_ENCODER} gives vectors that are not finite: train it again"
            )
        return states.astype(np.float16)

    def _full_width(self, batch: Batch) -> Batch:
        def widened(field: str, words: Words) -> Words:
            more = 0, getattr(self._encoder.config, f"{field}_length") - words.ids.shape[1]
            return Words(pad(words.ids, more), pad(words.mask, more))

        return {field: widened(field, words) for field, words in batch.items()}
