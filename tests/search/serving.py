"""The server as it runs, in a thread, and plain requests to it."""

import asyncio
import http.client
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch
from urllib.parse import urlencode

import uvicorn
from starlette.types import ASGIApp

from search.index.build import refresh
from search.making import build_vectors
from search.opening import index_place
from search.serve.fresh_index import FreshIndex
from search.serve.live_index import LiveIndex
from search.serve.server import listening, server_of
from search.serve.web_app import web_app

HASTY = SimpleNamespace(**vars(asyncio) | {"sleep": lambda seconds: asyncio.sleep(seconds / 20)})
"""What uvicorn looks at in place of asyncio: it notices 200 times a second whether it is to end, instead of 10."""


def index_of(root: Path, path: Path) -> Path:
    """Make the index of a folder, or bring it up to date."""
    refresh(root, path, processes=0, tell=lambda *_: None)
    return path


def indexed(root: Path, vectors: str = "none") -> Path:
    """Make the index of a folder in its place as the command does, but in this process alone."""
    path = index_of(root, index_place(root))
    build_vectors(vectors, path, lambda _: None)
    return path


@contextmanager
def fresh(root: Path, model: str = "none", tell=lambda *_: None) -> Iterator[FreshIndex]:
    """The index of a folder, as a server of agents has it."""
    index = FreshIndex(root, model, tell)
    try:
        yield index
    finally:
        index.close()


def settled(index: FreshIndex) -> FreshIndex:
    """An index of a folder that has been read completely."""
    end = time.monotonic() + 120
    while index.current().notice and time.monotonic() < end:
        time.sleep(0.1)
    return index


@contextmanager
def running(live: LiveIndex, model: str = "none", **more) -> Iterator[int]:
    """The port of a server that answers from ``live``, with what ``more`` tells the application."""
    with running_app(web_app(live, model, **more)) as (port, _):
        yield port


@contextmanager
def running_app(app: ASGIApp) -> Iterator[tuple[int, uvicorn.Server]]:
    """A server that runs ``app``, and its port."""
    with listening(0) as listener, patch.object(uvicorn.server, "asyncio", HASTY):
        server = server_of(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()[1], server
        finally:
            server.should_exit = True
            thread.join(10)
            assert not thread.is_alive()


class Answer:
    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status, self.headers, self.content = response.status, response.headers, response.read()

    @property
    def told(self) -> dict:
        assert self.headers["content-type"] == "application/json"
        return json.loads(self.content)


def ask(
    port: int,
    place: str,
    parameters: Mapping[str, object] | str = "",
    *,
    method: str = "GET",
    body: bytes | None = None,
    **headers,
) -> Answer:
    """One request; ``headers`` replace those that are sent by default."""
    query = parameters if isinstance(parameters, str) else urlencode(parameters)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, f"{place}?{query}" if query else place, body, headers)
        return Answer(connection.getresponse())
    finally:
        connection.close()


def post(port: int, place: str, told: object, **headers) -> Answer:
    """Post JSON, or bytes as they are."""
    body = told if isinstance(told, bytes) else json.dumps(told).encode()
    return ask(port, place, method="POST", body=body, **{"Content-Type": "application/json", **headers})
