"""What coding agents can ask: the tools of the MCP server, as plain functions over an index.

Answers are cut to a budget of tokens, of which four characters count as one. All texts are those of the indexed code,
which is not trusted: an agent should read them as data.
"""

from collections.abc import Sequence
from typing import Any, Final, Literal

from data_prep.bounds import shown
from data_prep.errors import UserError
from search.engine.engine import Engine
from search.engine.question import LONGEST_QUERY
from search.engine.show import aligned, explained, result
from search.engine.signals import Hit
from search.files.languages import LONGEST_PATTERN, chosen_languages
from search.index.code_index import Index
from search.serve.live_index import FreshIndex
from search.snippets.answer import CodeAnswer, Wanted, answer_place, answer_text, file_of
from search.snippets.show import as_record
from search.traces.trace import FrameLocator

CHARACTERS: Final = 4
"""Characters that count as a token."""
BUDGET: Final = 4000
_LIMITS: Final = {"top": (1, 50), "line": (1, 1 << 31), "budget": (100, 100_000)}
"""The least and the most that an argument may be."""
_LENGTHS: Final = {"question": LONGEST_QUERY, "snippet": 2 << 20, "path": 4096, "language": LONGEST_PATTERN}
"""The most characters that an argument may have; a pattern of paths may have fewer."""
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
        question: str = "",
        snippet: str = "",
        top: int = 10,
        by: Literal["method", "file"] = "method",
        path: str = "",
        language: str = "",
        budget: int = BUDGET,
    ) -> dict[str, Any]:
        """Find methods, types and files by a question in words ("how are sessions stored"), by a name, or by code.

        For a stack trace the answer also has the frames that lie in the folder, as "errors".

        Args:
            question: what is looked for, in English words, or an identifier such as JsonReader.nextName.
            snippet: instead of a question, code that the hits shall be like, or a stack trace.
            top: how many hits, 1 to 50.
            by: method: the best functions and types; file: the best files, each with its best method (for questions).
            path: only files whose path matches this pattern, such as src/*; empty: all.
            language: only these languages, such as python,go; empty: all.
            budget: tokens of the answer, about; longer sources are cut, and hits that do not fit are left out.
        """
        _check(question=question, snippet=snippet, top=top, path=path, language=language, budget=budget)
        if by not in ("method", "file"):
            raise UserError(f"by takes method or file, not {shown(by)}")
        if bool(question.strip()) == bool(snippet.strip()):
            raise UserError("expected a question in words or a name, or a snippet of code, and not both")
        engine = self._index.engine
        languages = _languages(engine, language)
        if snippet.strip():
            return _of_code(engine, answer_text(engine, snippet, Wanted(top, path, languages)), budget)
        hits = engine.search(question, top=top, path=path, languages=languages, by_file=by == "file")
        results = [result(engine, question, hit, explain=False) for hit in hits]
        certainty = engine.certainty(question, hits).record
        return {"question": question, "certainty": certainty, **_fitting(results, budget * CHARACTERS)}

    def related(self, path: str, line: int, top: int = 10, language: str = "", budget: int = BUDGET) -> dict[str, Any]:
        """Find code like that of the method, type or file at a place: copies of it first.

        Args:
            path: of the file, as search gives it.
            line: any line of it, from 1.
            top: how many hits, 1 to 50.
            language: only these languages, such as python,go; empty: all.
            budget: tokens of the answer, about.
        """
        _check(path=path, line=line, top=top, language=language, budget=budget)
        engine = self._index.engine
        languages = _languages(engine, language)
        return _of_code(engine, answer_place(engine, path, line, Wanted(top, languages=languages)), budget)

    def explain(self, question: str, path: str, line: int) -> dict[str, Any]:
        """Why a place matches a question: the scores of its method, and which of its words each word aligns with.

        Args:
            question: as asked before.
            path: of the file, as search gives it.
            line: any line of the method, from 1.
        """
        _check(question=question, path=path, line=line)
        engine = self._index.engine
        row = _row_at(engine.index, path, line)
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
        _check(path=path, line=line, budget=budget)
        engine = self._index.engine
        row = _row_at(engine.index, path, line)
        hit = Hit(1, row, 0.0, 0.0, None, None, 0.0, "name")
        told = result(engine, "", hit, explain=False)
        entry = {name: told[name] for name in _FIELDS if name != "rank"}
        return entry | _cut(told["source"], budget * CHARACTERS)


def _row_at(index: Index, path: str, line: int) -> int:
    """The innermost row of the index at a line.

    Raises:
        UserError: there is none.
    """
    row = FrameLocator(index).row_at(file_of(index, path), line)
    if row is None:
        raise UserError(f"line {line} of {path} is in no function, method or type")
    return row


def _of_code(engine: Engine, answer: CodeAnswer, budget: int) -> dict[str, Any]:
    """An answer to code; the frames of a trace take at most half of the budget, the innermost ones are kept."""
    told, rest = as_record(engine, answer, 0.0), budget * CHARACTERS
    found: dict[str, Any] = {name: told[name] for name in ("kind", "language", "place") if name in told}
    if "errors" in told:
        inside = [_frame(frame) for error in told["errors"] for frame in error["frames"] if frame["unit"]]
        inside = inside if told["innermost"] == "first" else inside[::-1]
        while len(str(inside)) > rest // 2:
            inside = inside[: len(inside) // 2]
        names = ": ".join(filter(None, (told["errors"][-1]["error"], told["errors"][-1]["message"])))
        found |= {"error": names[:_HEAD], "frames": told["frames"], "frames_in_index": told["frames_in_index"]}
        found |= {"innermost_frames": inside}
        rest -= len(str(inside))
    return found | _fitting(told["results"], rest)


def _frame(frame: dict[str, Any]) -> dict[str, Any]:
    """A frame that lies in the index."""
    unit = frame["unit"]
    place = {name: unit[name] for name in ("path", "name", "start_line", "end_line", "moved")}
    return place | {"line": frame["line"], "code": frame["code"][:_HEAD]}


def _fitting(results: Sequence[dict[str, Any]], rest: int) -> dict[str, Any]:
    """Those of the hits that fit into ``rest`` characters, with their sources cut, and how many do not."""
    found: list[dict[str, Any]] = []
    share = max(_HEAD, rest // max(1, len(results)) - _HEAD)
    for told in results:
        entry: dict[str, Any] = {name: told[name] for name in (*_FIELDS, "copy") if name in told}
        entry |= _cut(told["source"], min(share, rest))
        size = sum(len(str(value)) for value in entry.values())
        if size > rest and found:
            break
        rest -= size
        found.append(entry)
    return {"results": found, "left_out": len(results) - len(found)}


def _languages(engine: Engine, typed: str) -> frozenset[str]:
    languages = chosen_languages(typed)
    if languages and languages.isdisjoint(engine.languages):
        raise UserError(f"no file is in {', '.join(sorted(languages))}, but in {', '.join(engine.languages)}")
    return languages


def _check(**given: str | int) -> None:
    """Refuse an argument that is too long, too small or too large."""
    for name, value in given.items():
        if isinstance(value, str):
            if len(value) > _LENGTHS[name]:
                raise UserError(f"{name} has at most {_LENGTHS[name]:,} characters, not {len(value):,}")
        elif not _LIMITS[name][0] <= value <= _LIMITS[name][1]:
            least, most = _LIMITS[name]
            raise UserError(f"{name} takes a whole number from {least} to {most:,}, not {shown(value)}")


def _cut(source: str, most: int) -> dict[str, Any]:
    """A source of at most ``most`` characters, at whole lines if possible, and whether it is all of it."""
    if len(source) <= most:
        return {"source": source, "whole": True}
    part = source[: max(0, most)]
    return {"source": part[: part.rfind("\n") + 1] or part, "whole": False}
