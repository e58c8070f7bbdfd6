"""The light pair of Scotch: word vectors with learned weights, and context as a field of its own on the query side.

Paper: Dahal et al., "Scotch: A Semantic Code Search Engine for IDEs", DL4C at ICLR 2022, which has two transformers
that read context and query as one text. Here, with word vectors e_i, a learned vector a_f for each field f, and

    w_f = sum over i of α_i e_i,   α = softmax over i of (a_f · e_i),

    q = w_query + g w_context;   c = w_name + w_tokens + w_api;   score = cos(q, c),

where g is learned. An empty field is the zero vector. Departures from the paper: words in place of a transformer, and
the cosine with a temperature in place of the inner product. Without context the model is the same but for the second
term, and has the same initial state: the parts of the context are made last.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from data_prep.bounds import SHARE, WIDTH, check_bounds, whole
from data_prep.config import WordsConfig
from data_prep.corpus.contexts import CONTEXT_FIELD
from data_prep.store.batching import Batch, Words
from data_prep.store.prepared_data import Split
from data_prep.store.tokenizing import WordTokenizer
from data_prep.store.vocabulary import Vocabularies
from modeling import starting_vectors
from modeling.bi_encoder import BiEncoder
from modeling.layers import WordAttention
from scotch.context_pairs import ContextTokenizer

_CODE_FIELDS: Final = ("name", "tokens", "api")


@dataclass(frozen=True, slots=True)
class ScotchLightConfig:
    """Configuration of the light pair (section ``model``)."""

    dim: int = 100
    """Width of a word vector."""
    dropout: float = 0.25
    """Dropout rate on word vectors."""
    context_words: int = 100
    """Distinct words of the text before a function that are part of its query, the nearest; 0: no context."""

    def __post_init__(self) -> None:
        check_bounds(self, _BOUNDS, "model")


_BOUNDS: Final = {"dim": WIDTH, "dropout": SHARE, "context_words": whole(0, 10_000, zero="no context")}


class ScotchLight(BiEncoder):
    """Scores a query under its context against a function by the cosine of two sums of weighted means."""

    config_type = ScotchLightConfig
    config: ScotchLightConfig

    def __init__(self, config: ScotchLightConfig, vocabularies: Vocabularies) -> None:
        """Build a table and an attention per field, those of the context last."""
        super().__init__(config, vocabularies)
        fields = ("query", *_CODE_FIELDS)
        self.tables = nn.ModuleDict({field: _table(len(vocabularies.of(field)), config.dim) for field in fields})
        starting_vectors.shared(self._table("query"), [self._table(field) for field in _CODE_FIELDS], vocabularies)
        self.attentions = nn.ModuleDict({field: WordAttention(config.dim) for field in fields})
        self.dropout = nn.Dropout(config.dropout)
        if config.context_words:
            self.tables[CONTEXT_FIELD] = nn.Embedding.from_pretrained(
                self._table("tokens").weight.detach().clone(), freeze=False
            )
            self.attentions[CONTEXT_FIELD] = WordAttention(config.dim)
            self.gain = nn.Parameter(torch.tensor(0.5))

    @classmethod
    def tokenizer(cls, train: Split, words: WordsConfig, config: ScotchLightConfig) -> ContextTokenizer:  # noqa: ARG003
        """A tokenizer that also reads contexts, with vocabularies built from ``train`` only."""
        built = WordTokenizer.build(train, words)
        return ContextTokenizer(built.vocabularies, words)

    @classmethod
    def saved_tokenizer(cls, path: Path, words: WordsConfig, config: ScotchLightConfig) -> ContextTokenizer:  # noqa: ARG003
        """The tokenizer of a saved run.

        Raises:
            ValueError: the file is missing or damaged.
        """
        return ContextTokenizer(Vocabularies.load(path), words)

    def query_vectors(self, queries: Batch) -> Float[Tensor, "queries dim"]:
        """The query's words, and those of its context if there is one and the model reads it."""
        vectors = self._mean("query", queries["query"])
        if self.config.context_words and CONTEXT_FIELD in queries:
            vectors = vectors + self.gain * self._mean(CONTEXT_FIELD, queries[CONTEXT_FIELD])
        return vectors

    def code_vectors(self, codes: Batch) -> Float[Tensor, "codes dim"]:
        """The words of the name, the tokens and the calls."""
        return torch.stack([self._mean(field, codes[field]) for field in _CODE_FIELDS]).sum(0)

    def word_vectors(self) -> Mapping[str, tuple[Float[Tensor, "words dim"], Sequence[str]]]:
        """The known words of each table."""
        found = {}
        for field in self.tables:
            words = self.vocabularies.of(field).words
            weight = self._table(field).weight
            found[f"{field} words"] = (weight[len(weight) - len(words) :], words)
        return found

    def _mean(self, field: str, words: Words) -> Float[Tensor, "batch dim"]:
        states = self.dropout(self.tables[field](words.ids))
        return (self.attentions[field](states, words.mask) * states * words.mask[:, :, None]).sum(1)

    def _table(self, field: str) -> nn.Embedding:
        table = self.tables[field]
        assert isinstance(table, nn.Embedding)
        return table


def _table(words: int, dim: int) -> nn.Embedding:
    table = nn.Embedding(words, dim)
    nn.init.uniform_(table.weight, -0.05, 0.05)
    return table
