"""CodeT5+ 110M embedding (Wang et al., EMNLP 2023), loaded without running the code that comes with the model.

It is T5's encoder and a linear layer: the vector of a text is ``normalise(proj(states[0]))``, of length 1. The model
type in its ``config.json`` is ``codet5p_embedding``, which is read as T5's; its weights come from
``model.safetensors``, or from ``pytorch_model.bin``, of which only tensors are loaded; its tokenizer is RoBERTa's.

For GenCodeSearchNet (Diera et al., GenBench 2023) two dense layers map the vector to two logits. Their input is the
vector at length 1, as the model returns it. This was tested with random weights in its layout, not the released ones.
"""

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import torch
from jaxtyping import Float, Int64
from safetensors.torch import load_file
from torch import Tensor, nn

from data_prep.errors import UserError
from data_prep.files.writing import naming
from modeling.transformers.pretrained import extra

MODEL_TYPE: Final = "codet5p_embedding"
HEAD: Final = "head."
_WEIGHTS: Final = ("model.safetensors", "pytorch_model.bin")
_TIED: Final = ("shared.weight", "encoder.embed_tokens.weight")  # one matrix, stored under either name or both
_FOREIGN: Final = ("model_type", "auto_map", "architectures", "transformers_version", "torch_dtype", "dtype")
"""Entries of ``config.json`` that do not describe the architecture; ``auto_map`` refers to the model's own code."""


def is_codet5p(place: str, local: bool) -> bool:
    """Whether the ``config.json`` of ``place``, a folder or a name on the Hub, is that of such a model."""
    try:
        return bool(_fields(place, local).get("model_type") == MODEL_TYPE)
    except OSError:  # none, or no JSON: the loader of other models reports it
        return False


def load_codet5p_sentences(place: str, local: bool, device: str) -> Any:
    """A SentenceTransformer of four modules: T5's encoder, first-token pooling, ``proj``, normalisation to length 1.

    Raises:
        UserError: weights or the tokenizer are missing, are not plain tensors, or do not fit ``config.json``.
    """
    library, parts = extra("sentence_transformers"), extra("sentence_transformers.sentence_transformer.modules")
    config, file = _t5_config(_fields(place, local)), _file(place, _WEIGHTS, local)
    weights = _read(file)
    with torch.device("meta"):  # names and shapes only
        _check(weights, CodeT5pClassifier(config).state_dict(), file)
    # The same model under T5's name, which needs no custom code.
    with TemporaryDirectory() as folder, naming(Path(folder)):
        extra("transformers").T5Config(**config.to_dict() | {"model_type": "t5"}).save_pretrained(folder)
        load_codet5p_tokenizer(place, local).save_pretrained(folder)
        (Path(folder) / file.name).symlink_to(file.resolve())
        encoder = parts.Transformer(folder, model_kwargs={"dtype": torch.float32})
    proj = parts.Dense(
        config.d_model, config.embed_dim, activation_function=nn.Identity(),
        init_weight=weights["proj.weight"].float(), init_bias=weights["proj.bias"].float(),
    )  # fmt: skip
    pooling = parts.Pooling(config.d_model, pooling_mode="cls")
    return library.SentenceTransformer(modules=[encoder, pooling, proj, parts.Normalize()], device=device)


def load_codet5p_tokenizer(place: str, local: bool) -> Any:
    """Its tokenizer, which is RoBERTa's, whatever class its files name.

    Raises:
        UserError: its files are missing, or it has more tokens than the model has word vectors.
    """
    if _file(place, ("tokenizer.json", "vocab.json"), local).name == "vocab.json":
        _file(place, ("merges.txt",), local)  # without it the library would tokenize into single characters
    tokenizer = extra("transformers").RobertaTokenizerFast.from_pretrained(place, local_files_only=local)
    tokenizer.init_kwargs.pop("auto_map", None)  # so that a saved copy does not refer to custom code either
    if tokenizer.vocab_size > (known := _t5_config(_fields(place, local)).vocab_size):
        raise UserError(f"its tokenizer has {tokenizer.vocab_size:,} tokens and its config.json {known:,}")
    return tokenizer


def load_codet5p_classifier(place: str, local: bool) -> tuple["CodeT5pClassifier", dict[str, list[str]]]:
    """The model with two logits, and as ``missing_keys`` the weights of its head if they were initialised randomly.

    Raises:
        UserError: weights are missing, are not plain tensors, or do not fit ``config.json``.
    """
    file = _file(place, _WEIGHTS, local)
    weights = _read(file)
    model = CodeT5pClassifier(_t5_config(_fields(place, local)))
    missing = _check(weights, model.state_dict(), file)
    model.load_state_dict(weights, strict=False)  # only the head may be missing
    return model.eval(), {"missing_keys": missing}


@dataclass(frozen=True, slots=True)
class PairLogits:
    """The classifier's output for pairs."""

    logits: Float[Tensor, "pairs 2"]  # "no match" and "match"


class CodeT5pClassifier(nn.Module):
    """The vector of a sequence, followed by dropout, a dense layer, tanh, dropout and a dense layer to two logits."""

    def __init__(self, config: Any, dropout: float = 0.1) -> None:
        """``config``: T5's, with ``embed_dim``; ``dropout``: of the head, as in the paper's code."""
        super().__init__()
        t5 = extra("transformers").T5EncoderModel(config)
        self.config, self.shared, self.encoder = config, t5.shared, t5.encoder
        dim = config.embed_dim
        self.proj = nn.Linear(config.d_model, dim)
        self.head = nn.Sequential(
            nn.Dropout(dropout), nn.Linear(dim, dim), nn.Tanh(), nn.Dropout(dropout), nn.Linear(dim, 2)
        )

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.proj.weight.device

    def get_input_embeddings(self) -> nn.Module:
        """The input embeddings."""
        words: nn.Module = self.shared
        return words

    def forward(
        self, input_ids: Int64[Tensor, "pairs tokens"], attention_mask: Int64[Tensor, "pairs tokens"]
    ) -> PairLogits:
        """The logits of each sequence."""
        states = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return PairLogits(self.head(nn.functional.normalize(self.proj(states[:, 0]), dim=-1)))


def _fields(place: str, local: bool) -> dict[str, Any]:
    """The content of ``config.json``."""
    return dict(extra("transformers").PretrainedConfig.get_config_dict(place, local_files_only=local)[0])


def _t5_config(fields: Mapping[str, Any]) -> Any:
    """T5's configuration under this model's type, so that a saved model is recognised again."""
    if not isinstance(fields.get("embed_dim"), int):
        raise UserError(f"expected embed_dim in its config.json, a whole number, not {fields.get('embed_dim')}")
    kind = type("CodeT5pConfig", (extra("transformers").T5Config,), {"model_type": MODEL_TYPE})
    return kind(**{name: value for name, value in fields.items() if name not in _FOREIGN})


def _file(place: str, names: tuple[str, ...], local: bool) -> Path:
    """The first of ``names`` that exists."""
    find = extra("transformers.utils").cached_file
    for name in names:
        try:
            return Path(find(place, name, local_files_only=local))
        except OSError as error:
            last = error
    raise UserError(f"no {' or '.join(names)} was found or could be fetched") from last


def _read(file: Path) -> dict[str, Tensor]:
    """The weights, with the input embeddings under both names."""
    try:
        plain = file.suffix == ".safetensors"
        weights = load_file(file) if plain else torch.load(file, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise UserError(f"{file.name} is damaged or contains more than weights, so it is not loaded") from error
    if not isinstance(weights, dict) or not all(isinstance(weight, Tensor) for weight in weights.values()):
        raise UserError(f"expected weights by name in {file.name}, but it contains something else")
    for name, other in (_TIED, _TIED[::-1]):
        if other in weights:
            weights.setdefault(name, weights[other])
    return weights


def _check(weights: Mapping[str, Tensor], own: Mapping[str, Tensor], file: Path) -> list[str]:
    """Names of the head's weights if all of them are missing; all other weights must exist with the right shapes."""
    head = [name for name in own if name.startswith(HEAD)]
    missing = [] if any(name in weights for name in head) else head
    for name in [*own, *weights]:
        found, wanted = (list(each[name].shape) if name in each else "absent" for each in (weights, own))
        if found != wanted and name not in missing:
            raise UserError(f"{file.name} does not fit config.json: {name} is {found}, expected {wanted}")
    return missing
