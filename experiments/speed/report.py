"""The saved speed measurements: ``speed.jsonl`` has a line for each, and ``speed.md`` is made from it."""

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from data_prep.files.json_text import from_json, parse_json, to_json
from data_prep.files.writing import write_atomically
from data_prep.installation import Machine, code_version, machine
from evaluation.speed import Measured, Row, Spread
from experiments.recipes.config import REPOSITORY
from experiments.tables.comparison_tables import markdown_table

LINES: Final = "speed.jsonl"
PAGE: Final = "speed.md"
MODELS: Final = "models"
"""The measurement of all models that could be built."""
_TITLE: Final = "# How fast is each part?"
_HEAD: Final = (
    "Made by `bash run.sh speed NAME` from `speed.jsonl`. Forms that are compared ran in turn. Times are medians over "
    "the rounds; in parentheses are the least and the most, where there were several. Ratios are of the second form's "
    "time to the first's in the same round; without parentheses, of the medians. Load: how many processes wanted a "
    "processor in the last minute, the measurement's own among them. All that was measured is kept, with its machine "
    "and code; the newest is first."
)
_ANSWERS: Final = (
    (
        ("search", "a question, median", "with model and vectors"),
        "With an index open, a question takes {second} s with the model and vectors. "
        "BM25 and whole files alone take {first} s.",
    ),
    (
        ("first", "clock", "search, with an index"),
        "The first question about a folder takes {first} s, as its index is made; with the index {second} s.",
    ),
    (
        ("scoring", "width 32", "plain, the ranker's padding"),
        "At width 32, padded as the ranker's batches: GALM's plain form takes {ratio} times as long as its fast one.",
    ),
)
"""Measurement, name of a row and its second form -> a sentence, of the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A measurement with what it was made by."""

    measurement: str  # its name in the command
    command: str
    date: str  # ISO 8601, UTC
    code_version: str
    machine: Machine
    load: float | None  # processes that wanted a processor during its last minute
    measured: Measured

    @classmethod
    def now(cls, measurement: str, command: str, measured: Measured) -> "Record":
        """What was just measured here; numbers that this system does not have are left out."""
        facts = {
            name: {column: value for column, value in each.items() if isinstance(value, str) or math.isfinite(value)}
            for name, each in measured.facts.items()
        }
        return cls(
            measurement=measurement,
            command=command,
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            code_version=code_version(REPOSITORY),
            machine=machine(),
            load=os.getloadavg()[0],
            measured=replace(measured, facts=facts),
        )


def saved_records(folder: Path) -> list[Record]:
    """All that was measured, as it is saved in ``folder``.

    Raises:
        UserError: a line is damaged.
        OSError: the file cannot be read.
    """
    path = folder / LINES
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [from_json(Record, parse_json(line), f"{path}, line {number}") for number, line in enumerate(lines, start=1)]


def newest_rows(folder: Path, measurement: str) -> Sequence[Row]:
    """The rows of the newest measurement of a name in ``folder``; () if there is none."""
    found = [each for each in saved_records(folder) if each.measurement == measurement]
    return max(found, key=lambda each: each.date).measured.rows if found else ()


def save(records: Iterable[Record], folder: Path, about: Mapping[str, str]) -> None:
    """Write both files; ``about``: name of a measurement -> what it measures, in the order of the page."""
    records = [*records]
    folder.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(to_json(each), allow_nan=False, ensure_ascii=False) for each in records)
    write_atomically(folder / LINES, "".join(f"{line}\n" for line in lines))
    write_page(folder, about)


def page(records: Iterable[Record], about: Mapping[str, str]) -> str:
    """The page of ``records``."""
    newest = sorted(records, key=lambda each: each.date, reverse=True)
    answers = " ".join(filter(None, (_answer(newest, *asked, text) for asked, text in _ANSWERS)))
    head = "\n\n".join(filter(None, (_TITLE, answers, _HEAD))) + "\n"
    sections = [
        "\n".join([f"\n## {name}\n\n{what[0].upper()}{what[1:]}.\n", *found])
        for name, what in about.items()
        if (found := [section(each) for each in newest if each.measurement == name])
    ]
    return head + "".join(sections)


def _answer(newest: Sequence[Record], measurement: str, name: str, second: str, text: str) -> str:
    """A sentence of the newest measurement's row; "" without it."""
    records = [each.measured.rows for each in newest if each.measurement == measurement][:1]
    for row in (row for rows in records for row in rows if (row.name, row.second) == (name, second)):
        times = {"first": row.first_seconds, "second": row.second_seconds, "ratio": row.ratio}
        return text.format_map({key: shown(spread) for key, spread in times.items()})
    return ""


def write_page(folder: Path, about: Mapping[str, str]) -> None:
    """Write the page of what is saved in ``folder``; nothing without any.

    Raises:
        UserError: a line is damaged.
        OSError: a file cannot be read or written.
    """
    if records := saved_records(folder):
        write_atomically(folder / PAGE, page(records, about))


def section(record: Record) -> str:
    """The tables of one measurement."""
    measured, on = record.measured, record.machine
    load = "" if record.load is None else f", load {record.load:.1f}"
    parts = [
        f"{measured.about} `{record.command}` on {on.cpu}, {on.cores} cores{load} ({on.platform}, Python {on.python}, "
        f"torch {on.torch}); {record.date[:10]}, code {record.code_version}."
    ]
    if record.measurement == MODELS and measured.rows:
        names = dict.fromkeys(name for row in measured.rows for name in (row.first, row.second))
        parts.append(f"Timed were: {'; '.join(f'`{name}`' for name in names)}. Pictures of times have no other model.")
    if measured.rows:
        header = ("", "first", f"seconds of {measured.unit}", "second", "seconds", "ratio")
        parts.append(markdown_table(header, [*map(_cells, measured.rows)]))
    if measured.facts:
        columns = [*dict.fromkeys(column for each in measured.facts.values() for column in each)]
        rows = [(name, *(_cell(each.get(column, "")) for column in columns)) for name, each in measured.facts.items()]
        parts.append(markdown_table(("", *columns), rows))
    return "\n\n".join(parts) + "\n"


def _cells(row: Row) -> tuple[str, ...]:
    return (row.name, row.first, shown(row.first_seconds), row.second, shown(row.second_seconds), shown(row.ratio))


def _cell(value: object) -> str:
    if isinstance(value, float):
        return digits(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def shown(spread: Spread) -> str:
    """The median, with the least and the most in parentheses if there are any."""
    if spread.least is None or spread.most is None:
        return digits(spread.median)
    return f"{digits(spread.median)} ({digits(spread.least)} to {digits(spread.most)})"


def digits(value: float) -> str:
    """A number with three significant digits, without an exponent."""
    if abs(value) >= 100:
        return f"{float(f'{value:.3g}'):,.0f}"
    decimals = 2 - math.floor(math.log10(abs(value))) if value else 0
    return f"{value:.{max(decimals, 0)}f}"
