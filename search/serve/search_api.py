"""The part of the JSON API that searches: questions, explanations, and what there is (docs/search-api.md)."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from data_prep.store.prepared_data import DamagedStore
from search.engine.show import LEAST_AGREEMENT, LEAST_WEIGHT, result
from search.files.languages import language_name
from search.index.code_index import Index
from search.serve.answering import Answering, NothingVisibleError, OpeningError
from search.serve.highlighting import Span, highlighted, word_spans
from search.serve.live_index import Opened
from search.serve.requests import (
    GONE,
    check_query,
    choice,
    error_answer,
    json_answer,
    languages,
    number,
    parameters,
    pattern,
)

MOST_HITS: Final = 100
"""Maximum number of hits in one answer."""

GROUPS: Final = "visible.groups"
"""In a request's scope: what its user is in, if users are told apart."""

Done = TypeVar("Done")


class Turns:
    """The index that is asked, by one question at a time."""

    def __init__(self, live: Answering) -> None:
        self.live = live
        self._turn = asyncio.Lock()  # one question at a time uses the CPU

    async def opened(self, request: Request) -> Opened:
        """The current index, or what of it the user of a request may see."""
        try:
            return await run_in_threadpool(self.live.opened, request.scope.get(GROUPS))
        except OpeningError as error:
            line = "the index is being opened: ask again in a moment"
            raise HTTPException(503, str(error) or line, {"retry-after": "1"}) from error
        except NothingVisibleError as error:
            raise HTTPException(403, "no repository is visible to you: ask whoever runs this server") from error

    async def answer(self, request: Request, answer: Callable[[Opened], dict[str, Any]]) -> Response:
        """The answer that ``answer`` gives from the current index, in turn."""
        now = await self.opened(request)
        try:
            return json_answer(await self.turn(request, lambda: answer(now)))
        except DamagedStore as damage:
            return error_answer(500, str(damage))

    async def turn(self, request: Request, work: Callable[[], Done]) -> Done:
        """Run ``work`` in a thread, one at a time, unless the client has disconnected."""
        async with self._turn:
            if await request.is_disconnected():
                raise HTTPException(GONE, "nobody waits for the answer")
            return await run_in_threadpool(work)


class SearchApi:
    """Questions, explanations, and what there is."""

    def __init__(self, turns: Turns, model: str, about: Mapping[str, Any]) -> None:
        """``model``: the name that is reported for the model; ``about``: what else is reported of the server."""
        self._turns, self._model, self._about = turns, model, about

    async def health(self, request: Request) -> Response:
        """What is served."""
        parameters(request, {})
        now = await self._turns.opened(request)
        told = {
            "status": "ok",
            "rows": now.head.rows,
            "files": now.head.files,
            "languages": dict(Counter(language_name(file.path) for file in now.engine.index.files)),
            "model": self._model,
            **self._about,
            "index": now.name,
            "trouble": self._turns.live.trouble,
        }
        return json_answer(told)

    async def search(self, request: Request) -> Response:
        """The best hits for a question."""
        known = {"q": "", "top": "10", "path": "", "language": "", "by": "method", "explain": "false"}
        asked = parameters(request, known)
        check_query(asked["q"])
        top, explain = number(asked, "top", 1, MOST_HITS), choice(asked, "explain", ("true", "false")) == "true"
        by_file = choice(asked, "by", ("method", "file")) == "file"
        path, chosen = pattern(asked), languages(asked)

        def answer(now: Opened) -> dict[str, Any]:
            started = time.perf_counter()
            hits = now.engine.search(asked["q"], top=top, path=path, languages=chosen, by_file=by_file)
            milliseconds = round(1000 * (time.perf_counter() - started), 2)
            results = [result(now.engine, asked["q"], hit, explain=explain) for hit in hits]
            return {"query": asked["q"], "milliseconds": milliseconds, "index": now.name, "results": results}

        return await self._turns.answer(request, answer)

    async def unit(self, request: Request) -> Response:
        """What is coloured in the source of a row."""
        asked = parameters(request, {"row": "", "index": ""})
        row = number(asked, "row", 0, 1 << 40)

        def answer(now: Opened) -> dict[str, Any]:
            check_row(now, asked["index"], row)
            return {"index": now.name, "row": row, "kinds": coloured(now.engine.index, row)}

        return await self._turns.answer(request, answer)

    async def explain(self, request: Request) -> Response:
        """The alignment of a question with a row."""
        asked = parameters(request, {"q": "", "row": "", "index": ""})
        check_query(asked["q"])
        row = number(asked, "row", 0, 1 << 40)

        def answer(now: Opened) -> dict[str, Any]:
            check_row(now, asked["index"], row)
            return {"index": now.name, "row": row, **explanation(now, now.engine.asked(asked["q"])[0], row)}

        return await self._turns.answer(request, answer)


def check_index(now: Opened, name: str) -> None:
    """Refuse what is about another index; ``name``: of that which is meant, "" for any."""
    if name not in ("", now.name):
        raise HTTPException(409, "the index was replaced since: search again")


def check_row(now: Opened, index: str, row: int) -> None:
    """Refuse a row that is not of this index; ``index``: as :func:`check_index` takes it."""
    check_index(now, index)
    if row >= now.head.rows:
        raise HTTPException(400, f"row takes a whole number below {now.head.rows}, not {row}")


def coloured(index: Index, row: int) -> list[Span]:
    """What is coloured in the source of a row; nothing of a file that no parser has read."""
    text = index.split.text(row)
    return highlighted(text.source, text.path) if index.file(row).parsed else []


def explanation(now: Opened, words: tuple[str, ...], row: int) -> dict[str, Any]:
    """The full alignment of each query word with a row; without a model that aligns, the positions of equal words."""
    engine = now.engine
    alignment = engine.reranker.alignment(words, row) if engine.reranker else None
    code = list(alignment.code) if alignment else []
    text = engine.index.split.text(row)
    return {
        "query": list(alignment.query if alignment else words),
        "code": code,
        "fields": list(alignment.fields) if alignment else [],
        "weights": alignment.weights.astype(float).round(5).tolist() if alignment else [],
        "agreement": alignment.agreement.astype(float).round(5).tolist() if alignment else [],
        "least_weight": LEAST_WEIGHT,
        "least_agreement": LEAST_AGREEMENT,
        "spans": word_spans(text.source, text.path, {*words, *code}) if engine.index.file(row).parsed else [],
        "kinds": coloured(engine.index, row),
    }
