"""Rows of pairs as people have them: JSON Lines, JSON, CSV, TSV and Parquet, under the names that the field uses.

Which columns of a row are what of a pair, what a label says, and the texts of a row.
"""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from data_prep.errors import UserError, printable, shown
from data_prep.files.access import named_path, open_regular, read_whole
from data_prep.files.json_text import json_array, json_lines, parse_json
from data_prep.files.text_rows import LeftOut, csv_rows, listed_names, parquet_columns, parquet_rows, repeated
from data_prep.records import SplitName

NO_MATCH: Final = "no match, by its label"
UNKNOWN_LABEL: Final = "unknown label"
_DECIDING: Final = ("query", "code", "label", "split")
"""Fields of which two columns with other texts are no row."""
_PERHAPS_TEXT: Final = "target"
"""A name of labels that some data sets have for texts."""
_LABELS: Final = {
    **dict.fromkeys(("true", "yes", "y", "match", "positive", "relevant", "correct"), True),
    **dict.fromkeys(("false", "no", "n", "no_match", "negative", "irrelevant", "incorrect"), False),
}
LONGEST_CODE: Final = 1 << 18
"""Characters of a code; the longest of CodeSearchNet's six languages are shorter."""
LONGEST_QUERY: Final = 10_000
"""Characters of a query that are read."""
UNKNOWN_SPLIT: Final = "unknown split"
SPLIT_WORDS: Final[Mapping[str, SplitName]] = MappingProxyType({
    "train": "train", "training": "train", "valid": "valid", "validation": "valid", "dev": "valid", "val": "valid",
    "development": "valid", "test": "test", "testing": "test", "eval": "test", "evaluation": "test",
})  # fmt: skip
_SEPARATOR: Final = "[CODESPLIT]"  # of GenCodeSearchNet's raw records
_START: Final = 1 << 10
_WORDS: Final = re.compile(r"[a-z]+")
_LINE: Final = re.compile(r"#L(\d{1,9})")
_TAKES: Final = "--data.columns takes FIELD=COLUMN,..."
_TEXTS: Final = ("language", "split", "group", "path", "name", "url", "licence", "id")


NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "query": (
        "query", "rewritten_intent", "intent", "question", "nl", "docstring", "func_documentation_string", "doc",
        "description", "summary", "comment", "documentation", "title", "text", "prompt", "query_text",
        "docstring_tokens", "func_documentation_tokens", "nl_tokens", "query_tokens",
    ),
    "code": (
        "code", "snippet", "func_code_string", "function", "func", "code_string", "method", "original_string",
        "whole_func_string", "source_code", "source", "body", "canonical_solution", "solution", "answer", "positive",
        "code_tokens", "func_code_tokens", "tokens",
    ),
    "id": ("id", "_id", "idx", "uid", "task_id", "question_id"),
    "language": ("language", "lang", "programming_language"),
    "split": ("split", "partition", "split_name", "fold"),
    "group": ("group", "repo", "repository", "repository_name", "repo_name", "project"),
    "path": ("path", "file", "filename", "file_name", "file_path", "func_path_in_repository"),
    "name": ("name", "func_name", "function_name", "method_name", "identifier"),
    "url": ("url", "func_code_url", "source_url", "link"),
    "licence": ("licence", "license"),
    "label": ("label", "target", "match"),
}  # fmt: skip
"""Field of a pair -> names of columns, the best first; of several the first with a text counts."""


def read_columns(text: str) -> dict[str, str]:
    """Field of a pair -> column, of ``query=intent,code=snippet`` or of a JSON file with the same; "": it has none.

    Raises:
        UserError: it is neither, or names a field that there is not, or one twice.
    """
    if not text.strip():
        return {}
    if "=" not in text and not named_path(text).exists():
        raise UserError(f"{_TAKES} or a JSON file with the same, not {shown(text)}")
    if "=" in text:
        parts = [part.strip().split("=", 1) for part in text.split(",") if "=" in part]
        if twice := repeated(field for field, _ in parts):
            raise UserError(f"--data.columns has the field {twice} twice: name one column for it")
        content: Any = dict(parts)
    else:
        content = parse_json(read_whole(named_path(text)), strict=True)
    if (
        not isinstance(content, dict)
        or not content.keys() <= NAMES.keys()
        or not {*map(type, content.values())} <= {str}
    ):
        raise UserError(f"{_TAKES} or a JSON file, with the fields {', '.join(NAMES)}")
    return content


def check_columns(path: Path, found: Collection[str], columns: Mapping[str, str]) -> None:
    """Check that a file, in which names were ``found``, has the ``columns`` that are named.

    Raises:
        UserError: it lacks one.
    """
    if missing := [name for name in columns.values() if name and name not in found]:
        raise UserError(f"{path} lacks the columns {', '.join(missing)}: it has {listed_names(found)}")


def chosen_columns(names: Iterable[str], columns: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Field of a pair -> the columns among ``names`` that may have it, the best first."""
    return dict(_chosen(tuple(names), tuple(columns.items())))


@lru_cache(maxsize=256)
def _chosen(names: tuple[str, ...], columns: tuple[tuple[str, str], ...]) -> Mapping[str, tuple[str, ...]]:
    plain = {_plain_name(name): name for name in reversed(names)}
    found = {each: tuple(plain[name] for name in known if name in plain) for each, known in NAMES.items()}
    return {**found, **{each: (name,) * (name in names) for each, name in columns}}


def _plain_name(name: str) -> str:
    return str(name).strip().lower().replace(" ", "_")


def unusable(row: Mapping[str, Any], columns: Mapping[str, str]) -> str:
    """Why a row is no pair, whatever its texts: its label, or two columns of one name; "" if it may be one."""
    for one, other in _twins(tuple(row), tuple(columns)):
        if row[one] != row[other]:
            return f"two columns of one name, {one} and {other}"
    for name in chosen_columns(row, columns)["label"]:
        said = of_label(row[name])
        if said is None and not (_plain_name(name) == _PERHAPS_TEXT and len(str(row[name]).split()) > 1):
            return f"{UNKNOWN_LABEL}: {row[name]!r:.40}"
        if said is False:
            return NO_MATCH
    return ""


@lru_cache(maxsize=256)
def _twins(names: tuple[str, ...], told: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Columns whose names differ in capitals and spaces alone, of fields that are not ``told``."""
    known = {name for field in _DECIDING if field not in told for name in NAMES[field]}
    first: dict[str, str] = {}
    pairs = ((first.setdefault(_plain_name(name), name), name) for name in names if _plain_name(name) in known)
    return tuple((one, other) for one, other in pairs if one != other)


def of_label(value: object) -> bool | None:
    """Whether a label says that a pair is a match, by a word or a number; no label says so. None: it is none."""
    text = str(value).strip().lower().replace(" ", "_").replace("-", "_") if value is not None else ""
    if not text or text in _LABELS:
        return _LABELS.get(text, True)
    try:
        number = float(str(value))
    except ValueError:
        return None
    return None if math.isnan(number) else number > 0


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


def split_in(path: Path) -> SplitName | None:
    """The split that the words of a file's name say, else those of its folder's."""
    for text in reversed(path.parts):
        named = {SPLIT_WORDS[word] for word in _WORDS.findall(text.lower()) if word in SPLIT_WORDS}
        if len(named) == 1:
            return named.pop()
    return None


def rows_of(path: Path, left_out: LeftOut, columns: Mapping[str, str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The place and the cells of each row."""
    if path.suffix == ".parquet":
        known = parquet_columns(path)
        check_columns(path, known, columns)
        chosen = chosen_columns(known, columns)
        complete = chosen["query"] and chosen["code"]
        wanted = {name for names in chosen.values() for name in names} if complete else {*known}
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
    row: Mapping[str, Any], where: str, split: SplitName | None, columns: Mapping[str, str], *, has_splits: bool = True
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
            if text not in ("", None) and not isinstance(text, str):
                return f"the {each} is no text"
            return f"no {each}" if named[each] else f"no {each}: {listed_names(row)}"
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
