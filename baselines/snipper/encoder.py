"""SnippeR's bi-encoder (arXiv 2305.11625, section 4): one encoder E for queries and documents, score = E(q) · E(d)."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor, nn

from baselines.snipper.config import EncoderConfig
from baselines.snipper.texts import QueryText
from data_prep.store.batching import Batch, Words
from data_prep.store.ragged_lists import Ragged
from modeling.base import Encoded
from modeling.bi_encoder import BiEncoder, one_word

QUERY, DOCUMENT = 0, 1
"""The sides of a pair, as places of their towers."""


@runtime_checkable
class SnippetTokenizer(Protocol):
    """Converts queries and documents to ids."""

    def queries(self, texts: Sequence[QueryText]) -> Ragged:
        """Code and error of each query as ids, cut to the configured length."""

    def documents(self, texts: Sequence[str]) -> Ragged:
        """Each document as ids, without its end if it is too long."""

    def save(self, path: Path) -> None:
        """Write everything needed to tokenize in the same way to one file."""


class SnippetEncoder(BiEncoder):
    """Encodes each side with the one tower, or with its own if they are separate."""

    config: EncoderConfig

    def __init__(self, config: EncoderConfig, vocabulary: Any, towers: Iterable[nn.Module]) -> None:
        """``towers``: modules that turn :class:`Words` into vectors, one, or one for each side."""
        super().__init__(config, vocabulary)
        self.towers = nn.ModuleList(towers)

    @property
    def code_fields(self) -> tuple[str, ...]:
        """Documents are the ``code`` side."""
        return ("code",)

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
        return super().encode_query(queries) if self.config.score == "cosine" else one_word(self.query_vectors(queries))

    def encode_code(self, codes: Batch) -> Encoded:
        """The documents' vectors as the state of a single word; of length 1 for a cosine."""
        if self.config.score == "cosine":
            return super().encode_code(codes)
        return one_word(self.code_vectors(codes))

    def tower(self, side: int) -> nn.Module:
        """The encoder of a side."""
        return self.towers[side % len(self.towers)]
