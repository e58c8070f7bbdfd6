"""``bash run.sh serve``: the search as a web page, on this machine only."""

import socket
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from data_prep.files.named_paths import named_path
from search.options import ServeOptions
from terminal.console import say
from terminal.options import parsed

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

ADDRESS: Final = "127.0.0.1"
_LONGEST_REQUEST: Final = 32 * 1024
"""Bytes of a request's first line and headers: enough for the longest query, fully percent-encoded."""


def serve(arguments: Sequence[str]) -> None:
    """Serve the page and its API until Ctrl-C."""
    words, options = parsed(arguments, ServeOptions)
    if words:
        raise ValueError(f"bash run.sh serve takes options only, not {' '.join(words)}")
    from search.index.places import index_place
    from search.opening import index_path, indexed_folder

    folder = named_path(options.folder) if options.folder else None
    path = index_place(folder) if folder and not options.index else index_path(options.index)
    folder = folder or indexed_folder(path)
    posts = _posts(options.posts)
    with listening(options.port) as listener:
        from search.index.code_index import rows_of_files
        from search.index.places import judgements_place
        from search.quality.judgements import Judgements
        from search.serve.live_index import LiveIndex, reranker_maker
        from search.serve.web_app import web_app

        live = LiveIndex(path, reranker_maker(options.model))
        head, name = live.opened().head, Path(options.model).name or "default"
        if not head.rows:
            raise ValueError(f"the index {path} is empty: index a folder that has source files")
        say(f"{rows_of_files(head.rows, head.files)} in {path}")
        say(f"search them at http://{ADDRESS}:{listener.getsockname()[1]}; stop with Ctrl-C")
        app = web_app(live, name, judgements=Judgements(judgements_place(path)), root=folder, posts=posts)
        server_of(app).run(sockets=[listener])


def _posts(typed: str) -> Path | None:
    """The index of posts that ``--posts`` names; one in an indexed folder is used only if it is named."""
    if typed:
        return None if typed == "none" else named_path(typed)
    from recipes.config import REPOSITORY

    own = REPOSITORY / "data" / "posts-index"
    return own if (own / "index.json").is_file() else None


def listening(port: int) -> socket.socket:
    """A socket that listens on ``port`` of this machine; 0: any free one.

    Raises:
        ValueError: the port is not available.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port is free at once after a stop
        listener.bind((ADDRESS, port))
        listener.listen(128)  # clients that connect while the index is opened wait
    except OSError as error:
        listener.close()
        raise ValueError(f"cannot listen on port {port} ({error.strerror}): name another one by --port=") from error
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
