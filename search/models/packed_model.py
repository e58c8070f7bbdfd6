"""The models that the search can load: a packed model, such as the shipped one, or any finished run.

Only a run with one vocabulary (``--words.joint=true``) can be packed: nearly all of it is tables with one row per word.
The most frequent words are retained; the others become unknown words, in the buckets that training made for these. In
tables of offsets (galm_plus: ``--model.code_tables=offsets``) the most frequent of these are retained; the others are
0, as before training. A retained row x is stored as 8-bit integers q = round(x / s), with one scale s = max|x| / 127
per row: |x - q s| <= s / 2.

A packed folder contains ``config.json`` as a run does, ``words.json`` (the words, most frequent first), and
``model.safetensors``, whose metadata have the format's version and checksums of all three.
"""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

from data_prep.config import DataConfig
from data_prep.errors import UserError
from data_prep.files.access import file_sha256
from data_prep.files.writing import atomic_file, write_atomically
from data_prep.records import STRUCTURE_FIELDS
from data_prep.store.tokenizing import Vocabulary, WordTokenizer
from evaluation.config import EvaluateConfig
from experiments.recipes.config import Configuration
from experiments.recipes.models import class_of
from experiments.recipes.run_folder import load_run, weights_of, without_weights
from experiments.terminal.options import PACKED, is_packed
from modeling.base import NeuralRanker
from search.models.folder import (
    ABOUT,
    CONFIG,
    FORMAT_VERSION,
    PARTS,
    StoredTable,
    no_model,
    read_packed,
    unusable,
)
from training.checkpoint import sealed_weights, weights_copy

_WORDS, _WEIGHTS = PACKED
_TABLES: Final = "words.tables."
_SHARED: Final = f"{_TABLES}shared.weight"


def load_model(path: Path) -> tuple[NeuralRanker, WordTokenizer]:
    """The model in ``path``, a packed folder or a finished run, on the CPU and in evaluation mode.

    Raises:
        UserError: there is neither, it is damaged or unfinished, or the run's model is not a trained one.
    """
    if is_packed(path):
        return load_packed(path)
    if not (path / CONFIG).exists():
        raise no_model(path, CONFIG)
    model, tokenizer = load_run(path)
    if not isinstance(tokenizer, WordTokenizer):
        raise UserError(f"the model in {path} reads subwords, but an index holds words: name a run of a word model")
    return model, tokenizer


def pack(run: Path, target: Path, *, words: int, offset_words: int) -> None:
    """Write the finished run in ``run`` to the folder ``target`` as a packed model, with reproducible bytes.

    ``words`` is the number of most frequent words to retain, ``offset_words`` how many of these also in the tables of
    offsets; larger numbers mean all. Other files in ``target``, such as a model card, are left unchanged.

    Raises:
        UserError: no words would be retained, the run is not finished, or its model cannot be packed.
        OSError: ``target`` cannot be written.
    """
    if words < 1 or offset_words < 0:
        raise UserError(f"pack takes 1 word or more and 0 offset_words or more, not {words} and {offset_words}")
    model, tokenizer = load_model(run)
    plan = Configuration.load(run / CONFIG)
    tables = any(name.startswith(_TABLES) for name in model.state_dict())
    if not plan.words.joint or not tables or not {*model.code_fields}.isdisjoint(STRUCTURE_FIELDS):
        raise UserError(
            f"the run in {run} cannot be packed: that needs --words.joint=true, tables of words that a model finds by "
            "its fields, as galm_plus and unif have them, and neither ast nor statements among these"
        )
    known = tokenizer.vocabularies.code
    few = Vocabulary(known.words[:words], known.unknown_buckets)
    rows = len(Vocabulary(few.words[:offset_words], few.unknown_buckets))
    target.mkdir(parents=True, exist_ok=True)
    with atomic_file(target / CONFIG) as new:
        _shareable(plan).save(new)
    content = {"unknown_buckets": few.unknown_buckets, "words": few.words}
    write_atomically(target / _WORDS, json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n")
    write_atomically(target / _WEIGHTS, _as_bytes(target, weights_copy(model), len(few), rows))


def load_packed(folder: Path) -> tuple[NeuralRanker, WordTokenizer]:
    """The model that :func:`pack` wrote, in float32, on the CPU and in evaluation mode.

    Raises:
        UserError: a file is missing, damaged or of another version.
    """
    packed = read_packed(folder)
    try:
        plan = Configuration.load(folder / CONFIG)
        tokenizer = class_of(plan.model_name).word_tokenizer(packed.tokenizer.vocabularies, plan.words)
        shapes = {name: tuple(weight.shape) for name, weight in weights_of(plan, tokenizer).items()}
        packed.check_shapes(shapes)
        arrays = {name: each.copy() for name, each in packed.weights.items()}  # which may be written to
        for name in packed.tables:
            arrays[name] = packed.table(name, shapes[name]).rows(np.arange(shapes[name][0]))
    except UserError as error:
        raise unusable(folder, str(error)) from error
    model = without_weights(plan, tokenizer)
    weights = {name: torch.from_numpy(array) for name, array in arrays.items()}
    model.load_state_dict(weights, assign=True)  # replaces the model's own tensors, which are never allocated
    return model.eval(), tokenizer


def _shareable(plan: Configuration) -> Configuration:
    """``plan`` without the paths of the machine it ran on and without ``--data.exclude_overlap_with``."""
    extra = ",".join(name for name, _ in plan.data.extra_sets)
    data = replace(
        plan.data, path="", root=DataConfig().root, mirrors="", extra_train_sets=extra, exclude_overlap_with=""
    )
    train = replace(plan.train, resume="", from_run="", continue_run="")
    return replace(plan, out="", data=data, train=train, evaluate=EvaluateConfig())


def _as_bytes(folder: Path, weights: dict[str, Tensor], words: int, offset_words: int) -> bytes:
    """The weights as safetensors: the first rows of each table packed, all else unchanged."""
    tables = sorted(name for name in weights if name.startswith(_TABLES))
    width = weights[_SHARED].shape[1] if _SHARED in weights else 0
    for name in tables:
        table = weights.pop(name)[:words].clone()
        if name != _SHARED and table.shape[1] == width:  # offsets from the shared one
            table[offset_words:] = 0.0
        packed = StoredTable.of(table.numpy())
        weights |= {f"{name}.{part}": torch.from_numpy(getattr(packed, part)) for part in PARTS}
    files = {name: file_sha256(folder / name) for name in (CONFIG, _WORDS)}
    about = {"format": FORMAT_VERSION, "tables": tables, "files": files}
    return sealed_weights(weights, ABOUT, about)


_HEAD = "repository\tcommit\tlicence\tpairs\n"


def write_sources(texts: Path, target: Path) -> None:
    """Write the sources of prepared pairs as a table separated by tabs, ordered by name.

    Args:
        texts: ``train-texts.jsonl`` of a prepared data set of source trees.
        target: file to write.

    Raises:
        UserError: a pair has no repository, commit or licence.
        OSError: a file cannot be read or written.
    """
    found = Counter[tuple[str, str, str]]()
    with texts.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            pair = json.loads(line)
            name, _, commit = pair["origin"].partition("@")
            if not (name and commit and pair["licence"]):
                raise UserError(
                    f"{texts}, line {number}: expected origin NAME@COMMIT and a licence, not {pair['origin']!r}"
                )
            found[name, commit, pair["licence"]] += 1
    rows = (f"{name}\t{commit}\t{licence}\t{pairs}\n" for (name, commit, licence), pairs in sorted(found.items()))
    write_atomically(target, _HEAD + "".join(rows))
