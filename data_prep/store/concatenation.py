"""Concatenation of two splits with different lexicons."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Int32

from data_prep.records import WORD_FIELDS
from data_prep.store.prepared_data import Split, Texts
from data_prep.store.ragged_lists import Ragged, edges


def joined(first: Split, second: Split) -> Split:
    """The pairs of ``first``, then those of ``second``, under the name of ``first`` and one sorted lexicon."""
    lexicon = sorted({*first.lexicon, *second.lexicon})
    place = {word: number for number, word in enumerate(lexicon)}
    ours, theirs = _places(first.lexicon, place), _places(second.lexicon, place)
    words = {
        field: _renumbered(first.words[field], ours).before(_renumbered(second.words[field], theirs))
        for field in WORD_FIELDS
    }
    return Split(first.name, lexicon, words, joined_texts(first.texts, second.texts))


def _places(lexicon: Sequence[str], place: Mapping[str, int]) -> Int32[np.ndarray, " lexicon"]:
    return np.fromiter((place[word] for word in lexicon), dtype=np.int32, count=len(lexicon))


def _renumbered(lists: Ragged, places: Int32[np.ndarray, " lexicon"]) -> Ragged:
    return Ragged(places[lists.values], lists.offsets)


def joined_texts(*parts: Texts) -> Texts:
    """The concatenated lines of all rows; lines without a row are dropped."""
    lines = [each.data[each.offsets[line] : each.offsets[line + 1]] for each in parts for line in each.rows.tolist()]
    lengths = np.fromiter(map(len, lines), dtype=np.int64, count=len(lines))
    return Texts(np.concatenate([np.empty(0, np.uint8), *lines]), edges(lengths), np.arange(len(lines)))
