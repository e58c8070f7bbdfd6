"""Any neural model as a ranker: encodes a corpus once, then scores queries against all of it or some candidates."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Final, Literal

import numpy as np
import torch
from jaxtyping import Float, Float32, Int, Int64

from data_prep.errors import UserError
from data_prep.store.batching import Batch
from data_prep.store.split import Split, TokenizedPairs
from modeling.base import BiEncoder, Encoded, NeuralRanker, PairTokenizer
from modeling.ranker import SCORES_PER_BLOCK, Ranker, Scores

CODES_PER_CHUNK: Final = 512
QUERIES_PER_BLOCK: Final = 512
_VECTORS: Final = 64
"""Texts whose vectors are made at a time."""
ENCODED_BYTES: Final = 1 << 27
"""Encoded code cached between blocks of queries, 128 MiB; code beyond that is encoded again for each block."""

PairOutput = Callable[[Encoded, Encoded], Float[torch.Tensor, "pairs ..."]]
"""Query i and code i -> one number per pair, or several."""


class PoolRanker(Ranker):
    """A neural model as a :class:`modeling.ranker.Ranker`; memory is bounded for any corpus size."""

    def __init__(
        self,
        model: NeuralRanker,
        tokenizer: PairTokenizer,
        device: torch.device | str = "cpu",
        *,
        bfloat16: bool = False,
    ) -> None:
        """Score with ``model`` on ``device``; ``bfloat16``: compute its matrix products in that precision."""
        self.model, self.tokenizer = model.to(device), tokenizer
        self.device, self.bfloat16 = torch.device(device), bfloat16

    @property
    def natural_threshold(self) -> float | None:
        """The model's threshold."""
        return self.model.natural_threshold

    def over(self, queries: Split, corpus: Split) -> "NeuralScores":
        """Tokenize both."""
        asked = self.tokenizer.encode(queries)
        codes = asked if queries is corpus else self.tokenizer.encode(corpus)
        return NeuralScores(self.model, asked, codes, bfloat16=self.bfloat16)

    def vectors(self, pairs: Split, side: Literal["query", "code"]) -> Float32[np.ndarray, "pairs dim"]:
        """The vector of each query or code, whose inner products are the scores, by a model that has one a side.

        Raises:
            UserError: a vector is not finite.
        """
        ids, model = self.tokenizer.encode(pairs), self.model
        lengths, batch = (ids.query_lengths, ids.queries) if side == "query" else (ids.code_lengths, ids.codes)
        encode: Callable[[Batch], Encoded] = model.encode_query if side == "query" else model.encode_code
        order = np.argsort(lengths, kind="stable")  # of like length, little is padding
        parts = []
        with scoring(model):
            for rows in np.split(order, [*range(_VECTORS, len(order), _VECTORS)]):
                parts.append(encode(model.moved(batch(rows))).states[:, 0].float().cpu().numpy())
        vectors: Float32[np.ndarray, "pairs dim"] = np.concatenate(parts)[np.argsort(order, kind="stable")]
        if not np.isfinite(vectors).all():
            raise UserError("the model gives vectors that are not finite: train it again")
        return vectors


class NeuralScores(Scores):
    """Scores of a neural model over tokenized pairs."""

    def __init__(
        self, model: NeuralRanker, queries: TokenizedPairs, corpus: TokenizedPairs, *, bfloat16: bool = False
    ) -> None:
        """Score with ``model`` on its current device; codes are encoded on first use."""
        super().__init__(len(queries), len(corpus))
        self.model, self._queries, self._corpus, self._bfloat16 = model, queries, corpus, bfloat16
        self._device = next(model.parameters()).device

    def __call__(
        self, queries: Int64[np.ndarray, " block"], candidates: Int64[np.ndarray, "block candidates"]
    ) -> Float32[np.ndarray, "block candidates"]:
        """The score of every candidate of each query."""
        if isinstance(self.model, BiEncoder):
            return self._cosines(queries, candidates)
        if self.model.pairs_at_once:
            return self.of_pairs(queries, candidates, self.model.score_pairs)
        with scoring(self.model):
            rows, scores = RowScores(self.model, self._corpus), np.empty(candidates.shape, np.float32)
            for place, query in enumerate(queries.tolist()):
                scores[place] = rows.scores(self._queries.queries([query]), candidates[place])
        return scores

    def of_pairs(
        self, queries: Int64[np.ndarray, " block"], candidates: Int64[np.ndarray, "block candidates"], score: PairOutput
    ) -> Float32[np.ndarray, "block candidates ..."]:
        """The output of ``score`` for each pair, batched by length: for a model with ``pairs_at_once``."""
        assert self.model.pairs_at_once
        if not candidates.size:
            return np.zeros(candidates.shape, np.float32)
        texts, codes = np.repeat(queries, candidates.shape[1]), candidates.ravel()
        order = np.argsort(-(self._queries.query_lengths[texts] + self._corpus.code_lengths[codes]), kind="stable")
        found, step = [], self.model.pairs_at_once
        with scoring(self.model):
            for start in range(0, len(order), step):
                rows = order[start : start + step]
                output = score(self._encoded_queries(texts[rows]), self._encoded_codes(codes[rows]))
                found.append(output.float().cpu().numpy())
        sorted_outputs: Float32[np.ndarray, "pairs ..."] = np.concatenate(found)
        outputs = sorted_outputs[np.argsort(order, kind="stable")]
        return outputs.reshape(*candidates.shape, *outputs.shape[1:])

    def blocks(self) -> Iterator[Float32[np.ndarray, "block codes"]]:
        """Every query against every code; encoded code is cached across blocks of queries as far as memory permits."""
        saved: dict[int, Encoded] = {}
        step = max(1, min(QUERIES_PER_BLOCK, SCORES_PER_BLOCK // max(1, self.codes)))
        for start in range(0, self.queries, step):
            with scoring(self.model):
                block = self._block(np.arange(start, min(start + step, self.queries)), saved)
            yield block

    def _block(self, rows: Int[np.ndarray, " rows"], saved: dict[int, Encoded]) -> Float32[np.ndarray, "rows codes"]:
        by_length = np.argsort(self._queries.query_lengths[rows], kind="stable")
        queries = self._encoded_queries(rows[by_length])
        scores = np.empty((len(rows), self.codes), dtype=np.float32)
        for number, chunk in enumerate(self._chunks):
            codes = saved[number] if number in saved else self._encoded_codes(chunk)
            if number not in saved and sum(each.nbytes for each in saved.values()) < ENCODED_BYTES:
                saved[number] = codes
            with torch.autocast(self._device.type, torch.bfloat16, enabled=self._bfloat16):
                found = self.model.score_matrix(queries, codes)
            scores[np.ix_(by_length, chunk)] = found.float().cpu().numpy()
        return scores

    def _cosines(
        self, queries: Int64[np.ndarray, " block"], candidates: Int64[np.ndarray, "block candidates"]
    ) -> Float32[np.ndarray, "block candidates"]:
        with scoring(self.model):
            asked = self._encoded_queries(queries).states  # [block, 1, dim]
            among = self._vectors[torch.from_numpy(candidates)].to(self._device)  # [block, candidates, dim]
            cosines: Float32[np.ndarray, "block candidates"] = (asked * among).sum(-1).cpu().numpy()
        return cosines

    @cached_property
    def _vectors(self) -> Float[torch.Tensor, "codes dim"]:
        """The vector of every code, for a model that encodes code without the query."""
        parts = [self._encoded_codes(chunk).states[:, 0].cpu() for chunk in self._chunks]
        by_length = torch.cat(parts)
        return by_length[torch.from_numpy(np.argsort(np.concatenate(self._chunks), kind="stable"))]

    @cached_property
    def _chunks(self) -> list[Int[np.ndarray, " rows"]]:
        """All codes in chunks of similar length, so that there is little padding."""
        order = np.argsort(self._corpus.code_lengths, kind="stable")
        return [order[at : at + CODES_PER_CHUNK] for at in range(0, len(order), CODES_PER_CHUNK)]

    def _encoded_queries(self, rows: Int[np.ndarray, " rows"]) -> Encoded:
        return self.model.encode_query(self.model.moved(self._queries.queries(rows)))

    def _encoded_codes(self, rows: Int[np.ndarray, " rows"]) -> Encoded:
        return self.model.encode_code(self.model.moved(self._corpus.codes(rows)))


@contextmanager
def scoring(model: NeuralRanker) -> Iterator[None]:
    """Disable dropout and gradients, and restore the training mode afterwards."""
    training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        model.train(training)


AT_ONCE: Final = 160
"""Most codes scored at a time: larger batches are padded to longer codes and exceed the caches."""


class RowScores:
    """Scores of any neural model for rows of a corpus; encodings are not cached."""

    def __init__(self, model: NeuralRanker, corpus: TokenizedPairs, *, at_once: int = AT_ONCE) -> None:
        """Score the codes of ``corpus`` with ``model`` on its current device, ``at_once`` of them at a time."""
        self.model, self._corpus, self._at_once = model.eval(), corpus, at_once

    @torch.inference_mode()
    def scores(self, query: Batch, rows: Int64[np.ndarray, " found"]) -> Float32[np.ndarray, " found"]:
        """The score of each of ``rows``, which may come more than once, for the one query of a batch."""
        distinct, places = np.unique(rows, return_inverse=True)
        order = np.argsort(self._corpus.code_lengths[distinct], kind="stable")  # of like length, little is padding
        found = np.empty(len(distinct), dtype=np.float32)
        asked = self.model.encode_query(self.model.moved(query))
        parts = -(-len(order) // self._at_once)
        for some in np.array_split(order, parts) if parts else ():  # of about one size
            found[some] = self.model.score_matrix(asked, self.encoded(distinct[some]))[0].float().cpu().numpy()
        scores: Float32[np.ndarray, " found"] = found[places]
        return scores

    @torch.inference_mode()
    def encoded(self, rows: Int64[np.ndarray, " found"]) -> Encoded:
        """The encoded codes of ``rows``."""
        return self.model.encode_code(self.model.moved(self._corpus.codes(rows)))
