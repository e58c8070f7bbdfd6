"""Comment-code pairs of an R file by rules: the first stage of StatCodeSearch (Diera et al. 2023, section 4.1).

A comment is a run of lines that begin with ``#``; its code is what follows up to the next comment. What stands before
the first line that loads a package is left out. Two sets of rules:

``released`` gives what the benchmark's extraction gave, bytes and spaces included. Of a comment every ``#``, ``-`` and
``=`` is removed, code is one line, and text that is not ASCII comes out garbled, since it was decoded twice.

``clean`` decodes once, keeps the lines of code and the marks inside comments, and knows more ways to load a package.
Departures from ``released`` beyond spelling: what is documented by roxygen, or begins a chunk of a vignette or script,
is no comment and ends the pair before it; code of a chunk that is never run, which R writes as comments, is left out,
and so is a comment line that is an assignment or a call, speaks to a tool, or shows output. A line inside a string is
code, whatever it begins with. A section's head that is written like a chunk's, ``## ----Load data----``, is taken for
one. The title of a section, ``# Load data ----``, is a comment, as among the queries that the benchmark's authors kept.
"""

import io
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from data_prep.languages.r import tokens

Mode = Literal["released", "clean"]
_Role = Literal["comment", "code", "end"]

_WORD: Final = re.compile(r"\b[A-Za-z]+\b")
_REMOVED: Final = str.maketrans("", "", "#-=")
_LIBRARY: Final = "library("
_LOADS: Final = re.compile(
    r"\s*(?:if\s*\(\s*!\s*)?(?:suppress(?:Warnings|Messages|PackageStartupMessages)\s*\(\s*\{?\s*)*"
    r"(?:library|(?:base::)?require|(?:pacman::)?p_load)\s*\("
)
"""A line that loads a package, or asks whether it can be loaded to install it."""
_CHUNK: Final = re.compile(
    r"## ----(?=.*----$)(?:[^ ]|.*[\w.] ?=)|### code chunk number \d+|### R code from vignette source "
)
"""What knitr and Sweave write above the code of a vignette's chunk; one without a label has options."""
_HEAD: Final = re.compile(r"\s*#+(?:'|[|+](?=[\s\w]|$)| ?%%| *@knitr\b|\* *@)")
"""Roxygen, plumber's tags, what people write above a chunk: ``#| label: a``, ``#+ a``, ``# %%``, ``## @knitr a``."""
_TO_TOOLS: Final = re.compile(
    r"\s*#+(?:>|!\s*(?:/|\w*[Rr]script\b)|line +\d+ *[\"']|(?:end)?region\b| *(?:endregion\b|no(?:lint|cov|qa)\b"
    r"|-\*-.*-\*-|vim?:|@formatter:|(?:styler|fmt|lintr|covr|cspell|codespell) ?:))"
)
"""Output as reprex shows it, the first line of a script, and lines for R's parser, editors, linters and formatters."""
_OFF: Final = re.compile(
    r"\s*#[#\s]*(?:[\w.:$@\[\]\"']++ *<?<- *\S.*|[\w.:]++\((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+\)\s*+[,;]?\s*+)$"
)
"""Code that is commented out: an assignment by an arrow, or nothing but one call."""
_NEVER_RUN: Final = re.compile(r"\beval\s*=\s*F(?:ALSE)?\b")
_RULE: Final = "#-=*~_─━═—%"


@dataclass(frozen=True, slots=True)
class RPair:
    """A comment and its code, and where they are from."""

    id: str  # file and number in the file, from 0
    comment: str
    code: str
    package: str = ""
    version: str = ""
    licence: str = ""  # "" where it is not known
    file: str = ""


def r_pairs(name: str, data: bytes, mode: Mode) -> list[RPair]:
    """The pairs of a file; one comment that comes twice is one pair.

    Args:
        name: the file's, from which ids are made.
        data: its content.
        mode: by which rules.
    """
    pairs = _MODES[mode](data)
    return [RPair(f"{name} {number}", comment, code) for number, (comment, code) in enumerate(pairs.items())]


def _released(data: bytes) -> dict[str, str]:
    """Comment -> code."""
    codes: dict[str, list[str]] = {}
    pending = comment = ""
    for line in _released_lines(data):
        if line.startswith("#"):
            pending += f"{line} "
            continue
        if pending:
            comment, pending = pending.translate(_REMOVED), ""
        if _has_two_words(comment):
            codes.setdefault(comment, []).append(f"{line} ")
    return {comment: "".join(lines) for comment, lines in codes.items()}


def _released_lines(data: bytes) -> list[str]:
    """The stripped lines after the first that loads a package, without those that do."""
    kept = "".join(line for line in _lines(data, "latin-1") if line.strip())
    lines = [line.strip() for line in _lines(kept.encode(), "latin-1")]  # written as UTF-8, read as before
    if any(_LIBRARY in line for line in lines):
        loads = [line.startswith(_LIBRARY) for line in lines]
        lines = lines[loads.index(True) :] if any(loads) else []
    return [line for line in lines if not line.startswith(_LIBRARY)]


def _clean(data: bytes) -> dict[str, str]:
    """Comment -> code."""
    codes: dict[str, list[str]] = {}
    pending: list[str] = []
    comment = ""
    for role, line in _clean_lines("".join(_decoded_lines(data))):
        if role == "end":
            pending, comment = [], ""
        elif role == "comment":
            pending.append(_comment_text(line))
        else:
            if pending:
                comment, pending = " ".join(filter(None, pending)), []
            if _has_two_words(comment):
                codes.setdefault(comment, []).append(line)
    return {comment: textwrap.dedent("\n".join(lines)) for comment, lines in codes.items()}


def _clean_lines(text: str) -> Iterator[tuple[_Role, str]]:
    """The lines after the first that loads a package, without those that do; "end": a pair ends without a comment."""
    inside, lines = lines_inside(text), text.split("\n")
    loads = (place for place, line in enumerate(lines) if place not in inside and _LOADS.match(line))
    start, never_run = next(loads, 0), False
    for place, line in enumerate(lines):
        if place in inside:
            role: _Role | None = "code"
        elif _CHUNK.match(line.rstrip()):  # before the first load, too: it says what runs
            never_run = _NEVER_RUN.search(line) is not None
            role = "end"
        else:
            role = None if never_run and line.startswith("#") else _role(line)
        if role == "end" or (role and place >= start):
            yield role, line if place + 1 in inside else line.rstrip()


def _role(line: str) -> _Role | None:
    """What a line is that begins outside of strings and heads no chunk that a program wrote; None: left out."""
    if not line.strip() or _TO_TOOLS.match(line) or _OFF.match(line) or _LOADS.match(line.lstrip(" \t#")):
        return None
    if _HEAD.match(line):
        return "end"
    return "comment" if line.lstrip().startswith("#") else "code"


def _decoded_lines(data: bytes) -> list[str]:
    try:
        return _lines(data, "utf-8-sig")
    except UnicodeDecodeError:
        return _lines(data, "latin-1")


def _lines(data: bytes, encoding: str) -> list[str]:
    """Lines with their ends, which are line feeds in whatever way the file writes them."""
    return list(io.TextIOWrapper(io.BytesIO(data), encoding=encoding))


def _comment_text(line: str) -> str:
    """What a comment line says, without its ``#`` and without rules, ``----``, at its ends."""
    text = line.strip().lstrip("#").strip()
    inner = text.lstrip(_RULE)
    if len(text) - len(inner) > 1 and (not inner or inner[0].isspace()):
        text = inner.lstrip()
    inner = text.rstrip(_RULE)
    return inner.rstrip() if len(text) - len(inner) > 1 or text.endswith(" #") else text


def _has_two_words(comment: str) -> bool:
    return len(list(islice(_WORD.finditer(comment), 2))) == 2


_MODES: Final[dict[Mode, Callable[[bytes], dict[str, str]]]] = {"released": _released, "clean": _clean}


def lines_inside(text: str) -> frozenset[int]:
    """The lines, from 0, that begin inside a string or a quoted name."""
    found: set[int] = set()
    line = place = 0
    for token in tokens(text):
        if token.kind in ("string", "name"):
            line += text.count("\n", place, token.start)
            last = line + text.count("\n", token.start, token.end)
            found.update(range(line + 1, last + 1))
            line, place = last, token.end
    return frozenset(found)
