"""What coding agents can ask: the tools of the MCP server, as plain functions over an index.

Answers are cut to a budget of tokens, of which four characters count as one. All texts are those of the indexed code,
which is not trusted: an agent should read them as data.
"""

from typing import Any, Final, Literal

from data_prep.bounds import shown
from search.engine.engine import Hit
from search.engine.show import aligned, explained, result
from search.index.code_index import Index
from search.serve.fresh_index import FreshIndex

CHARACTERS: Final = 4
"""Characters that count as a token."""
BUDGET: Final = 4000
_LEAST, _MOST = 100, 100_000
_HITS: Final = 50
_HEAD: Final = 400
"""Characters that a hit takes without its source, about."""
_FIELDS: Final = ("rank", "path", "start_line", "end_line", "name", "signature", "documentation", "license", "url")


class AgentTools:
    """The tools; a wrong argument is a ValueError with one line."""

    def __init__(self, index: FreshIndex) -> None:
        """``index``: of the folder that is asked about."""
        self._index = index

    def search(
        self,
        question: str,
        top: int = 10,
        by: Literal["method", "file"] = "method",
        path: str = "",
        budget: int = BUDGET,
    ) -> dict[str, Any]:
        """Find methods, types and files by a question in words ("how are sessions stored") or by a name.

        Args:
            question: what is looked for, in English words, or an identifier such as JsonReader.nextName.
            top: how many hits, 1 to 50.
            by: method: the best functions and types; file: the best files, each with its best method.
            path: only files whose path matches this pattern, such as src/*; empty: all.
            budget: tokens of the answer, about; longer sources are cut, and hits that do not fit are left out.
        """
        _check("top", top, 1, _HITS)
        _check("budget", budget, _LEAST, _MOST)
        if by not in ("method", "file"):
            raise ValueError(f"by takes method or file, not {shown(by)}")
        engine = self._index.engine
        hits = engine.search(question, top=top, path=path, by_file=by == "file")
        rest = budget * CHARACTERS
        found: list[dict[str, Any]] = []
        share = max(_HEAD, rest // max(1, len(hits)) - _HEAD)
        for hit in hits:
            told = result(engine, question, hit, explain=False)
            entry = {name: told[name] for name in _FIELDS} | _cut(told["source"], min(share, rest))
            size = sum(len(str(value)) for value in entry.values())
            if size > rest and found:
                break
            rest -= size
            found.append(entry)
        return {"question": question, "results": found, "left_out": len(hits) - len(found)}

    def explain(self, question: str, path: str, line: int) -> dict[str, Any]:
        """Why a place matches a question: the scores of its method, and which of its words each word aligns with.

        Args:
            question: as asked before.
            path: of the file, as search gives it.
            line: any line of the method, from 1.
        """
        engine = self._index.engine
        row = row_at(engine.index, path, line)
        hits = engine.search(question, top=len(engine.index))
        hit = next((each for each in hits if each.row == row), None)
        if hit is None:
            return {"question": question, "name": engine.index.names[row], "rank": None, "words": []}
        alignment = aligned(engine, question, hit)
        told = result(engine, question, hit, explain=False)
        parts = {name: told[name] for name in ("rank", "name", "score", "bm25", "model", "vectors", "file", "stage")}
        return {"question": question, **parts, "words": explained(alignment) if alignment else []}

    def read_unit(self, path: str, line: int, budget: int = BUDGET) -> dict[str, Any]:
        """The whole source of the method, type or file at a place, with its comment's first sentence and its licence.

        Args:
            path: of the file, as search gives it.
            line: any line of it, from 1.
            budget: tokens of its source; a longer one is cut.
        """
        _check("budget", budget, _LEAST, _MOST)
        engine = self._index.engine
        row = row_at(engine.index, path, line)
        hit = Hit(1, row, 0.0, 0.0, None, None, 0.0, "name")
        told = result(engine, "", hit, explain=False)
        entry = {name: told[name] for name in _FIELDS if name != "rank"}
        return entry | _cut(told["source"], budget * CHARACTERS)


def file_number(index: Index, path: str) -> int:
    """The number of the file with this path.

    Raises:
        ValueError: there is none.
    """
    number = next((place for place, file in enumerate(index.files) if file.path == path), None)
    if number is None:
        raise ValueError(f"there is no indexed file {shown(path)}: take a path as search gives it")
    return number


def row_at(index: Index, path: str, line: int) -> int:
    """The innermost row of the index at a line.

    Raises:
        ValueError: there is none.
    """
    number = file_number(index, path)
    rows = range(int(index.file_edges[number]), int(index.file_edges[number + 1]))
    places = ((index.split.text(row), row) for row in rows)
    around = [
        (text.end_line - text.start_line, row) for text, row in places if text.start_line <= line <= text.end_line
    ]
    if not around:
        raise ValueError(f"line {line} of {path} is in no method or type")
    return min(around)[1]


def _check(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise ValueError(f"{name} takes a whole number from {least} to {most:,}, not {shown(value)}")


def _cut(source: str, most: int) -> dict[str, Any]:
    """A source of at most ``most`` characters, at whole lines if possible, and whether it is all of it."""
    if len(source) <= most:
        return {"source": source, "whole": True}
    part = source[: max(0, most)]
    return {"source": part[: part.rfind("\n") + 1] or part, "whole": False}
