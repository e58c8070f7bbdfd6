"""What is trained: the interface that the trainer depends on, and the task that ranks pairs.

In that task, every query of a batch is ranked against all codes of the batch, and hard negatives if there are any.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from data_prep.errors import UserError
from data_prep.store.batching import Batch
from data_prep.store.tokenizing import TokenizedPairs
from modeling import distributed as processes
from modeling.base import Encoded, NeuralRanker, concatenated
from training.config import TrainConfig

Rows = Int[np.ndarray, " rows"]
"""Indices of the examples of a batch."""
Lengths = Int[np.ndarray, " pairs"]
"""Words of each pair's side."""


@runtime_checkable
class TrainingTask(Protocol):
    """A model, its training examples, the loss of a batch, and validation."""

    @property
    def model(self) -> nn.Module:
        """The model to train, on its device."""
        ...

    @property
    def fingerprint(self) -> int | str:
        """A checksum of the examples: a run is only resumed on the same ones."""
        ...

    def __len__(self) -> int:
        """Examples per epoch."""
        ...

    @property
    def batch_count(self) -> int:
        """Batches per epoch; the same in every epoch."""
        ...

    def batches(self, epoch: int) -> Sequence[Rows]:
        """The batches of an epoch (0-based), in the order of training; deterministic for each epoch."""
        ...

    def loss(self, rows: Rows, epochs: float, step: int) -> Float[Tensor, ""]:
        """The loss of a whole batch, on every process.

        Args:
            rows: one of :meth:`batches`.
            epochs: number of epochs so far, with fractions.
            step: number of batches so far.
        """
        ...

    def remark(self, epoch: int) -> str:
        """Why the loss of a completed epoch (1-based) may be above that of the one before; "" if nothing is known."""
        ...

    def validate(self) -> Mapping[str, float]:
        """Measures of the current model, in evaluation mode and without gradients.

        The best epoch is selected by ``selection`` if there is such a measure, otherwise by ``mrr``.

        Those named ``part/name`` describe the inside of the model: they are logged, not printed.
        """
        ...


Loss = Callable[[Float[Tensor, "queries codes"], Bool[Tensor, "queries codes"], float], Float[Tensor, ""]]
"""(scores, negatives, epochs so far) -> the batch's loss; query i's own code is code i."""

Validate = Callable[[NeuralRanker], Mapping[str, float]]
"""Model -> measures on validation pairs, including ``mrr``; higher is better."""
CHUNK: Final = 64
"""Batches per chunk; pairs are sorted by length inside a chunk. Larger chunks have less padding and less shuffling."""


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
    remark: Callable[[int], str] = lambda _: ""

    def __len__(self) -> int:
        return len(self.pairs)

    @cached_property
    def fingerprint(self) -> int:
        """A checksum of the tokenized training split."""
        lists = (self.pairs.fields[name] for name in sorted(self.pairs.fields))
        parts = [part for each in lists for part in (each.values, each.offsets)]
        total = 0
        for part in parts if self.hard_negatives is None else [*parts, self.hard_negatives]:
            total = zlib.crc32(np.ascontiguousarray(part).tobytes(), total)
        return total

    @property
    def batch_count(self) -> int:
        return batch_count(len(self.pairs), self.config.batch_size, self.config.processes)

    def batches(self, epoch: int) -> Sequence[Rows]:
        config = self.config
        size, neighbours = config.batch_size, config.same_file_negatives
        return epoch_batches(
            self.pairs, size, config.seed, epoch, neighbours, config.processes, by_code=self.model.reads == "subwords"
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
        queries = self._in_parts(self.model.encode_query, self.pairs.queries, own, self.pairs.query_lengths)
        encoded = self._in_parts(self.model.encode_code, self.pairs.codes, own_codes, self.pairs.code_lengths)
        return queries, processes.all_encoded(encoded)

    def _in_parts(
        self, encode: Callable[[Batch], Encoded], read: Callable[[Rows], Batch], rows: Rows, lengths: Lengths
    ) -> Encoded:
        """``rows`` encoded, of like length together; activations are computed again for the gradients."""
        size = self.config.encode_at_once
        if not 0 < size < len(rows):
            return encode(self._moved(read(rows)))
        order = np.argsort(lengths[rows], kind="stable")
        parts = [
            checkpoint(encode, self._moved(read(rows[order[start : start + size]])), use_reentrant=False)
            for start in range(0, len(rows), size)
        ]
        return concatenated(parts).rows(torch.from_numpy(np.argsort(order, kind="stable")).to(self.device))

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


def epoch_batches(
    pairs: TokenizedPairs,
    batch_size: int,
    seed: int,
    epoch: int,
    neighbours: int = 1,
    processes: int = 1,
    *,
    by_code: bool = False,
) -> list[Int[np.ndarray, " _"]]:
    """All pairs once, as rows of ``pairs``, cut into batches of ``batch_size``.

    The pairs are shuffled, sorted by length inside chunks, cut into batches, and the batches are shuffled. With
    ``neighbours`` above 1 this is done with runs of that many rows, mostly methods of one file; the offset of the runs
    differs by epoch. Each batch has at least two pairs, and one per process: a smaller remainder joins another batch.
    Pairs are of like length by their query, then by their code; ``by_code`` the other way round, for models that spend
    their time on code.

    Raises:
        UserError: there are fewer than two pairs, so that no pair has a negative, or fewer pairs than processes.
    """
    least = max(2, processes)
    if len(pairs) < least:
        raise UserError(
            f"training takes {least} pairs or more, because pairs are each other's negatives and each process needs "
            f"one, but got {len(pairs)}"
        )
    random = np.random.default_rng((seed, epoch))
    first = int(random.integers(neighbours)) or neighbours
    runs = np.split(np.arange(len(pairs)), np.arange(first, len(pairs), neighbours))
    order, size = random.permutation(len(runs)), max(1, CHUNK * batch_size // neighbours)  # runs per chunk
    chunks = [[runs[place] for place in order[start : start + size]] for start in range(0, len(order), size)]
    rows = np.concatenate([run for chunk in chunks for run in _by_length(pairs, chunk, by_code=by_code)])
    batches = [rows[start : start + batch_size] for start in range(0, len(rows), batch_size)]
    if len(batches) > 1 and len(batches[-1]) < least:
        batches[-2:] = [np.concatenate(batches[-2:])]
    return [batches[place] for place in random.permutation(len(batches))]


def batch_count(pairs: int, batch_size: int, processes: int = 1) -> int:
    """Number of batches that :func:`epoch_batches` returns, in every epoch."""
    return max(1, -(-pairs // batch_size) - (0 < pairs % batch_size < max(2, processes)))


def negatives_mask(
    query_keys: Int[np.ndarray, " queries"],
    code_keys: Int[np.ndarray, " queries"],
    other_query_keys: Int[np.ndarray, " codes"],
    other_code_keys: Int[np.ndarray, " codes"],
) -> Bool[np.ndarray, "queries codes"]:
    """Which codes are negatives of which query: all except those of pairs with the same query or the same code."""
    same = (query_keys[:, None] == other_query_keys) | (code_keys[:, None] == other_code_keys)
    return np.logical_not(same)  # [queries, codes]


def _by_length(
    pairs: TokenizedPairs, runs: Sequence[Int[np.ndarray, " _"]], *, by_code: bool
) -> list[Int[np.ndarray, " _"]]:
    sides = (pairs.code_lengths, pairs.query_lengths) if by_code else (pairs.query_lengths, pairs.code_lengths)
    means = [tuple(side[run].mean() for side in sides) for run in runs]
    return [runs[place] for place in sorted(range(len(runs)), key=means.__getitem__)]
