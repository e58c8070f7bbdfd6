"""DeepCS: recurrent networks encode the words of name, API and query; the score is the cosine of two vectors.

Paper: Gu et al., "Deep Code Search", ICSE 2018. With x_1 ... x_n the word vectors of a field:

    name, api, query:  h_t = [forward LSTM at t; backward LSTM at t];   v = tanh(max over t of h_t)
    tokens:            v = tanh(max over t of x_t)
    code = tanh(W [v_name; v_api; v_tokens] + b);   score = cos(code, v_query)

Departures by default: from the paper, the tokens have no separate layer below the maximum, as in the code released
with it and with the papers that compare with it, and an LSTM has 100 units per direction, as in those releases (the
paper: 200). From the released code: pads are masked, so that the backward LSTM begins at the last word; no recurrent
dropout in the LSTMs (0.2 there); the gates are logistic, not piecewise linear; each LSTM has PyTorch's second bias.
``release_compatible`` includes pads; the other three departures remain.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from baselines.word_model import BaselineConfig, WordVectors
from data_prep.errors import WIDTH
from data_prep.store.batching import Batch
from data_prep.store.tokenizing import Vocabularies
from modeling.base import BiEncoder


@dataclass(frozen=True, slots=True)
class DeepcsConfig(BaselineConfig):
    """Configuration of DeepCS (section ``model``)."""

    hidden: Annotated[int, WIDTH] = 100
    """Units of each LSTM; the compared vectors are twice as wide (JCG releases: 100, the paper: 200)."""


def max_over_words(
    states: Float[Tensor, "batch words dim"], mask: Bool[Tensor, "batch words"]
) -> Float[Tensor, "batch dim"]:
    """The maximum of each dimension over the words of each row; 0 in a row without words."""
    largest = states.masked_fill(~mask[:, :, None], float("-inf")).amax(1)
    return largest.masked_fill(~mask.any(1, keepdim=True), 0.0)


class RecurrentReader(nn.Module):
    """A bidirectional LSTM over the words of a field, with max pooling of its states over time."""

    def __init__(self, dim: int, hidden: int, dropout: float) -> None:
        """Keras's initialisation: Glorot for the input weights, orthogonal for the recurrent ones, forget bias 1."""
        super().__init__()
        self.lstm = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(dropout)
        for name, weight in self.lstm.named_parameters():
            if name.startswith("weight_ih"):
                nn.init.xavier_uniform_(weight)
            elif name.startswith("weight_hh"):
                nn.init.orthogonal_(weight)
            else:
                nn.init.zeros_(weight)
            if name.startswith("bias_ih"):
                nn.init.ones_(weight[hidden : 2 * hidden])  # PyTorch's order: input, forget, cell, output

    def forward(
        self, states: Float[Tensor, "batch words dim"], mask: Bool[Tensor, "batch words"]
    ) -> Float[Tensor, "batch states"]:
        """The tanh of the maximum of each unit's states over the words, forward units first; 0 without words."""
        lengths = mask.sum(1).clamp(min=1).cpu()  # a row without words is read as one pad, which is masked below
        packed = pack_padded_sequence(states, lengths, batch_first=True, enforce_sorted=False)
        found, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=states.shape[1])
        return torch.tanh(max_over_words(self.dropout(found), mask))


class Deepcs(BiEncoder):
    """Scores a query against a method by the cosine of their recurrent encodings."""

    config_type = DeepcsConfig
    config: DeepcsConfig

    def __init__(self, config: DeepcsConfig, vocabularies: Vocabularies) -> None:
        """Build a table per field, LSTMs for name, API and query, and the layer that combines the fields."""
        super().__init__(config, vocabularies)
        self.words = WordVectors(config, vocabularies, ("name", "api", "tokens", "query"), fixed=False)
        self.readers = nn.ModuleDict(
            {field: RecurrentReader(config.dim, config.hidden, config.dropout) for field in ("name", "api", "query")}
        )
        width = 2 * config.hidden
        self.join = nn.Linear(2 * width + config.dim, width)
        nn.init.xavier_uniform_(self.join.weight)
        nn.init.zeros_(self.join.bias)

    def query_vectors(self, queries: Batch) -> Float[Tensor, "queries width"]:
        """The LSTM encoding of the query."""
        return self._read(queries, "query")

    def code_vectors(self, codes: Batch) -> Float[Tensor, "codes width"]:
        """Name, API and tokens, combined by a dense layer."""
        tokens = torch.tanh(max_over_words(*self.words("tokens", codes["tokens"])))
        return torch.tanh(self.join(torch.cat([self._read(codes, "name"), self._read(codes, "api"), tokens], dim=1)))

    def _read(self, batch: Batch, field: str) -> Float[Tensor, "batch width"]:
        vectors: Tensor = self.readers[field](*self.words(field, batch[field]))
        return vectors

    def word_vectors(self) -> Mapping[str, tuple[Float[Tensor, "words dim"], Sequence[str]]]:
        """The known words of each table."""
        return self.words.known_words()
