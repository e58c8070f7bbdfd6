"""Any matcher as a ranker: a corpus encoded once, queries scored against all of it block by block."""

from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Float, Int

from data_prep.store.batching import Batch, TokenizedPairs
from data_prep.store.prepared_data import Split
from modeling.contract import Encoded, Matcher, PairTokenizer

CODES_PER_CHUNK = 512
QUERIES_PER_BLOCK = 512
SCORES_PER_BLOCK = 1 << 22
"""Scores held at a time: 16 MiB in float32."""
ENCODED_BYTES = 1 << 27
"""Encoded code kept between blocks of queries, 128 MiB; what is beyond is encoded again for each block."""


class PoolRanker:
    """A :class:`modeling.contract.Ranker` over a matcher; memory stays bounded whatever the corpus."""

    def __init__(
        self, matcher: Matcher, encoder: PairTokenizer, device: torch.device | str = "cpu", *, bfloat16: bool = False
    ) -> None:
        """Score with ``matcher`` on ``device``, over words that ``encoder`` turns into ids; by bfloat16 products?"""
        self.matcher = matcher.to(device)
        self.encoder = encoder
        self.device = device
        self.bfloat16 = bfloat16
        self._corpus = TokenizedPairs({})
        self._chunks: list[Int[np.ndarray, " rows"]] = []
        self._kept: list[Encoded | None] = []

    @torch.inference_mode()
    def index(self, corpus: Split) -> None:
        """Take ``corpus`` as the pool; methods of like length are encoded together, so that little is padding."""
        self.matcher.eval()
        self._corpus = self.encoder.encode(corpus)
        order = np.argsort(self._corpus.code_lengths, kind="stable")
        self._chunks = [order[at : at + CODES_PER_CHUNK] for at in range(0, len(order), CODES_PER_CHUNK)]
        self._kept, left = [], ENCODED_BYTES
        for number in range(len(self._chunks)):
            encoded = self._encode(number) if left > 0 else None
            left -= 0 if encoded is None else encoded.states.nbytes
            self._kept.append(encoded)

    def scores(self, queries: Split) -> Iterator[Float[np.ndarray, "block codes"]]:
        """Scores of the queries in order, some rows at a time."""
        self.matcher.eval()
        ids, pool = self.encoder.encode(queries), len(self._corpus)
        step = max(1, min(QUERIES_PER_BLOCK, SCORES_PER_BLOCK // max(1, pool)))
        for start in range(0, len(ids), step):
            yield self._block(ids, np.arange(start, min(start + step, len(ids))))

    @torch.inference_mode()
    def _block(self, ids: TokenizedPairs, rows: Int[np.ndarray, " rows"]) -> Float[np.ndarray, "rows codes"]:
        by_length = np.argsort(ids.query_lengths[rows], kind="stable")
        queries = self.matcher.encode_query(self._moved(ids.queries(rows[by_length])))
        scores = np.empty((len(rows), len(self._corpus)), dtype=np.float32)
        for number, chunk in enumerate(self._chunks):
            kept = self._kept[number]
            codes = self._encode(number) if kept is None else kept
            with torch.autocast(torch.device(self.device).type, torch.bfloat16, enabled=self.bfloat16):
                found = self.matcher.score_matrix(queries, codes)
            scores[np.ix_(by_length, chunk)] = found.float().cpu().numpy()
        return scores

    def _encode(self, number: int) -> Encoded:
        return self.matcher.encode_code(self._moved(self._corpus.codes(self._chunks[number])))

    def _moved(self, batch: Batch) -> Batch:
        return {field: words.to(self.device) for field, words in batch.items()}
