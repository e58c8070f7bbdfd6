"""A server on this machine in the place of a hub or an endpoint: it does what it is told and notes what is asked."""

import http.server
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Asked:
    """What a server was asked."""

    port: int = 0
    requests: list[tuple[str, str]] = field(default_factory=list)  # method and path
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)


Answer = Callable[[http.server.BaseHTTPRequestHandler, Asked], None]


@contextmanager
def serving(answer: Answer) -> Iterator[Asked]:
    """Serve on loopback until the block ends."""
    asked = Asked()

    class Handler(http.server.BaseHTTPRequestHandler):
        def _do(self) -> None:
            asked.requests.append((self.command, self.path))
            asked.headers.append(dict(self.headers))
            asked.bodies.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            answer(self, asked)

        do_GET = do_HEAD = do_POST = _do  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # a client that has gone
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    asked.port = server.server_port
    try:
        yield asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def send(handler: http.server.BaseHTTPRequestHandler, status: int, body: bytes = b"", **headers: str) -> None:
    """A whole answer; ``_`` in a header's name is ``-``."""
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)
