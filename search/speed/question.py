"""The time of one question from the command line, over about 10,000 methods and types of the JDK."""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from data_prep.files.atomic import naming
from data_prep.records import SourceFile
from evaluation.speed import Measured, Seconds, SpeedOptions, compare, timed
from experiments.recipes.config import REPOSITORY
from search.files.languages import read_file
from search.speed.jdk import write_sources

ROWS: Final = 10_000
"""Methods and types of the index, at least."""
QUESTION: Final = "read all lines of a file"


def measure_question(options: SpeedOptions) -> Measured:
    """Commands, each as a process of its own.

    Raises:
        UserError: there is no JDK.
    """
    with tempfile.TemporaryDirectory() as folder, naming(Path(folder)):
        root, rows = Path(folder) / "sources", 0

        def is_wanted(file: SourceFile) -> bool:
            nonlocal rows
            wanted = file.path.startswith("java.base/java/") and rows < ROWS
            rows += len(read_file(file).units) if wanted else 0
            return wanted

        origin = write_sources(options, root, is_wanted)
        environment = {**os.environ, "XDG_CACHE_HOME": folder, "GALM_PYTHON": "", "PYTHONPATH": str(REPOSITORY)}
        python, shell = [sys.executable, "-m", "cli.main"], ["bash", str(REPOSITORY / "run.sh")]
        run([*python, "index", str(root)], root, environment)
        commands = {
            "run.sh search, model and vectors": [*shell, "search", QUESTION],
            "the same without run.sh": [*python, "search", QUESTION],
            "run.sh search --model=none": [*shell, "search", QUESTION, "--model=none"],
            "python with numpy alone": [sys.executable, "-c", "import numpy"],
        }
        forms = {name: partial(run, command, root, environment) for name, command in commands.items()}
        found = compare("", forms, options.rounds)
    return Measured(about=f"{origin}, {rows:,} methods and types; *{QUESTION}*.", unit="a question", rows=found)


def run(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Seconds:
    """The seconds of a command, by the clock and of all processors."""
    before = _processor_seconds()
    seconds, _ = timed(
        lambda: subprocess.run(command, check=True, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    )
    return {"clock": seconds, "processor": _processor_seconds() - before}


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
