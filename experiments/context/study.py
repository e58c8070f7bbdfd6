"""The comparison of two runs by people, pair by pair (Scotch, row K-17): ``context study``.

For a sample of validation queries of each language, the first function of both runs over all validation functions of
the language. A person sees query, context and the two functions in random order, on a page that only this machine is
served, and answers which is better, that neither is, or that the query makes no sense. Where both runs have the same
function first, it is a tie by itself. Answers are saved at once.
"""

import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs

import numpy as np
from scipy.stats import binomtest

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from data_prep.files.named_paths import named_path
from evaluation.json_records import load_record, to_json
from experiments.context.finished_run import FinishedRun, first_functions, same_pairs
from experiments.context.options import StudyOptions
from experiments.terminal.console import say, show
from experiments.terminal.options import parsed

ANSWERS: Final = {
    "left": "The left one is better",
    "right": "The right one is better",
    "tie": "Neither is better",
    "incoherent": "The query makes no sense",
}
"""Answers as saved -> as shown."""
_OUTCOMES: Final = ("win", "lose", "tie")
_HOST: Final = "127.0.0.1"
_LONGEST: Final = 4096
"""Bytes of an answer."""
_STYLE: Final = (
    "body{font:16px sans-serif;margin:2em}pre{background:#f4f4f4;padding:1em;overflow:auto;max-height:60vh}"
    ".pair{display:grid;grid-template-columns:1fr 1fr;gap:1em}button{font:inherit;margin-right:1em;padding:.5em 1em}"
)


@dataclass(frozen=True, slots=True)
class Shown:
    """A function as it is shown."""

    code: str
    url: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """A query and the first functions of both runs, in the order in which they are shown."""

    language: str
    query: str
    context: str
    left: Shown
    right: Shown
    left_is_first: bool  # whether the left one is of the first run
    answer: str = ""  # one of ANSWERS, "" if there is none yet

    @property
    def outcome(self) -> str:
        """``win``, ``lose`` or ``tie`` of the second run, ``incoherent``, or "" without an answer."""
        if self.left.url == self.right.url:
            return "tie"
        if self.answer not in ("left", "right"):
            return self.answer
        return "lose" if (self.answer == "left") == self.left_is_first else "win"


@dataclass(frozen=True, slots=True)
class Study:
    """The comparisons of two runs."""

    first: str
    second: str
    comparisons: Sequence[Comparison]

    @property
    def open(self) -> list[int]:
        """The places of comparisons without an outcome."""
        return [place for place, each in enumerate(self.comparisons) if not each.outcome]

    def save(self, path: Path) -> None:
        """Write as JSON.

        Raises:
            OSError: it cannot be written.
        """
        write_atomically(path, json.dumps(to_json(self), indent=1, ensure_ascii=False) + "\n")


def study(arguments: Sequence[str]) -> None:
    """Make a study of two runs, or show one that is made: the page while answers are missing, then the outcome.

    Raises:
        UserError: two runs are named and the file exists, or none is and it does not, or it is damaged.
    """
    words, options = parsed(arguments, StudyOptions)
    if len(words) not in (0, 2) or not options.out:
        raise UserError(
            "expected two runs for a new study, or none to go on: bash run.sh context study [RUN_DIR RUN_DIR] "
            "--out=FILE.json"
        )
    path = named_path(options.out)
    if words and path.exists():
        raise UserError(f"--out={path} exists, perhaps with answers: leave out the runs to go on, or name a new file")
    if words:
        runs = same_pairs([FinishedRun.of(Path(word), "valid") for word in words])
        made = Study(runs[0].path.name, runs[1].path.name, [*_comparisons(runs, options)])
        made.save(path)
        say(f"{path}: {len(made.comparisons)} comparisons, {len(made.open)} to be answered")
    if load_study(path).open:
        _serve(path, options.port)
    show(outcome_page(load_study(path)))


def load_study(path: Path) -> Study:
    """Load what :meth:`Study.save` wrote.

    Raises:
        UserError: the file is missing or damaged.
    """
    return load_record(Study, path, "a study of two runs")


def _comparisons(runs: Sequence[FinishedRun], options: StudyOptions) -> Iterator[Comparison]:
    """The comparisons, language by language, each with its functions in random order."""
    random = np.random.default_rng(options.seed)
    for each in first_functions(runs, options.queries, 1, random):
        left_is_first = bool(random.integers(2))
        pair = [Shown(each.code[rows[0]], each.urls[rows[0]]) for rows in each.rows]
        left, right = pair if left_is_first else pair[::-1]
        yield Comparison(each.language, each.query, each.context, left, right, left_is_first)


def outcome_page(found: Study) -> str:
    """The outcomes by language and over all, as percentages of the coherent queries."""
    size = f"{len(found.comparisons)} comparisons, {len(found.open)} without an answer"
    lines = [f"{found.second} against {found.first}: {size}"]
    for name in (*sorted({each.language for each in found.comparisons}), "all"):
        outcomes = [each.outcome for each in found.comparisons if name in (each.language, "all")]
        counts = {kind: outcomes.count(kind) for kind in _OUTCOMES}
        shares = ", ".join(
            f"{kind} {100 * count / max(1, sum(counts.values())):.1f} %" for kind, count in counts.items()
        )
        share, low, high = win_share(counts["win"], counts["lose"])
        lines.append(
            f"  {name:12} {shares}; incoherent {outcomes.count('incoherent')}; wins among decided "
            f"{share:.2f} ({low:.2f} to {high:.2f})"
        )
    return "\n".join(lines)


def win_share(wins: int, losses: int) -> tuple[float, float, float]:
    """The share of wins, with Wilson's 95 % interval over queries (JASA 1927), 0 to 1 if none is won or lost."""
    if not wins + losses:
        return 0.5, 0.0, 1.0
    ends = binomtest(wins, wins + losses).proportion_ci(method="wilson")
    return wins / (wins + losses), float(ends.low), float(ends.high)


def _serve(path: Path, port: int) -> None:
    """Serve the page until Ctrl-C."""
    with StudyServer(path, port) as server:
        say(f"answer at http://{_HOST}:{server.server_port}/ and stop with Ctrl-C; answers are saved in {path}")
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            say("stopped")


class StudyServer(HTTPServer):
    """Serves one study on the loopback address."""

    def __init__(self, path: Path, port: int) -> None:
        """Listen.

        Raises:
            UserError: the port is taken.
        """
        try:
            super().__init__((_HOST, port), _Page)
        except OSError as error:
            raise UserError(f"--port={port} cannot be used ({error.strerror}): name another") from error
        self.path, self.study, self.token = path, load_study(path), secrets.token_urlsafe(16)

    def answer(self, place: int, answer: str) -> None:
        """Save an answer.

        Raises:
            UserError: there is no such comparison or answer.
        """
        found = [*self.study.comparisons]
        if not 0 <= place < len(found) or answer not in ANSWERS:
            raise UserError(f"expected a comparison below {len(found)} and one of {', '.join(ANSWERS)}")
        found[place] = replace(found[place], answer=answer)
        self.study = replace(self.study, comparisons=found)
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
        self._send(303, "Saved")

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""

    def _from_here(self) -> bool:
        """Whether the browser asks this machine by its own name; else another page may have made it ask."""
        if self.headers.get("Host", "") in (f"{name}:{self.server.server_port}" for name in (_HOST, "localhost")):
            return True
        self._send(403, "This page is for this machine only")
        return False

    def _send(self, status: int, body: str) -> None:
        data = (body if body.startswith("<!") else f"<!doctype html><p>{escape(body)}</p>").encode()
        self.send_response(status)
        if status == 303:
            self.send_header("Location", "/")
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def page(study: Study, token: str) -> str:
    """The first comparison without an answer, or thanks; everything of the study is escaped."""
    waiting, body = (
        study.open,
        "<h1>All comparisons have an answer</h1><p>Stop the command with Ctrl-C for the outcome.</p>",
    )
    if waiting:
        shown = study.comparisons[waiting[0]]
        buttons = "".join(f'<button name="answer" value="{name}">{label}</button>' for name, label in ANSWERS.items())
        body = (
            f"<p>{len(study.comparisons) - len(waiting)} of {len(study.comparisons)} done</p>"
            f"<h1>{escape(shown.query)}</h1><p>{escape(shown.language)}, typed below this code:</p>"
            f"<pre>{escape(shown.context)}</pre><div class='pair'><pre>{escape(shown.left.code)}</pre>"
            f"<pre>{escape(shown.right.code)}</pre></div><form method='post' action='/'>"
            f"<input type='hidden' name='token' value='{escape(token)}'>"
            f"<input type='hidden' name='place' value='{waiting[0]}'>{buttons}</form>"
        )
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>Study</title><style>{_STYLE}</style>{body}</html>"
    )
