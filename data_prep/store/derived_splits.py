"""Splits made of others: concatenated, with at most so many pairs, or with one source tree as the test split."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from types import MappingProxyType
from typing import Final

import numpy as np

from data_prep.array_types import Int, Int32, Int64, UInt8
from data_prep.errors import UserError
from data_prep.records import SPLITS, WORD_FIELDS, Pair, SplitName
from data_prep.store.prepared_data import PairText, PreparedData, Split, Texts, read_text, text_line, text_of
from data_prep.store.ragged_lists import Ragged, edges

_SHOWN: Final = 12
"""Names of source trees that a message lists."""


def joined(first: Split, *others: Split) -> Split:
    """The pairs of ``first``, then those of the others, under the name of ``first`` and one sorted lexicon."""
    splits = (first, *others)
    lexicon = sorted(set(chain.from_iterable(split.lexicon for split in splits)))
    place = {word: number for number, word in enumerate(lexicon)}
    places = [_places(split.lexicon, place) for split in splits]
    words = {
        field: Ragged(
            np.concatenate([own[split.words[field].values] for split, own in zip(splits, places, strict=True)]),
            edges(np.concatenate([split.words[field].lengths for split in splits])),
        )
        for field in WORD_FIELDS
    }
    return Split(first.name, lexicon, words, joined_texts(*(split.texts for split in splits)))


class Gathered:
    """Pairs that come one by one or in parts, under one lexicon, which grows."""

    def __init__(self) -> None:
        self._places: defaultdict[str, int] = defaultdict(count().__next__)
        self._words = {field: (array("i"), array("q")) for field in WORD_FIELDS}  # numbers, lengths of lists
        self._texts, self._offsets = bytearray(), array("q", [0])

    def add(self, pair: Pair) -> None:
        """Take a pair."""
        place = self._places.__getitem__
        for field, (values, lengths) in self._words.items():
            words = pair.words(field)
            values.extend(map(place, words))
            lengths.append(len(words))
        self._texts += text_line(text_of(pair))
        self._offsets.append(len(self._texts))

    def add_part(self, part: Split) -> None:
        """Take the pairs of a part, all of whose texts are of its rows in order."""
        own = np.array([*map(self._places.__getitem__, part.lexicon)], np.int32)
        for field, (values, lengths) in self._words.items():
            values.frombytes(own[part.words[field].values].tobytes())
            lengths.frombytes(part.words[field].lengths.tobytes())
        self._offsets.frombytes((part.texts.offsets[1:] + len(self._texts)).tobytes())
        self._texts += part.texts.data.data

    def text(self, row: int) -> PairText:
        """The text of a pair."""
        return read_text(bytes(self._texts[self._offsets[row] : self._offsets[row + 1]]))

    def split(self, texts: Mapping[int, PairText] = MappingProxyType({})) -> Split:
        """All pairs, in order, some rows with other ``texts``; no more can be taken then."""
        rows = np.arange(len(self._offsets) - 1)
        rows[[*texts]] = len(rows) + np.arange(len(texts))
        more = Texts.of(texts.values())
        self._offsets.frombytes((more.offsets[1:] + len(self._texts)).tobytes())
        self._texts += more.data.data
        words = {
            field: Ragged(np.frombuffer(values, np.int32), edges(np.frombuffer(lengths, np.int64)))
            for field, (values, lengths) in self._words.items()
        }
        known = Texts(np.frombuffer(self._texts, np.uint8), np.frombuffer(self._offsets, np.int64), rows)
        return Split("", [*self._places], words, known)


def _places(lexicon: Sequence[str], place: Mapping[str, int]) -> Int32[np.ndarray, " lexicon"]:
    return np.fromiter((place[word] for word in lexicon), dtype=np.int32, count=len(lexicon))


def joined_texts(*parts: Texts) -> Texts:
    """The concatenated lines of all rows; lines without a row are dropped."""
    lengths = np.concatenate([np.diff(each.offsets)[each.rows] for each in parts])
    data = [each.data if _is_whole(each) else _lines(each) for each in parts]
    return Texts(np.concatenate(data), edges(lengths), np.arange(len(lengths)))


def _is_whole(texts: Texts) -> bool:
    """Whether the rows are all lines in order."""
    return len(texts) == len(texts.offsets) - 1 and bool((texts.rows == np.arange(len(texts))).all())


def _lines(texts: Texts) -> UInt8[np.ndarray, " bytes"]:
    lines = [texts.data[texts.offsets[line] : texts.offsets[line + 1]] for line in texts.rows.tolist()]
    return np.concatenate([np.empty(0, np.uint8), *lines])


def limit_pairs(data: PreparedData, limit: int, seed: int = 0) -> PreparedData:
    """At most ``limit`` pairs (0: all), sampled with ``seed``; rows remain in order.

    Splits are limited in proportion to their sizes, to at least one pair each.

    Raises:
        UserError: ``limit`` is smaller than the number of splits.
    """
    sizes = np.array([len(data.splits[name]) for name in SPLITS])
    if limit == 0 or limit >= sizes.sum():
        return data
    if limit < np.count_nonzero(sizes):
        least = np.count_nonzero(sizes)
        raise UserError(f"--data.limit takes 0 (all) or at least {least}, one per split, not {limit}")
    splits = {}
    for place, (name, share) in enumerate(zip(SPLITS, _shares(sizes, limit), strict=True)):
        splits[name] = _sampled(data.splits[name], share, [seed, place])
    return replace(data, splits=splits)


def limit_training(data: PreparedData, limit: int, seed: int = 0) -> PreparedData:
    """At most ``limit`` training pairs (0: all), sampled with ``seed``; the other splits remain whole."""
    train = data.splits["train"]
    if limit == 0 or limit >= len(train):
        return data
    return replace(data, splits={**data.splits, "train": _sampled(train, limit, [seed, SPLITS.index("train")])})


def _sampled(split: Split, size: int, seed: Sequence[int]) -> Split:
    drawn = np.random.default_rng(seed).choice(len(split), size=size, replace=False)
    return split.take(np.sort(drawn))


def _shares(sizes: Int[np.ndarray, " splits"], limit: int) -> list[int]:
    """``limit`` divided in proportion to ``sizes``, at least 1 for non-empty ones: largest remainders first."""
    exact = sizes * limit / sizes.sum()
    shares = np.maximum(np.floor(exact).astype(np.int64), (sizes > 0).astype(np.int64))
    while shares.sum() < limit:
        shares[np.argmax(exact - shares)] += 1
    while shares.sum() > limit:
        shares[np.argmax(shares - exact - 2 * limit * (shares <= 1))] -= 1
    return [int(share) for share in shares]


def tree_of(split: Split, row: int) -> str:
    """The name of the source tree of a pair, without its revision."""
    return split.text(row).origin.rpartition("@")[0]


def held_out(data: PreparedData, tree: str) -> PreparedData:
    """``data`` whose test split is all pairs of ``tree``; the pairs of the former test split are training pairs.

    Raises:
        UserError: there are no pairs of such a tree, or a split would be empty.
    """
    trees = {name: [tree_of(split, row) for row in range(len(split))] for name, split in data.splits.items()}
    sizes = Counter(name for names in trees.values() for name in names)
    if tree not in sizes:
        largest = ", ".join(name for name, _ in sizes.most_common(_SHOWN))
        raise UserError(f"--data.hold_out={tree} is no source tree with pairs; there are {largest}")

    def rows(name: SplitName, holds: Callable[[str], bool]) -> Int64[np.ndarray, " rows"]:
        return np.flatnonzero([holds(each) for each in trees[name]])

    test = next(data.splits[name].take(rows(name, tree.__eq__)) for name in SPLITS if tree in trees[name])
    rest: dict[SplitName, Split] = {name: data.splits[name].take(rows(name, tree.__ne__)) for name in SPLITS}
    train = joined(rest["train"], rest["test"]) if len(rest["test"]) else rest["train"]
    if not len(train) or not len(rest["valid"]):
        raise UserError(f"--data.hold_out={tree} leaves no pairs for training or validation: leave out another")
    return replace(data, splits={"train": train, "valid": rest["valid"], "test": replace(test, name="test")})
