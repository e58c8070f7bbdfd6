"""Word ids of pairs whose queries have contexts: a tokenizer and its pairs, with the query side field ``context``.

A split without contexts, such as a typed query, is read as one whose contexts are empty.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import Stemmer
from jaxtyping import Int

from data_prep.pipeline.contexts import CONTEXT_FIELD
from data_prep.store.batching import Batch, pad
from data_prep.store.prepared_data import Split
from data_prep.store.ragged_lists import Ragged
from data_prep.store.tokenizing import TokenizedPairs, WordTokenizer


@dataclass(frozen=True)
class ContextPairs(TokenizedPairs):
    """A split as word ids, where ``fields`` also has ``context``."""

    def queries(self, rows: Sequence[int] | Int[np.ndarray, " rows"]) -> Batch:
        """The queries of ``rows`` with their contexts."""
        contexts = pad(self.fields[CONTEXT_FIELD].take(np.asarray(rows)))
        return {**super().queries(rows), CONTEXT_FIELD: contexts}


@dataclass(frozen=True)
class ContextTokenizer(WordTokenizer):
    """A :class:`WordTokenizer` that also reads contexts, with the vocabulary of code."""

    def encode(self, split: Split) -> ContextPairs:
        """``split`` as ids, with its contexts as long as they are there."""
        pairs = super().encode(split)
        return ContextPairs({**pairs.fields, CONTEXT_FIELD: self._contexts(split)})

    def _contexts(self, split: Split) -> Ragged:
        lists = split.words.get(CONTEXT_FIELD)
        if lists is None:
            return Ragged(np.empty(0, np.int32), np.zeros(len(split.words["query"]) + 1, np.int64))
        seen, inverse = np.unique(lists.values, return_inverse=True)
        words = [split.lexicon[number] for number in seen]
        if self.config.stem:
            words = Stemmer.Stemmer("english").stemWords(words)
        return Ragged(self.vocabularies.code.ids(words)[inverse], lists.offsets)
