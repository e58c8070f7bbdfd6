"""The server under load: ``bash run.sh speed serve DIR`` asks ``POST /api/search`` of one that it starts itself.

The folder must be indexed. Questions are first sentences of comments of its functions, asked in their language; every
other one is asked under the text above its function, as an editor asks. First one client asks alone, then several at
the same time, each its next question as soon as it has an answer; a few questions before that are not counted. It
writes ``serve-speed.json`` and ``serve-speed.md`` to ``experiments/results/``, and ends with an error if a request
was not answered.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from data_prep.files.named_paths import named_path
from data_prep.files.reading import read_regular
from data_prep.languages.java.declarations import LARGEST_FILE
from evaluation.json_records import to_json
from evaluation.provenance import code_version, machine
from experiments.recipes.config import REPOSITORY
from experiments.recipes.results_folder import results_folder
from experiments.terminal.console import complain, say, show
from experiments.terminal.options import parsed
from search.cursor.above import nearest
from search.engine.question import LONGEST_QUERY
from search.files.languages import language_name
from search.index.code_index import CONSTANT, WHOLE_FILE, Index
from search.index.index_file import open_index
from search.joint.joint_index import JointIndex
from search.joint.opening import opened_list
from search.load.clients import Body, ask_together
from search.load.options import ServeSpeedOptions
from search.load.report import ServeSpeed, load_of, markdown
from search.load.server_process import running
from search.opening import index_path
from search.quality.questions import of_comments
from search.serve.context_api import USUAL

_WARM_UP: Final = 20
"""Questions before anything is measured."""


def serve_speed(arguments: Sequence[str]) -> None:
    """Measure, print and save it.

    Raises:
        UserError: there is no index or too few comments, the server ended, or a request was not answered.
    """
    words, options = parsed(arguments, ServeSpeedOptions)
    if len(words) != (0 if options.list else 1):
        raise UserError("expected an indexed folder, or a list of such: bash run.sh speed serve DIR, or --list=FILE")
    results = results_folder([{"serve": asdict(options)}], [{"serve": asdict(ServeSpeedOptions())}], options.out)
    found = measured(named_path(words[0]) if words else None, options)
    results.mkdir(parents=True, exist_ok=True)
    write_atomically(results / "serve-speed.json", json.dumps(to_json(found), indent=1) + "\n")
    write_atomically(results / "serve-speed.md", markdown(found))
    show(f"\n{markdown(found)}")
    if errors := [load.first_error for load in found.loads if load.errors]:
        raise UserError(f"not every request was answered: {errors[0]}")


def measured(folder: Path | None, options: ServeSpeedOptions) -> ServeSpeed:
    """All measurements of a server of the indexed ``folder``, or of ``options.list``.

    Raises:
        UserError: there is no index or too few comments, or the server ended.
        OSError: an indexed file no longer exists.
    """
    listed = named_path(options.list) if options.list else None
    if folder is None:
        assert listed is not None
        index = opened_list(listed, "none", near=False, tell=lambda name, trouble: complain(f"{name}: {trouble}")).index
        served = [f"--list={listed}"]
    else:
        path = named_path(options.index) if options.index else index_path("", folder)
        index = open_index(path, mapped=True)
        served = [f"--index={path}", f"--folder={folder}"]
    bodies = questions(index, folder, options)
    kinds = np.array(index.kinds)
    say(f"{len(index):,} rows, {len(bodies):,} questions; a server is started")
    with running(served) as server:
        asked = [
            (1, max(1.0, options.seconds / 4)),
            *([(options.clients, float(options.seconds))] * (options.clients > 1)),
        ]
        ask_together(server.port, bodies[:_WARM_UP], 1, 0.5 * min(10, options.seconds), options.seed)
        loads = []
        for clients, seconds in asked:
            say(f"{clients} client{'s' * (clients > 1)} for {seconds:.0f} s")
            loads.append(load_of(ask_together(server.port, bodies, clients, seconds, options.seed), clients, seconds))
        memory = server.memory_mb()
    return ServeSpeed(
        name=(folder or listed or Path()).name,
        indexes=len(index.members) if isinstance(index, JointIndex) else 1,
        rows=len(index),
        functions=int(np.isin(kinds, (WHOLE_FILE, CONSTANT), invert=True).sum()),
        files=len(index.files),
        questions=len(bodies),
        seed=options.seed,
        loads=loads,
        memory_mb=memory,
        load_average=os.getloadavg()[0],
        code_version=code_version(REPOSITORY),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=machine(),
    )


def questions(index: Index, folder: Path | None, options: ServeSpeedOptions) -> list[Body]:
    """Requests made from comments, every other one with the text above its function.

    Raises:
        UserError: there are too few comments.
        OSError: a file no longer exists.
    """
    asked = of_comments(index, options.questions, options.seed)
    order = np.random.default_rng(options.seed).permutation(len(asked.rows)).tolist()
    found = []
    for turn, place in enumerate(order):
        row = int(asked.rows[place])
        number = int(np.searchsorted(index.file_edges, row, side="right")) - 1
        above = _above(index, folder, number, index.split.text(row).start_line) if turn % 2 else ""
        language = language_name(index.files[number].path)
        found.append(Body.of(asked.texts[place][:LONGEST_QUERY], above, language, USUAL))
    return found


def _above(index: Index, folder: Path | None, number: int, line: int) -> str:
    """The text above a line of a file, as an editor sends it."""
    if isinstance(index, JointIndex):
        folder, file = index.source(number)
    else:
        file = index.files[number]
    assert folder is not None
    text = read_regular(folder / file.path, LARGEST_FILE)[0].decode("utf-8", "replace")
    return nearest("".join(f"{each}\n" for each in text.split("\n")[: line - 1]))
