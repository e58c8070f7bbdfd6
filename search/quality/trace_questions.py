"""Stack traces through functions of a code base that call each other, to measure whether their frames are found.

Nothing is run: a trace begins at a line of a drawn function, in which a function of the language's library is said to
have failed; the next frame is a line of another function in which its name is called, and so on. It is printed in the
language's own form, with other folders before the paths. Its lines are those of the index, or have moved, by one
distance in each file, as if the files had been edited since: a frame's code, where it is printed, stays the same.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from jaxtyping import Float

from data_prep.files.access import read_regular
from data_prep.languages.identifiers import query_words
from data_prep.records import LARGEST_SOURCE
from evaluation.significance import bootstrap_interval
from search.engine.engine import Engine
from search.files.languages import language_name
from search.index.code_index import Index
from search.index.frame_locator import FrameLocator
from search.quality.measure import BASE, Measured, Ranks, functions, measured, rank_by, rank_of
from search.quality.questions import drawn
from search.quality.trace_forms import FORMS, INNERMOST_LAST, Call, printed
from search.snippets.answer import Wanted, answer_text

DEEPEST: Final = 6
"""Frames of a trace at most."""
FARTHEST: Final = 60
"""Lines by which a file's lines have moved at most."""
_TRACES: Final = {"lines as in the index": "text", "lines moved": "moved"}
"""How the traces are asked -> the field of the question."""
_COMMENT: Final = ("#", "//", "/*", "*", "--")
_OF_JVM: Final = (".java", ".kt", ".scala")
_PACKAGE: Final = re.compile(rb"^\s*package\s+([\w.]+)\s*;?\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TraceQuestion:
    """A trace as it is printed, and what answers it."""

    text: str
    moved: str  # the same, after lines have moved
    rows: Sequence[int | None]  # of its frames, in the order of the text; None: in no file of the index
    innermost: int  # the row of the innermost frame that is in the index


def of_traces(index: Index, root: Path, most: int, seed: int) -> list[TraceQuestion]:
    """Traces of two functions of the index or more.

    Args:
        index: the index.
        root: its folder, where files of the JVM's languages say their packages.
        most: maximum number of traces, 0: one for each function that another calls.
        seed: seed of what is drawn.

    Raises:
        UserError: there are too few.
        OSError: a file no longer exists.
    """
    maker, random = _TraceMaker(index, root), np.random.default_rng(seed)
    made: list[TraceQuestion] = []
    for row in random.permutation([*maker.rows]).tolist():
        if 0 < most <= len(made):
            break
        if calls := maker.chain(row, random):
            made.append(maker.question(calls, random))
    return drawn(made, 0, seed, "functions that another one calls by name")


class _TraceMaker:
    """Chains of calls in an index."""

    def __init__(self, index: Index, root: Path) -> None:
        self._index, self._root, self._locator = index, root, FrameLocator(index)
        self.rows = [row for row in functions(index) if language_name(index.file(row).path) in FORMS]
        self._callers: dict[str, list[int]] = defaultdict(list)
        for row in self.rows:
            for name in {*index.split.word_list("api", row)}:
                self._callers[name].append(row)

    def chain(self, row: int, random: np.random.Generator) -> list[Call]:
        """The calls that lead to a drawn line of a function, the innermost first; empty if no other one calls it."""
        first = self._drawn_line(row, random)
        calls = [first] if first else []
        while calls and len(calls) < DEEPEST:
            caller = self._caller(calls, random)
            if caller is None:
                break
            calls.append(caller)
        return calls if len(calls) > 1 else []

    def question(self, calls: Sequence[Call], random: np.random.Generator) -> TraceQuestion:
        """The trace of some calls."""
        by = {
            path: int(random.integers(1, FARTHEST, endpoint=True)) * int(random.choice((-1, 1)))
            for path in dict.fromkeys(call.path for call in calls)
        }
        moved = [replace(call, line=max(1, call.line + by[call.path])) for call in calls]
        rows: list[int | None] = [None, *(call.row for call in calls)]
        order = rows[::-1] if language_name(calls[0].path) in INNERMOST_LAST else rows
        return TraceQuestion(printed(calls), printed(moved), order, calls[0].row)

    def _caller(self, calls: Sequence[Call], random: np.random.Generator) -> Call | None:
        """A call of the last function in another one of the language."""
        last, seen = calls[-1], {call.row for call in calls}
        parts = last.name.split(".")
        name = parts[-2] if parts[-1] == "constructor" and len(parts) > 1 else parts[-1]
        called = re.compile(rf"(?<![\w$]){re.escape(name)}\s*\(")
        for row in random.permutation(self._callers.get(name, ())).tolist():
            if row in seen or language_name(self._index.file(row).path) != language_name(last.path):
                continue
            lines = self._index.split.text(row).source.split("\n")
            places = [place for place, line in enumerate(lines) if place and called.search(line)]
            for place in places:
                if found := self._call(row, place, lines[place]):
                    return found
        return None

    def _drawn_line(self, row: int, random: np.random.Generator) -> Call | None:
        lines = self._index.split.text(row).source.split("\n")
        inner = [place for place, line in enumerate(lines[1:-1], start=1) if re.search(r"\w", line)]
        code = [place for place in inner if not lines[place].strip().startswith(_COMMENT)]
        return self._call(row, place := int(random.choice(code)), lines[place]) if code else None

    def _call(self, row: int, place: int, code: str) -> Call | None:
        """A line of a row as a call; None if it is that of a function inside of it."""
        index = self._index
        text, number = index.split.text(row), index.file_number(row)
        line = text.start_line + place
        if self._locator.row_at(number, line) != row:
            return None
        package = self._package(text.path) if text.path.endswith(_OF_JVM) else ""
        return Call(row, text.path, line, index.names[row], code.strip(), package)

    def _package(self, path: str) -> str:
        found = _PACKAGE.search(read_regular(self._root / path, LARGEST_SOURCE)[0])
        return found[1].decode() if found else ""


@dataclass(frozen=True, slots=True)
class FramesFound:
    """The frames of traces: the share of each trace's that is placed right, and what the others are."""

    right: Float[np.ndarray, " traces"]  # share of the frames in the index that are placed in their function
    elsewhere: float  # share of all these frames that are placed in another one
    outside: float  # share of the library's frames that are placed in the index
    frames: int


def measure_traces(engine: Engine, questions: Sequence[TraceQuestion]) -> tuple[list[Measured], dict[str, FramesFound]]:
    """BM25 alone, then stack traces as they are read, and their frames, by how the traces are asked."""
    placed: dict[str, list[list[int | None]]] = {name: [] for name in _TRACES}

    def ranks(question: TraceQuestion) -> Ranks:
        lexical, own = engine.index.lexical.scores(query_words(question.moved)), {question.innermost}
        found = {BASE: (rank_by(lexical, own), True)}
        for name, way in _TRACES.items():
            answer = answer_text(engine, getattr(question, way), Wanted(top=len(engine.index)))
            rows = [each.row for each in answer.frames]
            placed[name].append(rows)
            last = answer.trace is not None and answer.trace.innermost_last
            inside = [*dict.fromkeys(row for row in (rows[::-1] if last else rows) if row is not None)]
            first = inside.index(question.innermost) + 1 if question.innermost in inside else 0
            found[name] = first or len(inside) + rank_of(answer.hits, lexical, own), True
        return found

    found = measured(questions, ranks, "trace")
    return found, {name: frames_found(questions, rows) for name, rows in placed.items()}


def frames_found(questions: Sequence[TraceQuestion], placed: Sequence[Sequence[int | None]]) -> FramesFound:
    """What the rows ``placed``, which frames of each trace got, are beside those that they should have got."""
    right, wrong, outside, inside, strange = [], 0, 0, 0, 0
    for question, rows in zip(questions, placed, strict=True):
        found = [*rows, *[None] * len(question.rows)][: len(question.rows)]
        pairs = [*zip(question.rows, found, strict=True)]
        own = [(wanted, got) for wanted, got in pairs if wanted is not None]
        right.append(sum(wanted == got for wanted, got in own) / len(own))
        wrong += sum(got is not None and wanted != got for wanted, got in own)
        outside += sum(got is not None for wanted, got in pairs if wanted is None)
        inside, strange = inside + len(own), strange + len(pairs) - len(own)
    return FramesFound(np.array(right), wrong / inside, outside / strange, inside)


def frame_lines(found: Mapping[str, FramesFound]) -> list[str]:
    """How the frames of traces are placed, by how the traces were asked."""
    lines = []
    for name, each in found.items():
        low, high = bootstrap_interval(each.right)
        lines.append(
            f"{name}: {each.frames:,} frames, of a trace's {each.right.mean():.3f} ({low:.3f} to {high:.3f}) are "
            f"placed in their function; {each.elsewhere:.3f} of all in another one; all of the trace's in "
            f"{np.mean(each.right == 1):.3f} of the traces; of frames of a library {each.outside:.3f} are placed at all"
        )
    return lines
