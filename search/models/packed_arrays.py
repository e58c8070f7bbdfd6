"""The files of a packed model as numpy arrays, checked as :mod:`search.models.packed_model` does, without torch.

A table stays in 8 bits: rows are converted when they are read.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load

from data_prep.array_types import Bool, Float32, Int8, Int64
from data_prep.config import WordsConfig
from data_prep.errors import UserError
from data_prep.files.json_text import parse_json, sorted_json
from data_prep.files.reading import ABSENT, file_sha256, read_whole
from data_prep.store.tokenizing import WordTokenizer
from data_prep.store.vocabulary import Vocabularies, Vocabulary
from experiments.recipes.stored_options import PACKED, fitted, stored_configuration
from experiments.terminal.options import options_of
from search.models.folder import CONFIG

Options = TypeVar("Options")

FORMAT_VERSION: Final = 1
"""Incremented when the layout changes; a packed model of another version is refused."""
ABOUT: Final = "packed"
"""The only key of the metadata: safetensors writes several in no fixed order."""
LARGEST: Final = 127
"""Largest magnitude of an 8-bit number."""
_WORDS, _WEIGHTS = PACKED
_HEAD: Final = 8


@dataclass(frozen=True, eq=False)
class StoredTable:
    """A table of word vectors in 8 bits, without its rows of zeros."""

    kept: Bool[np.ndarray, " words"]
    values: Int8[np.ndarray, "rows dim"]
    scales: Float32[np.ndarray, " rows"]

    @classmethod
    def checked(cls, parts: Mapping[str, np.ndarray | None], shape: tuple[int, ...]) -> "StoredTable":
        """The parts of a table of that ``shape``, as read from a file.

        Raises:
            UserError: they do not fit together.
        """
        kept, values, scales = (parts[name] for name in ("kept", "values", "scales"))
        if kept is None or values is None or scales is None:
            raise UserError("a table lacks a part")
        types = [array.dtype.name for array in (kept, values, scales)]
        rows = int(kept.sum()) if types == ["bool", "int8", "float32"] and kept.shape == shape[:1] else -1
        if (values.shape, scales.shape) != ((rows, *shape[1:]), (rows,)) or not np.isfinite(scales * LARGEST).all():
            raise UserError(f"the parts of a table of {list(shape)} do not fit together")
        return cls(kept, values, scales)

    @cached_property
    def _places(self) -> Int64[np.ndarray, " words"]:
        return np.cumsum(self.kept, dtype=np.int64) - 1

    def rows(self, ids: Int64[np.ndarray, " words"]) -> Float32[np.ndarray, "words dim"]:
        """The vectors of some words, in float32."""
        found = np.zeros((len(ids), self.values.shape[1]), np.float32)
        there = self.kept[ids]
        places = self._places[ids[there]]
        found[there] = self.values[places] * self.scales[places][:, None]
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
        arrays, about = _read(folder / _WEIGHTS)
        plan = stored_configuration(folder / CONFIG)
        for name in (CONFIG, _WORDS):
            if file_sha256(folder / name) != about["files"].get(name):
                raise UserError(f"{name} is not the one that {_WEIGHTS} was written with")
        known = Vocabulary.checked(parse_json(read_whole(folder / _WORDS)))
        tables = {
            table: {part: arrays.pop(f"{table}.{part}", None) for part in ("kept", "values", "scales")}
            for table in about["tables"]
        }
        words = section_of(plan, "words", WordsConfig)
        if not words.joint:
            raise UserError("a packed model has one vocabulary, --words.joint=true")
        tokenizer = WordTokenizer(Vocabularies(known, known, ast=Vocabulary(())), words)
        return PackedArrays(plan["model_name"], plan["model"], tokenizer, arrays, tables)
    except (*ABSENT, UserError, KeyError) as error:
        raise UserError(f"the packed model in {folder} cannot be used: {error}") from error


def section_of(plan: Mapping[str, Any], name: str, kind: type[Options]) -> Options:
    """A section of a stored configuration as its dataclass.

    Raises:
        UserError: an option is unknown or has a value that is not accepted.
    """
    known = options_of(name, kind)
    if not {*plan.get(name, {})} <= {*known}:
        raise UserError(f"section {name} has unknown options")
    return kind(**{field: fitted(value, known[field]) for field, value in plan.get(name, {}).items()})


def _read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    content = read_whole(path)
    try:
        arrays: dict[str, np.ndarray] = load(content)
        header = parse_json(content[_HEAD:][: int.from_bytes(content[:_HEAD], "little")])
        about = parse_json(header["__metadata__"][ABOUT])
        rest = {name: value for name, value in about.items() if name != "sha256"}
        whole = about["format"] == FORMAT_VERSION and about["sha256"] == _sha256(rest, arrays)
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise UserError(f"{path.name} cannot be read ({' '.join(str(error).split())})") from error
    if not whole or not isinstance(about["files"], dict) or not isinstance(about["tables"], list):
        raise UserError(f"{path.name} was changed after it was written, or is of another version")
    return arrays, about


def _sha256(about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    """The checksum that :func:`training.checkpoint.weights_sha256` computes from tensors."""
    digest = hashlib.sha256(sorted_json(about))
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"\n{name} torch.{array.dtype.name} {list(array.shape)} ".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
