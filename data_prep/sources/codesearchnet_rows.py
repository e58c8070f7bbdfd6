"""Rows of CodeSearchNet, from java.zip, its unpacked JSON Lines, or the Hugging Face Hub's Parquet files.

``java.zip`` contains ``java/final/jsonl/{train,valid,test}/java_{split}_{n}.jsonl.gz``: one method per line. The Hub
has ``java/{train,validation,test}-*.parquet`` with the same rows under other names, which pyarrow reads, an optional
library of requirements-parquet.txt. The other languages have the same files under their names.

Where they are fetched is listed here; docs/data.md has the evidence of each place. The archives' own address,
``s3.amazonaws.com/code-search-net``, has refused since April 2023. Zenodo and an early revision of the data set on the
Hugging Face Hub have the same archives; the Hub's present revision has the same rows as Parquet files.
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
from data_prep.files.access import ABSENT, open_regular, read_whole
from data_prep.files.json_text import file_lines, json_objects, numbered_lines, parse_json
from data_prep.files.text_rows import LeftOut, parquet_texts, without_broken
from data_prep.records import SPLITS, SplitName
from data_prep.sources.download import RECORD, Place, Remote

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

_ZENODO: Final = "https://zenodo.org/records/7857872/files"
_HUB: Final = "https://huggingface.co/datasets/code-search-net/code_search_net/resolve"
_REVISION_WITH_ARCHIVES: Final = "fdc6a9e39575768c27eb8a2a5f702bf846eb4759"
_PARQUET: Final = "pyarrow"
_PARQUET_SPLITS: Final = ("train", "validation", "test")
ARCHIVES: Final[Mapping[str, tuple[int, str]]] = {
    "python": (940_909_997, "7223c6460bebfa85697b586da91e47bc5d64790a4d60bba5917106458ab6b40e"),
    "php": (851_894_048, "c3bbf0d1b10010f88b058faea876f1f5471758399e30d58c11f78ff53660ce00"),
    "ruby": (111_758_028, "67aee5812d0f994df745c771c7791483f2b060561495747d424e307af4b342e6"),
    "go": (487_525_935, "15d23f01dc2796447e1736263e6830079289d5ef41f09988011afdcf8da6b6e5"),
    "javascript": (1_664_713_350, "fdc743f5af27f90c77584a2d29e2b7f8cecdd00c37b433c385b888ee062936dd"),
    "java": (1_060_569_153, "05f9204b1808413fab30f0e69229e298f6de4ad468279d53a2aa5797e3a78c17"),
}
"""Language -> bytes and sha256 of its original archive, by the ``datasets`` library's loader
(code_search_net/dataset_infos.json)."""
ROWS: Final[Mapping[str, Mapping[str, int]]] = {
    "python": {"train": 412_178, "valid": 23_107, "test": 22_176},
    "php": {"train": 523_712, "valid": 26_015, "test": 28_391},
    "ruby": {"train": 48_791, "valid": 2_209, "test": 2_279},
    "go": {"train": 317_832, "valid": 14_242, "test": 14_291},
    "javascript": {"train": 123_889, "valid": 8_253, "test": 6_483},
    "java": {"train": 454_451, "valid": 15_328, "test": 26_909},
}
"""Language -> rows of each split, from the same file."""

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


def places_of_codesearchnet(mirror: str = "", language: str = "java") -> list[Place]:
    """The places that have a language's part, in order; only ``mirror`` if given, an address with the same files."""
    name = f"{language}.zip"
    if mirror:
        base = mirror.rstrip("/")
        return [
            Place(f"{base}/{name}", {name: Remote(f"{base}/{name}")}),
            Place(f"{base}/{language}/*.parquet", _parquet_files(base, language), _PARQUET),
        ]
    archived = f"{_HUB}/{_REVISION_WITH_ARCHIVES}/data/{name}"
    known = ARCHIVES[language]
    return [
        Place("Zenodo", {name: Remote(f"{_ZENODO}/{name}", *known)}),
        Place(f"the Hugging Face Hub ({name})", {name: Remote(archived, *known)}),
        Place("the Hugging Face Hub (Parquet)", _parquet_files(f"{_HUB}/main", language), _PARQUET),
    ]


def _parquet_files(base: str, language: str) -> dict[str, Remote]:
    names = [f"{language}/{split}-00000-of-00001.parquet" for split in _PARQUET_SPLITS]
    return {name: Remote(f"{base}/{name}") for name in names}


def place_of(folder: Path) -> str:
    """The place that the files in ``folder`` were fetched from; "" if they were put there in another way."""
    try:
        record = parse_json(read_whole(folder / RECORD))
    except (*ABSENT, UserError):
        return ""
    place = record.get("place") if isinstance(record, dict) else None
    return place if isinstance(place, str) else ""
