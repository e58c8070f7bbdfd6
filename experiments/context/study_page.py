"""The page of a study, on this machine only: one comparison at a time, answers saved at once."""

import secrets
from collections.abc import Sequence
from html import escape
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs

from data_prep.errors import UserError
from experiments.context.study import ANSWERS, Study, load_study
from experiments.terminal.console import say

_HOST: Final = "127.0.0.1"
_LONGEST: Final = 4096
"""Bytes of an answer."""
_LABELS: Final = {
    "left": "The left one is better",
    "right": "The right one is better",
    "tie": "Neither is better",
    "incoherent": "The query makes no sense",
}
_STYLE: Final = (
    "body{font:16px sans-serif;margin:2em}pre{background:#f4f4f4;padding:1em;overflow:auto;max-height:60vh}"
    ".pair{display:grid;grid-template-columns:1fr 1fr;gap:1em}button{font:inherit;margin-right:1em;padding:.5em 1em}"
)


def serve_study(path: Path, port: int) -> None:
    """Serve the page until all comparisons have an answer or Ctrl-C.

    Raises:
        UserError: the port is taken.
    """
    try:
        server = StudyServer(path, port)
    except OSError as error:
        raise UserError(f"--port={port} cannot be used ({error.strerror}): name another") from error
    with server:
        say(f"answer at http://{_HOST}:{server.server_port}/ and stop with Ctrl-C; answers are saved in {path}")
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            say("stopped")


class StudyServer(HTTPServer):
    """Serves one study; ends itself after the last answer."""

    def __init__(self, path: Path, port: int) -> None:
        """Listen on the loopback address."""
        super().__init__((_HOST, port), _Page)
        self.path, self.study, self.token = path, load_study(path), secrets.token_urlsafe(16)

    @property
    def hosts(self) -> tuple[str, str]:
        """What a browser on this machine names as the host."""
        return f"{_HOST}:{self.server_port}", f"localhost:{self.server_port}"

    def answer(self, place: int, answer: str) -> None:
        """Save an answer.

        Raises:
            UserError: there is no such comparison or answer.
        """
        self.study = self.study.answered(place, answer)
        self.study.save(self.path)


class _Page(BaseHTTPRequestHandler):
    server: Any

    def do_GET(self) -> None:
        """The next comparison without an answer."""
        if self.path != "/":
            self._send(404, "There is only one page: /")
        elif self._from_here():
            self._send(200, page(self.server.study, self.server.token))

    def do_POST(self) -> None:
        """Save an answer and show the next comparison."""
        if not self._from_here():
            return
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()) or int(length) > _LONGEST:
            self._send(413, f"Expected a form of at most {_LONGEST} bytes")
            return
        form = {name: values[0] for name, values in parse_qs(self.rfile.read(int(length)).decode("latin-1")).items()}
        if not secrets.compare_digest(form.get("token", "").encode(), self.server.token.encode()):
            self._send(403, "The page is of another start of the study: load it again")
            return
        try:
            self.server.answer(int(form.get("place", "")), form.get("answer", ""))
        except ValueError as error:
            self._send(400, f"No such answer: {error}")
            return
        self.send_response(303)
        self.send_header("Location", "/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""

    def _from_here(self) -> bool:
        """Whether the browser asks this machine by its own name; else another page may have made it ask."""
        if self.headers.get("Host", "") in self.server.hosts:
            return True
        self._send(403, "This page is for this machine only")
        return False

    def _send(self, status: int, body: str) -> None:
        data = (body if body.startswith("<!") else f"<!doctype html><p>{escape(body)}</p>").encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def page(study: Study, token: str) -> str:
    """The first comparison without an answer, or thanks; everything of the study is escaped."""
    waiting: Sequence[int] = [*study.open]
    if not waiting:
        return _document("<h1>All comparisons have an answer</h1><p>Stop the command with Ctrl-C for the outcome.</p>")
    place = waiting[0]
    shown = study.comparisons[place]
    buttons = "".join(f'<button name="answer" value="{name}">{_LABELS[name]}</button>' for name in ANSWERS)
    return _document(
        f"<p>{len(study.comparisons) - len(waiting)} of {len(study.comparisons)} done</p>"
        f"<h1>{escape(shown.query)}</h1><p>{escape(shown.language)}, typed below this code:</p>"
        f"<pre>{escape(shown.context)}</pre><div class='pair'><pre>{escape(shown.left.code)}</pre>"
        f"<pre>{escape(shown.right.code)}</pre></div><form method='post' action='/'>"
        f"<input type='hidden' name='token' value='{escape(token)}'>"
        f"<input type='hidden' name='place' value='{place}'>{buttons}</form>"
    )


def _document(body: str) -> str:
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>Study</title><style>{_STYLE}</style>{body}</html>"
    )
