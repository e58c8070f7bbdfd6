"""Pretrained models as folders: two layers, 32 numbers a token, drawn at random; where only their form matters.

``python -m tests.tiny_models FOLDER`` makes one, for ``--model.base=FOLDER``.
"""

import sys
from pathlib import Path
from typing import Any

import pytest

from experiments.recipes.models import config_type_of
from experiments.terminal.options import options_of
from modeling.transformers.pretrained import extra

WORDS = ["read", "write", "open", "close", "file", "list", "tree", "sum", "of", "path", "name", "value", "index", "key"]
PIECES = ("##s", "##ed", "(", ")", ".", ",", "=", "_")


def library(name: str) -> Any:
    """A library of the extra; without it the test is left out."""
    try:
        return extra(name)
    except ValueError as error:
        pytest.skip(str(error), allow_module_level=True)


def tiny_bert(folder: Path, *, positions: int = 64, dropout: float = 0.1) -> Path:
    """A BERT whose words are WORDS, PIECES and letters."""
    transformers = library("transformers")
    letters = [chr(97 + number) for number in range(26)]
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = list(dict.fromkeys([*specials, *WORDS, *PIECES, *letters, *(f"##{letter}" for letter in letters)]))
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = transformers.BertTokenizer(vocab={word: number for number, word in enumerate(words)})
    tokenizer.model_max_length = positions
    config = transformers.BertConfig(vocab_size=len(words), pad_token_id=0, **_sizes(positions, dropout))
    library("torch").manual_seed(0)  # the same weights whatever ran before
    return _saved(transformers.BertModel(config), tokenizer, folder)


_SMALLER = {"query_length": "16", "code_length": "48", "max_length": "64", "length": "96", "gcn_dim": "32"}


def smaller(model: str, folders: pytest.TempPathFactory) -> dict[str, str]:
    """Options that make a model small enough for a test, by the fields that it has, so that a new one needs no entry.

    A text ``base`` or ``model`` names a pretrained transformer: it becomes a tiny one, whose weights are random.
    """
    fields = options_of("model", config_type_of(model))
    found = {f"model.{name}": value for name, value in _SMALLER.items() if name in fields}
    positions = 128 if "length" in fields else 64
    for name in {"base", "model"} & {name for name, field in fields.items() if field.annotation is str}:
        found[f"model.{name}"] = str(tiny_bert(folders.mktemp("tiny") / "base", positions=positions, dropout=0.0))
    return found


def tiny_roberta(folder: Path, *, positions: int = 66) -> Path:
    """A RoBERTa that reads bytes; its padding has id 1, and two positions of ``positions`` are not for tokens."""
    transformers, tokenizers = library("transformers"), library("tokenizers")
    specials = ["<s>", "<pad>", "</s>", "<unk>"]
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {word: number for number, word in enumerate([*specials, *letters])}
    reader = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, []))
    reader.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=reader, bos_token="<s>", cls_token="<s>", sep_token="</s>", eos_token="</s>",
        pad_token="<pad>", unk_token="<unk>",
    )  # fmt: skip
    config = transformers.RobertaConfig(vocab_size=len(vocabulary), type_vocab_size=1, **_sizes(positions, 0.1))
    return _saved(transformers.RobertaModel(config), tokenizer, folder)


def tiny_classifier(folder: Path, base: Path) -> Path:
    """A cross-encoder with a head that was drawn at random, on top of ``base``."""
    from modeling.transformers.cross_encoder import load_classifier, load_tokenizer

    model = load_classifier(str(base), new_head=True)
    model.classifier.weight.data *= 10  # so that the logits of pairs differ
    return _saved(model, load_tokenizer(str(base)), folder)


def _sizes(positions: int, dropout: float) -> dict[str, Any]:
    return {
        "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64,
        "max_position_embeddings": positions, "hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout,
        "initializer_range": 0.2,
    }  # fmt: skip


def _saved(model: Any, tokenizer: Any, folder: Path) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


if __name__ == "__main__":
    tiny_bert(Path(sys.argv[1]), positions=512)
