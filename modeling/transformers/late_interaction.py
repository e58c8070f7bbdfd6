"""A transformer whose token vectors are compared: each query token takes its most similar code token.

Khattab and Zaharia, "ColBERT", SIGIR 2020, section 3.3: with unit vectors q_j and c_k,

    s = sum over the query's tokens j of  w_j  max over the code's tokens k of  q_j . c_k,

here with weights w_j that sum to 1, 1/n or learned, so that a score does not grow with the query's length. The cosine
of the mean token states may be added (``pooled``), which is the score of ``minilm``.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import normalize

from data_prep.errors import UserError, whole
from data_prep.store.batching import Batch, Words
from modeling.base import Encoded, widened
from modeling.layers import masked_softmax
from modeling.transformers.bi_encoder import Model, TransformerConfig, TransformerRanker, mean_state
from modeling.transformers.subword_pairs import Subwords

_MOST_KEPT: Final = 1 << 33
"""Bytes of states that are kept of a frozen transformer; what does not fit is encoded each time."""


@dataclass(frozen=True, slots=True)
class TokenVectorsConfig(TransformerConfig):
    """What all models over token vectors have."""

    token_dim: Annotated[int, whole(0, 4096)] = 96
    """Width of a token's vector: a linear layer from the transformer's state; 0: the state itself."""
    pooled: bool = True
    """Whether the cosine of the pooled token states is added to the score."""
    units: Literal["subwords", "words"] = "subwords"
    """What has a vector: each subword, or each word by the mean of its subwords' states (a WordPiece tokenizer)."""
    frozen: bool = False
    """Whether the transformer keeps its weights, so that only what reads its states learns, and each text is encoded
    once."""


@dataclass(frozen=True, slots=True)
class LateInteractionConfig(TokenVectorsConfig):
    """Configuration of late interaction (section ``model``)."""

    learned_weights: bool = False
    """Whether query tokens have learned weights, equal at the start, instead of 1/n each."""


@dataclass(frozen=True, slots=True)
class TokenVectors(Encoded):
    """Vectors of a text's units, and its pooled vector."""

    vectors: Float[Tensor, "batch width"]  # of length 1; without columns if the score does not read it
    unit_of: Int[Tensor, "batch subwords"]  # the position among ``states`` that each subword belongs to
    subwords: Bool[Tensor, "batch subwords"]  # True at subwords, False at pads

    def in_float32(self) -> "TokenVectors":
        """The same, in the precision of the scores."""
        return replace(self, states=self.states.float(), vectors=self.vectors.float())

    @property
    def shown(self) -> Bool[Tensor, "batch subwords"]:
        """An alignment is shown by subword."""
        return self.subwords


class KeptStates:
    """States of the texts that were read before, in float16, of a transformer whose weights stay as they are."""

    def __init__(self, read: Callable[[Words], Tensor]) -> None:
        """``read``: encodes texts."""
        self._read = read
        self._states: dict[bytes, Tensor] = {}  # token ids of a text -> [tokens, dim]
        self._room = _MOST_KEPT

    @torch.no_grad()
    def __call__(self, words: Words) -> Float[Tensor, "batch words dim"]:
        """The last state of every token, 0 at pads."""
        lengths = words.mask.sum(1).tolist()
        keys = [row[:length].tobytes() for row, length in zip(words.ids.cpu().numpy(), lengths, strict=True)]
        found = {key: self._states[key] for key in keys if key in self._states}
        if new := {key: place for place, key in enumerate(keys) if key not in found}:
            places = torch.tensor([*new.values()], device=words.ids.device)
            states = self._read(Words(words.ids[places], words.mask[places])).half()
            found |= {key: row[: lengths[place]].clone() for (key, place), row in zip(new.items(), states, strict=True)}
            self._keep({key: found[key] for key in new})
        states = nn.utils.rnn.pad_sequence([found[key] for key in keys], batch_first=True)
        return widened(states, (words.mask.shape[1], states.shape[2])).float()

    def _keep(self, states: Mapping[bytes, Tensor]) -> None:
        if (size := sum(each.nbytes for each in states.values())) <= self._room:
            self._states |= states
            self._room -= size


class TokenVectorRanker(TransformerRanker):
    """A transformer, a linear layer to token vectors, and the pooled vector beside them."""

    config_type = TokenVectorsConfig
    config: TokenVectorsConfig

    def __init__(self, config: TokenVectorsConfig, vocabularies: Subwords) -> None:
        """A projection that starts as a random rotation: cosines of the states are about kept."""
        super().__init__(config, vocabularies)
        self.projection: nn.Module = nn.Identity()
        if config.token_dim:
            self.projection = nn.Linear(self.width, config.token_dim, bias=False)
            nn.init.orthogonal_(self.projection.weight)
        self.continues: Tensor  # by subword id: whether it continues the word before it
        if config.units == "words":
            self.register_buffer("continues", continuing_subwords(vocabularies), persistent=False)
        if config.frozen:
            self.transformer.requires_grad_(False)
        self._kept = KeptStates(super().token_states)

    def train(self: Model, mode: bool = True) -> Model:
        """As of other transformers; a frozen one reads as in a test."""
        super().train(mode)
        if self.config.frozen:
            self.transformer.eval().set_attn_implementation("sdpa")  # type: ignore[operator]
        return self

    def token_states(self, words: Words) -> Float[Tensor, "batch words dim"]:
        """The last state of every token; of a frozen transformer as it was first read."""
        return self._kept(words) if self.config.frozen else super().token_states(words)

    def encode_query(self, queries: Batch) -> TokenVectors:
        """Token vectors of the query."""
        return self.vectors_of(queries["query"])

    def encode_code(self, codes: Batch) -> TokenVectors:
        """Token vectors of the method's source."""
        return self.vectors_of(codes["code"])

    def vectors_of(self, words: Words) -> TokenVectors:
        """The vectors of all tokens, of length 1."""
        states = self.token_states(words)
        pooled = mean_state(states, words) if self.config.pooled else states[:, 0, :0]
        mask, unit_of = words.mask, torch.arange(words.mask.shape[1], device=words.mask.device).expand_as(words.ids)
        if self.config.units == "words":
            unit_of = (~self.continues[words.ids]).cumsum(1).sub(1).clamp(min=0)
            states, mask = mean_by_unit(states, words.mask, unit_of)
        vectors = normalize(self.projection(states), dim=-1)
        return TokenVectors(vectors, mask, normalize(pooled, dim=-1), unit_of, words.mask)

    @staticmethod
    def by_subword(
        weights: Float[Tensor, "pairs queryunits codeunits"], queries: TokenVectors, codes: TokenVectors
    ) -> Float[Tensor, "pairs querysubwords codesubwords"]:
        """An alignment of units, repeated for each of their subwords."""
        rows = torch.arange(len(weights), device=weights.device)[:, None, None]
        return weights[rows, queries.unit_of[:, :, None], codes.unit_of[:, None, :]]


def continuing_subwords(vocabulary: Subwords) -> Bool[Tensor, " ids"]:
    """Of every id, whether its subword continues the word before it.

    Raises:
        UserError: the tokenizer does not mark such subwords.
    """
    model = json.loads(vocabulary.tokenizer)["model"]
    mark = model.get("continuing_subword_prefix")
    if not mark:
        raise UserError("--model.units=words needs a WordPiece tokenizer, as BERT's: leave it out with this base")
    found = torch.zeros(1 + max(model["vocab"].values()), dtype=torch.bool, device="cpu")
    found[[number for subword, number in model["vocab"].items() if subword.startswith(mark)]] = True
    return found


def mean_by_unit(
    states: Float[Tensor, "batch subwords dim"],
    mask: Bool[Tensor, "batch subwords"],
    unit_of: Int[Tensor, "batch subwords"],
) -> tuple[Float[Tensor, "batch units dim"], Bool[Tensor, "batch units"]]:
    """The mean state of each unit's subwords, and which units there are."""
    units = torch.arange(int(unit_of.max()) + 1, device=mask.device)
    within = (unit_of[:, None, :] == units[:, None]) & mask[:, None]  # [batch, units, subwords]
    counts = within.sum(-1)
    return (within.to(states.dtype) @ states) / counts.clamp(min=1)[..., None], counts > 0


class LateInteraction(TokenVectorRanker):
    """The mean, over the query's tokens, of the largest cosine with a code token."""

    config_type = LateInteractionConfig
    config: LateInteractionConfig

    def __init__(self, config: LateInteractionConfig, vocabularies: Subwords) -> None:
        """Learned weights are equal at the start."""
        super().__init__(config, vocabularies)
        if config.learned_weights:
            self.importance = nn.Linear(config.token_dim or self.width, 1, bias=False)
            nn.init.zeros_(self.importance.weight)

    def score_pairs(self, queries: TokenVectors, codes: TokenVectors) -> Float[Tensor, " pairs"]:  # type: ignore[override]
        """Score query i against code i."""
        largest = self._cosines(queries, codes).amax(-1)  # [pairs, querytokens]
        return (queries.vectors * codes.vectors).sum(-1) + (largest * self.token_weights(queries)).sum(-1)

    def score_matrix(  # type: ignore[override]
        self, queries: TokenVectors, codes: TokenVectors, *, pairs_per_block: int = 4096
    ) -> Float[Tensor, "queries codes"]:
        """Every query against every code: the cosines of a block of both are one matrix product."""
        parts = [queries.vectors[:0] @ codes.vectors.T]
        rows, columns = block_sides(codes.mask.device.type, pairs_per_block)
        blocks = [_marked(codes.rows(slice(at, at + columns))) for at in range(0, len(codes), columns)]
        for start in range(0, len(queries), rows):
            some = queries.rows(slice(start, start + rows))
            largest = torch.cat([_largest(some.states, block) for block in blocks])  # [codes, rows, querytokens]
            weights = self.token_weights(some).to(largest.dtype)
            parts.append(some.vectors @ codes.vectors.T + (largest * weights).sum(-1).T)
        return torch.cat(parts)

    def alignment(  # type: ignore[override]
        self, queries: TokenVectors, codes: TokenVectors
    ) -> Float[Tensor, "pairs querysubwords codesubwords"]:
        """The cosine of every query token with every code token."""
        return self.by_subword(queries.states @ codes.states.transpose(-1, -2), queries, codes)

    def token_weights(self, queries: Encoded) -> Float[Tensor, "queries querytokens"]:
        """The weight of each query token: rows sum to 1, and are 0 without tokens."""
        logits = (
            self.importance(queries.states).squeeze(-1) if self.config.learned_weights else queries.states[..., 0] * 0
        )
        return masked_softmax(logits, queries.mask)

    @staticmethod
    def _cosines(queries: Encoded, codes: Encoded) -> Float[Tensor, "pairs querytokens codetokens"]:
        cosines: Tensor = queries.states @ codes.states.transpose(-1, -2)
        return cosines.masked_fill(~codes.mask[:, None], _ABSENT)


_ROWS, _COLUMNS = 16, 32
"""Most queries and codes of a block on a CPU, whose cosines then fit into its cache."""


def block_sides(device: str, pairs: int) -> tuple[int, int]:
    """Queries and codes of a block of about ``pairs``: on a CPU fewer, on a GPU a square."""
    if device != "cpu":
        return (side := max(1, math.isqrt(pairs)), side)
    return _ROWS, max(1, min(_COLUMNS, pairs // _ROWS))


_ABSENT: Final = -1.0
"""The cosine with a pad: none is smaller, so it is never the largest, and the only one of a code without tokens."""


def _marked(codes: Encoded) -> Float[Tensor, "codes codetokens marked"]:
    """The tokens' vectors with one entry more, so that the product with a pad is :data:`_ABSENT`."""
    mask = codes.mask[..., None].to(codes.states.dtype)
    return torch.cat([codes.states * mask, (1 - mask) * _ABSENT], dim=-1)


def _largest(
    states: Float[Tensor, "rows querytokens dim"], codes: Float[Tensor, "codes codetokens marked"]
) -> Float[Tensor, "codes rows querytokens"]:
    """The largest cosine of each query token with each code of :func:`_marked`."""
    marked = torch.cat([states, states.new_ones(*states.shape[:-1], 1)], dim=-1).flatten(0, 1)
    cosines = codes.flatten(0, 1) @ marked.T  # [codes codetokens, rows querytokens]
    return cosines.unflatten(0, codes.shape[:2]).amax(1).unflatten(1, states.shape[:2])
