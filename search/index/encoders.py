"""Bi-encoders of rows and queries: any trained one, and without torch a packed light pair, as the shipped one is.

:mod:`baselines.scotch_light` has its equations; the sums are the same within rounding.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

import numpy as np

from data_prep.errors import UserError
from data_prep.records import CONTEXT_FIELD
from data_prep.store.arrays import Float16, Float32, Int32, Int64, Ragged
from data_prep.store.split import Split
from data_prep.store.tokenizing import TokenizedPairs
from experiments.terminal.options import is_packed, stored_configuration
from search.models.folder import (
    CONFIG,
    DEFAULT_BI_ENCODER,
    checked_parts,
    is_sentence_model,
    model_hash,
    read_packed,
    unusable,
)

_NAMES: Final = ("scotch_light", "scotch_light_no_context")
_CODE_FIELDS: Final = ("name", "tokens", "api")
_SHARED: Final = "shared"


@runtime_checkable
class RowEncoder(Protocol):
    """A bi-encoder for rows and queries."""

    run: str
    """Its folder; "": the shipped one."""
    model: str
    """A hash of the model."""
    dim: int
    fields: tuple[str, ...]
    """The fields of a row that it reads."""

    def knows(self, word: str) -> bool:
        """Whether its vocabulary has a word of a query."""

    def query(self, words: Sequence[str], context: Sequence[str] = ()) -> Float32[np.ndarray, "1 dim"]:
        """The vector of a query, with norm 1; ``context``: the words above the cursor, if the model reads them."""

    def ids(self, rows: Split) -> TokenizedPairs:
        """The rows as ids of the model."""

    def vectors(self, ids: TokenizedPairs, rows: Int64[np.ndarray, " batch"]) -> Float16[np.ndarray, "batch dim"]:
        """The vectors of at most BATCH ``rows``, with norm 1; 0 for rows without words.

        Raises:
            UserError: the model gives NaN.
        """


def row_encoder(run: Path | None = None) -> RowEncoder:
    """The model of a finished run, or a packed one; None: the shipped one. A packed scotch_light needs no torch.

    Raises:
        UserError: there is no model, or it is not a bi-encoder.
    """
    folder = run or DEFAULT_BI_ENCODER
    check_bi_encoder(folder)
    if is_packed_light(folder):
        return PackedLight(run)
    if reads_text(folder):
        from search.models.torch_models import TextEncoder

        return TextEncoder(folder)
    from search.models.torch_models import TorchEncoder

    return TorchEncoder(run)


def loaded_encoder(run: str) -> RowEncoder:
    """The same for the folder ``run``, "" for the shipped one: loaded once, or again if another model is in the folder.

    Raises:
        UserError: as :func:`row_encoder`.
        OSError: a file cannot be read.
    """
    return _loaded(run, model_hash(Path(run) if run else DEFAULT_BI_ENCODER))


@lru_cache(maxsize=4)
def _loaded(run: str, model: str) -> RowEncoder:  # noqa: ARG001 - another model in the same folder is loaded anew
    return row_encoder(Path(run) if run else None)


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


def is_packed_light(folder: Path) -> bool:
    """Whether the model in ``folder`` is a packed light pair, possibly a damaged one."""
    if not is_packed(folder):
        return False
    try:
        return bool(stored_configuration(folder / CONFIG)["model_name"] in _NAMES)
    except UserError:
        return False


class PackedLight:
    """The pair as a :class:`RowEncoder` by numpy."""

    fields: tuple[str, ...] = _CODE_FIELDS

    def __init__(self, run: Path | None = None) -> None:
        """Load a packed light pair; None: the shipped one.

        Raises:
            ValueError: a file is missing or damaged, or is not of such a model.
        """
        folder = run or DEFAULT_BI_ENCODER
        packed = read_packed(folder)
        known, dim = packed.tokenizer.vocabularies.code, packed.model.get("dim", 0)
        self._context_words = packed.model.get("context_words", 0)
        fields = ["query", *_CODE_FIELDS, *[CONTEXT_FIELD] * (self._context_words > 0)]
        tables = {_SHARED: (len(known), dim), **dict.fromkeys(fields, (len(known), 1))}
        gains: dict[str, tuple[int, ...]] = {"gains": (len(_CODE_FIELDS),)}
        gains |= {"context_gain": ()} if self._context_words else {}
        try:
            packed.check_shapes({**gains, **{_name(name): shape for name, shape in tables.items()}})
            stored = {name: packed.table(_name(name), shape) for name, shape in tables.items()}
        except UserError as error:
            raise unusable(folder, str(error)) from error
        self._states = stored.pop(_SHARED)
        self._weights = {name: table.rows(np.arange(len(known)))[:, 0] for name, table in stored.items()}
        self._gains, self._context_gain = packed.weights["gains"], packed.weights.get("context_gain", np.float32(0))
        self._tokenizer = packed.tokenizer
        self.run, self.model, self.dim = str(run or ""), model_hash(folder), dim

    def knows(self, word: str) -> bool:
        """Whether its vocabulary has a word of a query."""
        return self._tokenizer.knows(word)

    def query(self, words: Sequence[str], context: Sequence[str] = ()) -> Float32[np.ndarray, "1 dim"]:
        """The vector of a query under the words above a cursor, nearest last, with norm 1."""
        found = self._sums("query", _one_list(self._tokenizer.query_ids(words)))
        if context and self._context_words:
            near = self._tokenizer.prose_ids(context[-self._context_words :])
            found = found + self._context_gain * self._sums(CONTEXT_FIELD, _one_list(near))
        return _normalised(found)

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
        return _normalised(found).astype(np.float16)

    def _sums(self, field: str, lists: Ragged) -> Float32[np.ndarray, "rows dim"]:
        """The weighted sum of the word vectors of each list, of length 1; 0 for an empty one."""
        found = np.zeros((len(lists), self.dim), np.float32)
        if len(lists.values):
            full = np.flatnonzero(lists.lengths)
            states = self._states.rows(lists.values.astype(np.int64)) * self._weights[field][lists.values][:, None]
            found[full] = np.add.reduceat(states, lists.offsets[:-1][full], axis=0)
        return _normalised(found)


def _one_list(ids: Int32[np.ndarray, " words"]) -> Ragged:
    return Ragged(ids, np.array([0, len(ids)]))


def _name(table: str) -> str:
    return f"words.tables.{table}.weight"


def _normalised(vectors: Float32[np.ndarray, "rows dim"]) -> Float32[np.ndarray, "rows dim"]:
    """The vectors scaled to length 1; 0 stays 0, as in torch's normalize."""
    lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
    return np.asarray(vectors / np.maximum(lengths, 1e-12), np.float32)
