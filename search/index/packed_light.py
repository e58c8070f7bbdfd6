"""A packed light pair of Scotch, without torch: its vectors and those of questions under a context.

:mod:`baselines.scotch.light` has its equations; the sums are the same within rounding.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.array_types import Float16, Float32, Int32, Int64
from data_prep.errors import UserError
from data_prep.pipeline.contexts import CONTEXT_FIELD
from data_prep.store.prepared_data import Split
from data_prep.store.ragged_lists import Ragged
from data_prep.store.tokenizing import TokenizedPairs
from experiments.recipes.stored_options import is_packed, stored_configuration
from search.index.packed_encoder import normalised
from search.models.folder import CONFIG, DEFAULT_BI_ENCODER, model_hash
from search.models.packed_arrays import read_packed

_NAMES: Final = ("scotch_light", "scotch_light_no_context")
_CODE_FIELDS: Final = ("name", "tokens", "api")
_SHARED: Final = "shared"


def is_packed_light(folder: Path) -> bool:
    """Whether the model in ``folder`` is a packed light pair, possibly a damaged one."""
    if not is_packed(folder):
        return False
    try:
        return bool(stored_configuration(folder / CONFIG)["model_name"] in _NAMES)
    except UserError:
        return False


class PackedLight:
    """A :class:`search.index.vector_encoding.RowEncoder` by numpy."""

    fields: tuple[str, ...] = _CODE_FIELDS

    def __init__(self, run: Path | None = None) -> None:
        """Load a packed light pair; None: the shipped one.

        Raises:
            ValueError: a file is missing or damaged, or is not of such a model.
        """
        folder = run or DEFAULT_BI_ENCODER
        packed = read_packed(folder)
        known, dim = packed.tokenizer.vocabularies.code, packed.model.get("dim")
        self._context_words = packed.model.get("context_words")
        if type(dim) is not int or dim < 1 or type(self._context_words) is not int:
            raise _unusable(
                folder, f"its vectors have {dim!r:.40} numbers, its contexts {self._context_words!r:.40} words"
            )
        fields = ["query", *_CODE_FIELDS, *[CONTEXT_FIELD] * (self._context_words > 0)]
        tables = {_SHARED: (len(known), dim), **dict.fromkeys(fields, (len(known), 1))}
        gains: dict[str, tuple[int, ...]] = {"gains": (len(_CODE_FIELDS),)}
        gains |= {"context_gain": ()} if self._context_words else {}
        try:
            packed.check_shapes({**gains, **{_name(name): shape for name, shape in tables.items()}})
            stored = {name: packed.table(_name(name), shape) for name, shape in tables.items()}
        except ValueError as error:
            raise _unusable(folder, str(error)) from error
        self._states = stored.pop(_SHARED)
        self._weights = {name: table.rows(np.arange(len(known)))[:, 0] for name, table in stored.items()}
        self._gains, self._context_gain = packed.weights["gains"], packed.weights.get("context_gain", np.float32(0))
        self._tokenizer = packed.tokenizer
        self.run, self.model, self.dim = str(run or ""), model_hash(folder), dim

    def query(self, words: Sequence[str], context: Sequence[str] = ()) -> Float32[np.ndarray, "1 dim"]:
        """The vector of a query under the words above a cursor, nearest last, with norm 1."""
        found = self._sums("query", _one_list(self._tokenizer.query_ids(words)))
        if context and self._context_words:
            near = self._tokenizer.prose_ids(context[-self._context_words :])
            found = found + self._context_gain * self._sums(CONTEXT_FIELD, _one_list(near))
        return normalised(found)

    def ids(self, rows: Split) -> TokenizedPairs:
        """The rows as ids of the model."""
        return self._tokenizer.encode(rows)

    def vectors(self, ids: TokenizedPairs, rows: Int64[np.ndarray, " batch"]) -> Float16[np.ndarray, "batch dim"]:
        """The vectors of ``rows``, with norm 1; 0 for rows without words.

        The order of each sum does not depend on the other rows.
        """
        found = np.zeros((len(rows), self.dim), np.float32)
        for gain, field in zip(self._gains, _CODE_FIELDS, strict=True):
            found += gain * self._sums(field, ids.fields[field].take(rows))
        return normalised(found).astype(np.float16)

    def _sums(self, field: str, lists: Ragged) -> Float32[np.ndarray, "rows dim"]:
        """The weighted sum of the word vectors of each list, of length 1; 0 for an empty one."""
        found = np.zeros((len(lists), self.dim), np.float32)
        if len(lists.values):
            full = np.flatnonzero(lists.lengths)
            states = self._states.rows(lists.values.astype(np.int64)) * self._weights[field][lists.values][:, None]
            found[full] = np.add.reduceat(states, lists.offsets[:-1][full], axis=0)
        return normalised(found)


def _one_list(ids: Int32[np.ndarray, " words"]) -> Ragged:
    return Ragged(ids, np.array([0, len(ids)]))


def _name(table: str) -> str:
    return f"words.tables.{table}.weight"


def _unusable(folder: Path, why: str) -> ValueError:
    return ValueError(f"the packed model in {folder} cannot be used: {why}")
