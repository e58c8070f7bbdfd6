"""The stack traces of the folder corpus and what they state, as corpus.toml says."""

import re
import tomllib
from functools import cache
from itertools import zip_longest
from pathlib import Path

from data_prep.traces.trace import frames_like, read_trace

HERE = Path(__file__).parent
STATED = tomllib.loads((HERE / "corpus.toml").read_text(encoding="utf-8"))


def text_of(name):
    """The text, with the ends of lines that it has."""
    return (HERE / "corpus" / f"{name}.txt").read_bytes().decode("utf-8")


def stated(name):
    """What is stated, by the trace itself or by the one that it is the same as."""
    own = STATED[name]
    return STATED[own["same"]] if "same" in own else own


def read(text):
    """What is read of a text, as lines that can be compared: a head for each error, then its frames."""
    trace = read_trace(text)
    if trace is None:
        return []
    rows = []
    for error in trace.errors:
        rows += [error.error, error.message, error.relation, f"{error.left_out} left out"]
        rows += [(frame.path, str(frame.line), frame.name) for frame in error.frames]
    return rows


def expected(name, rows):
    """The lines that should be read, with what is read where that is as good."""
    wanted = []
    for error in stated(name)["errors"]:
        wanted += [error["error"], error["message"], error.get("relation", ""), f"{error.get('left_out', 0)} left out"]
        wanted += [_frame(line) for line in error["frames"].splitlines() if line]
    return [row if _agrees(want, row) else want for want, row in zip_longest(wanted, rows) if want is not None]


def innermost(trace):
    """Path and line of the frame where the last error was raised."""
    frames = trace.errors[-1].frames if trace.innermost_last else trace.errors[0].frames
    return (frames[-1] if trace.innermost_last else frames[0]) if frames else None


@cache
def told(text):
    """How many frames of a text an answer has or says that it has not."""
    trace = read_trace(text)
    return len(trace.frames) + trace.unread if trace else frames_like(text)


def _frame(line):
    """``src/shop/cart.py:14 Cart.total``; a path may have blanks, a name has none."""
    found = re.fullmatch(r"(?P<path>.*?):(?P<line>\d+|\?)(?: (?P<name>\S+))?", line)
    return found["path"], found["line"], found["name"] or ""


def _agrees(want, row):
    if isinstance(want, str) or isinstance(row, str) or row is None:
        is_begin = isinstance(want, str) and want.endswith("...") and isinstance(row, str)
        return want == "?" or want == row or (is_begin and row.startswith(want.removesuffix("...")))
    (path, line, name), (own_path, own_line, own_name) = want, row
    is_path = f"/{own_path}".endswith(f"/{path}") if path else not own_path
    is_name = name in ("?", own_name) or (name.startswith("~") and own_name in ("", name[1:]))
    return (line == "?" or (is_path and line == own_line)) and is_name
