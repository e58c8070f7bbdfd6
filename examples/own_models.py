"""Two custom models: a bi-encoder over word lists, and one over a transformer's subwords.

A model is a class like these, in a file anywhere, and trained and tested by naming both:

    bash run.sh jdk --model=examples/own_models.py:MeanWords --model.dim=64

With an entry in ``experiments/recipes/models.py`` it has a name and a recipe of its own, as in ``bash run.sh jdk
mean_words``; ``bash run.sh help mean_words`` describes it, and the contract tests run over it:

    "mean_words": Recipe(
        "examples.own_models:MeanWords", "examples.own_models:MeanWordsConfig", "means of words", BASELINE
    ),
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from data_prep.store.batching import Batch, Words
from data_prep.store.tokenizing import Vocabularies
from modeling.base import BiEncoder
from modeling.transformers.bi_encoder import TransformerBiEncoder, TransformerConfig


@dataclass(frozen=True, slots=True)
class MeanWordsConfig:
    """Configuration of :class:`MeanWords` (section ``model``)."""

    dim: int = 100
    """Width of a word vector."""


class MeanWords(BiEncoder):
    """The cosine of the mean word vectors of the query and of the method's name and tokens."""

    config_type = MeanWordsConfig

    def __init__(self, config: MeanWordsConfig, vocabularies: Vocabularies) -> None:
        super().__init__(config, vocabularies)
        self.query = nn.Embedding(len(vocabularies.query), config.dim)
        self.code = nn.Embedding(len(vocabularies.code), config.dim)

    @property
    def code_fields(self) -> tuple[str, ...]:
        return "name", "tokens"

    def query_vectors(self, queries: Batch) -> Float[Tensor, "queries dim"]:
        return _mean(self.query, [queries["query"]])

    def code_vectors(self, codes: Batch) -> Float[Tensor, "codes dim"]:
        return _mean(self.code, [codes[field] for field in self.code_fields])


def _mean(table: nn.Embedding, fields: Sequence[Words]) -> Float[Tensor, "batch dim"]:
    mask = torch.cat([words.mask for words in fields], dim=1)[:, :, None]
    states = table(torch.cat([words.ids for words in fields], dim=1))  # [batch, words, dim]
    return torch.sum(states * mask, dim=1) / mask.sum(1).clamp(min=1)


class LargestOfTokens(TransformerBiEncoder):
    """A sentence transformer whose token vectors are pooled by their largest entries."""

    config_type = TransformerConfig

    def pooled(self, states: Float[Tensor, "batch words dim"], words: Words) -> Float[Tensor, "batch dim"]:
        """The largest entry of each dimension over the tokens; 0 where there is none."""
        largest = states.masked_fill(~words.mask[:, :, None], float("-inf")).amax(1)
        return largest.masked_fill(~words.mask.any(1, keepdim=True), 0.0)
