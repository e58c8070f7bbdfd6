"""``bash run.sh serve``: the search as a web page, on this machine only, or behind a proxy for several users."""

import asyncio
import gc
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from data_prep.errors import UserError
from data_prep.files.access import named_path
from experiments.terminal.console import say
from experiments.terminal.options import parsed
from search.index.code_index import rows_of_files
from search.index.index_file import read_head
from search.index.updating import Updates
from search.making import complain_about, named_folder
from search.models.packed import reranker_maker
from search.opening import judgements_place, source_of
from search.options import ServeOptions
from search.quality.query_file import Judgements
from search.serve.live_index import LiveIndex
from search.serve.live_list import LiveList
from search.serve.partial_index import OpeningIndex, growing
from search.serve.web_app import Proxy, check_header, read_secret, web_app

ADDRESS: Final = "127.0.0.1"
_SELDOM: Final = 50_000
"""New objects after which garbage is looked for: a question makes many, of which hardly any lead to each other."""
_LONGEST_REQUEST: Final = 32 * 1024
"""Bytes of a request's first line and headers: enough for the longest query, fully percent-encoded."""


def serve(arguments: Sequence[str]) -> None:
    """Serve the page and its API until Ctrl-C."""
    words, options = parsed(arguments, ServeOptions)
    if len(words) > 1 or (words and (options.list or options.folder)):
        raise UserError(f"expected one folder at most, bash run.sh serve DIR, not {' '.join(words)}")
    if words:
        options = replace(options, folder=words[0])
    with listening(options.port, options.host) as listener:
        failures: list[Exception] = []
        servers: list[uvicorn.Server] = []

        def failed(error: Exception) -> None:
            failures.append(error)
            for each in servers:
                each.should_exit = True

        server = server_of(_of_list(options) if options.list else _of_index(options, failed))
        servers.append(server)
        if failures:
            raise failures[0]
        say(f"search them at {_address(listener)}; stop with Ctrl-C")
        with suppress(OSError):  # which the end of the program tells
            sys.stdout.flush()  # a program that starts this one waits for the address
        gc.set_threshold(_SELDOM)
        server.run(sockets=[listener])
        if failures:
            raise failures[0]


def _of_index(options: ServeOptions, failed: Callable[[Exception], None]) -> ASGIApp:
    """The application over one index, which is opened meanwhile; ``failed`` is called with an error of that."""
    folder = named_folder(options.folder) if options.folder else None
    with_model = options.model != "none"
    source = source_of(options.index, None if options.index else folder, vectors=with_model, wait=False)
    root, reranker_of = folder or source.root, reranker_maker(options.model)

    def live(path: Path) -> LiveIndex:
        updates = Updates(path, root, complain_about, vectors=with_model and source.own)
        return LiveIndex(path, reranker_of, updates=updates)

    if not source.is_missing:
        tell_rows(source.path)
    if root is None or not source.own:
        answering: OpeningIndex = OpeningIndex(lambda: live(source.path), failed)
    else:
        answering = made = growing(root, source.path, options.model, live, failed)
        if source.is_missing and made.wait():
            say(f"indexing {root}: until then, what is read so far answers")
    return web_app(
        answering,
        _name_of(options),
        judgements=Judgements(judgements_place(source.path)),
        root=root,
        posts=_posts(options.posts),
        feedback=options.feedback,
    )


def tell_rows(path: Path) -> None:
    """Print how much an index has.

    Raises:
        UserError: it has no rows.
    """
    head = read_head(path)
    if not head.rows:
        raise UserError(f"the index {path} is empty: index a folder that has source files")
    say(f"{rows_of_files(head.rows, head.files)} in {path}")


def _of_list(options: ServeOptions) -> ASGIApp:
    """The application over the indexes of a list, which are opened meanwhile."""
    path, proxy = named_path(options.list), None
    if options.shared:
        check_header(options.user_header, "user_header")
        check_header(options.groups_header, "groups_header")
        proxy = Proxy(read_secret(named_path(options.secret)), options.user_header, options.groups_header)
    live = LiveList(path, reranker_maker(options.model), complain_about, by_user=options.shared)
    say(f"{len(live.listed):,} repositories of {path}")
    live.watch()
    return web_app(
        live,
        _name_of(options),
        judgements=None if proxy else Judgements(judgements_place(path)),
        posts=None if proxy else _posts(options.posts),
        proxy=proxy,
        feedback=options.feedback,
    )


def _name_of(options: ServeOptions) -> str:
    return Path(options.model).name or "default"


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _posts(typed: str) -> Path | None:
    """The index of posts that ``--posts`` names; one in an indexed folder is used only if it is named."""
    if typed:
        return None if typed == "none" else named_path(typed)
    from experiments.recipes.config import REPOSITORY

    own = REPOSITORY / "data" / "posts-index"
    return own if (own / "index.json").is_file() else None


def listening(port: int, host: str = ADDRESS) -> socket.socket:
    """A socket that listens on ``port`` of the address ``host`` of this machine; port 0: any free one.

    Raises:
        UserError: the port or the address is not available.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # named, so that asyncio sends at once: else an answer's body waits for the client to acknowledge its head, 40 ms
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port is free at once after a stop
        listener.bind((host, port))
        listener.listen(128)  # clients that connect while the index is opened wait
    except OSError as error:
        listener.close()
        where = f"port {port}" if host == ADDRESS else f"port {port} of {host}"
        raise UserError(f"cannot listen on {where} ({error.strerror}): name another one by --port=") from error
    return listener


def server_of(app: ASGIApp) -> uvicorn.Server:
    """A server of ``app``. A signal stops it within 2 seconds, after which it sends itself that signal again."""
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        h11_max_incomplete_event_size=_LONGEST_REQUEST,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)


class _Answers(h11.Connection):
    """What begins an answer is sent together with what follows, so that the client waits once."""

    _begun = b""

    def send(self, event: Any) -> Any:
        """The bytes to send for an event."""
        data = super().send(event)
        if isinstance(event, h11.Response):
            self._begun, data = data or b"", b""
        elif data is not None:
            data, self._begun = self._begun + data, b""
        return data


class Connection(H11Protocol):
    """A connection that is closed if the client keeps the server waiting, but not while a request is being answered.

    Uvicorn closes one that is idle after an answer, but waits forever in all other cases: for the first byte, for the
    rest of a request, for an announced body, and for the client to read the answer.
    """

    patience = 10.0
    """Seconds within which a request must be complete, and within which some of a pending answer must be read."""
    most = 100
    """Maximum number of open connections; for one more, the one that has kept the server waiting longest is closed."""

    _timer: asyncio.TimerHandle | None = None
    _unread = 0
    """Unread bytes of the answer when the server began to wait."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request; make room for it."""
        super().connection_made(transport)
        self.conn = _Answers(h11.SERVER, _LONGEST_REQUEST)
        self._wait()
        if len(self.connections) > self.most:
            self._longest_waiting()._close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._wait_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; stop waiting once it is complete."""
        super().data_received(data)
        self._settle()

    def on_response_complete(self) -> None:
        """Wait for the answer to be read, and for another request."""
        self._wait()
        super().on_response_complete()
        self._settle()

    def pause_writing(self) -> None:
        """Wait for what was sent to be read."""
        super().pause_writing()
        self._wait()

    def resume_writing(self) -> None:
        """Continue with an answer, or wait for another request."""
        super().resume_writing()
        self._wait()
        self._settle()

    def _settle(self) -> None:
        """Stop waiting while a complete request is being answered."""
        cycle = self.cycle
        if cycle is not None and not (cycle.response_complete or cycle.more_body or self.flow.write_paused):
            self._wait_no_more()

    def _wait(self) -> None:
        self._wait_no_more()
        self._unread = self.transport.get_write_buffer_size()
        self._timer = self.loop.call_later(self.patience, self._waited)

    def _wait_no_more(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _waited(self) -> None:
        if 0 < self.transport.get_write_buffer_size() < self._unread:  # it is being read, if slowly
            self._wait()
        else:
            self._close()

    def _close(self) -> None:
        """Close at once, whatever is unread."""
        self.connections.discard(self)  # now rather than in connection_lost, since others may connect meanwhile
        self._wait_no_more()
        self.transport.abort()

    def _longest_waiting(self) -> "Connection":
        """The connection to close; this one if all others are being answered."""
        waiting = {
            each: each._timer.when() for each in self.connections if isinstance(each, Connection) and each._timer
        }
        return min(waiting, key=waiting.__getitem__)
