"""SnippeR's bi-encoder (arXiv 2305.11625, section 4): one encoder E for queries and documents, score = E(q) · E(d).

    L = -log( exp(q·d+) / (exp(q·d+) + sum_j exp(q·d-_j)) )

is its loss, :func:`modeling.losses.cross_entropy` over the documents of each query. The negatives d- of a query are its
own hard negatives, and the documents and hard negatives of the rest of the batch.

The paper's encoder is GraphCodeBERT without its data flow input, of which the last state of the first token is the
vector; :class:`TransformerSnippetEncoder` by default has the packaged MiniLM, which needs no download.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float, Float32, Int64
from torch import Tensor, nn
from torch.nn.functional import normalize
from tqdm import tqdm

from baselines.snipper_texts import EncoderConfig, QueryText, SnipperTransformerConfig, cut
from data_prep.errors import UserError
from data_prep.store.arrays import Ragged
from data_prep.store.batching import Batch, Words, pad
from modeling.base import BiEncoder, Encoded, one_word
from modeling.transformers.bi_encoder import mean_state, pretrained_weights
from modeling.transformers.pretrained import most_tokens
from modeling.transformers.subword_pairs import (
    CHARACTERS_PER_TOKEN,
    Subwords,
    SubwordTokenizer,
    between_marks,
    plain_tokens,
    subwords_of,
)

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


@dataclass(frozen=True)
class SnippetSubwords:
    """Queries and documents as subwords between the special tokens."""

    vocabulary: Subwords
    config: SnipperTransformerConfig

    @classmethod
    def of(cls, config: SnipperTransformerConfig) -> "SnippetSubwords":
        """The pretrained model's own.

        Raises:
            UserError: the libraries or the model are missing.
        """
        return cls(subwords_of(config.base), config)

    @classmethod
    def load(cls, path: Path, config: SnipperTransformerConfig) -> "SnippetSubwords":
        """Load what :meth:`save` wrote.

        Raises:
            UserError: the file is missing or damaged.
        """
        return cls(SubwordTokenizer.load(path, config.query_length, config.document_length).vocabulary, config)

    def save(self, path: Path) -> None:
        """Write tokenizer and architecture as JSON.

        Raises:
            OSError: the file cannot be written.
        """
        SubwordTokenizer(self.vocabulary, self.config.query_length, self.config.document_length).save(path)

    def queries(self, texts: Sequence[QueryText]) -> Ragged:
        """The tokens of the code, then those of the error, without their middle if they are too many."""
        room, how = self.config.query_length - 2, self.config.truncation
        parts = self._tokens([*chain.from_iterable((text.code, text.error) for text in texts)], room)
        joined = (first + second for first, second in zip(parts[::2], parts[1::2], strict=True))
        return between_marks(self.vocabulary, [cut(tokens, room, how) for tokens in joined])

    def documents(self, texts: Sequence[str]) -> Ragged:
        """The first tokens of each document."""
        room = self.config.document_length - 2
        return between_marks(self.vocabulary, [tokens[:room] for tokens in self._tokens(texts, room)])

    def _tokens(self, texts: Sequence[str], room: int) -> list[list[int]]:
        """The tokens of both ends of each text: it may have megabytes."""
        most = room * CHARACTERS_PER_TOKEN
        ends = [text if len(text) <= 2 * most else f"{text[:most]}\n{text[-most:]}" for text in texts]
        return plain_tokens(self.vocabulary, ends)


class TransformerSnippetEncoder(SnippetEncoder):
    """Scores a snippet against a post by the dot product of their first tokens' states."""

    config_type = SnipperTransformerConfig
    reads = "subwords"
    config: SnipperTransformerConfig

    def __init__(self, config: SnipperTransformerConfig, vocabulary: Subwords) -> None:
        """Build the architecture; :meth:`initialize` loads the pretrained weights.

        Raises:
            UserError: the libraries are missing, or the model reads fewer tokens.
        """
        super().__init__(config, vocabulary, lambda: vocabulary.build("AutoModel"))
        most = most_tokens(self.towers[0].config)
        if max(config.query_length, config.document_length) > most:
            raise UserError(
                f"--model.query_length and --model.document_length take {most:,} tokens at most with {config.base}"
            )

    def initialize(self, tokenizer: SnippetSubwords) -> None:  # noqa: ARG002 - the base has them
        """Load the pretrained weights into each tower.

        Raises:
            UserError: the base could not be loaded.
        """
        weights = pretrained_weights(self.config.base)
        for tower in self.towers:
            tower.load_state_dict(weights)

    def vectors(self, words: Words, side: int) -> Float[Tensor, "batch dim"]:
        """The state of the first token, or the mean of all."""
        ids = words.ids.masked_fill(~words.mask, self.vocabularies.padding)
        states: Tensor = self.tower(side)(input_ids=ids, attention_mask=words.mask.long()).last_hidden_state
        if self.config.pooling == "cls":
            return states[:, 0]
        return mean_state(states, words)
