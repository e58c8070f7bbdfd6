"""Rows of pairs as people have them: JSON Lines, JSON, CSV, TSV and Parquet, under the names that the field uses."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from data_prep.errors import UserError, printable
from data_prep.files.access import named_path, open_regular
from data_prep.files.json_text import json_array, json_lines
from data_prep.files.text_rows import LeftOut, csv_rows, parquet_columns, parquet_rows
from data_prep.records import SplitName
from data_prep.sources.pair_columns import check_columns, chosen_columns, unusable

LONGEST_CODE: Final = 1 << 18
"""Characters of a code; the longest of CodeSearchNet's six languages are shorter."""
LONGEST_QUERY: Final = 10_000
"""Characters of a query that are read."""
UNKNOWN_SPLIT: Final = "unknown split"
SPLIT_WORDS: Final[Mapping[str, SplitName]] = MappingProxyType({
    "train": "train", "training": "train", "valid": "valid", "validation": "valid", "dev": "valid", "val": "valid",
    "development": "valid", "test": "test", "testing": "test", "eval": "test", "evaluation": "test",
})  # fmt: skip
FORMS: Final = (".jsonl", ".jsonl.gz", ".json", ".ndjson", ".csv", ".tsv", ".parquet")
_SEPARATOR: Final = "[CODESPLIT]"  # of GenCodeSearchNet's raw records
_START: Final = 1 << 10
_WORDS: Final = re.compile(r"[a-z]+")
_LINE: Final = re.compile(r"#L(\d{1,9})")
_TEXTS: Final = ("language", "split", "group", "path", "name", "url", "licence", "id")


class PairRow(NamedTuple):  # which is made sooner than a dataclass
    """A code with its query, as a file has them."""

    where: str  # file:line
    query: str  # "": the code is a candidate only
    code: str
    split: SplitName | None = None
    language: str = ""  # as it is written
    group: str = ""
    path: str = ""
    line: int = 1  # of the code in its file
    name: str = ""
    licence: str = ""
    id: str = ""  # of the row, unless its file says none
    code_id: str = ""  # by which codes are told apart; "": by their text


@dataclass(slots=True)
class PairFile:
    """A file of rows, and the split that it is for; None: its rows or their number tell it."""

    path: Path
    split: SplitName | None = None


@dataclass(slots=True)
class PairSource:
    """The files that ``--data.path`` names, and what their columns are called."""

    files: Sequence[PairFile]
    columns: Mapping[str, str] = field(default_factory=dict)  # field of a pair -> column
    has_splits: bool = True  # False: what rows say of it is not read

    def rows(self, left_out: LeftOut) -> Iterator[PairRow]:
        """The rows of all files, in order; what is none is told with its place and the reason.

        Raises:
            UserError: a file cannot be read as what its name says, or lacks a column.
        """
        for file in self.files:
            for where, row in _rows_of(file.path, left_out, self.columns):
                found = pair_row(row, where, file.split, self.columns, has_splits=self.has_splits)
                if isinstance(found, str):
                    left_out(where, found)
                else:
                    yield found


def named_files(text: str) -> list[PairFile]:
    """The files of a comma-separated list of files, folders and patterns, each with ``train=``, ``test=`` or none.

    A file without it is for the split that its name has, such as ``dev.jsonl``, if others are of another, or if it is a
    test.

    Raises:
        UserError: there is no such file, or it has no known form.
    """
    found, told = list[PairFile](), list[SplitName | None]()
    for split, name in _parts(text):
        place = named_path(name)
        for path in _files_at(place):
            found.append(PairFile(path, SPLIT_WORDS.get(split)))
            told.append(_split_in(path.relative_to(place) if place.is_dir() else Path(path.name)))
    names = {own for own, file in zip(told, found, strict=True) if not file.split}
    if len(names) > 1 or names == {"test"}:
        for own, file in zip(told, found, strict=True):
            file.split = file.split or own
    return found


def _parts(text: str) -> list[tuple[str, str]]:
    """The split, "" for none, and the path of each part of a list of files."""
    if named_path(text).exists():
        return [("", text)]
    found = []
    for part in text.split(","):
        word, _, name = part.strip().partition("=")
        found.append((word.lower(), name) if word.lower() in SPLIT_WORDS else ("", part.strip()))
    return found


def absolute_list(text: str) -> str:
    """A list of files, folders and patterns with absolute paths, by which another folder finds them too."""
    return ",".join(f"{split}{'=' * bool(split)}{named_path(name)}" for split, name in _parts(text))


def _files_at(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(each for each in path.rglob("*") if each.name.endswith(FORMS) and each.is_file())
    elif {*"*?["} & {*path.name} and not path.exists():
        found = sorted(each for each in path.parent.glob(path.name) if each.is_file())
    else:
        found = [path] if path.exists() else []
    if not found:
        raise UserError(f"--data.path={path} has no file of pairs: expected {', '.join(FORMS)}, or a folder of them")
    if unknown := [each for each in found if not each.name.endswith(FORMS)]:
        raise UserError(f"{unknown[0]} has no known form: expected a name that ends in {', '.join(FORMS)}")
    return found


def _split_in(path: Path) -> SplitName | None:
    """The split that the words of a file's name say, else those of its folder's."""
    for text in reversed(path.parts):
        named = {SPLIT_WORDS[word] for word in _WORDS.findall(text.lower()) if word in SPLIT_WORDS}
        if len(named) == 1:
            return named.pop()
    return None


def _rows_of(path: Path, left_out: LeftOut, columns: Mapping[str, str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The place and the cells of each row."""
    if path.suffix == ".parquet":
        wanted = {name for names in chosen_columns(parquet_columns(path), columns).values() for name in names}
        check_columns(path, wanted, columns)
        if not wanted:
            left_out(f"{path}:1", "no query")
        rows: Iterable[tuple[int, Mapping[str, Any]]] = enumerate(parquet_rows(path, sorted(wanted)), 1)
    elif path.suffix in (".csv", ".tsv"):
        rows = csv_rows(
            path, left_out, [*filter(None, columns.values())], delimiter="\t" if path.suffix == ".tsv" else ","
        )
    elif path.suffix == ".json" and _begins_array(path):
        rows = json_array(path, left_out)
    else:
        rows = json_lines(path, left_out)
    return ((f"{path}:{number}", row) for number, row in rows)


def _begins_array(path: Path) -> bool:
    with open_regular(path) as file:
        return file.read(_START).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")


def pair_row(
    row: Mapping[str, Any],
    where: str,
    split: SplitName | None,
    columns: Mapping[str, str],
    *,
    has_splits: bool = True,
) -> PairRow | str:
    """The pair of a row, or why it is none."""
    named = chosen_columns(row, columns)
    if not named["code"] and isinstance(row.get("input"), str) and _SEPARATOR in row["input"]:
        text, _, code = row["input"].partition(_SEPARATOR)
        return pair_row(
            {**row, "input": None, "query": text, "code": code.strip()}, where, split, columns, has_splits=has_splits
        )
    if reason := unusable(row, columns):
        return reason
    query, code = (_first_text(row, named[each]) for each in ("query", "code"))
    for each, text in (("query", query), ("code", code)):
        if not isinstance(text, str) or not text.strip():
            return f"no {each}" if text in ("", None) or isinstance(text, str) else f"the {each} is no text"
    more = {each: _plain(_first_text(row, named[each])) if named[each] else "" for each in _TEXTS}
    if more["split"] and has_splits:
        split = SPLIT_WORDS.get(more["split"].lower())
        if split is None:
            return f"{UNKNOWN_SPLIT}: {more['split']:.40}"
    return bounded(PairRow(
        where, query, code, split, more["language"], more["group"], more["path"] or more["url"],
        _line_of(more["url"]), more["name"], more["licence"], more["id"],
    ))  # fmt: skip


def bounded(row: PairRow) -> PairRow | str:
    """``row``, or why it is none: its texts are too long or cannot be stored."""
    if len(row.code) > LONGEST_CODE:
        return f"code of more than {LONGEST_CODE:,} characters"
    try:
        "".join((row.query, row.code, row.path, row.group, row.name, row.licence, row.language, row.code_id)).encode()
    except UnicodeEncodeError:
        return "half a surrogate pair"
    return row


def query_text(text: str) -> str:
    """The text of a query in one line, for display."""
    return printable(" ".join(text[:LONGEST_QUERY].split()))


def _first_text(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The first text among some columns, tokens joined by spaces; else the first value that is none."""
    if len(names) == 1:
        return _text(row[names[0]])
    values = [_text(row[name]) for name in names]
    texts = (value for value in values if isinstance(value, str) and value.strip())
    return next(texts, next((value for value in values if value not in ("", None)), ""))


def _text(value: Any) -> Any:
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return " ".join(value)
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _plain(value: Any) -> str:
    return printable(" ".join(value.split()))[:1000] if isinstance(value, str) else ""


def _line_of(url: str) -> int:
    place = _LINE.search(url)
    return int(place[1]) if place else 1
