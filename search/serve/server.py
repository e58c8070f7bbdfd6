"""``bash run.sh serve``: the search as a web page, on this machine only, or behind a proxy for several users."""

import socket
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from data_prep.errors import UserError
from data_prep.files.named_paths import named_path
from experiments.terminal import console
from experiments.terminal.console import say
from experiments.terminal.options import parsed
from search.options import ServeOptions

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

ADDRESS: Final = "127.0.0.1"
_LOOK: Final = 0.2
"""Seconds between looks whether the index could be opened."""
_LONGEST_REQUEST: Final = 32 * 1024
"""Bytes of a request's first line and headers: enough for the longest query, fully percent-encoded."""


def serve(arguments: Sequence[str]) -> None:
    """Serve the page and its API until Ctrl-C."""
    words, options = parsed(arguments, ServeOptions)
    if words:
        raise UserError(f"bash run.sh serve takes options only, not {' '.join(words)}")
    with listening(options.port, options.host) as listener:
        failures: list[Exception] = []
        application = _of_list(options) if options.list else _of_index(options, failures)
        say(f"search them at {_address(listener)}; stop with Ctrl-C")
        run_until_failure(server_of(application), listener, failures)


def _of_index(options: ServeOptions, failures: list[Exception]) -> "ASGIApp":
    """The application over one index, which is opened meanwhile; a failure of that is added to ``failures``."""
    from search.index.code_index import rows_of_files
    from search.index.index_file import read_head
    from search.opening import index_path, index_place, indexed_folder, judgements_place
    from search.quality.query_file import Judgements
    from search.serve.answering import OpeningIndex
    from search.serve.live_index import LiveIndex, reranker_maker
    from search.serve.web_app import web_app

    folder = named_path(options.folder) if options.folder else None
    path = index_place(folder) if folder and not options.index else index_path(options.index)
    head = read_head(path)
    if not head.rows:
        raise UserError(f"the index {path} is empty: index a folder that has source files")
    reranker_of = reranker_maker(options.model)
    say(f"{rows_of_files(head.rows, head.files)} in {path}")
    return web_app(
        OpeningIndex(lambda: LiveIndex(path, reranker_of), failures.append),
        _name_of(options),
        judgements=Judgements(judgements_place(path)),
        root=folder or indexed_folder(path),
        posts=_posts(options.posts),
        feedback=options.feedback,
    )


def _of_list(options: ServeOptions) -> "ASGIApp":
    """The application over the indexes of a list, which are opened meanwhile."""
    from search.joint.live_list import LiveList
    from search.opening import judgements_place
    from search.quality.query_file import Judgements
    from search.serve.live_index import reranker_maker
    from search.serve.shared import Proxy, check_header, read_secret
    from search.serve.web_app import web_app

    path, proxy = named_path(options.list), None
    if options.shared:
        check_header(options.user_header, "user_header")
        check_header(options.groups_header, "groups_header")
        proxy = Proxy(read_secret(named_path(options.secret)), options.user_header, options.groups_header)
    tell = lambda name, trouble: console.complain(f"{name}: {trouble}")  # noqa: E731
    live = LiveList(path, reranker_maker(options.model), tell, by_user=options.shared)
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


def run_until_failure(server: "uvicorn.Server", listener: socket.socket, failures: Sequence[Exception]) -> None:
    """Run a server until it is stopped, or until there is one of ``failures``, which is raised."""

    def watch() -> None:
        while not failures:
            if ended.wait(_LOOK):
                return
        server.should_exit = True

    ended = threading.Event()
    watching = threading.Thread(target=watch, daemon=True, name="failures")
    watching.start()
    try:
        server.run(sockets=[listener])
    finally:
        ended.set()
        watching.join()
    if failures:
        raise failures[0]


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


def server_of(app: "ASGIApp") -> "uvicorn.Server":
    """A server of ``app``. A signal stops it within 2 seconds, after which it sends itself that signal again."""
    import uvicorn

    from search.serve.connections import Connection

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
