"""Rows of CodeSearchNet, from java.zip, its unpacked JSON Lines, or the Hugging Face Hub's Parquet files.

``java.zip`` contains ``java/final/jsonl/{train,valid,test}/java_{split}_{n}.jsonl.gz``: one method per line. The Hub
has ``java/{train,validation,test}-*.parquet`` with the same rows under other names, which pyarrow reads, an optional
library of requirements-parquet.txt. The other languages have the same files under their names.
"""

import hashlib
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from data_prep.config import DEFAULT_LANGUAGE
from data_prep.errors import UserError
from data_prep.files.json_text import file_lines, json_objects, numbered_lines
from data_prep.files.reading import open_regular
from data_prep.files.text_rows import LeftOut, without_broken
from data_prep.records import SPLITS, SplitName
from data_prep.sources.parquet_rows import parquet_texts
from data_prep.sources.places import ARCHIVES

FIELDS: Final = ("repo", "path", "func_name", "code", "docstring")
"""The fields that a row must have; all are strings."""

IN_PARQUET: Final = {
    "repo": "repository_name",
    "path": "func_path_in_repository",
    "func_name": "func_name",
    "code": "func_code_string",
    "docstring": "func_documentation_string",
    "url": "func_code_url",
}
"""Field -> its column on the Hub."""

_NAME: Final = re.compile(r"(?:^|[/_])(?P<split>train|valid|test)(?:_(?P<number>\d+))?\.jsonl(?:\.gz)?$")
_LINES: Final = (".jsonl.gz", ".jsonl")
_PARQUET_NAME: Final = re.compile(r"(?:^|/)(?P<split>train|valid|test)(?:ation)?[-/][^/]*\.parquet$")


@dataclass(frozen=True, slots=True)
class Row:
    """A method of CodeSearchNet."""

    split: SplitName
    fields: Mapping[str, str]  # FIELDS, and url, which may be ""

    @property
    def sha256(self) -> int:
        """A checksum of the fields, as a number."""
        parts = [part.encode(errors="replace") for part in (self.split, *self.fields.values())]
        return int.from_bytes(hashlib.sha256(b"".join(b"%d:%s" % (len(part), part) for part in parts)).digest())


@dataclass(slots=True)
class RowCount:
    """Counts rows; the checksum is the sum of theirs modulo 2^256, so that it does not depend on their order."""

    rows: Counter[str] = field(default_factory=Counter)
    total: int = 0

    def add(self, row: Row) -> None:
        """Count ``row``."""
        self.rows[row.split] += 1
        self.total = (self.total + row.sha256) % (1 << 256)

    def record(self) -> dict[str, Any]:
        """The entry of a manifest."""
        return {"rows": {split: self.rows[split] for split in SPLITS}, "rows_sha256_sum": f"{self.total:064x}"}


def find_files(place: Path, language: str = "java") -> list[Path]:
    """The files at or under ``place``, training first: the archive, else JSON Lines, else Parquet files of all splits.

    Those of one language, by their names or folders; of Java, the default, those of another if it is the only one.
    """
    if place.is_file():
        return [place]
    for folder in (place, place / language):
        if (folder / f"{language}.zip").is_file():
            return [folder / f"{language}.zip"]
    files = [file for file in place.rglob("*.jsonl.gz") if file.is_file()]
    files += [file for file in place.rglob("*.jsonl") if file.is_file() and _NAME.search(file.as_posix())]
    tables = [file for file in place.rglob("*.parquet") if file.is_file() and parquet_split(file)]
    if found := _of_language(place, files, language):
        return sorted(found, key=lambda file: _order(file.as_posix()))
    tables = _of_language(place, tables, language)
    whole = {parquet_split(file) for file in tables} == set(SPLITS)
    return sorted(tables, key=lambda file: _order(file.as_posix())) if whole else []


def _of_language(place: Path, files: Sequence[Path], language: str) -> list[Path]:
    of = {file: language_in(file.relative_to(place)) for file in files}
    named = [file for file in files if of[file] == language]
    if named or language != DEFAULT_LANGUAGE:
        return named or [file for file in files if not of[file]]
    return [*files] if len({*of.values()}) == 1 else [file for file in files if not of[file]]


def language_in(path: Path) -> str:
    """The language that a file's name or one of its folders says; "" if none does."""
    named = (word for part in reversed(path.parts) for word in (part.partition("_")[0], part.removesuffix(".zip")))
    return next((word for word in named if word in ARCHIVES), "")


def read_rows(paths: list[Path], left_out: list[tuple[str, str]]) -> Iterator[Row]:
    """The rows of ``paths``, in order; those that are no JSON, without a text or in no split are in ``left_out``.

    Raises:
        UserError: a file is damaged, or no row of it has CodeSearchNet's fields.
    """
    for path in paths:
        if path.suffix == ".parquet":
            yield from _table_rows(path)
            continue
        try:
            for name, lines in _line_files(path):
                rows = ((number, _row(name, row)) for number, row in json_objects(name, lines, _listing(left_out)))
                for _, row in without_broken(name, rows, _listing(left_out)):
                    yield row
        except zipfile.BadZipFile as error:
            raise UserError(f"{path} is no whole zip file ({error}): get it again") from error


def _listing(left_out: list[tuple[str, str]]) -> LeftOut:
    return lambda *why: left_out.append(why)


def _row(name: str, row: Mapping[str, Any]) -> Row | str:
    """The row of a line, or why there is none."""
    wrong = [field for field in FIELDS if not isinstance(row.get(field), str)]
    if wrong:
        lacks = "null" if all(field in row for field in wrong) else "missing"
        return f"no line of CodeSearchNet: {', '.join(wrong)} {lacks}, expected texts in {', '.join(FIELDS)}"
    split = _split_of(name, row)
    if split is None:
        return "in none of the splits train, valid, test"
    return Row(split, {field: row[field] for field in FIELDS} | {"url": str(row.get("url") or "")})


def parquet_split(path: Path) -> SplitName | None:
    """The split that the name of a Parquet file says, such as validation-00000-of-00001.parquet."""
    found = _PARQUET_NAME.search(path.as_posix())
    return _split(found["split"]) if found else None


def _table_rows(path: Path) -> Iterator[Row]:
    split = parquet_split(path)
    if split is None:
        raise UserError(f"{path} has no split in its name: expected train-, validation- or test-*.parquet")
    for values in parquet_texts(path, tuple(IN_PARQUET.values())):
        yield Row(split, {name: values[column] for name, column in IN_PARQUET.items()})


def _line_files(path: Path) -> Iterator[tuple[str, Iterator[tuple[int, bytes]]]]:
    """The name and the numbered lines of each JSON Lines file."""
    with open_regular(path) as packed:
        if path.name.endswith(_LINES):
            yield path.as_posix(), file_lines(path, packed)
            return
        with zipfile.ZipFile(packed) as archive:
            names = [name for name in archive.namelist() if name.endswith(".jsonl.gz")]
            if not names:
                raise UserError(f"{path} contains no *.jsonl.gz: expected CodeSearchNet's java.zip")
            for name in sorted(names, key=_order):
                if archive.getinfo(name).flag_bits & 1:
                    raise UserError(f"{path} is encrypted: expected CodeSearchNet's java.zip")
                with archive.open(name) as file:
                    yield name, numbered_lines(f"{path}:{name}", file, archive.getinfo(name).file_size)


def _order(name: str) -> tuple[int, int, str]:
    """Sort key: split, number, name."""
    if found := _NAME.search(name):
        return [*SPLITS].index(_split(found["split"])), int(found["number"] or 0), name
    split = parquet_split(Path(name))
    return [*SPLITS].index(split) if split else len(SPLITS), 0, name


def _split_of(name: str, row: Mapping[str, Any]) -> SplitName | None:
    """The official split, of the file or else of the line."""
    if found := _NAME.search(name):
        return _split(found["split"])
    partition = row.get("partition")
    return _split(partition) if partition in SPLITS else None


def _split(name: str) -> SplitName:
    return next(split for split in SPLITS if split == name)
