"""A packed unif, without torch (:mod:`baselines.unif` has its equations)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.array_types import Float16, Float32, Int64
from data_prep.errors import UserError
from data_prep.store.prepared_data import Split
from data_prep.store.ragged_lists import Ragged
from data_prep.store.tokenizing import TokenizedPairs
from experiments.recipes.stored_options import is_packed, stored_configuration
from search.models.folder import CONFIG, model_hash
from search.models.packed_arrays import read_packed

_FIELDS: Final = {"tokens": ("tokens",), "all": ("name", "tokens", "api")}
_SHORTEST: Final = 1e-12
"""Length below which a vector counts as 0, as in torch's normalize."""


def is_packed_unif(folder: Path) -> bool:
    """Whether the model in ``folder`` is a packed unif that can be computed here; a damaged one is not."""
    if not is_packed(folder):
        return False
    try:
        plan = stored_configuration(folder / CONFIG)
    except UserError:
        return False
    model = plan.get("model", {})
    plain = (model.get("attention"), model.get("release_compatible")) == ("word", False)
    return plan["model_name"] == "unif" and plain and model.get("fields") in _FIELDS


class PackedEncoder:
    """A :class:`search.index.vector_encoding.RowEncoder` by numpy."""

    def __init__(self, folder: Path) -> None:
        """Load a packed unif.

        Raises:
            UserError: a file is missing or damaged, or is not of such a model.
        """
        packed = read_packed(folder)
        dim, words = packed.model.get("dim"), len(packed.tokenizer.vocabularies.code)
        self.fields = _FIELDS.get(str(packed.model.get("fields")), ())
        if type(dim) is not int or dim < 1 or not self.fields:
            raise UserError(
                f"the packed model in {folder} cannot be used: its vectors have {dim!r:.40} numbers, of the fields "
                f"{packed.model.get('fields')!r:.40}"
            )
        tables = dict.fromkeys((*self.fields, "query"), (words, dim))
        try:
            packed.check_shapes(
                {"attention.vector": (dim,), **{_name(field): shape for field, shape in tables.items()}}
            )
            stored = {field: packed.table(_name(field), shape) for field, shape in tables.items()}
        except UserError as error:
            raise UserError(f"the packed model in {folder} cannot be used: {error}") from error
        self._tables = {field: table.rows(np.arange(words)) for field, table in stored.items()}
        self._logits = {field: table @ packed.weights["attention.vector"] for field, table in self._tables.items()}
        self._tokenizer = packed.tokenizer
        self.run, self.model, self.dim = str(folder), model_hash(folder), dim

    def query(self, words: Sequence[str], context: Sequence[str] = ()) -> Float32[np.ndarray, "1 dim"]:  # noqa: ARG002
        """The vector of a query: the mean of its words' vectors, with norm 1; this model reads no context."""
        ids = self._tokenizer.query_ids(words)
        return normalised(self._tables["query"][ids].sum(0, keepdims=True) / max(1, len(ids)))

    def ids(self, rows: Split) -> TokenizedPairs:
        """The rows as ids of the model."""
        return self._tokenizer.encode(rows)

    def vectors(self, ids: TokenizedPairs, rows: Int64[np.ndarray, " batch"]) -> Float16[np.ndarray, "batch dim"]:
        """The vectors of ``rows``, with norm 1; 0 for rows without words.

        A word's logit and the order of each sum do not depend on the other rows.
        """
        fields = {field: ids.fields[field].take(rows) for field in self.fields}
        owners = np.concatenate([np.repeat(np.arange(len(rows)), each.lengths) for each in fields.values()])
        order = np.argsort(owners, kind="stable")
        owners, starts = owners[order], np.flatnonzero(np.diff(owners[order], prepend=-1))
        found = np.zeros((len(rows), self.dim), np.float32)
        if len(owners):
            logits = self._joined(self._logits, fields)[order]
            largest = np.maximum.reduceat(logits, starts)
            lengths = np.diff(starts, append=len(logits))
            shares = np.exp(logits - np.repeat(largest, lengths))
            shares /= np.repeat(np.add.reduceat(shares, starts), lengths)
            states = self._joined(self._tables, fields)[order] * shares[:, None]
            found[owners[starts]] = np.add.reduceat(states, starts, axis=0)
        return normalised(found).astype(np.float16)

    def _joined(self, tables: dict[str, np.ndarray], fields: dict[str, Ragged]) -> np.ndarray:
        return np.concatenate([tables[field][lists.values] for field, lists in fields.items()])


def _name(field: str) -> str:
    return f"words.tables.{field}.weight"


def normalised(vectors: Float32[np.ndarray, "rows dim"]) -> Float32[np.ndarray, "rows dim"]:
    """The vectors scaled to length 1; 0 stays 0."""
    lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
    return np.asarray(vectors / np.maximum(lengths, _SHORTEST), np.float32)
