"""The time of one question from the command line: ``bash run.sh speed question``, on the JDK's sources.

A folder with about 10,000 methods and types is indexed; then each command is run as a process of its own, once to warm
the page cache and then TIMES times, in turn. It writes ``question-speed.json`` and ``question-speed.md`` to
``experiments/results/``.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Final

from data_prep.config import DataConfig
from data_prep.datasets.jdk import Jdk
from data_prep.files.atomic import naming, write_atomically
from evaluation.json_records import to_json
from evaluation.provenance import Machine, code_version, machine
from experiments.recipes.config import REPOSITORY
from experiments.recipes.results_folder import RESULTS
from experiments.terminal.console import say, show
from search.files.languages import read_file

ROWS: Final = 10_000
"""Methods and types of the index, at least."""
TIMES: Final = 10
QUESTION: Final = "read all lines of a file"


@dataclass(frozen=True, slots=True)
class CommandTime:
    """Seconds of a command, as medians."""

    name: str
    wall: float
    processor: float  # user and system, of the process and its children


@dataclass(frozen=True, slots=True)
class QuestionSpeed:
    """All measurements."""

    origin: str
    rows: int
    question: str
    times: list[CommandTime]
    shell_seconds: float  # what run.sh adds: the difference of the medians with it and without
    load: float  # average number of processes that wanted a processor during the last minute
    code_version: str
    date: str
    machine: Machine


def measure_question() -> QuestionSpeed:
    """Measure all, and write it to ``experiments/results/``."""
    jdk = Jdk(DataConfig(root=str(REPOSITORY / "data")))
    with tempfile.TemporaryDirectory() as folder, naming(Path(folder)):
        root = Path(folder) / "sources"
        rows = _written(jdk, root)
        found = _measured(root, Path(folder), rows, jdk.origin())
    RESULTS.mkdir(parents=True, exist_ok=True)
    write_atomically(RESULTS / "question-speed.json", json.dumps(to_json(found), indent=1) + "\n")
    write_atomically(RESULTS / "question-speed.md", markdown(found))
    show(f"\n{markdown(found)}")
    return found


def _written(jdk: Jdk, root: Path) -> int:
    """Write files of java.base to ``root`` until they have enough methods and types; returns how many they have."""
    rows = 0
    for file in jdk.java_files():
        if not file.path.startswith("java.base/java/") or rows >= ROWS:
            continue
        place = root / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.data)
        rows += len(read_file(file).units)
    return rows


def _measured(root: Path, cache: Path, rows: int, origin: str) -> QuestionSpeed:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "GALM_PYTHON": ""}
    python = [sys.executable, "-m", "cli.main"]
    shell = ["bash", str(REPOSITORY / "run.sh")]
    paths = {**environment, "PYTHONPATH": str(REPOSITORY)}
    say(f"an index of {rows:,} methods and types")
    subprocess.run([*python, "index", str(root)], check=True, env=paths, stdout=subprocess.DEVNULL)
    commands = {
        "run.sh search, models and vectors": [*shell, "search", QUESTION],
        "the same without run.sh": [*python, "search", QUESTION],
        "run.sh search --model=none": [*shell, "search", QUESTION, "--model=none"],
        "python with numpy alone": [sys.executable, "-c", "import numpy"],
    }
    times = _times(commands, root, paths)
    walls = {each.name: each.wall for each in times}
    first, second, *_ = walls.values()
    now = datetime.now(UTC).isoformat(timespec="seconds")
    load = os.getloadavg()[0]
    return QuestionSpeed(origin, rows, QUESTION, times, first - second, load, code_version(REPOSITORY), now, machine())


def _times(commands: Mapping[str, Sequence[str]], root: Path, environment: Mapping[str, str]) -> list[CommandTime]:
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(1 + TIMES):
        for name, command in commands.items():
            before, started = _processor_seconds(), time.perf_counter()
            subprocess.run(command, check=True, cwd=root, env=environment, stdout=subprocess.DEVNULL)
            taken[name].append((time.perf_counter() - started, _processor_seconds() - before))
    return [
        CommandTime(name, median(wall for wall, _ in each[1:]), median(used for _, used in each[1:]))
        for name, each in taken.items()
    ]


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def markdown(found: QuestionSpeed) -> str:
    """The table in Markdown."""
    lines = [
        f"{found.origin}, {found.rows:,} methods and types; {found.machine.cpu}, {found.machine.cores} cores, load "
        f"{found.load:.1f}; {found.date[:10]}, code {found.code_version}. Medians of {TIMES} runs, after one to warm "
        f"up; *{found.question}*.",
        "",
        "| command | wall | processor |",
        "|---|---:|---:|",
        *(f"| {each.name} | {each.wall:.3f} s | {each.processor:.3f} s |" for each in found.times),
        "",
        f"run.sh itself adds {1000 * found.shell_seconds:.0f} ms.",
    ]
    return "\n".join(lines) + "\n"
