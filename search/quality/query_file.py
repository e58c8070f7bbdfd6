"""Questions that people typed, with the files that answer them, in a JSON file (docs/search-quality.md).

The file holds one project, or several by name::

    {"root": "src", "queries": [
      {"query": "how sessions are stored", "category": "architecture",
       "relevant": [{"path": "src/session.py"}], "secondary": [{"path": "src/cookies.py", "start_line": 10}]}]}

``root`` is the folder inside of the measured one that is indexed; ``category`` and ``secondary`` may be left out.
``irrelevant`` are places that were judged not to answer it; a query that has only such is not measured.

:class:`Judgements` saves what a user says of hits in such a file: a hit that was judged relevant is one of its
question's ``relevant`` places, another one of its ``irrelevant`` places.
"""

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from data_prep.errors import UserError, shown
from data_prep.files.access import read_regular, reason
from data_prep.files.json_text import parse_json
from data_prep.files.writing import sole_holder, write_atomically
from search.engine.question import words_of

FEWEST: Final = 2
"""Minimum number of queries: fewer have no interval."""
LARGEST: Final = 64 << 20
"""Maximum number of bytes of a file."""
MOST_JUDGED: Final = 10_000
"""Maximum number of questions that judgements are saved of."""
_LISTS: Final = ("relevant", "secondary", "irrelevant")
_PLACE: Final = frozenset(("path", "start_line", "end_line"))
_QUERY: Final = frozenset(("query", "category", *_LISTS))


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
    kind: str = ""  # what it is about: projects of one kind may answer each other's questions (certainty_fit.py)


def read_query_file(path: Path, project: str) -> QueryFile:
    """The questions of a file; lines of a place are checked, but only its path is used.

    Args:
        path: the file.
        project: which of several projects; a file of a single one needs none.

    Raises:
        UserError: the file cannot be used; one line that says where and what was expected.
    """
    return _checked(f"{path}", _read_json(path), project)


def read_query_files(path: Path) -> dict[str, QueryFile]:
    """The questions of a file about several projects, by the name of each.

    Raises:
        UserError: the file cannot be used, or holds a single project without a name.
    """
    content = _read_json(path)
    if not isinstance(content, dict) or not content or "queries" in content:
        raise UserError(
            f'{path}: expected several projects, {{"NAME": {{"queries": [...]}}, ...}}, got {shown(content)}'
        )
    return {name: _checked(f"{path}: {shown(name)}", content, name) for name in content}


def checked_queries(content: object, project: str = "", *, fewest: int = FEWEST) -> QueryFile:
    """The questions in the content of a file.

    Args:
        content: as parsed.
        project: which of several projects.
        fewest: minimum number of queries that can be measured.

    Raises:
        UserError: it is not of this form; the message says where.
    """
    found = _chosen(content, project)
    root, listed, kind = found.get("root", ""), found["queries"], found.get("kind", "")
    if not isinstance(kind, str):
        raise UserError(f"kind: expected a text, got {shown(kind)}")
    if not isinstance(root, str) or root.startswith("/") or ".." in root.split("/"):
        raise UserError(f"root: expected a folder inside of the measured one, got {shown(root)}")
    if not isinstance(listed, list) or len(listed) < fewest:
        raise UserError(f"queries: expected a list of {fewest} or more, got {shown(listed)}")
    queries: dict[str, TypedQuery] = {}
    for place, each in enumerate(listed):
        query = _query(each, f"queries[{place}]")
        if query.text in queries:
            raise UserError(f"queries[{place}]: {shown(query.text)} is there twice")
        queries[query.text] = query
    answered = [each for each in queries.values() if each.paths]
    if len(answered) < fewest:
        raise UserError(f"queries: expected {fewest} or more with a relevant place, got {len(answered)}")
    return QueryFile(root, answered, kind)


def _checked(where: str, content: object, project: str = "", *, fewest: int = FEWEST) -> QueryFile:
    """The same; ``where`` begins the message of an error."""
    try:
        return checked_queries(content, project, fewest=fewest)
    except UserError as error:
        raise UserError(f"{where}: {error}") from error


def _read_json(path: Path) -> object:
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
    paths = {name: _paths(found.get(name, []), f"{where}.{name}") for name in _LISTS}
    if not any(paths.values()):
        raise UserError(f"{where}.relevant: expected the file that answers it, got none")
    answers = dict.fromkeys((*paths["relevant"], *paths["secondary"]))
    return TypedQuery(text, category or category_of(text), tuple(answers))


def _paths(places: object, where: str) -> list[str]:
    """The paths of a list of places."""
    if not isinstance(places, list):
        raise UserError(f'{where}: expected a list such as [{{"path": "src/a.java"}}], got {shown(places)}')
    for number, each in enumerate(places):
        own = f"{where}[{number}]"
        if not isinstance(each, dict) or not {"path"} <= each.keys() <= _PLACE:
            raise UserError(f"{own}: expected path and perhaps start_line and end_line, got {shown(each)}")
        path, lines = each["path"], [each[name] for name in ("start_line", "end_line") if name in each]
        if not isinstance(path, str) or not path.strip("/") or path.startswith("/"):
            raise UserError(f"{own}: path is relative to the project's folder, got {shown(path)}")
        if any(type(line) is not int or line < 1 for line in lines) or lines != sorted(lines):
            raise UserError(f"{own}: lines count from 1, the first before the last, got {shown(lines)}")
    return [each["path"] for each in places]


def category_of(query: str) -> str:
    """The category of a query that has none: a single word is a symbol, a question with how asks for architecture."""
    if " " not in query.strip():
        return "symbol"
    return "architecture" if query.lower().startswith("how ") else "semantic"


class Judgements:
    """The judged questions about one folder; thread-safe, and safe beside other processes."""

    def __init__(self, path: Path) -> None:
        """``path``: of the file, which need not exist yet."""
        self.path = path
        self._lock = threading.Lock()

    def queries(self) -> list[dict[str, Any]]:
        """The questions as the file has them.

        Raises:
            UserError: the file is damaged.
        """
        return self._read()["queries"]

    def judge(self, query: str, path: str, lines: tuple[int, int], relevant: bool | None) -> dict[str, Any]:
        """Save whether a place answers a question, in place of what was said of it before.

        Args:
            query: the question as typed.
            path: of the file, as hits have it.
            lines: first and last line, from 1.
            relevant: None: neither any more.

        Returns:
            The question as the file now has it.

        Raises:
            UserError: the question has no words, there are too many, or the file is damaged.
            OSError: it cannot be written; it is as it was.
        """
        words_of(query)
        text, place = query.strip(), {"path": path, "start_line": lines[0], "end_line": lines[1]}
        lock = self.path.with_name(f".{self.path.name}.lock")
        with self._lock, sole_holder(lock, lambda: None, private=True):
            content = self._read()
            queries = content["queries"]
            found = next((each for each in queries if each["query"].strip() == text), None)
            if found is None:
                queries.append(found := {"query": text, "relevant": []})
            for name in _LISTS:
                if name in found:
                    found[name] = [each for each in found[name] if each != place]
            if relevant is not None:
                found.setdefault("relevant" if relevant else "irrelevant", []).append(place)
            content["queries"] = [each for each in queries if any(each.get(name) for name in _LISTS)]
            self._write(content)
            return found

    def _write(self, content: dict[str, Any]) -> None:
        text = json.dumps(content, indent=1) + "\n"
        if len(content["queries"]) > MOST_JUDGED or len(text) > LARGEST:
            raise UserError(f"{self.path} is full: it has {MOST_JUDGED:,} questions, or {LARGEST:,} bytes")
        write_atomically(self.path, text, private=True)

    def _read(self) -> dict[str, Any]:
        if not self.path.exists():
            return {"queries": []}
        content = _read_json(self.path)
        _checked(f"{self.path}", content, fewest=0)
        assert isinstance(content, dict)
        return content
