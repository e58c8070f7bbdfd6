"""What DeepCS (Gu, Zhang and Kim 2018) was trained on: ``{train,test}.{desc,methname,tokens,apiseq}.h5``.

Each is an HDF5 file with the numbers of all words, ``phrases``, and the ``length`` and ``pos`` of each row among them,
``indices``. The words are in ``vocab.*.pkl``: 10,000 numbers from 0, of which 0 ends a sentence and 1 is any other
word. The ``vocab.*.json`` beside other copies number other words.

h5py opens the files, and blosc unpacks ``phrases``: libraries of requirements-hdf5.txt. PyTables, which wrote them,
unpickles what a file's attributes have. A data set is read only if it is in the file itself.
"""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from data_prep.errors import UserError
from data_prep.files.reading import MAX_RATIO, RATIO_FROM, open_regular
from data_prep.records import UNKNOWN
from data_prep.sources.tabcs_release import ReleasedSplit, load_plain
from data_prep.store.ragged_lists import Ragged, edges, spread

FILE_FIELDS: Final = {"query": "desc", "name": "methname", "tokens": "tokens", "api": "apiseq"}
"""Field -> the release's name."""
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
