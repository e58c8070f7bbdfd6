"""The search as a web application: the page and its JSON API (docs/search-api.md).

It answers only requests to a local host name, or only those of an authenticating proxy (:mod:`search.serve.shared`);
of what another site has a user's browser ask, only a link to the page. The page may load from and send to this server
only.
"""

import json
import re
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from data_prep.languages.registry import languages
from search.quality.query_file import Judgements
from search.serve.answering import Answering
from search.serve.code_api import CodeApi
from search.serve.context_api import ContextApi
from search.serve.file_api import FileApi
from search.serve.judgement_api import JudgementApi
from search.serve.posts_api import PostsApi
from search.serve.quality_api import QualityApi
from search.serve.requests import check_site, error_answer, left, refused
from search.serve.search_api import GROUPS, SearchApi, Turns
from search.serve.shared import Proxy

_WEB: Final = Path(__file__).with_name("web")
_TYPES: Final = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
_LANGUAGES: Final = f"export const NAMES = {json.dumps({each.name: each.title for each in languages()})};\n"
"""A module of the page: the languages as they are written."""
_HOST: Final = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?", re.IGNORECASE | re.ASCII)
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
    api = SearchApi(turns, model, {"posts": found_posts.size if found_posts else 0, **about})
    under_context = ContextApi(turns, about | ({"feedback_url": feedback} if feedback else {}))
    by_code = CodeApi(turns)
    routes = [
        Route("/health", api.health, methods=["GET"]),
        Route("/languages", under_context.languages, methods=["GET"]),
        Route("/api/search", api.search, methods=["GET"]),
        Route("/api/search", under_context.search, methods=["POST"]),
        Route("/api/explain", api.explain, methods=["GET"]),
        Route("/api/code", by_code.code, methods=["POST"]),
        Route("/api/related", by_code.related, methods=["GET"]),
        Route("/api/unit", api.unit, methods=["GET"]),
        Route("/api/file", FileApi(turns, root).file, methods=["GET"]),
        *(
            Route(_place(file), _answer(file.read_bytes(), file.suffix), methods=["GET"])
            for file in sorted(_WEB.iterdir())
            if file.suffix in _TYPES
        ),
        Route("/languages.js", _answer(_LANGUAGES.encode(), ".js"), methods=["GET"]),
    ]
    if proxy is None:
        routes.append(Route("/api/quality", QualityApi(turns, judgements, model).quality, methods=["POST"]))
    if judgements is not None:
        judged = JudgementApi(turns, judgements)
        routes += [
            Route("/api/judgements", judged.judgements, methods=["GET"]),
            Route("/api/judgements", judged.judge, methods=["POST"]),
        ]
    if found_posts:
        routes.append(Route("/api/posts", found_posts.posts, methods=["POST"]))
    handlers = {HTTPException: refused, ClientDisconnect: left}
    return _Guard(Starlette(routes=routes, exception_handlers=handlers), proxy)


class _Guard:
    """Accepts requests to a local host name, or those of a proxy, and adds the security headers to each answer."""

    def __init__(self, app: ASGIApp, proxy: Proxy | None) -> None:
        self._app, self._proxy = app, proxy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        app = self._app
        if scope["type"] == "http":
            try:
                self._admit(scope)
            except HTTPException as error:
                app = error_answer(error.status_code, error.detail)
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
            check_site(headers)


def _place(file: Path) -> str:
    """The path under which a file of the page is served."""
    return "/" if file.name == "index.html" else f"/{file.name}"


def _answer(content: bytes, suffix: str) -> Any:
    """A handler that answers with a file of the page."""
    media_type = f"{_TYPES[suffix]}; charset=utf-8"

    async def answer(request: Request) -> Response:  # noqa: ARG001 - starlette calls it so
        return Response(content, media_type=media_type)

    return answer
