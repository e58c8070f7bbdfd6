"""The search as a web application: the page and its JSON API (docs/search-api.md).

It answers only requests to a local host name, so that no other site reaches it through a user's browser; the page may
load from and send to this server only.
"""

import asyncio
import json
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from data_prep.store.manifest import DamagedStore
from search.engine.engine import words_of
from search.engine.show import LEAST_AGREEMENT, LEAST_WEIGHT, result
from search.serve.live_index import LiveIndex, Opened
from search.serve.spans import word_spans

MOST_HITS: Final = 100
"""Maximum number of hits in one answer."""
LONGEST_PATTERN: Final = 500
"""Maximum number of characters of a path pattern."""

_WEB: Final = Path(__file__).with_name("web")
_PAGE: Final = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/app.js": ("app.js", "text/javascript; charset=utf-8"),
    "/java.js": ("java.js", "text/javascript; charset=utf-8"),
    "/style.css": ("style.css", "text/css; charset=utf-8"),
}
_HOST: Final = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?", re.IGNORECASE)
_HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


def web_app(live: LiveIndex, model: str) -> ASGIApp:
    """The application that answers from ``live``; ``model`` is the name that it reports for its model."""
    api = _Api(live, model)
    routes = [
        Route("/health", api.health, methods=["GET"]),
        Route("/api/search", api.search, methods=["GET"]),
        Route("/api/explain", api.explain, methods=["GET"]),
        *(Route(place, _file(*about), methods=["GET"]) for place, about in _PAGE.items()),
    ]
    return _Guard(Starlette(routes=routes, exception_handlers={HTTPException: _refused}))


class _Guard:
    """Accepts requests to a local host name only, and adds the security headers to each answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        app = self._app
        if scope["type"] == "http":
            hosts = Headers(scope=scope).getlist("host")
            if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
                app = _error(400, "expected the host localhost, 127.0.0.1 or [::1]")
        await app(scope, receive, send_guarded)


class _Api:
    def __init__(self, live: LiveIndex, model: str) -> None:
        self._live, self._model = live, model
        self._turn = asyncio.Lock()  # one question at a time uses the CPU

    async def health(self, request: Request) -> Response:
        _parameters(request, {})
        now = await run_in_threadpool(self._live.opened)
        told = {
            "status": "ok",
            "rows": now.head.rows,
            "files": now.head.files,
            "model": self._model,
            "index": now.name,
            "trouble": self._live.trouble,
        }
        return _json(told)

    async def search(self, request: Request) -> Response:
        asked = _parameters(request, {"q": "", "top": "10", "path": "", "by": "method", "explain": "false"})
        check_query(asked["q"])
        top, explain = _number(asked, "top", 1, MOST_HITS), _choice(asked, "explain", ("true", "false")) == "true"
        by_file = _choice(asked, "by", ("method", "file")) == "file"
        if len(asked["path"]) > LONGEST_PATTERN:
            raise HTTPException(400, f"path has at most {LONGEST_PATTERN} characters")

        def answer(now: Opened) -> dict[str, Any]:
            started = time.perf_counter()
            hits = now.engine.search(asked["q"], top=top, path=asked["path"], by_file=by_file)
            milliseconds = round(1000 * (time.perf_counter() - started), 2)
            results = [result(now.engine, asked["q"], hit, explain=explain) for hit in hits]
            return {"query": asked["q"], "milliseconds": milliseconds, "index": now.name, "results": results}

        return await self._in_turn(request, answer)

    async def explain(self, request: Request) -> Response:
        asked = _parameters(request, {"q": "", "row": "", "index": ""})
        check_query(asked["q"])
        row = _number(asked, "row", 0, 1 << 40)

        def answer(now: Opened) -> dict[str, Any]:
            if asked["index"] not in ("", now.name):
                raise HTTPException(409, "the index was replaced since: search again")
            if row >= now.head.rows:
                raise HTTPException(400, f"row takes a whole number below {now.head.rows}, not {row}")
            return {"index": now.name, "row": row, **explanation(now, now.engine.asked(asked["q"])[0], row)}

        return await self._in_turn(request, answer)

    async def _in_turn(self, request: Request, answer: Any) -> Response:
        """Run ``answer`` in a thread, one at a time, unless the client has disconnected."""
        now = await run_in_threadpool(self._live.opened)
        async with self._turn:
            if await request.is_disconnected():
                return Response(status_code=499)
            try:
                return _json(await run_in_threadpool(answer, now))
            except DamagedStore as damage:
                return _error(500, str(damage))


def explanation(now: Opened, words: tuple[str, ...], row: int) -> dict[str, Any]:
    """The full alignment of each query word with a row; without a model that aligns, the positions of equal words."""
    engine = now.engine
    alignment = engine.reranker.alignment(words, row) if engine.reranker else None
    code = list(alignment.code) if alignment else []
    return {
        "query": list(alignment.query if alignment else words),
        "code": code,
        "fields": list(alignment.fields) if alignment else [],
        "weights": alignment.weights.astype(float).round(5).tolist() if alignment else [],
        "agreement": alignment.agreement.astype(float).round(5).tolist() if alignment else [],
        "least_weight": LEAST_WEIGHT,
        "least_agreement": LEAST_AGREEMENT,
        "spans": word_spans(engine.index.split.text(row).source, {*words, *code}),
    }


def check_query(query: str) -> None:
    """Answer a bad query with status 400."""
    try:
        words_of(query)
    except ValueError as error:
        raise HTTPException(400, str(error)) from error


def _parameters(request: Request, known: Mapping[str, str]) -> dict[str, str]:
    """The parameters of a request, with the defaults in ``known``, which also lists the allowed names."""
    given = request.query_params.multi_items()
    for place, (name, _) in enumerate(given):
        if name not in known:
            raise HTTPException(400, f"unknown parameter {name[:40]!r}; known: {', '.join(known) or 'none'}")
        if name in dict(given[:place]):
            raise HTTPException(400, f"{name} is given twice")
    return {**known, **dict(given)}


def _number(asked: Mapping[str, str], name: str, least: int, most: int) -> int:
    text = asked[name]
    if not re.fullmatch(r"\d{1,15}", text, re.ASCII) or not least <= int(text) <= most:
        raise HTTPException(400, f"{name} takes a whole number from {least} to {most}, not {text[:40]!r}")
    return int(text)


def _choice(asked: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    if asked[name] not in choices:
        raise HTTPException(400, f"{name} takes {' or '.join(choices)}, not {asked[name][:40]!r}")
    return asked[name]


def _json(told: Mapping[str, Any], status: int = 200) -> Response:
    # ASCII only: paths may contain what UTF-8 cannot encode.
    return Response(json.dumps(told), status, media_type="application/json")


def _error(status: int, line: str) -> Response:
    return _json({"error": line}, status)


def _refused(request: Request, error: Exception) -> Response:  # noqa: ARG001 - starlette calls it so
    assert isinstance(error, HTTPException)
    told = _error(error.status_code, error.detail)
    told.headers.update(error.headers or {})
    return told


def _file(name: str, media_type: str) -> Any:
    """A handler that answers with a file of the page."""
    content = (_WEB / name).read_bytes()

    async def answer(request: Request) -> Response:  # noqa: ARG001 - starlette calls it so
        return Response(content, media_type=media_type)

    return answer
