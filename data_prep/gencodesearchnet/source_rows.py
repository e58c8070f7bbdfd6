"""Rows of GenCodeSearchNet's source files: JSON Lines, a JSON array or CSV, each with its location."""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data_prep.errors import UserError
from data_prep.files.json_lines import json_lines
from data_prep.files.json_text import parse_json
from data_prep.files.reading import open_regular, read_whole
from data_prep.gencodesearchnet.records import encodable


@dataclass(frozen=True, slots=True)
class Row:
    """An object of a file, and its location."""

    where: str
    fields: Mapping[str, Any]

    def text(self, *names: str) -> str:
        """The value of the first of the fields ``names`` that the row has; a list of tokens is joined by one space.

        Raises:
            UserError: the row has none of them, or it is neither a text nor a list of texts.
        """
        value = self._value(names)
        if isinstance(value, list) and all(isinstance(token, str) for token in value):
            value = " ".join(value)
        if not isinstance(value, str):
            raise UserError(f"{self.where}: expected a text or a list of tokens in {_any(names)}, not {value!r:.40}")
        return encodable(value, self.where)

    def words(self, *names: str) -> list[str]:
        """The tokens in the first of the fields ``names`` that the row has; a text split at its spaces."""
        value = self._value(names)
        return value if isinstance(value, list) and self.text(*names) else self.text(*names).split()

    def label(self, name: str) -> int:
        """The 0 or 1 in the field ``name``.

        Raises:
            UserError: there is something else.
        """
        value = self._value((name,))
        if type(value) is not int or value not in (0, 1):
            raise UserError(f"{self.where}: expected 0 or 1 in {name!r}, not {value!r:.40}")
        return value

    def _value(self, names: tuple[str, ...]) -> Any:
        for name in names:
            if name in self.fields:
                return self.fields[name]
        has = ", ".join(map(str, self.fields))
        raise UserError(f"{self.where}: expected the field {_any(names)}, but the row has {has or 'none'}")


def source_rows(path: Path) -> Iterator[Row]:
    """The rows of a file: CSV with a line of names, a JSON array of objects (``.json``), else JSON Lines.

    Raises:
        UserError: the file is damaged or of another form; the message names it and the line.
        OSError: it cannot be read, or is not a regular file.
    """
    if path.suffix == ".csv":
        return _csv_rows(path)
    if path.suffix == ".json":
        return _array_rows(path)
    return (Row(f"{path}:{number}", fields) for number, fields in json_lines(path))


def _csv_rows(path: Path) -> Iterator[Row]:
    line = 0
    try:
        with io.TextIOWrapper(open_regular(path), encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            for fields in reader:
                line = reader.line_num
                yield Row(f"{path}:{line}", fields)
    except (csv.Error, UnicodeDecodeError) as error:
        raise UserError(f"{path} is no CSV in UTF-8 after line {line} ({error})") from error


def _array_rows(path: Path) -> Iterator[Row]:
    try:
        rows = parse_json(read_whole(path))
    except UserError as error:
        raise UserError(f"{path} is no JSON: {error}") from error
    if not isinstance(rows, list):
        raise UserError(f"{path} is no JSON array, but {rows!r:.40}")
    for number, fields in enumerate(rows, 1):
        if not isinstance(fields, dict):
            raise UserError(f"{path}: expected an object as element {number}, not {fields!r:.40}")
        yield Row(f"{path}, element {number}", fields)


def _any(names: tuple[str, ...]) -> str:
    return " or ".join(map(repr, names))
