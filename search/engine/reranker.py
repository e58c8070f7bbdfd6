"""A trained model over the rows of an index: scores of rows for a query, and the alignment of their words."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
import torch
from torch.nn.functional import cosine_similarity

from data_prep.array_types import Float32, Int64
from data_prep.store.batching import Batch
from data_prep.store.prepared_data import Split
from data_prep.store.tokenizing import WordTokenizer
from modeling.base import NeuralRanker
from modeling.pool_ranker import RowScores
from search.engine.query_words import query_split, read_words
from search.engine.signals import Alignment


class ModelReranker:
    """Any model as the second stage of a search."""

    def __init__(self, model: NeuralRanker, tokenizer: WordTokenizer, rows: Split) -> None:
        """``rows``: of the index; they are turned into word ids once."""
        self.model, self.tokenizer, self._split = model.eval(), tokenizer, rows
        self._rows = RowScores(model, tokenizer.encode(rows))

    def scores(self, query: Sequence[str], rows: Int64[np.ndarray, " found"]) -> Float32[np.ndarray, " found"]:
        """The score of each of ``rows`` for the words of a query."""
        return self._rows.scores(self._query(query), rows)

    @torch.inference_mode()
    def alignment(self, query: Sequence[str], row: int) -> Alignment | None:
        """What each word of a query attended to in a row; None if the model does not align words."""
        asked, code = self.model.encode_query(self._query(query)), self._rows.encoded(np.array([row]))
        weights = self.model.alignment(asked, code)
        labels = {field: self._labels(row, field) for field in self.model.code_fields}
        words, names = self._read(query, "query"), [*chain.from_iterable(labels.values())]
        rows, columns = asked.shown[0], code.shown[0]
        if weights is None or (int(rows.sum()), int(columns.sum())) != (len(words), len(names)):
            return None  # the model reads more than words
        agreement = cosine_similarity(weights[0] @ code.states[0], asked.states[0], dim=-1)
        fields = [field for field, each in labels.items() for _ in each]
        return Alignment(words, names, fields, weights[0][rows][:, columns].numpy(), agreement[rows].numpy())

    def _labels(self, row: int, field: str) -> list[str]:
        """The words of a field of a row as the model reads them, but unstemmed."""
        return self._read(self._split.word_list(field, row), field)

    def _read(self, words: Sequence[str], field: str) -> list[str]:
        return read_words(words, field, self.tokenizer.config)

    def _query(self, words: Sequence[str]) -> Batch:
        return self.tokenizer.encode(query_split(words)).queries([0])
