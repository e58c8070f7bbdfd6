"""Training on pairs: batches, in which every query is ranked against all codes and hard negatives, and their loss.

A loss is over a score matrix with the gold pairs on the diagonal; duplicates of a pair are never its negatives. There
may be more codes than queries: the additional codes are hard negatives, for which no query is ranked.
"""

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from data_prep.errors import UserError
from data_prep.store.batching import Batch
from data_prep.store.split import TokenizedPairs
from modeling import distributed as processes
from modeling.base import Encoded, NeuralRanker, concatenated
from training.config import LossConfig, Negatives, TrainConfig
from training.state import Rows

CHUNK: Final = 64
"""Batches per chunk; pairs are sorted by length inside a chunk. Larger chunks have less padding and less shuffling."""
Lengths = Int[np.ndarray, " pairs"]
ComputeLoss = Callable[[Float[Tensor, "queries codes"], Bool[Tensor, "queries codes"], float], Float[Tensor, ""]]
"""(scores, negatives, epochs so far) -> the batch's loss; query i's own code is code i."""
Validate = Callable[[NeuralRanker], Mapping[str, float]]
"""Model -> measures on validation pairs, including ``mrr``; higher is better."""


def hinges(
    scores: Float[Tensor, "queries codes"], negatives: Bool[Tensor, "queries codes"], margin: float
) -> tuple[Float[Tensor, "queries codes"], Float[Tensor, "queries queries"]]:
    """Hinge loss of each negative for its row's query and for its column's code; 0 where there is no negative.

    Row term: max(0, margin - s(q_i, c_i) + s(q_i, c_j)); column term: max(0, margin - s(q_j, c_j) + s(q_i, c_j)).
    """
    gold = scores.diagonal()
    rows = (margin - gold[:, None] + scores).clamp(min=0).masked_fill(~negatives, 0.0)
    own = slice(len(scores))  # the gold codes
    columns = (margin - gold[None, :] + scores[:, own]).clamp(min=0).masked_fill(~negatives[:, own], 0.0)
    return rows, columns


def ranking_loss(
    scores: Float[Tensor, "queries codes"], negatives: Bool[Tensor, "queries codes"], margin: float, kind: Negatives
) -> Float[Tensor, ""]:
    """Bidirectional ranking loss, GALM eq. 14 with both terms hinged, averaged over the pairs of the batch."""
    rows, columns = hinges(scores, negatives, margin)
    if kind == "hardest":
        return (rows.amax(1) + columns.amax(0)).mean()
    if kind in ("random", "random_query"):
        chance = torch.rand(negatives.shape, device=scores.device).masked_fill(~negatives, -1.0)
        by_row, by_column = chance.argmax(1, keepdim=True), chance[:, : len(scores)].argmax(0, keepdim=True)
        of_query, of_code = rows.gather(1, by_row).squeeze(1), columns.gather(0, by_column).squeeze(0)
        return (of_code if kind == "random_query" else of_query + of_code).mean()
    if kind == "sum":
        return (rows.sum(1) + columns.sum(0)).mean()
    of_queries, of_codes = negatives.sum(1), negatives[:, : len(scores)].sum(0)
    return (rows.sum(1) / of_queries.clamp(min=1) + columns.sum(0) / of_codes.clamp(min=1)).mean()


def cross_entropy(
    scores: Float[Tensor, "queries codes"],
    negatives: Bool[Tensor, "queries codes"],
    temperature: float,
    *,
    both: bool = True,
) -> Float[Tensor, ""]:
    """-log softmax of the gold among itself and its negatives, over rows and, if ``both``, over columns, averaged."""
    gold = torch.eye(*scores.shape, dtype=torch.bool, device=scores.device)
    logits = (scores / temperature).masked_fill(~(negatives | gold), float("-inf"))
    rows = logits.diagonal() - logits.logsumexp(1)
    if not both:
        return -rows.mean()
    columns = logits.diagonal() - logits[:, : len(scores)].logsumexp(0)
    return -(rows + columns).mean() / 2


@dataclass(frozen=True, slots=True)
class Loss:
    """The configured loss; call it with the scores, the negatives and the number of epochs so far."""

    config: LossConfig

    def __call__(
        self, scores: Float[Tensor, "queries codes"], negatives: Bool[Tensor, "queries codes"], epoch: float
    ) -> Float[Tensor, ""]:
        """The loss at ``epoch`` (0 at the start, fractional within an epoch)."""
        if self.config.kind == "cross_entropy":
            both = self.config.directions == "both"
            return cross_entropy(scores, negatives, self.config.temperature, both=both)
        return ranking_loss(scores, negatives, self.config.margin, self._negatives(epoch))

    def selects(self, epoch: float) -> bool:
        """Whether the loss at ``epoch`` depends on a few scores only: those of the golds, and of one negative each."""
        return self.config.kind == "ranking" and self._negatives(epoch) not in ("average", "sum")

    def remark(self, epoch: int) -> str:
        """What is said where the loss rises in an epoch (1-based), the first over the hardest negatives; else ""."""
        before, now = self._negatives(epoch - 2.0), self._negatives(math.nextafter(epoch, 0))
        is_switch = self.config.kind == "ranking" and before == "average" and now == "hardest"
        return "higher, since it is now over the hardest negatives, not their average" if is_switch else ""

    def _negatives(self, epoch: float) -> Negatives:
        kind = self.config.negatives
        return "average" if kind == "hardest" and epoch < self.config.warmup_epochs else kind


@dataclass(frozen=True)
class PairTask:
    """Pairs of a query and a code; the other codes of a batch are a query's negatives.

    With ``hard_negatives`` a batch also contains those codes of each of its queries; a code equal to the query's own is
    not a negative even there.
    """

    model: NeuralRanker
    compute_loss: ComputeLoss
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
        config, by_code = self.config, self.model.reads == "subwords"
        size, neighbours = config.batch_size, config.same_file_negatives
        return epoch_batches(self.pairs, size, config.seed, epoch, neighbours, config.processes, by_code=by_code)

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
            return encode(self.model.moved(read(rows)))
        order = np.argsort(lengths[rows], kind="stable")
        parts = [
            checkpoint(encode, self.model.moved(read(rows[order[start : start + size]])), use_reentrant=False)
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
