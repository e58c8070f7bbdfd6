"""Converts a split's words to lists of ids. Light to import: no torch, until a padded batch is taken."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import Stemmer

from data_prep.array_types import Int, Int32
from data_prep.config import WordsConfig
from data_prep.errors import UserError
from data_prep.languages.identifiers import split_identifier
from data_prep.records import CODE_FIELDS, STRUCTURE_FIELDS, WORD_FIELDS
from data_prep.store.prepared_data import Split
from data_prep.store.ragged_lists import Ragged
from data_prep.store.vocabulary import SIDES, Vocabularies, Vocabulary

if TYPE_CHECKING:
    from data_prep.store.batching import Batch


@dataclass(frozen=True)
class TokenizedPairs:
    """A split as word or subword ids, from which batches are taken."""

    fields: Mapping[str, Ragged]  # "query" and the code fields -> lists of ids, truncated to the configured lengths
    code_fields: tuple[str, ...] = CODE_FIELDS
    key_fields: tuple[str, ...] = ("name", "tokens", "api")
    """The code fields that determine whether two codes are equal."""

    def __len__(self) -> int:
        return len(self.fields["query"])

    def queries(self, rows: Sequence[int] | Int[np.ndarray, " rows"]) -> "Batch":
        """The query side of ``rows``."""
        from data_prep.store.batching import pad

        return {"query": pad(self.fields["query"].take(np.asarray(rows)))}

    def codes(self, rows: Sequence[int] | Int[np.ndarray, " rows"]) -> "Batch":
        """The code side of ``rows``."""
        from data_prep.store.batching import pad

        return {field: pad(self.fields[field].take(np.asarray(rows))) for field in self.code_fields}

    @cached_property
    def query_keys(self) -> Int[np.ndarray, " pairs"]:
        """A number for each pair, equal for equal queries."""
        return _group(self.fields["query"])

    @cached_property
    def code_keys(self) -> Int[np.ndarray, " pairs"]:
        """A number for each pair, equal for equal ``key_fields``."""
        return _group(*(self.fields[field] for field in self.key_fields))

    @cached_property
    def query_lengths(self) -> Int[np.ndarray, " pairs"]:
        """Number of query words of each pair."""
        return self.fields["query"].lengths

    @cached_property
    def code_lengths(self) -> Int[np.ndarray, " pairs"]:
        """Number of words of the ``key_fields`` of each pair."""
        return np.sum([self.fields[field].lengths for field in self.key_fields], axis=0)


def _group(*fields: Ragged) -> Int[np.ndarray, " pairs"]:
    keys: dict[tuple[bytes, ...], int] = {}
    rows = range(len(fields[0]))
    return np.array([keys.setdefault(tuple(f[row].tobytes() for f in fields), len(keys)) for row in rows], np.int64)


@dataclass(frozen=True)
class WordTokenizer:
    """Converts the words of any split to a model's ids; words are matched across data sets by their spelling."""

    vocabularies: Vocabularies
    config: WordsConfig

    @classmethod
    def build(cls, train: Split, config: WordsConfig) -> "WordTokenizer":
        """A tokenizer with vocabularies built only from ``train``."""
        lexicon, words = _as_read(train, config)

        def vocabulary(fields: Sequence[str], largest: int, buckets: int) -> Vocabulary:
            counts = np.zeros(len(lexicon), np.int64)
            for field in fields:
                counts += np.bincount(words[field].values, minlength=len(lexicon))
            return Vocabulary.build(
                counts, lexicon, largest=largest, min_count=config.min_count, unknown_buckets=buckets
            )

        code_words = ["query"] * config.joint + ["name", "tokens", "api"]
        code = vocabulary(code_words, config.code_size, config.unknown_buckets)
        query = code if config.joint else vocabulary(["query"], config.query_size, config.unknown_buckets)
        structure = {field: vocabulary([field], config.code_size, 1) for field in STRUCTURE_FIELDS}
        return cls(Vocabularies(query, code, **structure), config)

    @classmethod
    def load(cls, path: Path, config: WordsConfig) -> "WordTokenizer":
        """Load the tokenizer with the vocabularies that :meth:`save` wrote.

        Raises:
            UserError: the file is missing or invalid.
        """
        return cls(Vocabularies.load(path), config)

    def save(self, path: Path) -> None:
        """Write the vocabularies.

        Raises:
            OSError: the file cannot be written.
        """
        self.vocabularies.save(path)

    @property
    def vocabulary(self) -> Vocabularies:
        """The vocabularies that a model is built for."""
        return self.vocabularies

    def words(self, field: str, ids: Sequence[int]) -> list[str]:
        """The words of ``field`` that ``ids`` stand for."""
        vocabulary = self.vocabularies.of(field)
        return [vocabulary.word(number) for number in ids]

    def check(self) -> None:
        """Check that the vocabularies have words; without, a model would learn nothing.

        Raises:
            UserError: one has none; the message names the option.
        """
        known = self.vocabularies
        if not known.query.words or not known.code.words:
            raise UserError(
                f"--words.min_count={self.config.min_count} leaves no known word of the training pairs' "
                f"{'code' if known.query.words else 'queries'}: lower it"
            )

    def knows(self, word: str) -> bool:
        """Whether the vocabulary of queries has a word."""
        read = _stemmer().stemWord(word) if self.config.stem else word
        return read in self.vocabularies.query

    def query_ids(self, words: Sequence[str]) -> Int32[np.ndarray, " words"]:
        """The ids of one query's words, as :meth:`encode` has them."""
        return self.prose_ids(words[: self.config.query_length])

    def prose_ids(self, words: Sequence[str]) -> Int32[np.ndarray, " words"]:
        """The ids of words as queries are read, however many."""
        stemmed = _stemmer().stemWords(list(words)) if self.config.stem else words
        return self.vocabularies.query.ids(stemmed)

    def encode(self, split: Split) -> TokenizedPairs:
        """``split`` as ids, each field truncated to its configured length."""
        lexicon, words = _as_read(split, self.config)
        tables = {side: self.vocabularies.of(side).ids(lexicon) for side in SIDES}
        fields = {}
        for field in WORD_FIELDS:
            cut = words[field].cut(getattr(self.config, f"{field}_length"))
            fields[field] = Ragged(tables.get(field, tables["code"])[cut.values], cut.offsets)
        return TokenizedPairs(fields)


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


def _as_read(split: Split, config: WordsConfig) -> tuple[Sequence[str], Mapping[str, Ragged]]:
    """The lexicon with the word forms of the configuration added, and the fields in these forms."""
    lexicon, words = _Lexicon(split.lexicon), dict(split.words)
    if config.api == "lower":
        words["api"] = lexicon.reworded(words["api"], lambda word: (word.lower(),))
    elif config.api == "split":
        words["api"] = lexicon.reworded(words["api"], split_identifier)
    if config.stem:
        stemmer = _stemmer()
        for field in ("query", "name", "tokens", "api"):
            words[field] = lexicon.reworded(words[field], lambda word: (stemmer.stemWord(word),))
    return lexicon.words, words


class _Lexicon:
    """A lexicon to which words can be added."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)
        self._place = {word: number for number, word in enumerate(words)}

    def reworded(self, lists: Ragged, forms: Callable[[str], Sequence[str]]) -> Ragged:
        """``lists`` with each word replaced by its forms, which may be none or several."""
        seen, inverse = np.unique(lists.values, return_inverse=True)
        parts = Ragged.of([[self._number(form) for form in forms(self.words[number])] for number in seen])
        spread = parts.take(inverse)  # one list per word
        return Ragged(spread.values, spread.offsets[lists.offsets])

    def _number(self, word: str) -> int:
        if word not in self._place:
            self._place[word] = len(self.words)
            self.words.append(word)
        return self._place[word]
