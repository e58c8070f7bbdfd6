"""Questions that people typed, with the files that answer them, from a JSON file (docs/search-quality.md).

The file holds one project, or several by name::

    {"root": "src", "queries": [
      {"query": "how sessions are stored", "category": "architecture",
       "relevant": [{"path": "src/session.py"}], "secondary": [{"path": "src/cookies.py", "start_line": 10}]}]}

``root`` is the folder inside of the measured one that is indexed; ``category`` and ``secondary`` may be left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from data_prep.bounds import shown
from data_prep.files.json_text import parse_json
from data_prep.files.reading import read_regular, reason
from search.engine.engine import words_of

FEWEST: Final = 2
"""Minimum number of queries: fewer have no interval."""
_LARGEST: Final = 64 << 20  # bytes
_PLACE: Final = frozenset(("path", "start_line", "end_line"))
_QUERY: Final = frozenset(("query", "category", "relevant", "secondary"))


@dataclass(frozen=True, slots=True)
class TypedQuery:
    """A question as typed, and the files that answer it."""

    text: str
    category: str
    paths: tuple[str, ...]  # relevant and secondary ones, each once, "/"-separated


@dataclass(frozen=True, slots=True)
class QueryFile:
    """The questions about one project."""

    root: str  # the folder to index, inside of the measured one; "": all of it
    queries: Sequence[TypedQuery]


def read_query_file(path: Path, project: str) -> QueryFile:
    """The questions of a file; lines of a place are checked, but only its path is used.

    Args:
        path: the file.
        project: which of several projects; a file of a single one needs none.

    Raises:
        ValueError: the file cannot be used; one line that says where and what was expected.
    """
    content = _content(path)
    try:
        return _project(_chosen(content, project))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def read_query_files(path: Path) -> dict[str, QueryFile]:
    """The questions of a file about several projects, by the name of each.

    Raises:
        ValueError: the file cannot be used, or holds a single project without a name.
    """
    content = _content(path)
    if isinstance(content, dict) and "queries" in content:
        raise ValueError(f'{path}: expected several projects, {{"NAME": {{"queries": [...]}}, ...}}, got one')
    found = {}
    for name in content if isinstance(content, dict) and content else [""]:
        try:
            found[name] = _project(_chosen(content, name))
        except ValueError as error:
            raise ValueError(f"{path}: {f'{shown(name)}: ' if name else ''}{error}") from error
    return found


def _content(path: Path) -> object:
    try:
        return parse_json(read_regular(path, _LARGEST, follow=True)[0])
    except OSError as error:
        raise ValueError(f"the queries {path} cannot be read: {reason(error)}") from error
    except ValueError as error:
        raise ValueError(f"the queries {path} are not JSON: {error}") from error


def _chosen(content: object, project: str) -> Mapping[str, Any]:
    """The project in the content of a file."""
    if not isinstance(content, dict) or not content:
        raise ValueError(f'expected {{"queries": [...]}} or several of these by name, got {shown(content)}')
    if "queries" in content:
        return content
    if not project and len(content) == 1:
        project = next(iter(content))
    if project not in content:
        known = ", ".join(content) if len(content) <= 12 else f"{len(content):,} names"
        got = f"no {shown(project)}" if project else "several projects"
        raise ValueError(f"{got}: name one by --project=, of {known}")
    found = content[project]
    if not isinstance(found, dict) or "queries" not in found:
        raise ValueError(f'{shown(project)}: expected {{"queries": [...]}}, got {shown(found)}')
    return found


def _project(found: Mapping[str, Any]) -> QueryFile:
    root, listed = found.get("root", ""), found["queries"]
    if not isinstance(root, str) or root.startswith("/") or ".." in root.split("/"):
        raise ValueError(f"root: expected a folder inside of the measured one, got {shown(root)}")
    if not isinstance(listed, list) or len(listed) < FEWEST:
        raise ValueError(f"queries: expected a list of {FEWEST} or more, got {shown(listed)}")
    queries = [_query(each, f"queries[{place}]") for place, each in enumerate(listed)]
    texts = [each.text for each in queries]
    for place, text in enumerate(texts):
        if text in texts[:place]:
            raise ValueError(f"queries[{place}]: {shown(text)} is there twice")
    return QueryFile(root, queries)


def _query(found: object, where: str) -> TypedQuery:
    if not isinstance(found, dict) or not {"query", "relevant"} <= found.keys() <= _QUERY:
        raise ValueError(f"{where}: expected query, relevant and perhaps category and secondary, got {shown(found)}")
    text, category = found["query"], found.get("category", "")
    if not isinstance(text, str) or not isinstance(category, str):
        raise ValueError(f"{where}: query and category are texts, got {shown(text)} and {shown(category)}")
    try:
        words_of(text)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    paths = [
        _path(place, f"{where}.{part}[{number}]")
        for part in ("relevant", "secondary")
        for number, place in enumerate(_places(found.get(part, []), f"{where}.{part}"))
    ]
    if not found["relevant"]:
        raise ValueError(f"{where}.relevant: expected the file that answers it, got none")
    return TypedQuery(text, category or category_of(text), tuple(dict.fromkeys(paths)))


def _places(found: object, where: str) -> Sequence[object]:
    if not isinstance(found, list):
        raise ValueError(f'{where}: expected a list such as [{{"path": "src/a.java"}}], got {shown(found)}')
    return found


def _path(found: object, where: str) -> str:
    if not isinstance(found, dict) or not {"path"} <= found.keys() <= _PLACE:
        raise ValueError(f"{where}: expected path and perhaps start_line and end_line, got {shown(found)}")
    path, lines = found["path"], [found[name] for name in ("start_line", "end_line") if name in found]
    if not isinstance(path, str) or not path.strip("/") or path.startswith("/"):
        raise ValueError(f"{where}: path is relative to the project's folder, got {shown(path)}")
    if any(type(line) is not int or line < 1 for line in lines) or lines != sorted(lines):
        raise ValueError(f"{where}: lines count from 1, the first before the last, got {shown(lines)}")
    return path


def category_of(query: str) -> str:
    """The category of a query that has none: a single word is a symbol, a question with how asks for architecture."""
    if " " not in query.strip():
        return "symbol"
    return "architecture" if query.lower().startswith("how ") else "semantic"
