"""From a split's words to padded batches: every padded tensor travels with its mask."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from data_prep.config import WordsConfig
from data_prep.identifiers import split_identifier
from data_prep.records import CODE_FIELDS, WORD_FIELDS
from data_prep.store import Ragged, Split
from data_prep.vocabulary import PAD, Vocabularies, Vocabulary


@dataclass(frozen=True, slots=True)
class Words:
    """Word ids of one field of a batch, padded at the end."""

    ids: Int[Tensor, "batch words"]
    mask: Bool[Tensor, "batch words"]  # True where a word stands

    def to(self, device: torch.device | str) -> "Words":
        """The same words on ``device``."""
        return Words(self.ids.to(device), self.mask.to(device))


Batch = Mapping[str, Words]
"""Field -> its words: {"query": ...} on the query side, {"name": ..., "tokens": ..., "api": ..., "ast": ...} on the other."""


def pad(lists: Ragged) -> Words:
    """Pad lists of ids to the longest one, at least one place wide."""
    lengths = lists.lengths
    width = max(1, int(lengths.max(initial=0)))
    mask = np.arange(width)[None, :] < lengths[:, None]  # [batch, words]
    ids = np.full(mask.shape, PAD, dtype=np.int64)
    ids[mask] = lists.values
    return Words(torch.from_numpy(ids), torch.from_numpy(mask))


@dataclass(frozen=True)
class PairIds:
    """A split as word ids of a model's vocabularies: what batches are cut from."""

    fields: Mapping[str, Ragged]  # WORD_FIELDS -> lists of ids, cut to the configured lengths

    def __len__(self) -> int:
        return len(self.fields["query"])

    def queries(self, rows: Sequence[int] | Int[np.ndarray, " rows"]) -> Batch:
        """The query side of ``rows``."""
        return {"query": pad(self.fields["query"].take(np.asarray(rows)))}

    def codes(self, rows: Sequence[int] | Int[np.ndarray, " rows"]) -> Batch:
        """The code side of ``rows``."""
        return {field: pad(self.fields[field].take(np.asarray(rows))) for field in CODE_FIELDS}

    @cached_property
    def query_keys(self) -> Int[np.ndarray, " pairs"]:
        """A number for each pair, the same where the queries read the same."""
        return _group(self.fields["query"])

    @cached_property
    def code_keys(self) -> Int[np.ndarray, " pairs"]:
        """A number for each pair, the same where name, tokens and api read the same."""
        return _group(*(self.fields[field] for field in ("name", "tokens", "api")))

    @cached_property
    def query_lengths(self) -> Int[np.ndarray, " pairs"]:
        """Query words of each pair."""
        return self.fields["query"].lengths

    @cached_property
    def code_lengths(self) -> Int[np.ndarray, " pairs"]:
        """Name, tokens and api words of each pair."""
        return sum((self.fields[field].lengths for field in ("name", "tokens", "api")), start=np.int64(0))  # type: ignore[return-value]


def _group(*fields: Ragged) -> Int[np.ndarray, " pairs"]:
    keys: dict[tuple[bytes, ...], int] = {}
    rows = range(len(fields[0]))
    return np.array([keys.setdefault(tuple(f[row].tobytes() for f in fields), len(keys)) for row in rows], np.int64)


@dataclass(frozen=True)
class Encoder:
    """Turns the words of any split into a model's ids; words meet across data sets by their letters."""

    vocabularies: Vocabularies
    config: WordsConfig

    @classmethod
    def build(cls, train: Split, config: WordsConfig) -> "Encoder":
        """An encoder whose vocabularies come from ``train`` alone."""
        lexicon, api = _api_words(train, config)

        def vocabulary(fields: Sequence[Ragged], largest: int, buckets: int) -> Vocabulary:
            counts = sum(np.bincount(lists.values, minlength=len(lexicon)) for lists in fields)
            return Vocabulary.build(
                np.asarray(counts), lexicon, largest=largest, min_count=config.min_count, unknown_buckets=buckets
            )

        words, buckets = train.words, config.unknown_buckets
        return cls(
            Vocabularies(
                query=vocabulary([words["query"]], config.query_size, buckets),
                code=vocabulary([words["name"], words["tokens"], api], config.code_size, buckets),
                ast=vocabulary([words["ast"]], config.code_size, 1),
            ),
            config,
        )

    def encode(self, split: Split) -> PairIds:
        """``split`` as ids, each field cut to its configured length."""
        lexicon, api = _api_words(split, self.config)
        tables = {side: self.vocabularies.of(side).ids(lexicon) for side in ("query", "code", "ast")}
        fields = {}
        for field in WORD_FIELDS:
            lists = api if field == "api" else split.words[field]
            table = tables.get(field, tables["code"])
            cut = lists.cut(getattr(self.config, f"{field}_length"))
            fields[field] = Ragged(table[cut.values], cut.offsets)
        return PairIds(fields)


def _api_words(split: Split, config: WordsConfig) -> tuple[Sequence[str], Ragged]:
    """The API words as configured, and the lexicon, longer where they need new words."""
    api = split.words["api"]
    if config.api == "as_is":
        return split.lexicon, api
    lexicon = list(split.lexicon)
    place = {word: number for number, word in enumerate(lexicon)}
    forms: dict[int, list[int]] = {}
    for number in np.unique(api.values):
        word = split.lexicon[number]
        parts = [word.lower()] if config.api == "lower" else list(split_identifier(word))
        for part in parts:
            if part not in place:
                place[part] = len(lexicon)
                lexicon.append(part)
        forms[int(number)] = [place[part] for part in parts]
    lists = [[part for number in api[row] for part in forms[int(number)]] for row in range(len(api))]
    return lexicon, Ragged.of(lists)
