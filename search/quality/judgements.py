"""What the user judged: which hits answer which questions, saved as a query file (docs/search-quality.md).

A hit that was judged relevant is one of its question's ``relevant`` places, another one of its ``irrelevant`` places,
so that ``bash run.sh quality DIR --queries=FILE`` measures the search by what its user says.
"""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from data_prep.files.folder_lock import sole_holder
from search.engine.question import words_of
from search.quality.query_file import LARGEST, checked_queries, read_json

MOST: Final = 10_000
"""Maximum number of questions that are saved."""
_LISTS: Final = ("relevant", "secondary", "irrelevant")


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
        place = {"path": path, "start_line": lines[0], "end_line": lines[1]}
        return self._changed(query.strip(), lambda found: _judged(found, place, relevant))

    def _changed(self, query: str, change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        lock = self.path.with_name(f".{self.path.name}.lock")
        with self._lock, sole_holder(lock, lambda: None, private=True):
            content = self._read()
            queries = content["queries"]
            found = next((each for each in queries if each["query"].strip() == query), None)
            if found is None:
                queries.append(found := {"query": query, "relevant": []})
            change(found)
            content["queries"] = [each for each in queries if any(each.get(name) for name in _LISTS)]
            text = json.dumps(content, indent=1) + "\n"
            if len(content["queries"]) > MOST or len(text) > LARGEST:
                raise UserError(f"{self.path} is full: it has {MOST:,} questions, or {LARGEST:,} bytes")
            write_atomically(self.path, text, private=True)
            return found

    def _read(self) -> dict[str, Any]:
        if not self.path.exists():
            return {"queries": []}
        content = read_json(self.path)
        try:
            checked_queries(content, fewest=0)
        except UserError as error:
            raise UserError(f"{self.path}: {error}") from error
        assert isinstance(content, dict)
        return content


def _judged(found: dict[str, Any], place: dict[str, Any], relevant: bool | None) -> None:
    """Put a place into the list that it belongs to, and into no other."""
    for name in _LISTS:
        if name in found:
            found[name] = [each for each in found[name] if each != place]
    if relevant is not None:
        found.setdefault("relevant" if relevant else "irrelevant", []).append(place)
