"""The part of the JSON API that finds posts for code and an error (docs/search-api.md)."""

import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from data_prep.bounds import shown
from data_prep.errors import UserError
from search.posts.post_index import PostIndex, keyword_of, read_snippet
from search.serve.requests import json_answer, parameters, posted_json
from search.serve.search_api import MOST_HITS, Turns

LARGEST: Final = 2 << 20
"""Maximum number of bytes of a request."""


class PostsApi:
    """Posts of an index that is opened now, so that what is wrong with it is known at the start."""

    def __init__(self, turns: Turns, folder: Path) -> None:
        """``folder``: of the index.

        Raises:
            ValueError: there is none, or it is damaged.
        """
        self._turns, self._index = turns, PostIndex(folder)
        self._alone = threading.Lock()

    @property
    def size(self) -> int:
        """The number of posts."""
        return self._index.size

    async def posts(self, request: Request) -> Response:
        """The best posts for a text."""
        parameters(request, {})
        text, top = text_and_top(await posted_json(request, LARGEST))
        return json_answer(await self._turns.turn(request, lambda: self._answer(text, top)))

    def _answer(self, text: str, top: int) -> dict[str, Any]:
        try:
            query = read_snippet(text)
        except UserError as error:
            raise HTTPException(400, "expected code or an error, got nothing") from error
        started = time.perf_counter()
        with self._alone:
            hits = self._index.search(query, top)
        milliseconds = round(1000 * (time.perf_counter() - started), 2)
        told = {"error": keyword_of(query), "milliseconds": milliseconds, "posts": self.size}
        return told | {"results": [asdict(hit) for hit in hits]}


def text_and_top(body: object, *others: str) -> tuple[str, int]:
    """The fields ``text`` and ``top`` (10 by default) of a body that may also have ``others``."""
    names = ("text", "top", *others)
    if not isinstance(body, dict) or "text" not in body or not body.keys() <= {*names}:
        raise HTTPException(400, f"expected an object with text and perhaps {', '.join(names[1:])}, got {shown(body)}")
    text, top = body["text"], body.get("top", 10)
    if not isinstance(text, str):
        raise HTTPException(400, f"text is a text, not {shown(text)}")
    if type(top) is not int or not 1 <= top <= MOST_HITS:
        raise HTTPException(400, f"top takes a whole number from 1 to {MOST_HITS}, not {shown(top)}")
    return text, top
