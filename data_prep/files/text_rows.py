"""Rows of files by whatever program wrote them: UTF-8 or UTF-16 by its mark, any line ends, blank lines, CSV, Parquet.

What is no row is treated alike everywhere: it is left out, and its place and the reason are told. A file of which no
row remains is refused, and so is any broken row of a file that this program wrote for itself.
Parquet is read by pyarrow, an optional library of requirements-parquet.txt.
"""

import codecs
import csv
import importlib
import io
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar

from data_prep.errors import UserError, shortened
from data_prep.files.access import MAX_RATIO, RATIO_FROM, open_regular, reason

T = TypeVar("T")
LeftOut = Callable[[str, str], object]
"""Takes the place of a row that is left out, and why: "no JSON: ..."; what comes before the colon is the kind."""
BLANK: Final = "blank line"
LONGEST_CELL: Final = 1 << 24
"""Characters of a cell of a CSV file; a longer one is most likely a quotation mark that is never closed."""
_LONGEST_NAME: Final = 60
"""Characters of a column's name that a message has."""
_NAMES: Final = 12
"""Columns that a message names."""
_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_AS_HALVES: Final = "galm_as_halves"
codecs.register_error(_AS_HALVES, lambda error: ("\udc80", error.end))  # type: ignore[attr-defined]


def without_broken(name: str, rows: Iterable[tuple[int, T | str]], left_out: LeftOut | None) -> Iterator[tuple[int, T]]:
    """The rows of a file, each with its number, without those that are only a reason why they are none.

    Args:
        name: the file, for messages.
        rows: a text is a reason.
        left_out: is told of each; None: but for blank lines, the first one is an error.

    Raises:
        UserError: no row is kept, though some are broken.
    """
    first, kept = "", False
    for number, row in rows:
        if not isinstance(row, str):
            kept = True
            yield number, row
        elif left_out is not None:
            left_out(f"{name}:{number}", row)
        if isinstance(row, str) and row != BLANK and not first:
            first = f"{name}:{number} is {row}"
            if left_out is None:
                raise UserError(first)
    if first and not kept:
        raise UserError(first)


def utf8_lines(file: io.BufferedReader, longest: int) -> Iterator[bytes]:
    """The lines of a file in UTF-8, or in UTF-16 with a mark; longer ones come in parts."""
    if file.peek(2)[:2] not in _MARKS:
        while line := file.readline(longest):
            yield line
        return
    with _decoded(file, "\n") as text:
        while part := text.readline(longest):
            yield part.encode("utf-8", "surrogatepass")  # what was no text is none now either


def _decoded(file: io.BufferedReader, newline: str) -> io.TextIOWrapper:
    """The text of a file, with half a surrogate pair for each byte that is no text."""
    encoding = "utf-16" if file.peek(2)[:2] in _MARKS else "utf-8-sig"
    return io.TextIOWrapper(file, encoding, _AS_HALVES, newline)


def csv_rows(
    path: Path, left_out: LeftOut, needed: Collection[str] = (), *, delimiter: str = ","
) -> Iterator[tuple[int, dict[str, str]]]:
    """Number of the last line, and cells by the names of the first line, of each row of a CSV file.

    Raises:
        UserError: its first line is none, lacks one of the ``needed`` columns or names one twice, a cell is too long,
            or no row is kept.
        OSError: it cannot be read, or is not a regular file.
    """
    with _decoded(open_regular(path), "") as file:
        rows = _cells(path, file, delimiter)
        names = next((row for _, row in rows if row != BLANK), [])
        if isinstance(names, str):
            raise UserError(f"{path}:1 is {names}")
        if twice := repeated(filter(None, names)):
            raise UserError(f"{path}:1 names the column {twice} twice: give each column a name of its own")
        if missing := [name for name in needed if name not in names]:
            raise UserError(f"{path} lacks the columns {', '.join(missing)}: it has {listed_names(names)}")
        yield from without_broken(str(path), ((line, _named(names, row)) for line, row in rows), left_out)


def listed_names(names: Collection[str]) -> str:
    """Names of columns for a message: the first ones, long ones truncated."""
    told = [shortened(str(name), _LONGEST_NAME) for name in islice(names, _NAMES)]
    return ", ".join(told) + (f" and {len(names) - _NAMES:,} more" if len(names) > _NAMES else "")


def repeated(names: Iterable[str]) -> str:
    """The first name that occurs again; "" if none does."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return ""


def _cells(path: Path, file: io.TextIOWrapper, delimiter: str) -> Iterator[tuple[int, list[str] | str]]:
    """The cells of each row, or for each line of what is none the reason."""
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader(file, strict=True, delimiter=delimiter)
    while True:
        last = reader.line_num
        try:
            row = next(reader, None)
        except csv.Error as error:
            if "field limit" in str(error):
                told = f"no cell has {LONGEST_CELL:,} characters or more"
                raise UserError(f"{path}:{last + 1} is refused: {told}") from error
            yield from ((line, f"no CSV: {error}") for line in range(last + 1, reader.line_num + 1))
            continue
        if row is None:
            return
        yield reader.line_num, row or BLANK


def _named(names: list[str], row: list[str] | str) -> dict[str, str] | str:
    """The cells by their columns, or why there are none."""
    if isinstance(row, str):
        return row
    if len(row) != len(names):
        return f"no CSV row: it has another number of columns than the first, {len(row)} instead of {len(names)}"
    text = "".join(row)
    if "\0" in text or (not text.isascii() and "\udc80" in text):
        return "no text: it has bytes that are no UTF-8, or a NUL"
    return dict(zip(names, row, strict=True))


_BATCH: Final = 1024  # rows of a table


def parquet_texts(path: Path, columns: Sequence[str]) -> Iterator[dict[str, str]]:
    """The texts of ``columns`` of each row; missing values are "".

    Raises:
        UserError: as :func:`parquet_rows`, or a column has no texts.
    """
    library = pyarrow(path)
    types = _types(library, path)
    if wrong := [name for name in columns if name not in types or not _is_text(library, types[name])]:
        raise UserError(f"{path} has no column of text {', '.join(wrong)}: it has {', '.join(types)}")
    return ({name: value or "" for name, value in row.items()} for row in parquet_rows(path, columns))


def parquet_columns(path: Path) -> list[str]:
    """The columns of a file that have texts, lists of texts, or whole numbers.

    Raises:
        UserError: as :func:`parquet_rows`.
    """
    library = pyarrow(path)
    return [name for name, each in _types(library, path).items() if _is_read(library, each)]


def parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The values of ``columns`` of each row; missing ones are None.

    Raises:
        UserError: pyarrow is not installed; the file is damaged, or unpacks to far too much.
    """
    library = pyarrow(path)
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
    kind = kind.value_type if library.types.is_dictionary(kind) else kind
    return library.types.is_string(kind) or library.types.is_large_string(kind)


def _is_read(library: Any, kind: Any) -> bool:
    is_list = library.types.is_list(kind) or library.types.is_large_list(kind)
    numbers = (library.types.is_integer, library.types.is_boolean)
    return _is_text(library, kind.value_type if is_list else kind) or any(holds(kind) for holds in numbers)


def pyarrow(path: Path) -> Any:
    """The library that reads and writes Parquet; ``path``: the file that needs it.

    Raises:
        UserError: it is not installed.
    """
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
