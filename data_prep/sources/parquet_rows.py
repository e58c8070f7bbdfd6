"""Rows of Parquet files, read by pyarrow, an optional library of requirements-parquet.txt."""

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from data_prep.errors import UserError
from data_prep.files.reading import MAX_RATIO, RATIO_FROM, open_regular, reason
from data_prep.files.text_rows import repeated

_BATCH: Final = 1024  # rows of a table


def parquet_texts(path: Path, columns: Sequence[str]) -> Iterator[dict[str, str]]:
    """The texts of ``columns`` of each row; missing values are "".

    Raises:
        UserError: as :func:`parquet_rows`, or a column has no texts.
    """
    library = _pyarrow(path)
    types = _types(library, path)
    if wrong := [name for name in columns if name not in types or not _is_text(library, types[name])]:
        raise UserError(f"{path} has no column of text {', '.join(wrong)}: it has {', '.join(types)}")
    return ({name: value or "" for name, value in row.items()} for row in parquet_rows(path, columns))


def parquet_columns(path: Path) -> list[str]:
    """The columns of a file that have texts, lists of texts, or whole numbers.

    Raises:
        UserError: as :func:`parquet_rows`.
    """
    library = _pyarrow(path)
    return [name for name, each in _types(library, path).items() if _is_read(library, each)]


def parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The values of ``columns`` of each row; missing ones are None.

    Raises:
        UserError: pyarrow is not installed; the file is damaged, or unpacks to far too much.
    """
    library = _pyarrow(path)
    types = _types(library, path)
    texts = [name for name in columns if _is_text(library, types[name])]
    with _told(library, path), open_regular(path) as file:
        # repeated values stay references to one: a small file may have many of a long one
        table = library.parquet.ParquetFile(file, read_dictionary=texts, thrift_string_size_limit=1 << 24)
        most, read = max(RATIO_FROM, MAX_RATIO * path.stat().st_size), 0
        for batch in table.iter_batches(batch_size=_BATCH, columns=list(columns), use_threads=False):
            read += sum(_bytes_of(library, batch.column(name), name in texts) for name in columns)
            if read > most:
                raise UserError(f"{path} is refused: such a file does not unpack to {read:,} bytes")
            values = (batch.column(name) for name in columns)
            lists = [
                (each.dictionary_decode() if name in texts else each).to_pylist()
                for name, each in zip(columns, values, strict=True)
            ]
            for row in zip(*lists, strict=True):
                yield dict(zip(columns, row, strict=True))


@contextmanager
def _told(library: Any, path: Path) -> Iterator[None]:
    """The errors of a damaged file as one line."""
    try:
        yield
    except library.ArrowException as error:
        raise UserError(f"{path} is damaged ({' '.join(str(error).split())[:120]}): get it again") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read ({' '.join(reason(error).split())[:120]}): get it again") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is damaged (a text is no UTF-8): get it again") from error


def _types(library: Any, path: Path) -> dict[str, Any]:
    with _told(library, path), open_regular(path) as file:
        columns = [*library.parquet.read_schema(file)]
    if twice := repeated(column.name for column in columns):
        raise UserError(f"{path} has the column {twice} twice: give each column a name of its own")
    return {column.name: column.type for column in columns}


def _is_text(library: Any, kind: Any) -> bool:
    return library.types.is_string(kind) or library.types.is_large_string(kind)


def _is_read(library: Any, kind: Any) -> bool:
    is_list = library.types.is_list(kind) or library.types.is_large_list(kind)
    numbers = (library.types.is_integer, library.types.is_boolean)
    return _is_text(library, kind.value_type if is_list else kind) or any(holds(kind) for holds in numbers)


def _pyarrow(path: Path) -> Any:
    try:
        for module in ("pyarrow.compute", "pyarrow.parquet"):
            importlib.import_module(module)
    except ImportError as error:
        raise UserError(f"{path} needs pyarrow: bash run.sh install parquet") from error
    return importlib.import_module("pyarrow")


def _bytes_of(library: Any, column: Any, is_text: bool) -> int:
    """Size of a column; of a dictionary-encoded one that of its texts."""
    if not is_text:
        return int(column.nbytes)
    lengths = library.compute.binary_length(column.dictionary)
    return library.compute.sum(lengths.take(column.indices)).as_py() or 0
