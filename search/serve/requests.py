"""Requests of the JSON API: parameters and bodies, checked, and answers as JSON."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from data_prep.errors import UserError
from data_prep.files.json_text import parse_json
from search.engine.question import words_of
from search.files.languages import LONGEST_PATTERN, chosen_languages

GONE: Final = 499
"""The status of what nobody waits for any more."""
_SAME: Final = ("same-origin", "none")


def parameters(request: Request, known: Mapping[str, str]) -> dict[str, str]:
    """The parameters of a request, with the defaults in ``known``, which also lists the allowed names."""
    given = request.query_params.multi_items()
    for place, (name, _) in enumerate(given):
        if name not in known:
            raise HTTPException(400, f"unknown parameter {name[:40]!r}; known: {', '.join(known) or 'none'}")
        if name in dict(given[:place]):
            raise HTTPException(400, f"{name} is given twice")
    return {**known, **dict(given)}


def number(asked: Mapping[str, str], name: str, least: int, most: int) -> int:
    """A parameter that is a whole number."""
    text = asked[name]
    if not re.fullmatch(r"\d{1,15}", text, re.ASCII) or not least <= int(text) <= most:
        raise HTTPException(400, f"{name} takes a whole number from {least} to {most}, not {text[:40]!r}")
    return int(text)


def choice(asked: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    """A parameter that is one of a few words."""
    if asked[name] not in choices:
        raise HTTPException(400, f"{name} takes {' or '.join(choices)}, not {asked[name][:40]!r}")
    return asked[name]


def languages(asked: Mapping[str, str]) -> frozenset[str]:
    """The parameter ``language``, such as ``python,go``; none for ""."""
    try:
        return chosen_languages(_short(asked, "language"))
    except UserError as error:
        raise HTTPException(400, f"language: {error}") from error


def pattern(asked: Mapping[str, str]) -> str:
    """The parameter ``path``."""
    return _short(asked, "path")


def _short(asked: Mapping[str, str], name: str) -> str:
    if len(asked[name]) > LONGEST_PATTERN:
        raise HTTPException(400, f"{name} has at most {LONGEST_PATTERN} characters")
    return asked[name]


def check_query(query: str) -> None:
    """Answer a bad query with status 400."""
    try:
        words_of(query)
    except ValueError as error:
        raise HTTPException(400, str(error)) from error


def check_site(headers: Headers) -> None:
    """Refuse what a page of another site has a browser ask: how long an answer takes says what the index has.

    Programs send neither of the two headers, and neither does a browser of before 2023 for a link or a picture.

    Args:
        headers: of a request, with one ``host``.
    """
    sites, origins = headers.getlist("sec-fetch-site"), headers.getlist("origin")
    own = [f"{scheme}://{headers['host']}".lower() for scheme in ("http", "https")]  # a proxy may speak https
    if not {*sites} <= {*_SAME} or not {each.lower() for each in origins} <= {*own}:
        raise HTTPException(403, "expected a request of this server's own page, or of a program")


async def posted_json(request: Request, most: int) -> Any:
    """The body of a request.

    A browser sends a body of this type to another site only if that site allows it, which this server never does.

    Args:
        request: the request.
        most: maximum number of bytes of its body.
    """
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


def json_answer(told: Mapping[str, Any], status: int = 200) -> Response:
    """An answer with one JSON object."""
    # ASCII only: paths may contain what UTF-8 cannot encode.
    return Response(json.dumps(told), status, media_type="application/json")


def error_answer(status: int, line: str) -> Response:
    """An answer that says what was wrong."""
    return json_answer({"error": line}, status)


def refused(request: Request, error: Exception) -> Response:  # noqa: ARG001 - starlette calls it so
    """What an :class:`HTTPException` is answered with."""
    assert isinstance(error, HTTPException)
    told = error_answer(error.status_code, error.detail)
    told.headers.update(error.headers or {})
    return told


def left(request: Request, error: Exception) -> Response:  # noqa: ARG001 - starlette calls it so
    """What a client that went away while it sent its request is answered with."""
    assert isinstance(error, ClientDisconnect)
    return Response(status_code=GONE)
