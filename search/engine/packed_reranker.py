"""The shipped model, or another packed one of its kind, over the rows of an index, without torch."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.array_types import Float32, Int64
from data_prep.errors import UserError
from data_prep.store.prepared_data import Split
from experiments.recipes.stored_options import is_packed, stored_configuration
from galm.config import GalmConfig
from galm.fast.query_scorer import QueryScorer, WordLists, covers, shapes
from search.engine.query_words import RowWords, read_words
from search.engine.signals import Alignment
from search.models.folder import CONFIG
from search.models.packed_arrays import PackedArrays, read_packed, section_of

_NAMES: Final = ("galm", "galm_plus")
AT_ONCE: Final = 512
"""Rows scored at a time, so that memory does not grow with their number."""


def scored_without_torch(folder: Path) -> bool:
    """Whether the model in ``folder`` can be scored here; a damaged one cannot."""
    if not is_packed(folder):
        return False
    try:
        plan = stored_configuration(folder / CONFIG)
        return plan["model_name"] in _NAMES and covers(section_of(plan, "model", GalmConfig))
    except UserError:
        return False


class PackedModel:
    """A packed galm_plus."""

    def __init__(self, packed: PackedArrays) -> None:
        """Check its weights.

        Raises:
            ValueError: they are not those of such a model.
        """
        config = section_of({"model": packed.model}, "model", GalmConfig)
        wanted = shapes(config, len(packed.tokenizer.vocabularies.code))
        packed.check_shapes(wanted)
        names = {name.split(".")[2]: name for name in wanted if name.startswith("words.tables.")}
        tables = {table: packed.table(name, wanted[name]) for table, name in names.items()}
        self.config, self.tokenizer = config, packed.tokenizer
        self.scorer = QueryScorer(config, packed.weights, tables)

    @classmethod
    def load(cls, folder: Path) -> "PackedModel":
        """The model in ``folder``.

        Raises:
            ValueError: a file is missing or damaged, or is not of such a model.
        """
        return cls(read_packed(folder))


class PackedReranker:
    """A :class:`search.engine.signals.Reranker` by numpy and the kernels."""

    def __init__(self, model: PackedModel, rows: Split, *, for_many: bool = False) -> None:
        """``rows``: of the index; ``for_many``: their words are looked up at once, since many queries will come."""
        self._model, self._rows = model, RowWords(model.tokenizer, rows, at_once=for_many)
        self._query = lru_cache(maxsize=16)(self._asked)

    def scores(self, query: Sequence[str], rows: Int64[np.ndarray, " found"]) -> Float32[np.ndarray, " found"]:
        """The score of each of ``rows`` for the words of a query; of none, all rows are equal, at 0."""
        if not query:
            return np.zeros(len(rows), np.float32)
        asked = self._query(tuple(query))
        found = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            found[part] = self._model.scorer.scores(asked, self._codes(rows[part]))
        return found

    def alignment(self, query: Sequence[str], row: int) -> Alignment | None:
        """What each word of a query attended to in a row."""
        config = self._model.tokenizer.config
        asked, code = self._query(tuple(query)), self._codes(np.array([row]))
        fields = self._model.config.code_fields
        labels = {field: read_words(self._rows.split.word_list(field, row), field, config) for field in fields}
        words, names = read_words(query, "query", config), [word for each in labels.values() for word in each]
        if (len(asked.places), len(code.places)) != (len(words), len(names)):
            return None
        weights = self._model.scorer.attention(asked, code)
        aligned, own = weights @ code.states, asked.states
        lengths = np.linalg.norm(aligned, axis=1) * np.linalg.norm(own, axis=1)
        agreement = (aligned * own).sum(1) / np.maximum(lengths, 1e-8)
        return Alignment(words, names, [field for field, each in labels.items() for _ in each], weights, agreement)

    def _codes(self, rows: Int64[np.ndarray, " some"]) -> WordLists:
        return self._model.scorer.codes(self._rows.taken(rows))

    def _asked(self, query: tuple[str, ...]) -> WordLists:
        return self._model.scorer.query(self._rows.query_ids(query))
