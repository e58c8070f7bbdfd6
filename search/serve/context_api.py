"""``POST /api/search``: a question together with the text above a cursor, as an editor asks (docs/search-api.md)."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from data_prep.bounds import shown
from data_prep.files.printable import one_line
from search.cursor import LONGEST, words_above
from search.engine.engine import Engine
from search.engine.signals import Hit
from search.files.languages import language_names
from search.serve.live_index import Opened
from search.serve.requests import check_query, json_answer, parameters, posted_json
from search.serve.search_api import MOST_HITS, Turns

LARGEST: Final = 1 << 20
"""Maximum number of bytes of a request: the longest context and query, even if all is escaped, but not much more."""
USUAL: Final = 15
"""Hits, if a request does not say how many (Scotch)."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked."""

    query: str
    context: str = ""
    language: str = ""
    top: int = USUAL

    @classmethod
    def checked(cls, body: object) -> "Question":
        """The question in a request's body; a mistake is an HTTPException, a context that is too long one of 413."""
        names = [each.name for each in fields(cls)]
        if not isinstance(body, dict) or "query" not in body or not body.keys() <= {*names}:
            raise HTTPException(400, f"expected an object with {', '.join(names)}, got {shown(body)}")
        for name in ("query", "context", "language"):
            if not isinstance(body.get(name, ""), str):
                raise HTTPException(400, f"{name} is a text, not {shown(body[name])}")
        top = body.get("top", USUAL)
        if type(top) is not int or not 1 <= top <= MOST_HITS:
            raise HTTPException(400, f"top takes a whole number from 1 to {MOST_HITS}, not {shown(top)}")
        found = cls(**body)
        if len(found.context) > LONGEST:
            raise HTTPException(413, f"context has at most {LONGEST:,} characters, those nearest to the cursor")
        if found.language and found.language not in language_names():
            raise HTTPException(
                400, f"language takes one of {', '.join(language_names())}, not {shown(found.language)}"
            )
        if found.context and not found.language:
            raise HTTPException(400, "a context needs its language")
        check_query(found.query)
        return found


class ContextApi:
    """Questions under a context."""

    def __init__(self, turns: Turns, about: Mapping[str, Any]) -> None:
        """``about``: what each answer tells of the server."""
        self._turns, self._about = turns, dict(about)

    async def search(self, request: Request) -> Response:
        """The best functions for a question under its context, of its language."""
        parameters(request, {})
        asked = Question.checked(await posted_json(request, LARGEST))
        return await self._turns.answer(request, lambda now: answer(now, asked) | self._about)

    async def languages(self, request: Request) -> Response:
        """How many files of each language there are."""
        parameters(request, {})
        return json_answer({"languages": (await self._turns.opened(request)).engine.languages})


def answer(now: Opened, asked: Question) -> dict[str, Any]:
    """The answer to a question."""
    started = time.perf_counter()
    if asked.language and asked.language not in now.engine.languages:
        raise HTTPException(400, f"the index has no {asked.language}, but {', '.join(now.engine.languages)}")
    context = words_above(asked.context, asked.language) if asked.context else ()
    chosen = frozenset((asked.language,)) if asked.language else frozenset()
    hits = now.engine.search(asked.query, top=asked.top, languages=chosen, context=context)
    return {
        "language": asked.language,
        "model": "context" if context else "base",
        "took_ms": round(1000 * (time.perf_counter() - started), 2),
        "index": now.name,
        "results": [_result(now.engine, hit) for hit in hits],
    }


def _result(engine: Engine, hit: Hit) -> dict[str, Any]:
    """A hit with what is needed to show and to attribute it."""
    index, text = engine.index, engine.index.split.text(hit.row)
    repository = index.repository(hit.row)
    return {
        "rank": hit.rank,
        "row": hit.row,
        **({"repository": repository} if repository else {}),
        "identifier": index.names[hit.row],
        "code": text.source,
        "path": text.path,
        "start_line": text.start_line,
        "end_line": text.end_line,
        "url": index.url(hit.row),
        "license": one_line(index.file(hit.row).licence),
        "score": None if hit.near is None else round(min(1.0, max(0.0, hit.near)), 8),
        "ranking": round(hit.score, 6),
    }
