"""Requests of the JSON API: their parameters and bodies, checked, and answers from the index, in turn, as JSON."""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar, runtime_checkable

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from data_prep.errors import UserError, shown
from data_prep.files.json_text import parse_json
from data_prep.store.split import DamagedStore
from search.engine.expressions import Pattern
from search.engine.question import words_of
from search.files.languages import LONGEST_PATTERN, chosen_languages
from search.index.frame_locator import named_places
from search.index.freshness import CURRENT, Freshness
from search.serve.live_index import NothingVisibleError, Opened, OpeningError, is_sure

GONE: Final = 499
"""The status of what nobody waits for any more."""
MOST_HITS: Final = 100
"""Maximum number of hits in one answer."""
FEW: Final = 20_000
"""Rows of an index that a question takes some milliseconds of."""
_FEW_FILES: Final = 32
"""Changed files that are waited for before it is said that little is found."""
_PATIENCE: Final = 4.0
"""Seconds for which they are."""
_BRIEF: Final = 0.03
"""Seconds between looks meanwhile."""
LAST_LINE: Final = 1 << 31
"""More lines than a file has."""
GROUPS: Final = "visible.groups"
"""In a request's scope: what its user is in, if users are told apart."""


Done = TypeVar("Done")


def parameters(request: Request, known: Mapping[str, str]) -> dict[str, str]:
    """The parameters of a request, with the defaults in ``known``, which also lists the allowed names."""
    given = request.query_params.multi_items()
    for place, (name, _) in enumerate(given):
        if name not in known:
            raise HTTPException(400, f"unknown parameter {name[:40]!r}; known: {', '.join(known) or 'none'}")
        if name in dict(given[:place]):
            raise HTTPException(400, f"{name} is given twice")
    return {**known, **dict(given)}


async def posted_json(request: Request, most: int) -> Any:
    """The body of a request without parameters.

    A browser sends a body of this type to another site only if that site allows it, which this server never does.

    Args:
        request: the request.
        most: maximum number of bytes of its body.
    """
    parameters(request, {})
    if request.headers.get("content-type", "").partition(";")[0].strip(" \t").lower() != "application/json":
        raise HTTPException(415, "expected a body of the type application/json")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise HTTPException(413, f"expected a body of at most {most:,} bytes")
    try:
        return parse_json(bytes(body))
    except ValueError as error:
        raise HTTPException(400, f"the body is not JSON: {error}") from error


async def posted_fields(
    request: Request, most: int, known: Mapping[str, Any], needed: Collection[str]
) -> dict[str, Any]:
    """The fields of a request's body, with the defaults in ``known``; those whose default is a text are texts.

    Args:
        request: the request.
        most: maximum number of bytes of its body.
        known: the allowed names and their defaults.
        needed: those that may not be left out.
    """
    body = await posted_json(request, most)
    if not isinstance(body, dict) or not {*needed} <= body.keys() <= {*known}:
        raise HTTPException(400, f"expected an object with {', '.join(known)}, got {shown(body)}")
    for name, value in body.items():
        if isinstance(known[name], str) and not isinstance(value, str):
            raise HTTPException(400, f"{name} is a text, not {shown(value)}")
    return {**known, **body}


def number(asked: Mapping[str, Any], name: str, least: int, most: int) -> int:
    """A parameter or field that is a whole number."""
    text = str(asked[name])
    if not re.fullmatch(r"\d{1,15}", text, re.ASCII) or not least <= int(text) <= most:
        raise HTTPException(400, f"{name} takes a whole number from {least} to {most}, not {shown(asked[name])}")
    return int(text)


def line_of(asked: Mapping[str, Any]) -> int:
    """The parameter ``line``; 0: the path is followed by one, else 1."""
    return number(asked, "line", 1, LAST_LINE) if asked["line"] else 0 if named_places(asked["path"]) else 1


def choice(asked: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    """A parameter that is one of a few words."""
    if asked[name] not in choices:
        raise HTTPException(400, f"{name} takes {' or '.join(choices)}, not {shown(asked[name])}")
    return asked[name]


def languages(asked: Mapping[str, str]) -> frozenset[str]:
    """The parameter or field ``language``, such as ``python,go``; none for ""."""
    try:
        return chosen_languages(short(asked, "language"))
    except UserError as error:
        raise HTTPException(400, f"language: {error}") from error


def pattern_in(asked: Mapping[str, str], root: Path | None) -> Pattern | None:
    """The parameter ``regex``, for the files of ``root``; None for ""."""
    try:
        return Pattern(asked["regex"], root) if asked["regex"] else None
    except UserError as error:
        raise HTTPException(400, str(error)) from error


def short(asked: Mapping[str, str], name: str) -> str:
    """A parameter or field that is as short as a pattern of paths."""
    if len(asked[name]) > LONGEST_PATTERN:
        raise HTTPException(400, f"{name} has at most {LONGEST_PATTERN} characters")
    return asked[name]


def check_query(query: str) -> None:
    """Answer a bad query with status 400."""
    try:
        words_of(query)
    except ValueError as error:
        raise HTTPException(400, str(error)) from error


def check_index(now: Opened, name: str, row: int = -1) -> None:
    """Refuse what is about another index, or a row that this one has not; ``name``: of the one meant, "" for any."""
    if name not in ("", now.name):
        raise HTTPException(409, "the index was replaced since: search again")
    if row >= now.head.rows:
        raise HTTPException(400, f"row takes a whole number below {now.head.rows}, not {row}")


def json_answer(told: Mapping[str, Any], status: int = 200) -> Response:
    """An answer with one JSON object."""
    try:
        body = orjson.dumps(told)  # in a tenth of the time
    except TypeError:  # paths may contain what UTF-8 cannot encode
        body = json.dumps(told).encode()
    return Response(body, status, media_type="application/json")


def refused(request: Request, error: Exception) -> Response:  # noqa: ARG001 - starlette calls it so
    """What is answered to a refused request, or to a client that went away while it sent one."""
    if isinstance(error, ClientDisconnect):
        return Response(status_code=GONE)
    assert isinstance(error, HTTPException)
    told = json_answer({"error": error.detail}, error.status_code)
    told.headers.update(error.headers or {})
    return told


@runtime_checkable
class Answering(Protocol):
    """What is asked."""

    @property
    def trouble(self) -> str:
        """Why answers come from an older state; "" if they do not."""

    def ready(self) -> Opened | None:
        """What every user is answered from, if that is known at once; None: :meth:`opened` says it, which may wait."""

    def opened(self, groups: frozenset[str] | None = None) -> Opened:
        """What a user in ``groups`` is answered from; None: the users are not told apart.

        Raises:
            OpeningError: nothing can be answered yet.
            NothingVisibleError: nothing is permitted to the user.
        """

    def catch_up(self) -> Freshness:
        """Read what has changed in the indexed folder, as long as a question may wait, and tell what is not read."""


class Turns:
    """The index that is asked, by one question at a time."""

    def __init__(self, live: Answering) -> None:
        self.live = live
        self._turn = asyncio.Lock()  # one question at a time uses the CPU
        self._thread = ThreadPoolExecutor(1, "answer")  # asyncio hands over to it for less than anyio does

    async def opened(self, request: Request) -> Opened:
        """The current index, or what of it the user of a request may see."""
        return self.live.ready() or (await self._looked(request, lambda: CURRENT))[0]

    async def _looked(self, request: Request, look: Callable[[], Freshness]) -> tuple[Opened, Freshness]:
        """The current index after a ``look`` at its folder, by one thread."""
        groups = request.scope.get(GROUPS)

        def looked() -> tuple[Opened, Freshness]:
            freshness = look()
            return self.live.opened(groups), freshness

        try:
            return await run_in_threadpool(looked)
        except OpeningError as error:
            line = "the index is being opened: ask again in a moment"
            raise HTTPException(503, str(error) or line, {"retry-after": "1"}) from error
        except NothingVisibleError as error:
            raise HTTPException(403, "no repository is visible to you: ask whoever runs this server") from error

    async def answer(
        self,
        request: Request,
        answer: Callable[[Opened], dict[str, Any]],
        index: str = "",
        row: int = -1,
        *,
        brief: bool = False,
    ) -> Response:
        """The answer that ``answer`` gives from the current index, in turn; a UserError of it is a bad request.

        ``index`` and ``row``: as :func:`check_index` takes them. ``brief``: whether an index of few rows is answered
        from in milliseconds.
        """
        # what is asked about an index that was answered from is answered from that one, not from a newer one
        now, freshness = self.live.ready(), CURRENT
        look = self.live.catch_up if not index else lambda: CURRENT

        async def work(now: Opened) -> dict[str, Any]:
            check_index(now, index, row)
            return await self.turn(request, lambda: answer(now), brief=brief and now.head.rows <= FEW)

        until = time.monotonic() + _PATIENCE
        told, is_done = (None, False) if now is None else await self._tried(partial(work, now))
        while not is_done:
            asked = now
            now, freshness = await self._looked(request, look)
            may_wait = 0 < len(freshness.reading) <= _FEW_FILES and not freshness.trouble
            is_done = is_last = not may_wait or time.monotonic() > until
            if told is None or now is not asked:  # else it is the answer of this index too
                told, is_done = (await work(now), True) if is_last else await self._tried(partial(work, now))
            if not is_done:
                await asyncio.sleep(_BRIEF)
        assert now is not None
        assert told is not None
        older = self.live.trouble and f"results come from an older index: {self.live.trouble}"
        return json_answer(
            {"index": now.name, "notice": freshness.line or now.so_far or older, **told, **freshness.told}
        )

    async def _tried(self, work: Callable[[], Awaitable[dict[str, Any]]]) -> tuple[dict[str, Any] | None, bool]:
        """What ``work`` tells, None if it refuses; and whether that stands even if a file was written since."""
        try:
            told = await work()
        except HTTPException as error:
            if error.status_code != HTTPStatus.BAD_REQUEST:
                raise
            return None, False
        return told, is_sure(told)

    async def turn(self, request: Request, work: Callable[[], Done], *, brief: bool = False) -> Done:
        """Run ``work`` in a thread, one at a time, unless the client has disconnected.

        What is ``brief`` is run at once, by the thread of all connections: others wait less than for a hand-over.
        """
        waits = self._turn.locked()
        async with self._turn:
            if waits and await request.is_disconnected():
                raise HTTPException(GONE, "nobody waits for the answer")
            try:
                return work() if brief else await asyncio.get_running_loop().run_in_executor(self._thread, work)
            except DamagedStore as damage:
                raise HTTPException(500, str(damage)) from damage
            except UserError as error:
                raise HTTPException(400, str(error)) from error
