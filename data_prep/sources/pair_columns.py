"""Which columns of a row are what of a pair: the names that the field uses, and what a label says."""

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from data_prep.errors import UserError
from data_prep.files.access import named_path, read_whole
from data_prep.files.json_text import parse_json
from data_prep.files.text_rows import repeated

NO_MATCH: Final = "no match, by its label"
UNKNOWN_LABEL: Final = "unknown label"
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
_DECIDING: Final = ("query", "code", "label", "split")
"""Fields of which two columns with other texts are no row."""
_PERHAPS_TEXT: Final = "target"
"""A name of labels that some data sets have for texts."""
_LABELS: Final = {
    **dict.fromkeys(("true", "yes", "y", "match", "positive", "relevant", "correct"), True),
    **dict.fromkeys(("false", "no", "n", "no_match", "negative", "irrelevant", "incorrect"), False),
}


def read_columns(text: str) -> dict[str, str]:
    """Field of a pair -> column, of ``query=intent,code=snippet`` or of a JSON file with the same; "": it has none.

    Raises:
        UserError: it is neither, or names a field that there is not, or one twice.
    """
    if not text.strip():
        return {}
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
        raise UserError(f"--data.columns takes FIELD=COLUMN,... or a JSON file, with the fields {', '.join(NAMES)}")
    return content


def check_columns(path: Path, found: set[str], columns: Mapping[str, str]) -> None:
    """Check that a file has the ``columns`` that are named.

    Raises:
        UserError: it lacks one.
    """
    if missing := [name for name in columns.values() if name and name not in found]:
        raise UserError(f"{path} lacks the columns {', '.join(missing)}")


def chosen_columns(names: Iterable[str], columns: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Field of a pair -> the columns among ``names`` that may have it, the best first."""
    return dict(_chosen(tuple(names), tuple(columns.items())))


@lru_cache(maxsize=256)
def _chosen(names: tuple[str, ...], columns: tuple[tuple[str, str], ...]) -> Mapping[str, tuple[str, ...]]:
    plain = {_plain(name): name for name in reversed(names)}
    found = {each: tuple(plain[name] for name in known if name in plain) for each, known in NAMES.items()}
    return {**found, **{each: (name,) * (name in names) for each, name in columns}}


def _plain(name: str) -> str:
    return str(name).strip().lower().replace(" ", "_")


def unusable(row: Mapping[str, Any], columns: Mapping[str, str]) -> str:
    """Why a row is no pair, whatever its texts: its label, or two columns of one name; "" if it may be one."""
    for one, other in _twins(tuple(row), tuple(columns)):
        if row[one] != row[other]:
            return f"two columns of one name, {one} and {other}"
    for name in chosen_columns(row, columns)["label"]:
        said = of_label(row[name])
        if said is None and not (_plain(name) == _PERHAPS_TEXT and len(str(row[name]).split()) > 1):
            return f"{UNKNOWN_LABEL}: {row[name]!r:.40}"
        if said is False:
            return NO_MATCH
    return ""


@lru_cache(maxsize=256)
def _twins(names: tuple[str, ...], told: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Columns whose names differ in capitals and spaces alone, of fields that are not ``told``."""
    known = {name for field in _DECIDING if field not in told for name in NAMES[field]}
    first: dict[str, str] = {}
    pairs = ((first.setdefault(_plain(name), name), name) for name in names if _plain(name) in known)
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
