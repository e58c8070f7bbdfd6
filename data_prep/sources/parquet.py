"""Rows of a Parquet file with columns of text, a batch at a time. Optional: pyarrow, of requirements-parquet.txt."""

import importlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from data_prep.errors import UserError
from data_prep.files.reading import open_regular, reason
from data_prep.sources.archives import MAX_RATIO

_BATCH: Final = 1024  # rows
_RATIO_FROM: Final = 64 << 20  # bytes; smaller tables are never bombs


def parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[dict[str, str]]:
    """The texts of ``columns`` of each row; missing values are "".

    Raises:
        UserError: pyarrow is not installed; the file is damaged, unpacks to far too much, or lacks a column of text.
    """
    library = _pyarrow(path)
    try:
        with open_regular(path) as file:
            _check_columns(library, library.parquet.read_schema(file), columns, path)
            # repeated values stay references to one: a small file may have many of a long one
            table = library.parquet.ParquetFile(file, read_dictionary=columns, thrift_string_size_limit=1 << 24)
            most, read = max(_RATIO_FROM, MAX_RATIO * path.stat().st_size), 0
            for batch in table.iter_batches(batch_size=_BATCH, columns=list(columns), use_threads=False):
                read += sum(_decoded_bytes(library, batch.column(name)) for name in columns)
                if read > most:
                    raise UserError(f"{path} is refused: such a file does not unpack to {read:,} bytes")
                texts = (batch.column(name).dictionary_decode().to_pylist() for name in columns)
                for values in zip(*texts, strict=True):
                    yield dict(zip(columns, (value or "" for value in values), strict=True))
    except library.ArrowException as error:
        raise UserError(f"{path} is damaged ({' '.join(str(error).split())[:120]}): get it again") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read ({' '.join(reason(error).split())[:120]}): get it again") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is damaged (a text is no UTF-8): get it again") from error


def _pyarrow(path: Path) -> Any:
    try:
        for module in ("pyarrow.compute", "pyarrow.parquet"):
            importlib.import_module(module)
    except ImportError as error:
        raise UserError(
            f"{path} needs pyarrow: .venv/bin/python -m pip install --no-deps -r locks/requirements-parquet.txt"
        ) from error
    return importlib.import_module("pyarrow")


def _decoded_bytes(library: Any, column: Any) -> int:
    """Size of the texts of a dictionary-encoded column."""
    lengths = library.compute.binary_length(column.dictionary)
    return library.compute.sum(lengths.take(column.indices)).as_py() or 0


def _check_columns(library: Any, schema: Any, columns: Sequence[str], path: Path) -> None:
    types = {column.name: column.type for column in schema}
    texts = (library.types.is_string, library.types.is_large_string)
    wrong = [name for name in columns if name not in types or not any(is_text(types[name]) for is_text in texts)]
    if wrong:
        raise UserError(f"{path} has no column of text {', '.join(wrong)}: it has {', '.join(types)}")
