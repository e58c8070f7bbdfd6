"""The releases of DeepCS, TL-CodeSum and R252 as published: text files of a line a row, in clones of the repositories.

- ``guxd/deep-code-search`` has its example data as ``{train,test}.{desc,methname,tokens,apiseq}.txt``, the methods as
  ``test.rawcode.txt`` and their places as ``test.meta.txt``; what it trained on
  is in ``{train,test}.{desc,methname,tokens,apiseq}.h5``.
- ``xing-hu/TL-CodeSum`` has ``{train,valid,test}.token.{nl,code}``; each line begins with the number of its row.
- ``tejaskannan/r252-deep-code-search`` has ``javadoc.txt``, ``method-names.txt``, ``method-tokens.txt`` and
  ``method-apis.txt`` in ``train_data`` and ``validation_data``.

Each HDF5 file of DeepCS (Gu, Zhang and Kim 2018) has the numbers of all words, ``phrases``, and the ``length`` and
``pos`` of each row among them, ``indices``. The words are in ``vocab.*.pkl``: 10,000 numbers from 0, of which 0 ends a
sentence and 1 is any other word. The ``vocab.*.json`` beside other copies number other words. h5py opens the files, and
blosc unpacks ``phrases``: libraries of requirements-hdf5.txt. PyTables, which wrote them, unpickles what a file's
attributes have. A data set is read only if it is in the file itself.
"""

import importlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import numpy as np

from data_prep.errors import UserError
from data_prep.files.access import MAX_RATIO, RATIO_FROM, open_regular
from data_prep.files.text_rows import utf8_lines
from data_prep.records import UNKNOWN
from data_prep.sources.tabcs_release import ReleasedSplit, load_plain
from data_prep.store.arrays import Ragged, edges, spread

CLONES: Final = {
    "deepcs_example": "guxd/deep-code-search",
    "tlcodesum": "xing-hu/TL-CodeSum",
    "r252": "tejaskannan/r252-deep-code-search",
}
"""Release -> its repository on GitHub."""
FILE_FIELDS: Final = {"query": "desc", "name": "methname", "tokens": "tokens", "api": "apiseq"}
"""Field -> its name in DeepCS's release."""
TEXTS: Final = frozenset(("code", "repo", "file", "meta"))
"""The fields that are texts; all others are lists of words."""
_LONGEST: Final = 1 << 24  # bytes of a line
_CHECKED: Final = 100  # rows whose code has to have their name
_NO_LETTER: Final = re.compile(r"[\W_]+")
_META: Final = "|||"


@dataclass(frozen=True, slots=True)
class Part:
    """Files of a release that belong together, line by line."""

    name: str  # release/part
    files: Mapping[str, str]  # field -> the end of the file's path
    is_numbered: bool = False

    @property
    def release(self) -> str:
        """One of CLONES."""
        return self.name.partition("/")[0]

    def found(self, files: Sequence[Path]) -> dict[str, Path]:
        """The first file of each field among ``files``; none unless all are there."""
        ends = {field: f"/{end}" for field, end in self.files.items()}
        first = {field: next((each for each in files if each.as_posix().endswith(end)), None) for field, end in
                 ends.items()}  # fmt: skip
        return {field: path for field, path in first.items() if path} if all(first.values()) else {}

    def rows(self, paths: Mapping[str, Path]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Number and fields of each row.

        Raises:
            UserError: the files do not belong together; the message names one.
            OSError: a file cannot be read, or is not a regular file.
        """
        strange = 0
        for number, row in _aligned(paths, is_numbered=self.is_numbered):
            texts = {field: text.strip() if field in TEXTS else text.split() for field, text in row.items()}
            if self.release == "deepcs_example":
                texts |= _place(row["meta"], f"{paths['meta']}:{number}") if "meta" in row else {}
                strange += number <= _CHECKED and not _has_name(texts)
                if strange > _CHECKED // 2:
                    raise UserError(f"{paths['code']} has not the methods of {paths['name']}: take both of one release")
            yield number, texts


def _deepcs(part: str, *, has_code: bool) -> dict[str, str]:
    more = {"code": "rawcode", "meta": "meta"} if has_code else {}
    return {field: f"{part}.{name}.txt" for field, name in {**FILE_FIELDS, **more}.items()}


def _r252(folder: str) -> dict[str, str]:
    names = {"query": "javadoc", "name": "method-names", "tokens": "method-tokens", "api": "method-apis"}
    return {field: f"{folder}/{name}.txt" for field, name in names.items()}


def _tlcodesum(split: str) -> Part:
    files = {"query": f"{split}.token.nl", "code": f"{split}.token.code"}
    return Part(f"tlcodesum/{split}", {field: f"{split}/{name}" for field, name in files.items()}, is_numbered=True)


PARTS: Final = {
    part.name: part
    for part in (
        Part("deepcs_example/pairs", _deepcs("test", has_code=True)),
        Part("deepcs_example/train", _deepcs("train", has_code=False)),
        Part("deepcs_example/test", _deepcs("test", has_code=False)),
        _tlcodesum("train"),
        _tlcodesum("valid"),
        _tlcodesum("test"),
        Part("r252/train", _r252("train_data")),
        Part("r252/valid", _r252("validation_data")),
    )
}


def where_to_get(releases: Sequence[str]) -> str:
    """What to do about missing releases."""
    clones = " and ".join(f"https://github.com/{CLONES[name]}" for name in releases)
    return f"git clone {clones} there, into data/raw/papers or into the folder of --data.path= (docs/datasets.md)"


def files_below(place: Path) -> list[Path]:
    """All files at or below a folder, sorted, but those of git; links are not followed."""
    found = list[Path]()
    for folder, folders, names in os.walk(place):
        folders[:] = [name for name in folders if name != ".git"]
        found.extend(Path(folder, name) for name in names)
    return sorted(found)


def _aligned(paths: Mapping[str, Path], *, is_numbered: bool) -> Iterator[tuple[int, dict[str, str]]]:
    """The lines of several files with as many lines, side by side."""
    with ExitStack() as opened:
        lines = [_lines(path, opened) for path in paths.values()]
        for number, row in enumerate(zip_longest(*lines), 1):
            if None in row:
                short, *_ = (path for path, line in zip(paths.values(), row, strict=True) if line is None)
                raise UserError(f"{short} has {number - 1:,} lines, but others of its release have more: get it again")
            cells = dict(zip(paths, row, strict=True))
            yield number, _without_numbers(cells, paths, number) if is_numbered else cells


def _lines(path: Path, opened: ExitStack) -> Iterator[str]:
    file = opened.enter_context(open_regular(path))
    for number, line in enumerate(utf8_lines(file, _LONGEST), 1):
        if len(line) >= _LONGEST:
            raise UserError(f"{path}:{number} is refused: no line has {_LONGEST:,} bytes or more")
        yield line.decode(errors="replace").strip("\r\n")


def _without_numbers(row: Mapping[str, str], paths: Mapping[str, Path], number: int) -> dict[str, str]:
    told = {field: text.partition("\t") for field, text in row.items()}
    if len({first for first, _, _ in told.values()}) > 1:
        files = " and ".join(map(str, paths.values()))
        raise UserError(f"{files} have other rows in line {number}: take both of one release")
    return {field: rest for field, (_, _, rest) in told.items()}


def _place(text: str, where: str) -> dict[str, str]:
    r"""Repository and path, of ``7|||D:\Code\Repos\_2011\7_a_b\src\A.java|||404|||412``."""
    parts = text.split(_META)
    folders = parts[1].split("\\") if len(parts) > 1 else []
    if len(folders) < 6:
        raise UserError(f"{where} names no file: expected a number, a path and two lines, with {_META} between")
    return {"repo": folders[4], "file": "/".join(folders[5:])}


def _has_name(row: Mapping[str, Any]) -> bool:
    return "code" not in row or "".join(row["name"]) in _NO_LETTER.sub("", row["code"]).lower()


_END: Final = 0
_OTHER_WORD: Final = "UNK"
_HEADER: Final = 16  # bytes of a block that blosc has packed; 4 to 8 are its size when it is unpacked
_BLOSC: Final = 32_001  # HDF5's number of it


def deepcs_files(files: Sequence[Path], part: str) -> list[Path]:
    """The four files of a part and their vocabularies, the first of each; none unless all are there."""
    names = [name for field in FILE_FIELDS.values() for name in (f"{part}.{field}.h5", f"vocab.{field}.pkl")]
    found = [next((path for path in files if path.name == name), None) for name in names]
    return [path for path in found if path] if all(found) else []


def read_deepcs(part: str, paths: Sequence[Path]) -> ReleasedSplit:
    """The rows of :func:`deepcs_files`.

    Raises:
        UserError: a library is not installed, or a file is damaged or does not fit the others.
        OSError: a file cannot be read, or is not a regular file.
    """
    words, ids = dict[str, Sequence[str]](), dict[str, Ragged]()
    for field, path, vocabulary in zip(FILE_FIELDS, paths[::2], paths[1::2], strict=True):
        words[field], ids[field] = _vocabulary(vocabulary), _phrases(path)
        if ids[field].values.max(initial=0) >= len(words[field]):
            raise UserError(f"{path} has numbers that {vocabulary} has no word for: take both of one release")
        if len(ids[field]) != len(ids["query"]):
            raise UserError(f"{path} has {len(ids[field]):,} rows, but {paths[0].name} {len(ids['query']):,}")
    return ReleasedSplit(part, words, ids)


def _vocabulary(path: Path) -> Sequence[str]:
    found: Any = load_plain(path)
    types = ({*map(type, found)}, {*map(type, found.values())}) if isinstance(found, dict) else ()
    if types != ({str}, {int}):
        raise UserError(f"{path} is no vocabulary: expected a dict of words to numbers")
    words = {number: word for word, number in found.items()}
    if words.keys() != {*range(len(words))}:
        raise UserError(f"{path} has {len(words):,} numbers, but not 0 to {len(words) - 1:,}")
    words |= {number: UNKNOWN for number, word in words.items() if number == _END or word == _OTHER_WORD}
    return [words[number] for number in range(len(words))]


def _phrases(path: Path) -> Ragged:
    h5py = _library("h5py", path)
    try:
        with open_regular(path) as opened, h5py.File(opened, "r") as file:
            places = _own(h5py, file, "indices", path)[:]
            phrases = _unpacked(_own(h5py, file, "phrases", path), path)
    except (OSError, RuntimeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{path} is damaged ({' '.join(str(error).split())[:120]}): get it again") from error
    if not {"length", "pos"} <= {*(places.dtype.names or ())}:
        raise UserError(f"{path} has no length and pos of its rows: expected a release of DeepCS")
    starts, lengths = places["pos"].astype(np.int64), places["length"].astype(np.int64)
    if len(starts) and (starts.min() < 0 or lengths.min() < 0 or (starts + lengths).max() > len(phrases)):
        raise UserError(f"{path} has rows beyond its words: get it again")
    if lengths.sum() > max(RATIO_FROM, MAX_RATIO * path.stat().st_size):
        raise UserError(f"{path} is refused: its rows have more words than such a file can have")
    return Ragged(phrases[spread(starts, lengths)].astype(np.int32), edges(lengths))


def _own(h5py: Any, file: Any, name: str, path: Path) -> Any:
    """A data set with one dimension that is stored in the file itself."""
    if not isinstance(file.get(name, getlink=True), h5py.HardLink) or not isinstance(file[name], h5py.Dataset):
        raise UserError(f"{path} has no data set {name}: expected a release of DeepCS")
    found = file[name]
    if found.is_virtual or found.external or found.ndim != 1:
        raise UserError(f"{path} is refused: its data set {name} is of another form, or in another file")
    if found.size * found.dtype.itemsize > max(RATIO_FROM, MAX_RATIO * path.stat().st_size):
        raise UserError(f"{path} is refused: such a file does not unpack to {found.size:,} numbers")
    return found


def _unpacked(data: Any, path: Path) -> np.ndarray:
    """The numbers of a data set, which blosc may have packed in chunks."""
    if data.dtype.kind not in "iu":
        raise UserError(f"{path} has no whole numbers in phrases, but {data.dtype}")
    plan = data.id.get_create_plist()
    if [plan.get_filter(place)[0] for place in range(plan.get_nfilters())] != [_BLOSC]:
        return np.asarray(data[:])
    blosc, whole = _library("blosc", path), np.zeros(data.size, data.dtype)
    (rows,) = data.chunks
    for number in range(data.id.get_num_chunks()):
        (start,) = data.id.get_chunk_info(number).chunk_offset
        unused, packed = data.id.read_direct_chunk((start,))
        if not unused:
            if len(packed) < _HEADER or int.from_bytes(packed[4:8], "little") != rows * data.dtype.itemsize:
                raise UserError(f"{path} is damaged at the number {start}: get it again")
            packed = blosc.decompress(packed)
        numbers = np.frombuffer(packed, data.dtype)
        whole[start : start + rows] = numbers[: data.size - start]
    return whole


def _library(name: str, path: Path) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UserError(f"{path} needs {name}: bash run.sh install hdf5") from error
