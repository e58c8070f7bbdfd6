"""Learning to rank: every query of a batch against all codes of the batch, and hard negatives if there are any."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from data_prep.store.batching import Batch
from data_prep.store.tokenizing import TokenizedPairs
from modeling import distributed as processes
from modeling.base import Encoded, NeuralRanker
from training.batches import batch_count, epoch_batches, negatives_mask
from training.config import TrainConfig
from training.task import Rows

Loss = Callable[[Float[Tensor, "queries codes"], Bool[Tensor, "queries codes"], float], Float[Tensor, ""]]
"""(scores, negatives, epochs so far) -> the batch's loss; query i's own code is code i."""

Validate = Callable[[NeuralRanker], Mapping[str, float]]
"""Model -> measures on validation pairs, including ``mrr``; higher is better."""


@dataclass(frozen=True)
class PairTask:
    """Pairs of a query and a code; the other codes of a batch are a query's negatives.

    With ``hard_negatives`` a batch also contains those codes of each of its queries; a code equal to the query's own is
    not a negative even there.
    """

    model: NeuralRanker
    compute_loss: Loss
    pairs: TokenizedPairs
    measure: Validate
    config: TrainConfig
    device: torch.device | str = "cpu"
    hard_negatives: Int[np.ndarray, "pairs negatives"] | None = None  # by row of ``pairs``
    negatives_per_query: int = 0
    """Hard negatives of each query in a batch, drawn anew in every epoch; 0: all of them."""
    selects: Callable[[float], bool] = lambda _: False
    """Epochs so far -> whether the loss depends on a few of the scores only."""

    def __len__(self) -> int:
        return len(self.pairs)

    @cached_property
    def fingerprint(self) -> int:
        """A checksum of the tokenized training split."""
        parts = [part for name in sorted(self.pairs.fields) for part in _arrays(self.pairs, name)]
        total = 0
        for part in parts if self.hard_negatives is None else [*parts, self.hard_negatives]:
            total = zlib.crc32(np.ascontiguousarray(part).tobytes(), total)
        return total

    @property
    def batch_count(self) -> int:
        return batch_count(len(self.pairs), self.config.batch_size, self.config.processes)

    def batches(self, epoch: int) -> Sequence[Rows]:
        config = self.config
        return epoch_batches(
            self.pairs, config.batch_size, config.seed, epoch, config.same_file_negatives, config.processes
        )

    def loss(self, rows: Rows, epochs: float, step: int) -> Float[Tensor, ""]:
        codes = self._codes_of(rows, int(epochs))
        queries, encoded = self._encoded(rows, codes, step)
        mask = negatives_mask(
            self.pairs.query_keys[rows], self.pairs.code_keys[rows],
            self.pairs.query_keys[codes], self.pairs.code_keys[codes],
        )  # fmt: skip
        negatives = torch.from_numpy(mask).to(self.device)
        if self.selects(epochs) and self.model.expensive_scoring and self._plain_gradients:
            return self._loss_of_selected(queries, encoded, negatives, epochs)
        scores = processes.all_rows(self.model.score_matrix(queries, encoded)).float()  # [queries, codes]
        return self.compute_loss(scores, negatives, epochs)

    def validate(self) -> Mapping[str, float]:
        return self.measure(self.model)

    def _codes_of(self, rows: Rows, epoch: int) -> Int[np.ndarray, " codes"]:
        """The codes of a batch: those of its queries in order, then their hard negatives."""
        if self.hard_negatives is None:
            return rows
        mined = self.hard_negatives[rows]  # [queries, negatives]
        if 0 < self.negatives_per_query < mined.shape[1]:
            random = np.random.default_rng((self.config.seed, epoch, int(rows[0])))
            places = random.random(mined.shape).argsort(axis=1)[:, : self.negatives_per_query]
            mined = np.take_along_axis(mined, places, axis=1)
        return np.concatenate([rows, mined.ravel()])

    def _encoded(self, rows: Rows, codes: Int[np.ndarray, " codes"], step: int) -> tuple[Encoded, Encoded]:
        """The queries and codes of a batch; each process encodes its share, and scores its own queries."""
        if processes.count() > 1:  # dropout depends only on step and process, so a run can resume
            seed = self.config.seed * 1_000_003 + step
            torch.manual_seed(seed * processes.count() + processes.rank())
        own, own_codes = rows[processes.share(len(rows))], codes[processes.share(len(codes))]
        queries = self.model.encode_query(self._moved(self.pairs.queries(own)))
        return queries, processes.all_encoded(self.model.encode_code(self._moved(self.pairs.codes(own_codes))))

    @property
    def _plain_gradients(self) -> bool:
        """Whether this process has all queries, and a pair's score is rounded alike however it is computed."""
        return processes.count() == 1 and self.config.precision == "float32"

    def _loss_of_selected(
        self, queries: Encoded, codes: Encoded, negatives: Bool[Tensor, "queries codes"], epochs: float
    ) -> Float[Tensor, ""]:
        """The loss over all scores, with the same gradient at less cost.

        All pairs are scored without a gradient; those few whose score changes the loss are scored again with one.
        """
        with torch.no_grad():
            scores = self.model.score_matrix(queries, codes)
        scores.requires_grad_()
        loss = self.compute_loss(scores, negatives, epochs)
        (slopes,) = torch.autograd.grad(loss, scores)  # of the loss by each score
        query, code = slopes.nonzero(as_tuple=True)
        if not len(query):  # a gradient of zeros
            query = code = query.new_zeros(1)
        selected = (self.model.score_pairs(queries.rows(query), codes.rows(code)) * slopes[query, code]).sum()
        return loss.detach() + selected - selected.detach()

    def _moved(self, batch: Batch) -> Batch:
        return {name: words.to(self.device) for name, words in batch.items()}


def _arrays(pairs: TokenizedPairs, name: str) -> tuple[Int[np.ndarray, " values"], Int[np.ndarray, " offsets"]]:
    return pairs.fields[name].values, pairs.fields[name].offsets
