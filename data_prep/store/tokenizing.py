"""Vocabularies, of the training split only, and words as their ids; light to import: no torch.

The special ids are for padding and unknown words.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Final, Literal

import numpy as np
import Stemmer

from data_prep.errors import LENGTH, UserError, check_bounds, whole
from data_prep.files.access import read_whole, reason
from data_prep.files.json_text import checked_words, parse_json
from data_prep.files.writing import write_atomically
from data_prep.languages.identifiers import split_identifier
from data_prep.records import STRUCTURE_FIELDS, WORD_FIELDS
from data_prep.store.arrays import Int, Int32, Ragged, distinct
from data_prep.store.split import Split, TokenizedPairs

SIDES: Final = ("query", "code", *STRUCTURE_FIELDS)
"""The vocabularies of a model."""
PAD: Final = 0
FIRST_UNKNOWN: Final = 1
MOST_BUCKETS: Final = 65_536
"""Maximum number of ids for unknown words."""


@dataclass(frozen=True)
class Vocabulary:
    """Ids of words: 0 is PAD, 1 to ``unknown_buckets`` are for unknown words, then the known ones follow.

    With several buckets, an unknown word is assigned to a bucket by a hash of its letters, so that it has the same
    bucket in every vocabulary with as many buckets.
    """

    words: tuple[str, ...]
    unknown_buckets: int = 1

    @cached_property
    def _index(self) -> dict[str, int]:
        first = FIRST_UNKNOWN + self.unknown_buckets
        return {word: first + place for place, word in enumerate(self.words)}

    def __len__(self) -> int:
        """Number of ids, including PAD and unknown ones."""
        return FIRST_UNKNOWN + self.unknown_buckets + len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._index

    def id(self, word: str) -> int:
        """The id of ``word``; one of the unknown ids if it is not in the vocabulary."""
        known = self._index.get(word)
        return FIRST_UNKNOWN + zlib.crc32(word.encode()) % self.unknown_buckets if known is None else known

    def ids(self, words: Iterable[str]) -> Int32[np.ndarray, " words"]:
        """The ids of ``words``, in order."""
        return np.fromiter((self.id(word) for word in words), dtype=np.int32)

    def word(self, word_id: int) -> str:
        """The word of an id, or ``<pad>`` or ``<unk>``."""
        place = word_id - FIRST_UNKNOWN - self.unknown_buckets
        return self.words[place] if place >= 0 else "<pad>" if word_id == PAD else "<unk>"

    @classmethod
    def checked(cls, content: object) -> "Vocabulary":
        """Convert JSON ``content`` to a vocabulary: {"unknown_buckets": 1, "words": ["a"]}.

        Raises:
            UserError: it is invalid.
        """
        if not isinstance(content, dict) or {*content} != {"unknown_buckets", "words"}:
            raise UserError("expected words and unknown_buckets")
        buckets = content["unknown_buckets"]
        if type(buckets) is not int or not 1 <= buckets <= MOST_BUCKETS:
            raise UserError(f"expected from 1 to {MOST_BUCKETS:,} unknown_buckets, got {buckets!r:.40}")
        return cls(tuple(checked_words(content["words"])), buckets)

    @classmethod
    def build(
        cls, counts: Int[np.ndarray, " lexicon"], lexicon: Sequence[str], most: int, least: int, buckets: int
    ) -> "Vocabulary":
        """The ``most`` most frequent words that occur ``least`` times; ties in the lexicon's order."""
        order = np.argsort(-counts, kind="stable")[:most]
        return cls(tuple(lexicon[place] for place in order if counts[place] >= least), buckets)


@dataclass(frozen=True)
class Vocabularies:
    """The vocabularies of a model: name, tokens and api share ``code``."""

    query: Vocabulary
    code: Vocabulary
    ast: Vocabulary
    statements: Vocabulary = Vocabulary(())

    def of(self, field: str) -> Vocabulary:
        """The vocabulary of ``field``."""
        found: Vocabulary = getattr(self, field) if field in SIDES else self.code
        return found

    def save(self, path: Path) -> None:
        """Write all vocabularies as JSON."""
        sides = {side: getattr(self, side) for side in SIDES}
        content = {side: {"unknown_buckets": v.unknown_buckets, "words": v.words} for side, v in sides.items()}
        write_atomically(path, json.dumps(content, ensure_ascii=False))

    @classmethod
    def load(cls, path: Path) -> "Vocabularies":
        """Load what :meth:`save` wrote; older files have no vocabulary of statement trees.

        Raises:
            UserError: the file is missing or invalid.
        """
        try:
            content = parse_json(read_whole(path))
            if not isinstance(content, dict) or {*content, "statements"} != {*SIDES}:
                raise UserError("expected query, code, ast and statements")
            return cls(**{side: Vocabulary.checked(each) for side, each in content.items()})
        except (OSError, UserError) as error:
            raise UserError(
                f"expected the vocabularies of a run in {path}, but they cannot be read: {reason(error)}"
            ) from error


@dataclass(frozen=True, slots=True)
class WordsConfig:
    """Vocabularies and maximum lengths: which of the prepared words a model reads."""

    min_count: int = 2
    """Minimum count in the training split for a word to be in the vocabulary."""
    query_size: int = 30_000
    """Maximum size of the query vocabulary, in words."""
    code_size: int = 60_000
    """Maximum size of the code vocabulary, in words; name, tokens and api share one, as in GALM's eq. 5."""
    joint: bool = False
    """One vocabulary for queries and code, of the ``code_size`` most frequent words in both."""
    unknown_buckets: int = 1
    """Number of ids for unknown words; 1: a single UNK. More: chosen by a hash of the word, the same on both sides."""
    api: Literal["as_is", "lower", "split"] = "as_is"
    """API words as written, lower-cased, or split like identifiers."""
    stem: bool = False
    """Stem query, name, token and API words (Snowball, English), as for the BM25 baseline."""
    query_length: int = 30
    name_length: int = 6
    tokens_length: int = 40
    api_length: int = 30
    ast_length: int = 20
    statements_length: int = 20
    """Maximum number of words of each field that a model reads (the TabCS release's for CodeSearchNet; 95 % of the
    published Java-GitHub methods have at most 19 statement trees)."""

    def __post_init__(self) -> None:
        check_bounds(self, _WORDS_BOUNDS, "words")


_WORDS_BOUNDS: Final = {
    "min_count": whole(1, 1_000_000),
    "query_size": whole(1, 10_000_000),
    "code_size": whole(1, 10_000_000),
    "unknown_buckets": whole(1, MOST_BUCKETS),
    **dict.fromkeys((f"{field}_length" for field in WORD_FIELDS), LENGTH),
}


@dataclass(frozen=True)
class WordTokenizer:
    """Converts the words of any split to a model's ids; words are matched across data sets by their spelling."""

    vocabularies: Vocabularies
    config: WordsConfig

    @classmethod
    def build(cls, train: Split, config: WordsConfig) -> "WordTokenizer":
        """A tokenizer with vocabularies built only from ``train``."""
        lexicon, words = _as_read(train, config)

        def vocabulary(fields: Sequence[str], most: int, buckets: int) -> Vocabulary:
            counts = np.zeros(len(lexicon), np.int64)
            for field in fields:
                counts += np.bincount(words[field].values, minlength=len(lexicon))
            return Vocabulary.build(counts, lexicon, most, config.min_count, buckets)

        code_words = ["query"] * config.joint + ["name", "tokens", "api"]
        code = vocabulary(code_words, config.code_size, config.unknown_buckets)
        query = code if config.joint else vocabulary(["query"], config.query_size, config.unknown_buckets)
        structure = {field: vocabulary([field], config.code_size, 1) for field in STRUCTURE_FIELDS}
        return cls(Vocabularies(query, code, **structure), config)

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
        return [*map(self.vocabularies.of(field).word, ids)]

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
        read = (side for side in SIDES if side not in words or len(words[side].values))
        tables = {side: self.vocabularies.of(side).ids(lexicon) for side in read}
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
    place = {word: number for number, word in enumerate(split.lexicon)}
    found = dict(split.words)

    def reword(field: str, forms: Callable[[str], Sequence[str]]) -> None:
        """Replace each word of a field by its forms, which may be none or several."""
        seen, own = distinct(found[field].values)
        known = map([*place].__getitem__, seen.tolist())
        parts = Ragged.of([[place.setdefault(form, len(place)) for form in forms(word)] for word in known])
        spread = parts.take(own)  # one list per word
        found[field] = Ragged(spread.values, spread.offsets[found[field].offsets])

    if config.api == "lower":
        reword("api", lambda word: (word.lower(),))
    elif config.api == "split":
        reword("api", split_identifier)
    if config.stem:
        stemmer = _stemmer()
        for field in ("query", "name", "tokens", "api"):
            reword(field, lambda word: (stemmer.stemWord(word),))
    return [*place], found
