"""A trained model as a folder for other programs: of a bi-encoder over subwords, for sentence-transformers.

Any other model is written as plain safetensors, its tokenizer as ``tokenizer.json`` (the tokenizers library) or its
vocabulary as JSON, and its settings as ``config.json``.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from safetensors.torch import save_file

from data_prep.errors import UserError
from modeling.base import NeuralRanker, PairTokenizer
from modeling.transformers.bi_encoder import TransformerBiEncoder
from modeling.transformers.pretrained import extra
from modeling.transformers.subword_pairs import Subwords

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
