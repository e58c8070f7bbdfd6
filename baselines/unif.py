"""UNIF: the cosine of the attention-weighted sum of a method's words and the mean of a query's words.

Paper: Cambronero et al., "When Deep Learning Met Code Search", ESEC/FSE 2019. With word vectors e_i of the method's
words, one learned vector a, and word vectors q_j of the query's n words:

    α_i = softmax over i of (a · e_i);   c = sum over i of α_i e_i;   q = 1/n sum over j of q_j;   score = cos(c, q)

Departures by default: from the paper, word vectors are initialised randomly instead of from fastText, and only the
tokens of a method are read, as in the papers that compare with UNIF (``fields=all``: also name and API). From the code
that those papers release: attention has one weight per word, as printed, and pads are masked. ``release_compatible`` is
that code: the attention has one weight per position and dimension, and pads are words like any other, also in the
query's mean.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from baselines.word_model import AttentiveConfig, WordVectors
from data_prep.store.batching import Batch
from data_prep.store.tokenizing import Vocabularies
from modeling.base import BiEncoder


@dataclass(frozen=True, slots=True)
class UnifConfig(AttentiveConfig):
    """Configuration of UNIF (section ``model``)."""

    fields: Literal["tokens", "all"] = "tokens"
    """Input of a method: its tokens, or its name, tokens and API words as one list."""


class Unif(BiEncoder):
    """Scores a query against a method by the cosine of their weighted and plain mean word vectors."""

    config_type = UnifConfig
    config: UnifConfig

    def __init__(self, config: UnifConfig, vocabularies: Vocabularies) -> None:
        """Build a table per field and one attention."""
        super().__init__(config, vocabularies)
        self.fields = ("tokens",) if config.fields == "tokens" else ("name", "tokens", "api")
        self.words = WordVectors(config, vocabularies, (*self.fields, "query"), fixed=config.by_position)
        self.attention = config.word_attention(sum(config.length(field) for field in self.fields))

    def query_vectors(self, queries: Batch) -> Float[Tensor, "queries dim"]:
        """The mean of the query's word vectors."""
        states, mask = self.words("query", queries["query"])
        return (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)

    def code_vectors(self, codes: Batch) -> Float[Tensor, "codes dim"]:
        """The weighted sum of the method's word vectors."""
        fields = [self.words(field, codes[field]) for field in self.fields]
        states: Float[Tensor, "codes words dim"] = torch.cat([states for states, _ in fields], dim=1)
        mask: Bool[Tensor, "codes words"] = torch.cat([mask for _, mask in fields], dim=1)
        return (self.attention(states, mask) * states).sum(1)

    def word_vectors(self) -> Mapping[str, tuple[Float[Tensor, "words dim"], Sequence[str]]]:
        """The known words of each table."""
        return self.words.known_words()
