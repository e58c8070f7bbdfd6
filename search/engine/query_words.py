"""The words of queries and of an index's rows as a word model reads them. Light to import: no torch."""

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from data_prep.array_types import Int64
from data_prep.config import WordsConfig
from data_prep.languages.identifiers import split_identifier
from data_prep.pipeline.contexts import CONTEXT_FIELD
from data_prep.records import WORD_FIELDS
from data_prep.store.prepared_data import Split, Texts
from data_prep.store.ragged_lists import Ragged
from data_prep.store.tokenizing import WordTokenizer


def query_split(words: Sequence[str], context: Sequence[str] = ()) -> Split:
    """The words of one query, and those of its context if it has one, as a split of one row without a method."""
    lexicon = sorted({*words, *context})
    places = {word: number for number, word in enumerate(lexicon)}
    lists = {field: Ragged.of([()]) for field in WORD_FIELDS}
    lists["query"] = Ragged.of([[places[word] for word in words]])
    if context:
        lists[CONTEXT_FIELD] = Ragged.of([[places[word] for word in context]])
    return Split("query", lexicon, lists, Texts.of(()))


def read_words(words: Sequence[str], field: str, config: WordsConfig) -> list[str]:
    """The words of a query or of a field of a row as a model reads them, but unstemmed."""
    parted = field == "api" and config.api == "split"
    read = chain.from_iterable(map(split_identifier, words)) if parted else words
    return [*read][: getattr(config, f"{field}_length")]


class RowWords:
    """The rows of an index as ids of a model's vocabulary."""

    def __init__(self, tokenizer: WordTokenizer, split: Split, *, at_once: bool = False) -> None:
        """``split``: the rows; with ``at_once`` all are looked up now, else when they are asked for."""
        self._tokenizer, self.split = tokenizer, split
        self._all = tokenizer.encode(split).fields if at_once else None

    def taken(self, rows: Int64[np.ndarray, " some"]) -> Mapping[str, Ragged]:
        """The fields of ``rows``."""
        if self._all is not None:
            return {field: each.take(rows) for field, each in self._all.items()}
        lists = {field: each.take(rows) for field, each in self.split.words.items()}
        used = np.unique(np.concatenate([each.values for each in lists.values()]))
        words = {
            field: Ragged(np.searchsorted(used, each.values).astype(np.int32), each.offsets)
            for field, each in lists.items()
        }
        lexicon = [self.split.lexicon[number] for number in used.tolist()]
        return self._tokenizer.encode(Split("rows", lexicon, words, Texts.of(()))).fields

    def query_ids(self, words: Sequence[str]) -> list[int]:
        """The ids of a query's words."""
        found: list[int] = self._tokenizer.query_ids(words).tolist()
        return found
