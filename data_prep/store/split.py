"""Pairs in a fixed order, in memory or mapped: a split, as words or as ids, and splits joined under one lexicon."""

import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain, count
from json.encoder import encode_basestring_ascii
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from data_prep.errors import UserError
from data_prep.files.json_text import checked_record, parse_json
from data_prep.records import CODE_FIELDS, WORD_FIELDS, Pair
from data_prep.store.arrays import Int, Int32, Int64, Ragged, UInt8, edges

if TYPE_CHECKING:
    from data_prep.store.batching import Batch


class DamagedStore(UserError):  # noqa: N818 - names a state
    """A prepared data set that cannot be used; the message states why."""


@dataclass(slots=True, unsafe_hash=True)
class PairText:
    """The display text of a pair: the method's location, the query's sentence and the source."""

    origin: str
    path: str
    start_line: int  # 1-based
    end_line: int  # 1-based, inclusive
    type_name: str
    method_name: str
    query_text: str
    source: str
    licence: str = ""  # SPDX, "" if it is not known

    @property
    def code_key(self) -> tuple[str, ...]:
        """What tells its code from others: its place and its text."""
        return self.origin, self.path, str(self.start_line), self.source


_TEXT_FIELDS: Final = tuple(each.name for each in fields(PairText))
_LINES: Final = re.compile(rb'"start_line":(\d+),"end_line":(\d+)')
"""What says where a method stands, as :func:`text_line` writes it; in a text its quotes would be escaped."""


def text_line(text: PairText) -> bytes:
    """The line of a text in JSON; an encoder of objects takes twice as long."""
    values = ((name, getattr(text, name)) for name in _TEXT_FIELDS if name != "licence" or text.licence)
    parts = (
        f'"{name}":{encode_basestring_ascii(value) if isinstance(value, str) else value}' for name, value in values
    )
    return f"{{{','.join(parts)}}}\n".encode()


def read_text(line: bytes) -> PairText:
    """Parse a ``line`` of texts, which was not validated when its file was opened.

    Raises:
        DamagedStore: it is invalid.
    """
    try:
        return checked_record(PairText, parse_json(line))
    except UserError as error:
        raise DamagedStore(f"the text of a method is damaged ({error}): make anew what it is read from") from error


def text_of(pair: Pair) -> PairText:
    """What is shown of a pair."""
    method = pair.method
    place = (method.origin, method.path, method.start_line, method.end_line, method.type_name, method.name)
    return PairText(*place, query_text=pair.query_text, source=method.source, licence=method.licence)


@dataclass(frozen=True, eq=False, slots=True)
class Texts:
    """The texts of a split, decoded on access."""

    data: UInt8[np.ndarray, " bytes"]  # JSON Lines
    offsets: Int64[np.ndarray, " edges"]
    rows: Int64[np.ndarray, " rows"]  # line of each row

    @classmethod
    def of(cls, texts: Iterable[PairText]) -> "Texts":
        """Encode texts as JSON Lines."""
        data, lengths = bytearray(), array("q")  # a list of lines would take as much again
        for text in texts:
            data += (line := text_line(text))
            lengths.append(len(line))
        offsets = edges(np.array(lengths, np.int64))
        return cls(np.frombuffer(data, dtype=np.uint8), offsets, np.arange(len(lengths)))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int) -> PairText:
        return read_text(self.line(row))

    def line(self, row: int) -> bytes:
        """The text of a row as JSON."""
        line = self.rows[row]
        return self.data[self.offsets[line] : self.offsets[line + 1]].tobytes()

    def take(self, rows: Int[np.ndarray, " rows"]) -> "Texts":
        """The texts of ``rows``, in that order."""
        return replace(self, rows=self.rows[rows])


@dataclass(frozen=True, eq=False)
class Split:
    """Pairs in a fixed order: row i's query is the description of row i's method."""

    name: str
    lexicon: Sequence[str]
    words: Mapping[str, Ragged]  # WORD_FIELDS -> lexicon ids
    texts: Texts

    @classmethod
    def of(cls, name: str, pairs: Sequence[Pair]) -> "Split":
        """A split in memory; its lexicon has exactly its words, sorted."""
        gathered = Gathered()
        for pair in pairs:
            gathered.add(pair)
        return replace(joined(gathered.split()), name=name)

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: Int[np.ndarray, " rows"]) -> "Split":
        """The pairs ``rows``, in that order."""
        words = {field: lists.take(rows) for field, lists in self.words.items()}
        return replace(self, words=words, texts=self.texts.take(rows))

    def text(self, row: int) -> PairText:
        """The display text of pair ``row``."""
        return self.texts[row]

    def lines(self, row: int) -> tuple[int, int]:
        """The first line and the last one of pair ``row``, from 1: to decode its text takes much longer."""
        found = _LINES.search(self.texts.line(row))
        return (int(found[1]), int(found[2])) if found else (self.text(row).start_line, self.text(row).end_line)

    def has(self, row: int, part: bytes) -> bool:
        """Whether the text of pair ``row`` has a part of JSON, as it is stored: decoding it takes much longer."""
        return part in self.texts.line(row)

    def word_list(self, field: str, row: int) -> list[str]:
        """The words of ``field`` (one of WORD_FIELDS) of pair ``row``."""
        return [self.lexicon[number] for number in self.words[field][row]]


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
