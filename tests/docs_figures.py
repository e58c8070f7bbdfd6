"""The figures of README and docs, and the saved results that they are from (tests/docs_figures.toml)."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tests.conftest import REPOSITORY

RESULTS = REPOSITORY / "experiments" / "results"
NO_PROSE = re.compile(r"<!-- results:start -->.*?<!-- results:end -->|```.*?```|`[^`\n]*`", re.DOTALL)
"""README's table, which ``table`` writes and another test compares, commands, and code."""

FIGURE = re.compile(
    r"(?<![\w.])[-+]?0?\.\d{2,}(?![\w.]\d)"
    r"|(?<![\w.])(?:\d[\d,]*)?(?:\.\d+|\d)(?: ms\b|(?= (?:s|seconds|minutes|hours|times|MB|GB)\b| %))"
)
CONFIDENCE = "95"
"""The level of all intervals, which is no measurement."""
SECTION = re.compile(r"^#+ (.*)$", re.MULTILINE)

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d[\d,]*)?\.?\d+(?:e-?\d+)?")


def figures(text: str) -> Iterator[tuple[int, str, str]]:
    """Each figure of a page that may be a measurement, such as ``-.026`` or ``12.8ms``, after its line and section."""
    prose = NO_PROSE.sub(lambda found: "\n" * found[0].count("\n"), text)
    for found in FIGURE.finditer(prose):
        if found[0] != CONFIDENCE:
            sections = SECTION.findall(prose, 0, found.start())
            yield prose.count("\n", 0, found.start()) + 1, sections[-1] if sections else "", found[0].replace(" ", "")


def is_saved(figure: str, source: str) -> bool:
    """Whether a row of results has a figure, rounded to the figure's decimals.

    Args:
        figure: as on the page; of milliseconds, results also have the seconds.
        source: "FILE > HEADING > row", after "minus " if the page has differences the other way round.

    Raises:
        LookupError: there is no such row.
    """
    name, _, row = source.removeprefix("minus ").partition(" > ")
    if not (RESULTS / name).is_file() or row not in saved_rows(name):
        raise LookupError(source)
    sign = -1 if source.startswith("minus ") else 1
    wanted = figure.removesuffix("ms").replace(",", "")
    scales = (1, 1000) if figure.endswith("ms") else (1,)
    return any(_equals(wanted, number, sign * scale) for number in saved_rows(name)[row] for scale in scales)


def _equals(wanted: str, saved: str, scale: int) -> bool:
    """Whether a number is a saved one times ``scale``; both may have been rounded."""
    half = [10.0 ** -len(each.partition(".")[2]) / 2 for each in (wanted, saved)]
    slack = half[0] + half[1] * abs(scale) if half[1] * abs(scale) < half[0] * 0.99 else 0.0
    return abs(float(wanted) - float(saved) * scale) <= slack + 1e-9


@cache
def saved_rows(name: str) -> Mapping[str, list[str]]:
    """The numbers of each row of a page of results, by "HEADING > first cell"; those of prose by "HEADING".

    A JSON file has the lines that a command printed: rows by their first words, indented ones below the line before.
    Or it has the result itself: rows are its objects, by their keys. Several commands have a part of a file each,
    whose name stands before the rows: "PART > HEADING > row".
    """
    text = (RESULTS / name).read_text(encoding="utf-8")
    if not name.endswith(".json"):
        return _rows(text.splitlines(), is_printed=False)
    record = json.loads(text)
    if _is_joined(record):
        parts = {part: _record_rows(each) for part, each in record.items()}
        return {f"{part} > {row}": numbers for part, rows in parts.items() for row, numbers in rows.items()}
    return _record_rows(record)


def _is_joined(record: Mapping[str, Any]) -> bool:
    return "printed" not in record and all(isinstance(each, Mapping) and "command" in each for each in record.values())


def _record_rows(record: Mapping[str, Any]) -> Mapping[str, list[str]]:
    return _rows(record["printed"], is_printed=True) if "printed" in record else dict(_objects(record))


def _rows(lines: Iterable[str], *, is_printed: bool) -> Mapping[str, list[str]]:
    rows: dict[str, list[str]] = defaultdict(list)
    heading = part = ""
    for line in lines:
        if line.startswith("|"):
            first = line.split("|")[1].strip()
        elif is_printed:
            first = re.split(r"\s{2,}|, |: ", line.strip())[0]
            heading = heading if line.startswith(" ") else first
            first = first if line.startswith(" ") else ""
        else:
            first = ""
            if found := re.match(r"#+ \[?([^\]]*)", line):
                heading, part = found[1].strip(), ""
            elif found := re.match(r"\*\*(\w+)\*\* \(", line):
                part = f" > {found[1]}"
        rows[f"{heading}{part} > {first}" if first else f"{heading}{part}"] += _numbers(line)
    return rows


def _objects(record: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, list[str]]]:
    """The numbers of each object, to six decimals, by the keys that lead to it."""
    yield (
        before,
        [f"{each:.6f}" if isinstance(each, float) else f"{each}" for each in record.values() if _is_number(each)],
    )
    for key, each in record.items():
        if isinstance(each, Mapping):
            yield from _objects(each, f"{before} > {key}" if before else key)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _numbers(text: str) -> list[str]:
    return [each.replace(",", "") for each in _NUMBER.findall(text)]


def page_name(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()
