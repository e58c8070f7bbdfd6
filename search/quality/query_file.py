"""Questions that people typed, with the files that answer them, from a JSON file (docs/search-quality.md).

The file holds one project, or several by name::

    {"root": "src", "queries": [
      {"query": "how sessions are stored", "category": "architecture",
       "relevant": [{"path": "src/session.py"}], "secondary": [{"path": "src/cookies.py", "start_line": 10}]}]}

``root`` is the folder inside of the measured one that is indexed; ``category`` and ``secondary`` may be left out.
``irrelevant`` are places that were judged not to answer it; a query that has only such is not measured.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from data_prep.bounds import shown
from data_prep.errors import UserError
from data_prep.files.json_text import parse_json
from data_prep.files.reading import read_regular, reason
from search.engine.question import words_of

FEWEST: Final = 2
"""Minimum number of queries: fewer have no interval."""
LARGEST: Final = 64 << 20
"""Maximum number of bytes of a file."""
_PLACE: Final = frozenset(("path", "start_line", "end_line"))
_QUERY: Final = frozenset(("query", "category", "relevant", "secondary", "irrelevant"))


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
        UserError: the file cannot be used; one line that says where and what was expected.
    """
    content = read_json(path)
    try:
        return checked_queries(content, project)
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def read_query_files(path: Path) -> dict[str, QueryFile]:
    """The questions of a file about several projects, by the name of each.

    Raises:
        UserError: the file cannot be used, or holds a single project without a name.
    """
    content = read_json(path)
    if isinstance(content, dict) and "queries" in content:
        raise UserError(f'{path}: expected several projects, {{"NAME": {{"queries": [...]}}, ...}}, got one')
    found = {}
    for name in content if isinstance(content, dict) and content else [""]:
        try:
            found[name] = checked_queries(content, name)
        except UserError as error:
            raise UserError(f"{path}: {f'{shown(name)}: ' if name else ''}{error}") from error
    return found


def checked_queries(content: object, project: str = "", *, fewest: int = FEWEST) -> QueryFile:
    """The questions in the content of a file.

    Args:
        content: as parsed.
        project: which of several projects.
        fewest: minimum number of queries that can be measured.

    Raises:
        UserError: it is not of this form; the message says where.
    """
    return _project(_chosen(content, project), fewest)


def read_json(path: Path) -> object:
    """The content of a file of queries.

    Raises:
        UserError: it cannot be read, or is not JSON.
    """
    try:
        return parse_json(read_regular(path, LARGEST, follow=True)[0])
    except OSError as error:
        raise UserError(f"the queries {path} cannot be read: {reason(error)}") from error
    except UserError as error:
        raise UserError(f"the queries {path} are not JSON: {error}") from error


def _chosen(content: object, project: str) -> Mapping[str, Any]:
    """The project in the content of a file."""
    if not isinstance(content, dict) or not content:
        raise UserError(f'expected {{"queries": [...]}} or several of these by name, got {shown(content)}')
    if "queries" in content:
        return content
    if not project and len(content) == 1:
        project = next(iter(content))
    if project not in content:
        known = ", ".join(content) if len(content) <= 12 else f"{len(content):,} names"
        got = f"no {shown(project)}" if project else "several projects"
        raise UserError(f"{got}: name one by --project=, of {known}")
    found = content[project]
    if not isinstance(found, dict) or "queries" not in found:
        raise UserError(f'{shown(project)}: expected {{"queries": [...]}}, got {shown(found)}')
    return found


def _project(found: Mapping[str, Any], fewest: int) -> QueryFile:
    root, listed = found.get("root", ""), found["queries"]
    if not isinstance(root, str) or root.startswith("/") or ".." in root.split("/"):
        raise UserError(f"root: expected a folder inside of the measured one, got {shown(root)}")
    if not isinstance(listed, list) or len(listed) < fewest:
        raise UserError(f"queries: expected a list of {fewest} or more, got {shown(listed)}")
    queries = [_query(each, f"queries[{place}]") for place, each in enumerate(listed)]
    texts: set[str] = set()
    for place, each in enumerate(queries):
        if each.text in texts:
            raise UserError(f"queries[{place}]: {shown(each.text)} is there twice")
        texts.add(each.text)
    answered = [each for each in queries if each.paths]
    if len(answered) < fewest:
        raise UserError(f"queries: expected {fewest} or more with a relevant place, got {len(answered)}")
    return QueryFile(root, answered)


def _query(found: object, where: str) -> TypedQuery:
    if not isinstance(found, dict) or not {"query", "relevant"} <= found.keys() <= _QUERY:
        raise UserError(
            f"{where}: expected query, relevant and perhaps category, secondary and irrelevant, got {shown(found)}"
        )
    text, category = found["query"], found.get("category", "")
    if not isinstance(text, str) or not isinstance(category, str):
        raise UserError(f"{where}: query and category are texts, got {shown(text)} and {shown(category)}")
    try:
        words_of(text)
    except UserError as error:
        raise UserError(f"{where}: {error}") from error
    paths = [
        _path(place, f"{where}.{part}[{number}]")
        for part in ("relevant", "secondary")
        for number, place in enumerate(_places(found.get(part, []), f"{where}.{part}"))
    ]
    places = _places(found.get("irrelevant", []), f"{where}.irrelevant")
    judged = [_path(place, f"{where}.irrelevant[{number}]") for number, place in enumerate(places)]
    if not paths and not judged:
        raise UserError(f"{where}.relevant: expected the file that answers it, got none")
    return TypedQuery(text, category or category_of(text), tuple(dict.fromkeys(paths)))


def _places(found: object, where: str) -> Sequence[object]:
    if not isinstance(found, list):
        raise UserError(f'{where}: expected a list such as [{{"path": "src/a.java"}}], got {shown(found)}')
    return found


def _path(found: object, where: str) -> str:
    if not isinstance(found, dict) or not {"path"} <= found.keys() <= _PLACE:
        raise UserError(f"{where}: expected path and perhaps start_line and end_line, got {shown(found)}")
    path, lines = found["path"], [found[name] for name in ("start_line", "end_line") if name in found]
    if not isinstance(path, str) or not path.strip("/") or path.startswith("/"):
        raise UserError(f"{where}: path is relative to the project's folder, got {shown(path)}")
    if any(type(line) is not int or line < 1 for line in lines) or lines != sorted(lines):
        raise UserError(f"{where}: lines count from 1, the first before the last, got {shown(lines)}")
    return path


def category_of(query: str) -> str:
    """The category of a query that has none: a single word is a symbol, a question with how asks for architecture."""
    if " " not in query.strip():
        return "symbol"
    return "architecture" if query.lower().startswith("how ") else "semantic"
