"""The light pair of Scotch: weighted sums of word vectors, and context as a field of its own on the query side.

Paper: Dahal et al., "Scotch: A Semantic Code Search Engine for IDEs", DL4C at ICLR 2022, which has two transformers
that read context and query as one text. Here, with one table of word vectors e_w for both sides, a learned weight
a_f[w] of each word in each field f, and u(x) = x / |x|,

    s_f = sum over the distinct places of w in field f of a_f[w] e_w,
    q = u(s_query) + g u(s_context);   c = sum over name, tokens, api of g_f u(s_f);   score = cos(q, c),

where the gains g and g_f are learned. Random vectors are nearly orthogonal and the weights a_f start as inverse
document frequencies, so the score starts near the cosine of tf-idf vectors (random indexing; Sahlgren 2005), also for
words that training has not seen, which share vectors by a hash of their letters. An empty field is the zero vector.

A query is encoded from its words (the batch's ``query``) and, if the batch has the field ``context``, from the words
of its context; a batch without that field, or with an empty list in it, is a query without context. In training the
context of a share of the queries is left out (``context_dropout``), so that the model serves these too. One vector a
side: :meth:`encode_query` and :meth:`encode_code` scale it to length 1.

Departures from the paper: words in place of a transformer, and the cosine with a temperature in place of the inner
product. Without context the model is the same but for the second term, and has the same initial state.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
import Stemmer
import torch
from jaxtyping import Float, Float32, Int
from torch import Tensor, nn
from torch.nn.functional import normalize

from data_prep.errors import SHARE, WIDTH, Bounded, UserError, real, whole
from data_prep.pipeline.contexts import Part
from data_prep.records import CONTEXT_FIELD
from data_prep.store.arrays import Ragged
from data_prep.store.batching import Batch, Words, pad
from data_prep.store.split import Split, TokenizedPairs
from data_prep.store.tokenizing import PAD, Vocabularies, WordsConfig, WordTokenizer
from modeling.base import BiEncoder

_GAINS: Final = {"name": 2.0, "tokens": 1.0, "api": 1.0}
"""Initial gains of the code fields; these and _DAMPED were chosen on validation before training."""
_CODE_FIELDS: Final = tuple(_GAINS)
_DAMPED: Final = 0.75
"""Power of the inverse document frequency with which a word's weights start."""


@dataclass(frozen=True, slots=True)
class ScotchLightConfig(Bounded, section="model"):
    """Configuration of the light pair (section ``model``)."""

    dim: Annotated[int, WIDTH] = 256
    """Width of a word vector."""
    dropout: Annotated[float, SHARE] = 0.1
    """Share of the words of each field that are left out in training."""
    context_words: Annotated[int, whole(0, 10_000, zero="no context")] = 100
    """Distinct words of the text before a function that are part of its query, the nearest; 0: no context."""
    context_part: Part = "all"
    """What is read of that text: `all`, its `imports`, the head of the `type` around the function, the `nearest` ten
    lines, or `heads`: imports, type and nearest lines."""
    context_gain: Annotated[float, real(0, 100)] = 0.5
    """Initial weight of the context's vector beside the query's, both of length 1."""
    context_dropout: Annotated[float, SHARE] = 0.2
    """Share of the queries whose context is left out in training."""


@dataclass(frozen=True)
class ContextPairs(TokenizedPairs):
    """A split as word ids, where ``fields`` also has ``context``."""

    def queries(self, rows: Sequence[int] | Int[np.ndarray, " rows"]) -> Batch:
        """The queries of ``rows`` with their contexts."""
        contexts = pad(self.fields[CONTEXT_FIELD].take(np.asarray(rows)))
        return {**super().queries(rows), CONTEXT_FIELD: contexts}


@dataclass(frozen=True)
class ContextTokenizer(WordTokenizer):
    """A :class:`WordTokenizer` that also reads contexts, with the vocabulary of code."""

    def encode(self, split: Split) -> ContextPairs:
        """``split`` as ids, with its contexts as long as they are there."""
        pairs = super().encode(split)
        return ContextPairs({**pairs.fields, CONTEXT_FIELD: self._contexts(split)})

    def _contexts(self, split: Split) -> Ragged:
        lists = split.words.get(CONTEXT_FIELD)
        if lists is None:
            return Ragged(np.empty(0, np.int32), np.zeros(len(split.words["query"]) + 1, np.int64))
        seen, inverse = np.unique(lists.values, return_inverse=True)
        words = [split.lexicon[number] for number in seen]
        if self.config.stem:
            words = Stemmer.Stemmer("english").stemWords(words)
        return Ragged(self.vocabularies.code.ids(words)[inverse], lists.offsets)


class WordSums(nn.Module):
    """One table of word vectors, and a table of word weights for each field."""

    def __init__(self, words: int, dim: int, fields: Iterable[str], dropout: float) -> None:
        """Random vectors of about length 1, all with weight 1."""
        super().__init__()
        shared = nn.Embedding(words, dim)
        nn.init.normal_(shared.weight, std=dim**-0.5)
        self.tables = nn.ModuleDict({"shared": shared})
        self.dropout = nn.Dropout(dropout)
        for field in fields:
            self.tables[field] = nn.Embedding(words, 1)
            nn.init.ones_(self.table(field).weight)

    def table(self, name: str) -> nn.Embedding:
        """``shared``, or the weights of a field."""
        table = self.tables[name]
        assert isinstance(table, nn.Embedding)
        return table

    def forward(self, field: str, words: Words) -> Float[Tensor, "batch dim"]:
        """The weighted sum of the words of each row, of length 1; zero for a row without words."""
        weights = self.tables[field](words.ids).squeeze(2) * self.dropout(words.mask.float())  # [batch, words]
        return normalize(torch.bmm(weights[:, None], self.tables["shared"](words.ids)).squeeze(1), dim=-1)


class ScotchLight(BiEncoder):
    """Scores a query under its context against a function by the cosine of weighted sums of word vectors."""

    config_type = ScotchLightConfig
    config: ScotchLightConfig

    def __init__(self, config: ScotchLightConfig, vocabularies: Vocabularies) -> None:
        """Build the tables, that of the context last."""
        super().__init__(config, vocabularies)
        fields = ["query", *_CODE_FIELDS, *[CONTEXT_FIELD] * (config.context_words > 0)]
        self.words = WordSums(len(vocabularies.code), config.dim, fields, config.dropout)
        self.gains = nn.Parameter(torch.tensor([_GAINS[field] for field in _CODE_FIELDS]))
        if config.context_words:
            self.context_gain = nn.Parameter(torch.tensor(config.context_gain))

    @classmethod
    def tokenizer(cls, train: Split, words: WordsConfig, config: ScotchLightConfig) -> ContextTokenizer:  # noqa: ARG003
        """A tokenizer that also reads contexts, with one vocabulary built from ``train`` only.

        Raises:
            UserError: two vocabularies are asked for.
        """
        if not words.joint:
            raise UserError("the light pair of Scotch has one table of words: it takes --words.joint=true")
        return ContextTokenizer(WordTokenizer.build(train, words).vocabularies, words)

    @classmethod
    def word_tokenizer(cls, vocabularies: Vocabularies, words: WordsConfig) -> ContextTokenizer:
        """The same with known vocabularies."""
        return ContextTokenizer(vocabularies, words)

    @torch.no_grad()
    def start_from(self, train: TokenizedPairs) -> None:
        """Set the weights of words to their inverse document frequencies in the pairs of ``train``."""
        rarity = torch.from_numpy(inverse_frequencies(train, len(self.vocabularies.code)) ** _DAMPED)[:, None]
        for name in self.words.tables:
            if name != "shared":
                self.words.table(name).weight.copy_(rarity)
        self.words.table("shared").weight[PAD] = 0.0

    def query_vectors(self, queries: Batch) -> Float[Tensor, "queries dim"]:
        """The query's words, and those of its context if there is one and the model reads it."""
        vectors: Tensor = self.words("query", queries["query"])
        if not self.config.context_words or CONTEXT_FIELD not in queries:
            return vectors
        context: Tensor = self.words(CONTEXT_FIELD, queries[CONTEXT_FIELD])
        if self.training and self.config.context_dropout:
            context = context * (torch.rand(len(context), 1, device=context.device) >= self.config.context_dropout)
        return vectors + self.context_gain * context

    def code_vectors(self, codes: Batch) -> Float[Tensor, "codes dim"]:
        """The words of the name, the tokens and the calls."""
        vectors = torch.stack([self.words(field, codes[field]) for field in _CODE_FIELDS])  # [fields, codes, dim]
        return torch.einsum("f,fcd->cd", self.gains, vectors)

    def word_vectors(self) -> Mapping[str, tuple[Float[Tensor, "words dim"], Sequence[str]]]:
        """The known words."""
        words, weight = self.vocabularies.code.words, self.words.table("shared").weight
        return {"words": (weight[len(weight) - len(words) :], words)}


def inverse_frequencies(train: TokenizedPairs, words: int) -> Float32[np.ndarray, " words"]:
    """ln(1 + (N - n + 0.5) / (n + 0.5)) of each id, divided by their mean over the ids that occur.

    N is the number of pairs, and n that of the pairs with the word in their query or code; 1 for a word of none.
    """
    counts, fields = np.zeros(words), [train.fields[field] for field in ("query", *_CODE_FIELDS)]
    for row in range(len(train)):
        counts[np.unique(np.concatenate([field[row] for field in fields]))] += 1
    known = counts > 0
    counts = np.maximum(counts, 1)
    rarity = np.log1p(np.maximum(len(train) - counts + 0.5, 0.0) / (counts + 0.5))
    return (rarity / max(float(rarity[known].mean()), 1e-6)).astype(np.float32)
