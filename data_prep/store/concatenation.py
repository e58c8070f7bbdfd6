"""Concatenation of splits with different lexicons."""

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
from jaxtyping import Int32, UInt8

from data_prep.records import WORD_FIELDS
from data_prep.store.prepared_data import Split, Texts
from data_prep.store.ragged_lists import Ragged, edges


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
