"""Vocabularies built from the training split only, with special ids for padding and unknown words."""

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.array_types import Int, Int32
from data_prep.config import MOST_BUCKETS
from data_prep.errors import UserError
from data_prep.files.access import read_whole
from data_prep.files.atomic import write_atomically
from data_prep.files.json_text import checked_words, parse_json
from data_prep.records import STRUCTURE_FIELDS

SIDES: Final = ("query", "code", *STRUCTURE_FIELDS)
"""The vocabularies of a model."""
PAD: Final = 0
FIRST_UNKNOWN: Final = 1


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
        cls,
        counts: Int[np.ndarray, " lexicon"],
        lexicon: Sequence[str],
        *,
        largest: int,
        min_count: int,
        unknown_buckets: int = 1,
    ) -> "Vocabulary":
        """The ``largest`` most frequent words of at least ``min_count``; ties in the lexicon's order."""
        order = np.argsort(-counts, kind="stable")[:largest]
        return cls(tuple(lexicon[place] for place in order if counts[place] >= min_count), unknown_buckets)


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
                f"expected the vocabularies of a run in {path}, but they cannot be read: {error}"
            ) from error
