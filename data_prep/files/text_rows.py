"""Rows of text files by whatever program wrote them: UTF-8 or UTF-16 by its mark, any line ends, blank lines, CSV.

What is no row is treated alike everywhere: it is left out, and its place and the reason are told. A file of which no
row remains is refused, and so is any broken row of a file that this program wrote for itself.
"""

import codecs
import csv
import io
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Final, TypeVar

from data_prep.errors import UserError
from data_prep.files.reading import open_regular

T = TypeVar("T")
LeftOut = Callable[[str, str], object]
"""Takes the place of a row that is left out, and why: "no JSON: ..."; what comes before the colon is the kind."""
BLANK: Final = "blank line"
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
        UserError: its first line is none, lacks one of the ``needed`` columns or names one twice, or no row is kept.
        OSError: it cannot be read, or is not a regular file.
    """
    with _decoded(open_regular(path), "") as file:
        rows = _cells(file, delimiter)
        names = next((row for _, row in rows if row != BLANK), [])
        if isinstance(names, str):
            raise UserError(f"{path}:1 is {names}")
        if twice := repeated(filter(None, names)):
            raise UserError(f"{path}:1 names the column {twice} twice: give each column a name of its own")
        if missing := [name for name in needed if name not in names]:
            raise UserError(f"{path} lacks the columns {', '.join(missing)}")
        yield from without_broken(str(path), ((line, _named(names, row)) for line, row in rows), left_out)


def repeated(names: Iterable[str]) -> str:
    """The first name that occurs again; "" if none does."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return ""


def _cells(file: io.TextIOWrapper, delimiter: str) -> Iterator[tuple[int, list[str] | str]]:
    """The cells of each row, or for each line of what is none the reason."""
    reader = csv.reader(file, strict=True, delimiter=delimiter)
    while True:
        last = reader.line_num
        try:
            row = next(reader, None)
        except csv.Error as error:
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
