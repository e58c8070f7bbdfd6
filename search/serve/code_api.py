"""The part of the JSON API that is asked by code: code like it or like that at a place, usages, posts about it.

docs/search-api.md describes it.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from search.engine.engine import Engine
from search.serve.agent_paths import place_of
from search.serve.hit_records import previewed
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
from search.snippets.answer import CodeAnswer, Wanted, answer_place, answer_text
from search.snippets.show import as_record
from search.usages.find import USUAL, find_usages
from search.usages.show import as_record as as_used

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
        return await self._answer(request, lambda engine: answer_text(engine, asked["text"], wanted))

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
            found = find_usages(engine, asked["name"], self._root, path=path, languages=chosen)
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
        from search.posts.post_index import PostIndex  # which needs torch, unlike the rest of a server

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
        from search.posts.post_index import keyword_of, read_snippet

        query, started = read_snippet(text), time.perf_counter()
        with self._alone:
            hits = self._index.search(query, top)
        milliseconds = round(1000 * (time.perf_counter() - started), 2)
        told = {"error": keyword_of(query), "milliseconds": milliseconds, "posts": self.size}
        return told | {"results": [asdict(hit) for hit in hits]}
