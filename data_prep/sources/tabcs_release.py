"""The files of the TabCS release: vocabularies, and lists of word ids, one row per pair.

``vocab.<field>.pkl`` is a dict of words to ids from 1 on; ``{train,test}.<field>.pkl`` is a list of lists of ids, row i
of every field being pair i. Id 0 is a word outside the vocabulary. Lists are neither padded nor truncated.

A pickle is a program, and most of its instructions can do harm: call any function, or allocate gigabytes in five bytes.
Here each file is scanned before it is loaded, and rejected unless every instruction creates a list, dict, string or
integer, as written by pickle's protocols 2 and 3. In addition, the unpickler itself rejects every global.
"""

import io
import pickle
import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal, NoReturn, overload

import numpy as np
from jaxtyping import Bool, Int

from data_prep.errors import UserError
from data_prep.files.access import open_regular
from data_prep.records import UNKNOWN, Method, Pair, SplitName
from data_prep.store.arrays import Ragged

FILE_FIELDS: Final = {"query": "desc", "name": "methodname", "tokens": "tokens", "api": "apiseq", "ast": "sbt"}
"""Field -> the release's name. It has no statement trees: FcarCS's release of them is not available."""

_ITS_UNKNOWN: Final = "<UNK>"
"""The unknown word of JCG's vocabularies."""
LARGEST: Final = 256 << 20
"""Maximum file size in bytes. A file of n bytes takes up to about 16 n of memory; the largest released ones have 90 MB.
"""

_MOST_OBJECTS: Final = 1 << 23
"""Maximum number of lists, dicts and strings in a file."""
_STEP: Final = re.compile(
    rb"(?:K.|M..|J.{4}|[(aeus]|q.|h.|j.{4})++"  # numbers, adding to lists and dicts, reading the memo
    rb"|(?P<made>[\]}])"  # an empty list or dict
    rb"|X(?P<length>.{4})|U(?P<short>.)"  # a string, its bytes follow
    rb"|r(?P<memo>.{4})",  # memo number of the previous object
    re.DOTALL,
)
_WITH_ARGUMENT: Final = b"KMJqhjXUr"
_FAILURES: Final = (
    pickle.UnpicklingError, EOFError, ValueError, TypeError, LookupError, AttributeError, OverflowError, MemoryError
)  # fmt: skip


@dataclass(frozen=True, eq=False, slots=True)
class ReleasedSplit:
    """The training or test files of a release, with the words of their ids."""

    name: str
    words: Mapping[str, Sequence[str]]  # field, of FILE_FIELDS -> word of each id
    ids: Mapping[str, Ragged]  # field -> ids of each row

    @classmethod
    def read(cls, folder: Path, name: Literal["train", "test"]) -> "ReleasedSplit":
        """Read and check the five fields of ``name``, one after the other.

        Raises:
            UserError: a file is damaged or does not fit the others; the message names it.
        """
        words, ids = {}, dict[str, Ragged]()
        for field in FILE_FIELDS:
            vocabulary = folder / f"vocab.{FILE_FIELDS[field]}.pkl"
            path = folder / f"{name}.{FILE_FIELDS[field]}.pkl"
            words[field] = read_vocabulary(vocabulary)
            ids[field] = read_ids(path)
            if (largest := ids[field].values.max(initial=0)) >= len(words[field]):
                raise UserError(f"{path} has the id {largest}, but {vocabulary.name} ends at {len(words[field]) - 1}")
            if len(ids[field]) != len(ids["query"]):
                first = f"{name}.{FILE_FIELDS['query']}.pkl has {len(ids['query']):,}"
                raise UserError(f"{path} has {len(ids[field]):,} rows, but {first}: expected as many in every file")
        if not len(ids["query"]):
            raise UserError(f"{folder / name}.*.pkl have no pairs")
        return cls(name, words, ids)

    @classmethod
    def of_rows(cls, name: str, rows: Iterable[Mapping[str, Sequence[str]]], fields: Sequence[str]) -> "ReleasedSplit":
        """The same of rows with their words."""
        numbers = {field: {UNKNOWN: 0} for field in fields}
        lists: dict[str, list[array[int]]] = {field: [] for field in fields}
        for row in rows:
            for field, known in numbers.items():
                lists[field].append(array("i", (known.setdefault(word, len(known)) for word in row[field])))
        return cls(name, {field: [*known] for field, known in numbers.items()}, {
            field: Ragged.of(each) for field, each in lists.items()
        })  # fmt: skip

    def __len__(self) -> int:
        return len(self.ids["query"])

    def blank(self, fields: Sequence[str], *, unknown_counts: bool) -> Bool[np.ndarray, " rows"]:
        """Rows where one of ``fields`` has no word or, unless ``unknown_counts``, no known word."""
        blank = np.zeros(len(self), bool)
        for field in fields:
            counts = np.array([unknown_counts or word != UNKNOWN for word in self.words[field]])
            before = np.concatenate(([0], np.cumsum(counts[self.ids[field].values])))  # counted words before each id
            blank |= np.diff(before[self.ids[field].offsets]) == 0
        return blank


@dataclass(frozen=True, eq=False, slots=True)
class ReleasedPairs(Sequence[Pair]):
    """Rows of a release as pairs, created on access; only the ids are in memory."""

    origin: str
    split: SplitName
    release: ReleasedSplit
    rows: Int[np.ndarray, " rows"] | None = None  # None: all
    sources: Sequence[str] = ()  # of every row of the release; () if there are none
    trees: Sequence[tuple[str, ...]] = ()  # statement trees of every row; () if there are none

    def __len__(self) -> int:
        return len(self.release) if self.rows is None else len(self.rows)

    def take(self, rows: Int[np.ndarray, " rows"]) -> "ReleasedPairs":
        """Those at some places, in that order."""
        return replace(self, rows=rows if self.rows is None else self.rows[rows])

    @overload
    def __getitem__(self, place: int) -> Pair: ...
    @overload
    def __getitem__(self, place: slice) -> "ReleasedPairs": ...
    def __getitem__(self, place: int | slice) -> "Pair | ReleasedPairs":
        if isinstance(place, slice):
            return self.take(np.arange(len(self))[place])
        row = range(len(self))[place] if self.rows is None else int(self.rows[place])
        words = {field: self._words(field, row) for field in self.release.ids}
        query = words.pop("query")
        method = Method(
            origin=self.origin,
            path=self.release.name,
            start_line=row + 1,
            end_line=row + 1,
            type_name="",
            name="".join(word.capitalize() if place else word for place, word in enumerate(words["name"])),
            kind="method",
            source=self.sources[row] if self.sources else "",
            documentation="",
            fields={**words, "statements": self.trees[row] if self.trees else ()},
            split=self.split,
        )
        return Pair(method, " ".join(query), query)

    def _words(self, field: str, row: int) -> tuple[str, ...]:
        words, lists = self.release.words[field], self.release.ids[field]
        return tuple([words[number] for number in lists.values[lists.offsets[row] : lists.offsets[row + 1]].tolist()])


def read_vocabulary(path: Path) -> tuple[str, ...]:
    """The word of each id; UNKNOWN at 0 and for the release's unknown word.

    Raises:
        UserError: the file is damaged, or is not a dict of words, encodable as UTF-8, to 1, 2, 3 and so on.
    """
    ids: Any = load_plain(path)
    types = set(map(type, ids)) <= {str} and set(map(type, ids.values())) <= {int} if type(ids) is dict else False
    if not types or not ids:
        raise UserError(f"{path} is no vocabulary: expected a dict of words to ids")
    words = sorted(ids, key=ids.__getitem__)
    try:
        "".join(words).encode()
    except UnicodeEncodeError as error:
        raise UserError(f"{path} has a word with half a surrogate pair: expected words of Unicode") from error
    if [ids[word] for word in words] != list(range(1, len(words) + 1)):
        raise UserError(f"{path} has {len(words):,} words, but their ids are not 1 to {len(words)}, each once")
    return (UNKNOWN, *(UNKNOWN if word == _ITS_UNKNOWN else word for word in words))


def read_ids(path: Path) -> Ragged:
    """The ids of each row.

    Raises:
        UserError: the file is damaged, or is not a list of lists of ids of 0 or more.
    """
    rows: Any = load_plain(path)
    if type(rows) is not list or not set(map(type, rows)) <= {list}:
        raise UserError(f"{path} is no list of lists of word ids")
    if sum(map(len, rows)) > path.stat().st_size:  # lists that occur in it many times
        raise UserError(f"{path} is refused: it unfolds to more ids than it has bytes")
    if not set(map(type, chain.from_iterable(rows))) <= {int}:
        raise UserError(f"{path} is no list of lists of word ids")
    ids = Ragged.of(rows)
    if (least := ids.values.min(initial=0)) < 0:
        raise UserError(f"{path} has the id {least}: expected ids of 0 or more")
    return ids


class PlainUnpickler(pickle.Unpickler):
    """Rejects all classes and functions; of itself it rejects persistent objects."""

    def find_class(self, module_name: str, global_name: str) -> NoReturn:
        """Reject a global.

        Raises:
            pickle.UnpicklingError: always.
        """
        raise pickle.UnpicklingError(f"it names {module_name}.{global_name}")


def load_plain(path: Path) -> Any:
    """Load the pickle at ``path``, which may contain only lists, dicts, strings and 32-bit integers.

    Raises:
        UserError: the file is too large, truncated, damaged, not a pickle, or contains anything else.
        OSError: it cannot be read, or is not a regular file.
    """
    with open_regular(path) as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise UserError(f"{path} is refused: it has more than {LARGEST >> 20} MiB")
    try:
        _walk(data)
        return PlainUnpickler(io.BufferedReader(io.BytesIO(data)), encoding="utf-8").load()
    except _FAILURES as error:
        what = " ".join(str(error).split()) or type(error).__name__
        raise UserError(
            f"{path} is refused: {what}; expected a pickle of lists, dicts, words and whole numbers"
        ) from error


def _walk(data: bytes) -> None:
    """Check each instruction, and that none allocates more memory than its objects need."""
    if data[:2] not in (b"\x80\x02", b"\x80\x03"):
        raise UserError("it is no pickle of protocol 2 or 3")
    place, objects = 2, 0
    while data[place : place + 1] != b".":
        step = _STEP.match(data, place)
        if step is None:
            raise UserError(_stray(data[place : place + 1], place))
        place = step.end() + int.from_bytes(step["length"] or step["short"] or b"", "little")
        objects += step.lastgroup in ("made", "length", "short")
        if step["memo"] and int.from_bytes(step["memo"], "little") >= objects:
            raise UserError(f"it numbers more objects than it has, at byte {step.start()}")
        if objects > _MOST_OBJECTS:
            raise UserError(f"it has more than {_MOST_OBJECTS:,} objects")
    if place + 1 != len(data):
        raise UserError(f"it goes on behind its end at byte {place}")


def _stray(instruction: bytes, place: int) -> str:
    if not instruction or instruction in _WITH_ARGUMENT:
        return "it is cut short"
    return f"instruction {instruction!r} at byte {place} makes something else"
