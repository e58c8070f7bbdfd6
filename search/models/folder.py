"""Folders of models, and the files of a packed one as numpy arrays, without torch.

A table stays in 8 bits: rows are converted when they are read.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from data_prep.errors import UserError
from data_prep.files.access import ABSENT, file_sha256, read_whole
from data_prep.files.json_text import parse_json, sorted_json
from data_prep.store.arrays import Bool, Float32, Int8, Int64, tensors
from data_prep.store.tokenizing import Vocabularies, Vocabulary, WordsConfig, WordTokenizer
from experiments.terminal.options import PACKED, fitted, is_packed, options_of, stored_configuration

DEFAULT_MODEL: Final = Path(__file__).with_name("default")
"""The shipped packed model."""
DEFAULT_BI_ENCODER: Final = DEFAULT_MODEL / "bi_encoder"
"""The shipped packed bi-encoder."""

CONFIG: Final = "config.json"
RUN: Final = ("vocabulary.json", "weights.safetensors")
"""Files of a run that make up its model, beside its configuration."""
Options = TypeVar("Options")
FORMAT_VERSION: Final = 1
"""Incremented when the layout changes; a packed model of another version is refused."""
ABOUT: Final = "packed"
"""The only key of the metadata: safetensors writes several in no fixed order."""
LARGEST: Final = 127
"""Largest magnitude of an 8-bit number."""
_STEEPEST: Final = np.finfo(np.float32).max / LARGEST
PARTS: Final = ("kept", "values", "scales")
"""The arrays that a table is stored as: which rows are not all zeros, these rows in 8 bits, and the scale of each."""
_WORDS, _WEIGHTS = PACKED
_OF_SENTENCES: Final = (".json", ".txt", ".safetensors", ".bin")
"""Suffixes of the files of a model of sentence-transformers."""


def no_model(folder: Path, missing: str) -> UserError:
    """The error that there is no model in ``folder``."""
    return UserError(
        f"expected a model in {folder}, but there is no {missing}: name the folder of a finished run, or a packed one"
    )


def checked_parts(folder: Path) -> tuple[Sequence[str], dict[str, Any]]:
    """The names of the files of the model in ``folder``, beside its configuration, and that.

    Raises:
        UserError: there is no model, or it is not finished.
    """
    names = PACKED if is_packed(folder) else RUN
    missing = [name for name in (CONFIG, *names) if not (folder / name).is_file()]
    if missing:
        raise no_model(folder, missing[0])
    plan = stored_configuration(folder / CONFIG, as_saved=True)
    if not {"words", "model"} <= plan.keys():
        raise UserError(f"{folder / CONFIG} is not the configuration of a run: it lacks words or model")
    return names, plan


def is_sentence_model(folder: Path) -> bool:
    """Whether ``folder`` is a model of sentence-transformers."""
    return (folder / "modules.json").is_file()


def model_hash(folder: Path) -> str:
    """A hash of all that determines the outputs of the model in ``folder``.

    Raises:
        UserError: there is no model, or it is not finished.
    """
    if is_sentence_model(folder):
        files = sorted(path for path in folder.rglob("*") if path.suffix in _OF_SENTENCES)
        sums = [[path.relative_to(folder).as_posix(), file_sha256(path)] for path in files]
        return hashlib.sha256(json.dumps(sums).encode()).hexdigest()
    names, plan = checked_parts(folder)
    about = [plan["model_name"], plan["words"], plan["model"]]
    return hashlib.sha256(json.dumps([*about, *(file_sha256(folder / name) for name in names)]).encode()).hexdigest()


_LIGHT: Final = ("scotch_light", "scotch_light_no_context")


def is_packed_light(folder: Path) -> bool:
    """Whether the model in ``folder`` is a packed light pair, possibly a damaged one."""
    if not is_packed(folder):
        return False
    try:
        return bool(stored_configuration(folder / CONFIG)["model_name"] in _LIGHT)
    except UserError:
        return False


def reads_text(folder: Path) -> bool:
    """Whether the model in ``folder`` reads source text: one of sentence-transformers, or a run over subwords."""
    if is_sentence_model(folder):
        return True
    from experiments.recipes.config import Configuration
    from experiments.recipes.models import class_of

    return str(class_of(Configuration.load(folder / CONFIG).model_name).reads) == "subwords"


def check_bi_encoder(folder: Path) -> None:
    """Check that a model is a bi-encoder, before it is loaded.

    Raises:
        UserError: there is no model in ``folder``, or it is not such a bi-encoder.
    """
    if is_sentence_model(folder):
        return
    checked_parts(folder)
    if is_packed_light(folder):
        return
    from experiments.recipes.config import Configuration
    from experiments.recipes.models import class_of
    from modeling.base import BiEncoder

    name = Configuration.load(folder / CONFIG).model_name
    if not issubclass(class_of(name), BiEncoder):
        raise UserError(
            f"the run in {folder} is of {name}, which makes no vector of a method: --vectors takes a run of a "
            "bi-encoder, such as unif, deepcs or minilm, or a folder of sentence-transformers"
        )


@dataclass(frozen=True, eq=False)
class StoredTable:
    """A table of word vectors in 8 bits, without its rows of zeros."""

    kept: Bool[np.ndarray, " words"]
    values: Int8[np.ndarray, "rows dim"]
    scales: Float32[np.ndarray, " rows"]

    @classmethod
    def of(cls, table: Float32[np.ndarray, "words dim"]) -> "StoredTable":
        """``table`` with each row quantised symmetrically, rounding to nearest."""
        largest = np.abs(table).max(1)
        kept = largest > 0
        scales = largest[kept] / np.float32(LARGEST)
        quotients = table[kept].astype(np.float64) / scales.astype(np.float64)[:, None]
        return cls(kept, np.rint(quotients).clip(-LARGEST, LARGEST).astype(np.int8), scales)

    @classmethod
    def checked(cls, parts: Mapping[str, np.ndarray | None], shape: tuple[int, ...]) -> "StoredTable":
        """The parts of a table of that ``shape``, as read from a file.

        Raises:
            UserError: they do not fit together.
        """
        kept, values, scales = (parts[name] for name in PARTS)
        if kept is None or values is None or scales is None:
            raise UserError("a table lacks a part")
        types = [array.dtype.name for array in (kept, values, scales)]
        rows = int(kept.sum()) if types == ["bool", "int8", "float32"] and kept.shape == shape[:1] else -1
        if (values.shape, scales.shape) != ((rows, *shape[1:]), (rows,)) or not (np.abs(scales) <= _STEEPEST).all():
            raise UserError(f"the parts of a table of {list(shape)} do not fit together")
        return cls(kept, values, scales)

    @cached_property
    def _places(self) -> Int64[np.ndarray, " words"]:
        return np.cumsum(self.kept, dtype=np.int64) - 1

    def rows(self, ids: Int64[np.ndarray, " words"]) -> Float32[np.ndarray, "words dim"]:
        """The vectors of some words, in float32."""
        there = self.kept[ids]
        if there.all():
            places = self._places[ids]
            return self.values[places] * self.scales[places, None]
        found = np.zeros((len(ids), self.values.shape[1]), np.float32)
        found[there] = self.rows(ids[there])
        return found


@dataclass(frozen=True, eq=False, slots=True)
class PackedArrays:
    """A packed model: its name and options, tokenizer, tables by name and all other weights."""

    model_name: str
    model: Mapping[str, Any]
    tokenizer: WordTokenizer
    weights: Mapping[str, np.ndarray]
    tables: Mapping[str, Mapping[str, np.ndarray | None]]

    def table(self, name: str, shape: tuple[int, ...]) -> StoredTable:
        """The table ``name``.

        Raises:
            UserError: there is none of that shape.
        """
        if name not in self.tables:
            raise UserError(f"it lacks {name}")
        return StoredTable.checked(self.tables[name], shape)

    def check_shapes(self, wanted: Mapping[str, tuple[int, ...]]) -> None:
        """Check the names, types and shapes of all weights and tables.

        Raises:
            UserError: one is missing, of another shape, or not finite.
        """
        if {*self.weights, *self.tables} != {*wanted}:
            raise UserError(f"expected the weights {', '.join(sorted(wanted))[:200]}")
        for name, array in self.weights.items():
            if array.shape != wanted[name] or array.dtype != np.float32 or not np.isfinite(array).all():
                raise UserError(f"{name}: expected {list(wanted[name])} finite numbers, got {list(array.shape)}")


def read_packed(folder: Path) -> PackedArrays:
    """Read the packed model in ``folder``.

    Raises:
        UserError: a file is missing, damaged or of another version.
    """
    try:
        arrays, about = _read(folder)
        plan = stored_configuration(folder / CONFIG)
        for name in (CONFIG, _WORDS):
            if file_sha256(folder / name) != about["files"].get(name):
                raise UserError(f"{name} is not the one that {_WEIGHTS} was written with")
        known = Vocabulary.checked(parse_json(read_whole(folder / _WORDS)))
        tables = {table: {part: arrays.pop(f"{table}.{part}", None) for part in PARTS} for table in about["tables"]}
        words = section_of(plan, "words", WordsConfig)
        if not words.joint:
            raise UserError("a packed model has one vocabulary, --words.joint=true")
        tokenizer = WordTokenizer(Vocabularies(known, known, ast=Vocabulary(())), words)
        return PackedArrays(plan["model_name"], plan["model"], tokenizer, arrays, tables)
    except (*ABSENT, UserError, KeyError, TypeError) as error:
        raise unusable(folder, str(error)) from error


def unusable(folder: Path, why: str) -> UserError:
    """The error that the packed model in ``folder`` cannot be used."""
    return UserError(
        f"the packed model in {folder} cannot be used: {why}; restore the folder (by git checkout, if it is the "
        "shipped model) or pack the run again"
    )


def section_of(plan: Mapping[str, Any], name: str, kind: type[Options]) -> Options:
    """A section of a stored configuration as its dataclass.

    Raises:
        UserError: an option is unknown or has a value that is not accepted.
    """
    known = options_of(name, kind)
    if not {*plan.get(name, {})} <= {*known}:
        raise UserError(f"section {name} has unknown options")
    return kind(**{field: fitted(value, known[field]) for field, value in plan.get(name, {}).items()})


def _read(folder: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays as stored, and their metadata."""
    missing = [name for name in (CONFIG, _WORDS, _WEIGHTS) if not (folder / name).is_file()]
    if missing:
        raise UserError(f"{', '.join(missing)} is missing")
    content = read_whole(folder / _WEIGHTS)
    try:
        arrays, told = tensors(content)
        about = parse_json(told.get(ABOUT, "{}"))
        form, rest = about.get("format"), {name: value for name, value in about.items() if name != "sha256"}
        whole = form == FORMAT_VERSION and about["sha256"] == _sha256(rest, arrays)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UserError(f"{_WEIGHTS} cannot be read ({' '.join(str(error).split())})") from error
    if form != FORMAT_VERSION:
        raise UserError(f"{_WEIGHTS} is of format {form}, this program reads format {FORMAT_VERSION}")
    if not whole:
        raise UserError(f"{_WEIGHTS} was changed after it was written")
    if not isinstance(about["files"], dict) or not isinstance(about["tables"], list):
        raise UserError(f"{_WEIGHTS} lacks its metadata")
    return arrays, about


def _sha256(about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    """The checksum that :func:`training.weights_file.weights_sha256` computes from tensors."""
    digest = hashlib.sha256(sorted_json(about))
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"\n{name} torch.{array.dtype.name} {list(array.shape)} ".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
