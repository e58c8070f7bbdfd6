"""SnippeR's bi-encoder (arXiv 2305.11625, section 4): one encoder E for queries and documents, score = E(q) · E(d).

    L = -log( exp(q·d+) / (exp(q·d+) + sum_j exp(q·d-_j)) )

is its loss, :func:`modeling.losses.cross_entropy` over the documents of each query. The negatives d- of a query are its
own hard negatives, and the documents and hard negatives of the rest of the batch.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence, Set
from pathlib import Path
from typing import Any, Final, Literal, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float, Float32, Int64
from torch import Tensor, nn
from torch.nn.functional import normalize
from tqdm import tqdm

from baselines.snipper.config import EncoderConfig
from baselines.snipper.texts import QueryText
from data_prep.store.batching import Batch, Words, pad
from data_prep.store.ragged_lists import Ragged
from modeling.base import BiEncoder, Encoded, one_word

QUERY, DOCUMENT = 0, 1
"""The sides of a pair, as places of their towers."""
_TOKENS_PER_BATCH: Final = 16_384


@runtime_checkable
class SnippetTokenizer(Protocol):
    """Converts queries and documents to ids."""

    @property
    def vocabulary(self) -> Any:
        """What its encoder is built for."""

    def queries(self, texts: Sequence[QueryText]) -> Ragged:
        """Code and error of each query as ids, cut to the configured length."""

    def documents(self, texts: Sequence[str]) -> Ragged:
        """Each document as ids, without its end if it is too long."""

    def save(self, path: Path) -> None:
        """Write everything needed to tokenize in the same way to one file."""


class SnippetEncoder(BiEncoder):
    """Encodes each side with the one tower, or with its own if they are separate."""

    config: EncoderConfig

    def __init__(self, config: EncoderConfig, vocabulary: Any, make: Callable[[], nn.Module]) -> None:
        """``make``: builds what turns :class:`Words` into vectors; one, or two that are equal at first."""
        super().__init__(config, vocabulary)
        self.towers = nn.ModuleList(make() for _ in range(1 + config.separate))
        for tower in self.towers[1:]:
            tower.load_state_dict(self.towers[0].state_dict())

    @property
    def code_fields(self) -> tuple[str, ...]:
        """Documents are the ``code`` side."""
        return ("code",)

    @abstractmethod
    def initialize(self, tokenizer: Any) -> None:
        """Set the weights that training begins with; ``tokenizer``: the one of its texts."""

    @abstractmethod
    def vectors(self, words: Words, side: int) -> Float[Tensor, "batch dim"]:
        """The vector of each text."""

    def query_vectors(self, queries: Batch) -> Float[Tensor, "queries dim"]:
        """E(q)."""
        return self.vectors(queries["query"], QUERY)

    def code_vectors(self, codes: Batch) -> Float[Tensor, "codes dim"]:
        """E(d)."""
        return self.vectors(codes["code"], DOCUMENT)

    def encode_query(self, queries: Batch) -> Encoded:
        """The queries' vectors as the state of a single word; of length 1 for a cosine."""
        return self._encoded(self.query_vectors(queries))

    def encode_code(self, codes: Batch) -> Encoded:
        """The documents' vectors as the state of a single word; of length 1 for a cosine."""
        return self._encoded(self.code_vectors(codes))

    def _encoded(self, vectors: Float[Tensor, "texts dim"]) -> Encoded:
        return one_word(normalize(vectors, dim=-1) if self.config.score == "cosine" else vectors)

    def tower(self, side: int) -> nn.Module:
        """The encoder of a side."""
        return self.towers[side % len(self.towers)]


@torch.no_grad()
def encode_texts(
    model: SnippetEncoder, ids: Ragged, side: Literal["query", "code"]
) -> Float32[np.ndarray, "texts dim"]:
    """The vectors of queries or documents, in order; the model is left in the mode it had.

    A batch has texts of similar length.
    """
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


def hard_negatives(
    blocks: Iterable[Float[np.ndarray, "_ documents"]], forbidden: Sequence[Set[int]], count: int
) -> Int64[np.ndarray, "queries count"]:
    """The documents that a model ranks highest for a training query and that do not answer it.

    These are the ``count`` best documents of each query i without document i, its own, and those of ``forbidden[i]``.

    If there are fewer, the row is filled with i itself, which the loss never takes for a negative.

    Args:
        blocks: scores of all training queries, in order, against all training documents.
        forbidden: duplicates of each query's document.
        count: k of the paper.
    """
    mined = np.empty((len(forbidden), count), np.int64)
    row = 0
    for block in blocks:
        for scores in block:
            banned = forbidden[row] | {row}
            wanted = min(count + len(banned), len(scores))
            top = np.argpartition(-scores, wanted - 1)[:wanted]
            best = [place for place in top[np.lexsort((top, -scores[top]))].tolist() if place not in banned][:count]
            mined[row] = best + [row] * (count - len(best))
            row += 1
    assert row == len(forbidden), f"{row} of {len(forbidden)} queries were scored"
    return mined
