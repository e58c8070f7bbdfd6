"""The first question about a folder: its index is made and asked from the command line, beside one that is there."""

import os
import sys
import tempfile
from functools import partial
from pathlib import Path

from data_prep.errors import UserError
from data_prep.files.named_paths import named_path
from evaluation.speed import Form, Measured, Seconds, SpeedOptions, compare
from experiments.recipes.config import REPOSITORY
from search.index.code_index import rows_of_files
from search.index.index_file import read_head
from search.index.vector_file import vectors_path
from search.speed.index import QUESTION, run


def measure_first(options: SpeedOptions) -> Measured:
    """Commands, each as a process of its own; what is compiled once on a machine is compiled before.

    Raises:
        UserError: no folder is named, or it has no source files.
    """
    if not options.path:
        raise UserError("expected a folder of sources: bash run.sh speed first DIR")
    root = named_path(options.path)
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        python = [sys.executable, "-m", "cli.main"]
        make = partial(run, [*python, "index", str(root), f"--out={index}"], root, environment)
        ask = partial(run, [*python, "search", QUESTION, f"--index={index}"], root, environment)

        def first() -> Seconds:
            index.unlink(missing_ok=True)
            vectors_path(index).unlink(missing_ok=True)
            made, asked = make(), ask()
            return {part: made[part] + asked[part] for part in made}

        forms: dict[str, Form] = {
            "index, then search": first,
            "search, with an index": ask,
            "python with numpy alone": partial(run, [sys.executable, "-c", "import numpy"], root, environment),
        }
        rows = compare("", forms, options.rounds)
        head = read_head(index)
    about = f"{root.name}: {rows_of_files(head.rows, head.files)}; *{QUESTION}*."
    return Measured(about=about, unit="a first question", rows=rows)
