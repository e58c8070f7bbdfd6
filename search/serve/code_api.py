"""The part of the JSON API that looks for code: like a pasted text, or like that at a place (docs/search-api.md)."""

import time
from collections.abc import Callable
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from data_prep.errors import UserError
from search.engine.engine import Engine
from search.serve.live_index import Opened
from search.serve.posts_api import text_and_top
from search.serve.requests import languages, number, parameters, pattern, posted_json
from search.serve.search_api import MOST_HITS, Turns, check_index
from search.snippets.answer import CodeAnswer, Wanted, answer_place, answer_text
from search.snippets.show import as_record

LARGEST: Final = 2 << 20
"""Maximum number of bytes of a request."""


class CodeApi:
    """Code, stack traces and places as questions."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns

    async def code(self, request: Request) -> Response:
        """The frames of a trace that lie in the index, and code like a text."""
        parameters(request, {})
        body = await posted_json(request, LARGEST)
        text, top = text_and_top(body, "path", "language")
        assert isinstance(body, dict)
        limits = {name: body.get(name, "") for name in ("path", "language")}
        if not all(isinstance(each, str) for each in limits.values()):
            raise HTTPException(400, "path and language are texts")
        wanted = Wanted(top, pattern(limits), languages(limits))
        return await self._answer(request, "", lambda engine: answer_text(engine, text, wanted))

    async def related(self, request: Request) -> Response:
        """Code like that at a place."""
        asked = parameters(request, {"path": "", "line": "1", "top": "10", "language": "", "index": ""})
        line, top = number(asked, "line", 1, 1 << 31), number(asked, "top", 1, MOST_HITS)
        wanted = Wanted(top, languages=languages(asked))
        find = lambda engine: answer_place(engine, asked["path"], line, wanted)  # noqa: E731
        return await self._answer(request, asked["index"], find)

    async def _answer(self, request: Request, index: str, find: Callable[[Engine], CodeAnswer]) -> Response:
        def answer(now: Opened) -> dict[str, Any]:
            check_index(now, index)
            started = time.perf_counter()
            try:
                found = find(now.engine)
            except UserError as error:
                raise HTTPException(400, str(error)) from error
            return {"index": now.name, **as_record(now.engine, found, time.perf_counter() - started)}

        return await self._turns.answer(request, answer)
