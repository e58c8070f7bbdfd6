"""The part of the JSON API about code: like a text or a place, usages, posts about it, a file around a line.

docs/search-api.md describes it. Only a file whose bytes have the hash that the index has is shown.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from search.engine.asked_places import place_of
from search.engine.engine import Engine
from search.engine.filters import known_path
from search.engine.preview import indentation
from search.engine.show import licence_of
from search.engine.usages import USUAL, find_usages
from search.files.languages import language_name
from search.index.code_index import ChangedFileError, Index, read_indexed
from search.index.frame_locator import FrameLocator
from search.serve.hit_records import Span, highlighted, previewed
from search.serve.live_index import Opened
from search.serve.requests import (
    MOST_HITS,
    Turns,
    check_query,
    json_answer,
    languages,
    line_of,
    number,
    parameters,
    posted_fields,
    short,
)
from search.serve.search_api import coloured
from search.snippets.answer import CodeAnswer, Wanted, answer_place, answer_text, file_of
from search.snippets.show import as_record
from search.usages import as_record as as_used

LARGEST: Final = 2 << 20
"""Maximum number of bytes of a request."""
MOST_USAGES: Final = 1000
"""Maximum number of usages in one answer."""
_TEXT: Final = {"text": "", "top": 10}


class CodeApi:
    """Code, stack traces and places as questions."""

    def __init__(self, turns: Turns, root: Path | None) -> None:
        """``root``: the indexed folder; None: not known."""
        self._turns, self._root = turns, root

    async def code(self, request: Request) -> Response:
        """The frames of a trace that lie in the index, and code like a text."""
        asked = await posted_fields(request, LARGEST, {**_TEXT, "path": "", "language": ""}, ("text",))
        wanted = Wanted(number(asked, "top", 1, MOST_HITS), short(asked, "path"), languages(asked))

        def find(engine: Engine) -> CodeAnswer:
            return answer_text(engine, asked["text"], replace(wanted, path=known_path(engine.index, wanted.path)))

        return await self._answer(request, find)

    async def related(self, request: Request) -> Response:
        """Code like that at a place."""
        asked = parameters(request, {"path": "", "line": "", "top": "10", "language": "", "index": ""})
        line, wanted = line_of(asked), Wanted(number(asked, "top", 1, MOST_HITS), languages=languages(asked))

        def find(engine: Engine) -> CodeAnswer:
            return answer_place(engine, *place_of(engine.index, self._root, asked["path"], line), wanted)

        return await self._answer(request, find, asked["index"])

    async def usages(self, request: Request) -> Response:
        """Who calls or mentions a name."""
        asked = parameters(request, {"name": "", "top": f"{USUAL}", "path": "", "language": ""})
        check_query(asked["name"])
        top, path, chosen = number(asked, "top", 1, MOST_USAGES), short(asked, "path"), languages(asked)

        def answer(now: Opened) -> dict[str, Any]:
            started, engine = time.perf_counter(), now.engine
            inside = known_path(engine.index, path)
            found = find_usages(engine, asked["name"], self._root, path=inside, languages=chosen)
            milliseconds = round(1000 * (time.perf_counter() - started), 2)
            return {"query": asked["name"], "milliseconds": milliseconds, **as_used(engine.index, found, top)}

        return await self._turns.answer(request, answer)

    async def _answer(self, request: Request, find: Callable[[Engine], CodeAnswer], index: str = "") -> Response:
        def found(engine: Engine) -> dict[str, Any]:
            started = time.perf_counter()
            answer = find(engine)
            told = as_record(engine, answer, time.perf_counter() - started)
            return told | {"results": previewed(engine, (), told["results"], coloured=True)}

        return await self._turns.answer(request, lambda now: found(now.engine), index)


class PostsApi:
    """Posts for code and its error, of an index that is opened now, so that what is wrong with it is known at once."""

    def __init__(self, turns: Turns, folder: Path) -> None:
        """``folder``: of the index.

        Raises:
            UserError: there is none, or it is damaged.
        """
        from search.snippets.post_index import PostIndex  # which needs torch, unlike the rest of a server

        self._turns, self._index = turns, PostIndex(folder)
        self._alone = threading.Lock()
        self.size: Final = self._index.size
        """The number of posts."""

    async def posts(self, request: Request) -> Response:
        """The best posts for a text."""
        asked = await posted_fields(request, LARGEST, _TEXT, ("text",))
        text, top = asked["text"], number(asked, "top", 1, MOST_HITS)
        if not text.strip():
            raise HTTPException(400, "expected code or an error, got nothing")
        return json_answer(await self._turns.turn(request, lambda: self._answer(text, top)))

    def _answer(self, text: str, top: int) -> dict[str, Any]:
        from search.snippets.post_index import keyword_of, read_snippet

        query, started = read_snippet(text), time.perf_counter()
        with self._alone:
            hits = self._index.search(query, top)
        milliseconds = round(1000 * (time.perf_counter() - started), 2)
        told = {"error": keyword_of(query), "milliseconds": milliseconds, "posts": self.size}
        return told | {"results": [asdict(hit) for hit in hits]}


MOST_UNITS: Final = 400
"""Functions and types of a file that are named at once."""
MOST_LINES: Final = 2000
"""Lines of a file that are shown at once."""
LONGEST_LINE: Final = 2000
"""Characters of a line that are shown."""
_PARSED: Final = 1 << 20
"""Characters of a file up to which all of it is parsed, so that a comment which began above is known as such."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Some lines of a file."""

    first_line: int  # from 1
    lines: int  # of the whole file
    text: str
    kinds: list[Span]  # positions in ``text``
    indent: int = 0  # characters by which its lines but the first are indented too much


class FileApi:
    """Files of the index."""

    def __init__(self, turns: Turns, root: Path | None) -> None:
        """``root``: the indexed folder; None: not known."""
        self._turns, self._root = turns, root

    async def file(self, request: Request) -> Response:
        """A file around a line."""
        asked = parameters(request, {"path": "", "line": "", "index": ""})
        place = asked["path"], line_of(asked)
        told = lambda now: self._told(now.engine.index, *place_of(now.engine.index, self._root, *place))  # noqa: E731
        return await self._turns.answer(request, told, asked["index"])

    def _told(self, index: Index, path: str, line: int) -> dict[str, Any]:
        place = file_of(index, path)
        file, row = index.files[place], FrameLocator(index).row_at(place, line)
        path, note = file.path, file.trouble
        try:
            source = around(read_indexed(*index.source(place, self._root)), path, line, parsed=file.parsed)
        except ChangedFileError as trouble:
            note, source = str(trouble), _from_index(index, row)
        rows = [row for row in range(*index.file_edges[place : place + 2].tolist()) if not index.is_whole_file(row)]
        return {
            "path": path,
            "language": language_name(path),
            "license": licence_of(file),
            "url": "" if row is None else index.url(row),
            "note": note,
            "lines": source.lines,
            "first_line": source.first_line,
            "text": source.text,
            "kinds": source.kinds,
            "indent": source.indent,
            "units": _units(index, rows, line),
            "unit_count": len(rows),
        }


def _from_index(index: Index, row: int | None) -> Shown:
    """What the index itself has of a file: the unit at a line; of a whole file its first lines, of unknown number."""
    if row is None:
        return Shown(0, 0, "", [])
    text = index.split.text(row)
    first = 0 if index.is_whole_file(row) else text.start_line
    indent = indentation(text.source, text.path, index.names[row])
    return Shown(first, 0, text.source, coloured(index, row), indent)


def _units(index: Index, rows: Sequence[int], line: int) -> list[dict[str, Any]]:
    """The functions and types of a file in the order of their lines, those around ``line`` if there are many."""
    texts = [(index.split.text(row), row) for row in rows]
    found = sorted((text.start_line, -text.end_line, row) for text, row in texts)
    before = sum(start < line for start, *_ in found)
    first = max(0, min(before - MOST_UNITS // 2, len(found) - MOST_UNITS))
    return [
        {"row": row, "name": index.names[row], "start_line": start, "end_line": -end}
        for start, end, row in found[first : first + MOST_UNITS]
    ]


def around(source: str, path: str, line: int, *, parsed: bool = True) -> Shown:
    """At most ``MOST_LINES`` lines of a file with ``line`` in their middle, or near it where the file ends.

    ``parsed``: whether a parser has read the file; of another one nothing is coloured.
    """
    lines = source.removesuffix("\n").split("\n")
    first = max(0, min(line - 1 - MOST_LINES // 2, len(lines) - MOST_LINES))
    own = lines[first : first + MOST_LINES]
    text = "\n".join(each if len(each) <= LONGEST_LINE else f"{each[: LONGEST_LINE - 1]}…" for each in own)
    cut = any(len(each) > LONGEST_LINE for each in own)
    if not parsed:
        return Shown(first + 1, len(lines), text, [])
    if cut or len(source) > _PARSED:
        return Shown(first + 1, len(lines), text, highlighted(text, path))
    before = sum(len(each) + 1 for each in lines[:first])
    kinds = highlighted(source, path, before, before + len(text))
    moved = [(max(0, start - before), min(end - before, len(text)), kind) for start, end, kind in kinds]
    return Shown(first + 1, len(lines), text, moved)
