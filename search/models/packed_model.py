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
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from data_prep.array_types import Bool, Float, Int8
from data_prep.config import DataConfig
from data_prep.errors import UserError
from data_prep.files.atomic import atomic_file, write_atomically
from data_prep.files.json_text import parse_json
from data_prep.files.reading import ABSENT, file_sha256, read_whole
from data_prep.records import STRUCTURE_FIELDS
from data_prep.store.tokenizing import WordTokenizer
from data_prep.store.vocabulary import Vocabularies, Vocabulary
from evaluation.config import EvaluateConfig
from experiments.recipes.config import Configuration
from experiments.recipes.models import class_of
from experiments.recipes.run_folder import load_run, weights_of, without_weights
from experiments.recipes.stored_options import PACKED, is_packed
from modeling.base import NeuralRanker
from search.models.folder import CONFIG, no_model
from search.models.packed_arrays import ABOUT, FORMAT_VERSION, LARGEST
from training.checkpoint import check_finite, check_weights, is_sealed, read_weights, sealed_weights, weights_copy

_WORDS, _WEIGHTS = PACKED
_TABLES: Final = "words.tables."
_SHARED: Final = f"{_TABLES}shared.weight"


@dataclass(frozen=True, slots=True)
class PackedTable:
    """A table of vectors in 8 bits, without its rows of zeros."""

    kept: Bool[Tensor, " words"]  # rows that are not all zeros
    values: Int8[Tensor, "rows dim"]  # of these rows, in order
    scales: Float[Tensor, " rows"]

    @classmethod
    def of(cls, table: Float[Tensor, "words dim"]) -> "PackedTable":
        """``table`` with each row quantised symmetrically, rounding to nearest."""
        largest = table.abs().amax(1)
        kept = largest > 0
        scales = largest[kept] / LARGEST
        quotients = table[kept].double() / scales.double()[:, None]
        return cls(kept, quotients.round().clamp(-LARGEST, LARGEST).to(torch.int8), scales)

    @classmethod
    def checked(cls, kept: Tensor, values: Tensor, scales: Tensor, shape: torch.Size) -> "PackedTable":
        """The parts of a table of that ``shape``, as read from a file.

        Raises:
            UserError: they do not fit together.
        """
        types = (kept.dtype, values.dtype, scales.dtype)
        rows = int(kept.sum()) if (types, kept.shape) == ((torch.bool, torch.int8, torch.float32), shape[:1]) else -1
        if (values.shape, scales.shape) != ((rows, *shape[1:]), (rows,)) or (scales * LARGEST).isinf().any():
            raise UserError(f"the parts of a table of {list(shape)} do not fit together")
        return cls(kept, values, scales)

    def unpacked(self) -> Float[Tensor, "words dim"]:
        """The table in float32."""
        shape = len(self.kept), self.values.shape[1]
        table = torch.from_numpy(np.zeros(shape, np.float32))  # unlike torch's zeros, takes no memory until used
        table[self.kept] = self.values.float().mul_(self.scales[:, None])
        return table


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
    weights, about = _read(folder)
    for name in (CONFIG, _WORDS):
        if file_sha256(folder / name) != about["files"].get(name):
            raise _unusable(folder, f"{name} is not the one that {_WEIGHTS} was written with")
    try:
        few = Vocabulary.checked(parse_json(read_whole(folder / _WORDS)))
        plan = Configuration.load(folder / CONFIG)
        known = Vocabularies(few, few, ast=Vocabulary(()))
        tokenizer = class_of(plan.model_name).word_tokenizer(known, plan.words)
        own = weights_of(plan, tokenizer)
        check_finite({name: weight for name, weight in weights.items() if weight.is_floating_point()}, _WEIGHTS)
        for table in about["tables"]:
            weights[table] = _unpacked(weights, table, own)
        check_weights(weights, own, str(folder / _WEIGHTS))
    except UserError as error:
        raise _unusable(folder, str(error)) from error
    model = without_weights(plan, tokenizer)
    model.load_state_dict(weights, assign=True)  # replaces the model's own tensors, which are never allocated
    return model.eval(), tokenizer


def _unpacked(weights: dict[str, Tensor], table: str, own: Mapping[str, Tensor]) -> Float[Tensor, "words dim"]:
    """Unpack a table of ``weights``, from which its parts are removed.

    Raises:
        UserError: a part is missing, or the table does not fit the model's weights ``own``.
    """
    kept, values, scales = (weights.pop(f"{table}.{part}", None) for part in ("kept", "values", "scales"))
    if table not in own or kept is None or values is None or scales is None:
        raise UserError(f"{table!r:.60} is no table, or not all of one")
    return PackedTable.checked(kept, values, scales, own[table].shape).unpacked()


def _shareable(plan: Configuration) -> Configuration:
    """``plan`` without the paths of the machine it ran on and without ``--data.exclude_overlap_with``."""
    extra = ",".join(name for name, _ in plan.data.extra_sets)
    data = replace(
        plan.data, path="", root=DataConfig().root, mirrors="", extra_train_sets=extra, exclude_overlap_with=""
    )
    return replace(plan, out="", data=data, train=replace(plan.train, resume=""), evaluate=EvaluateConfig())


def _as_bytes(folder: Path, weights: dict[str, Tensor], words: int, offset_words: int) -> bytes:
    """The weights as safetensors: the first rows of each table packed, all else unchanged."""
    tables = sorted(name for name in weights if name.startswith(_TABLES))
    width = weights[_SHARED].shape[1] if _SHARED in weights else 0
    for name in tables:
        table = weights.pop(name)[:words].clone()
        if name != _SHARED and table.shape[1] == width:  # offsets from the shared one
            table[offset_words:] = 0.0
        packed = PackedTable.of(table)
        weights |= {f"{name}.kept": packed.kept, f"{name}.values": packed.values, f"{name}.scales": packed.scales}
    files = {name: file_sha256(folder / name) for name in (CONFIG, _WORDS)}
    about = {"format": FORMAT_VERSION, "tables": tables, "files": files}
    return sealed_weights(weights, ABOUT, about)


def _read(folder: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The weights as stored, and their metadata."""
    missing = [name for name in (CONFIG, _WORDS, _WEIGHTS) if not (folder / name).is_file()]
    if missing:
        raise _unusable(folder, f"{', '.join(missing)} is missing")
    try:
        weights, told = read_weights(folder / _WEIGHTS, ABOUT)
        about = told or {}
        whole = is_sealed(weights, about)
    except (*ABSENT, UserError) as error:
        raise _unusable(folder, f"{_WEIGHTS} cannot be read ({error})") from error
    if about.get("format") != FORMAT_VERSION:
        raise UserError(
            f"the packed model in {folder} is of format {about.get('format')}, this program reads format "
            f"{FORMAT_VERSION}: pack the run again, or use the shipped model"
        )
    if not whole:
        raise _unusable(folder, f"{_WEIGHTS} was changed after it was written")
    files, tables = about.get("files"), about.get("tables")
    if not isinstance(files, dict) or not isinstance(tables, list) or not all(isinstance(name, str) for name in tables):
        raise _unusable(folder, f"{_WEIGHTS} lacks its metadata")
    return weights, about


def _unusable(folder: Path, why: str) -> UserError:
    return UserError(
        f"the packed model in {folder} cannot be used: {why}; restore the folder (by git checkout, if it is the "
        "shipped model) or pack the run again"
    )
