"""The search as a web application: the page and its JSON API (docs/search-api.md), and whom it answers.

It answers only requests to a local host name, or only those of an authenticating proxy, for several users, of whom each
sees the repositories that are permitted; of what another site has a user's browser ask, only a link to the page. The
page may load from and send to this server only.

A proxy sends a secret that it shares with this server, the user's name, and the user's groups, each as one header.
Whatever comes without the secret is refused before anything of it is read, and so is a user without a name. The proxy
must remove these headers from what it receives (docs/company.md).
"""

import hashlib
import hmac
import json
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from data_prep.errors import UserError
from data_prep.files.access import open_regular, reason
from data_prep.languages.registry import languages
from search.quality.query_file import Judgements
from search.repository_list import USER
from search.serve.code_api import CodeApi, FileApi, PostsApi
from search.serve.partial_index import OpeningIndex
from search.serve.quality_api import QualityApi
from search.serve.requests import GROUPS, Answering, Turns, json_answer, refused
from search.serve.search_api import SearchApi

_WEB: Final = Path(__file__).with_name("web")
_TYPES: Final = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
_LANGUAGES: Final = f"export const NAMES = {json.dumps({each.name: each.title for each in languages()})};\n"
"""A module of the page: the languages as they are written."""
_HOST: Final = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?", re.IGNORECASE | re.ASCII)
_SAME: Final = ("same-origin", "none")
_LINK: Final = ("GET", "/", b"")
"""What any site may link to: the page, which is the same for every index."""
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
_ENCODED: Final = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
SECRET_HEADER: Final = "x-search-secret"
_SHORTEST, _LONGEST = 32, 4096
_HEADER: Final = re.compile(r"[A-Za-z0-9-]{1,100}")
_MOST_GROUPS: Final = 1000
_SPACES: Final = " \t"
"""What HTTP allows around a header's value; any other space is part of it."""


def read_secret(path: Path) -> bytes:
    """The secret in a file, without blanks, tabs and line breaks around it.

    Raises:
        UserError: it cannot be read, others than its owner and group may read it, or it is too short to be one.
    """
    try:
        with open_regular(path) as file:
            mode, found = os.fstat(file.fileno()).st_mode, file.read(_LONGEST + 1).strip(b" \t\r\n")
    except OSError as error:
        raise UserError(f"the secret of --secret={path} cannot be read: {reason(error)}") from error
    if stat.S_IMODE(mode) & stat.S_IRWXO:
        raise UserError(f"every user of this machine may read the secret in {path}: chmod 600 {path}")
    if not _SHORTEST <= len(found) <= _LONGEST or not found.isascii() or not found.decode().isprintable():
        raise UserError(
            f"the secret in {path} is no line of {_SHORTEST} to {_LONGEST:,} ASCII characters: make one by "
            f"`openssl rand -hex 32`"
        )
    return found


def check_header(name: str, option: str) -> None:
    """Refuse what is no name of a header.

    Raises:
        UserError: it is not.
    """
    if not _HEADER.fullmatch(name) or name.lower() == SECRET_HEADER:
        raise UserError(f"--{option} takes the name of a header, such as X-Forwarded-User, not {name[:60]!r}")


@dataclass(frozen=True, slots=True, repr=False)
class Proxy:
    """What is known of the proxy."""

    secret: bytes
    user_header: str
    groups_header: str

    def groups(self, headers: Headers) -> frozenset[str]:
        """What the user of a request is in: the groups, and ``user:NAME``; an HTTPException if it is not permitted."""
        given = headers.getlist(SECRET_HEADER)
        if len(given) != 1 or not self._is_secret(given[0]):
            raise HTTPException(403, "expected a request of the authenticating proxy")
        users, groups = (_texts(headers, name) for name in (self.user_header, self.groups_header))
        if len(users) != 1 or len(groups) > 1 or not users[0]:
            raise HTTPException(401, "expected one header with the user, and at most one with groups, of the proxy")
        named = [each.strip(_SPACES) for each in (groups[0].split(",") if groups else ())]
        if len(named) > _MOST_GROUPS:
            raise HTTPException(400, f"at most {_MOST_GROUPS:,} groups are taken")
        if not all(each.isprintable() for each in (*users, *named)):
            raise HTTPException(400, "expected printable characters in the headers of the proxy")
        return frozenset((f"{USER}{users[0]}", *(each for each in named if each and not each.startswith(USER))))

    def _is_secret(self, given: str) -> bool:
        """Compared in constant time, also with respect to lengths."""
        first, second = hashlib.sha256(given.encode("latin-1")), hashlib.sha256(self.secret)
        return hmac.compare_digest(first.digest(), second.digest())


def _texts(headers: Headers, name: str) -> list[str]:
    try:
        return [each.encode("latin-1").decode().strip(_SPACES) for each in headers.getlist(name)]
    except UnicodeDecodeError as error:
        raise HTTPException(400, "expected UTF-8 in the headers of the proxy") from error


def web_app(
    live: Answering,
    model: str,
    *,
    judgements: Judgements | None = None,
    root: Path | None = None,
    posts: Path | None = None,
    proxy: Proxy | None = None,
    feedback: str = "",
) -> ASGIApp:
    """The application that answers from ``live``.

    Args:
        live: the index.
        model: the name that is reported for its model.
        judgements: where the user's judgements of hits are saved; None: they are not taken.
        root: the indexed folder, whose files are shown; None: not known.
        posts: folder of an index of posts; None: there is none.
        proxy: that which authenticates users, of whom each sees what is permitted, and who only read; None: there are
            no users, and only programs of this machine are answered.
        feedback: address of a form for what users think of answers; "": there is none.

    Raises:
        ValueError: the index of posts is damaged.
    """
    assert not (proxy and (judgements or posts)), "what is stored or not divided among users is not for them"
    turns = Turns(live)
    found_posts = PostsApi(turns, posts) if posts else None
    about: dict[str, Any] = {"shared": True} if proxy else {"folder": str(root or "")}
    api = SearchApi(turns, model, {"posts": found_posts.size if found_posts else 0, **about}, feedback, root)
    if isinstance(live, OpeningIndex):
        live.then(api.prepare)
    by_code, quality = CodeApi(turns, root), QualityApi(turns, judgements, model)
    answers = {
        ("GET", "/health"): api.health,
        ("GET", "/languages"): api.languages,
        ("GET", "/api/search"): api.search,
        ("POST", "/api/search"): api.search_in_context,
        ("GET", "/api/explain"): api.explain,
        ("POST", "/api/code"): by_code.code,
        ("GET", "/api/related"): by_code.related,
        ("GET", "/api/usages"): by_code.usages,
        ("GET", "/api/unit"): api.unit,
        ("GET", "/api/file"): FileApi(turns, root).file,
        ("GET", "/languages.js"): _answer(_LANGUAGES.encode(), ".js"),
    }
    if proxy is None:
        answers["POST", "/api/quality"] = quality.quality
    if judgements is not None:
        answers |= {("GET", "/api/judgements"): quality.judgements, ("POST", "/api/judgements"): quality.judge}
    if found_posts:
        answers["POST", "/api/posts"] = found_posts.posts
    for file in sorted(_WEB.iterdir()):
        if file.suffix in _TYPES:
            place = "/" if file.name == "index.html" else f"/{file.name}"
            answers["GET", place] = _answer(file.read_bytes(), file.suffix)
    routes = [Route(place, answer, methods=[method]) for (method, place), answer in answers.items()]
    return _Guard(
        Starlette(routes=routes, exception_handlers={HTTPException: refused, ClientDisconnect: refused}), proxy
    )


class _Guard:
    """Accepts requests to a local host name, or those of a proxy, and adds the security headers to each answer."""

    def __init__(self, app: ASGIApp, proxy: Proxy | None) -> None:
        self._app, self._proxy = app, proxy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_ENCODED]  # which no answer has of its own
            await send(message)

        app = self._app
        if scope["type"] == "http":
            try:
                self._admit(scope)
            except HTTPException as error:
                app = json_answer({"error": error.detail}, error.status_code)
        await app(scope, receive, send_guarded)

    def _admit(self, scope: Scope) -> None:
        """Note what the user of a request is in; an HTTPException if it is refused."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if self._proxy:
            scope[GROUPS] = self._proxy.groups(headers)
            if len(hosts) != 1:
                raise HTTPException(400, "expected one host")
        elif len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
            raise HTTPException(400, "expected the host localhost, 127.0.0.1 or [::1]")
        if (scope["method"], scope["path"], scope["query_string"]) != _LINK:
            _check_site(headers)


def _answer(content: bytes, suffix: str) -> Any:
    """A handler that answers with a file of the page."""
    media_type = f"{_TYPES[suffix]}; charset=utf-8"

    async def answer(request: Request) -> Response:  # noqa: ARG001 - starlette calls it so
        return Response(content, media_type=media_type)

    return answer


def _check_site(headers: Headers) -> None:
    """Refuse what a page of another site has a browser ask: how long an answer takes says what the index has.

    Programs send neither of the two headers, and neither does a browser of before 2023 for a link or a picture.

    Args:
        headers: of a request, with one ``host``.
    """
    sites, origins = headers.getlist("sec-fetch-site"), headers.getlist("origin")
    own = [f"{scheme}://{headers['host']}".lower() for scheme in ("http", "https")]  # a proxy may speak https
    if not {*sites} <= {*_SAME} or not {each.lower() for each in origins} <= {*own}:
        raise HTTPException(403, "expected a request of this server's own page, or of a program")
