"""What a question costs each model of the main page, all timed in one run."""

import time
from functools import partial
from typing import Final

import numpy as np
import torch

from data_prep.errors import UserError
from data_prep.store.batching import Batch
from data_prep.store.prepared_data import PreparedData
from data_prep.store.split import Split
from evaluation.speed import Form, Measured, Seconds, SpeedOptions, compare
from experiments.recipes.models import class_of, is_trained
from experiments.recipes.results_folder import RESULTS, load_results
from experiments.run.training import build_model
from experiments.speed.jdk import pairs_of, plan_of
from experiments.tables.answers import ROWS
from experiments.tables.cells import Cell
from experiments.tables.main_table import CELLS, MIXED_WITH
from experiments.terminal.console import say
from modeling.pool_ranker import scoring

QUESTION: Final = "a question"
METHOD: Final = "a method read beforehand"
_ASKED: Final = 20
"""Questions of a round, one after the other, each with all methods."""
_CHUNK: Final = 128
"""Methods encoded together, of like length."""


def cells_of_models() -> dict[str, Cell]:
    """Row of the main page -> the first cell of its model, of those that are trained, not fused, and have a result."""
    rows = {label: row for row, labels in ROWS.items() for label in labels}
    saved = {run.name for run in load_results("main", RESULTS)}
    found: dict[str, Cell] = {}
    for cell in (cell for cells in CELLS.values() for cell in cells):
        if cell.label in rows and cell.key in saved and cell.weights_of is None and is_trained(cell.model):
            found.setdefault(rows[cell.label], cell)
    return found


def measure_models(options: SpeedOptions) -> Measured:
    """Each model before training, which takes the same time; compared with BM25.

    Raises:
        UserError: the data are not available.
    """
    data = pairs_of(options)
    test = data.splits["test"]
    pool = test.take(np.arange(min(len(test), min(options.pools))))
    forms: dict[str, Form] = {MIXED_WITH: partial(_counted, options, pool)}
    for row, cell in cells_of_models().items():
        try:
            forms[row] = _form(options, cell, data, pool)
        except UserError as error:
            say(f"{row} is left out: {error}")
    about = (
        f"{data.manifest['origin']}: {min(_ASKED, len(pool))} questions one after the other, each with {len(pool):,} "
        f"methods of the test split, {torch.get_num_threads()} threads. Models before training, as precise as in tests."
    )
    return Measured(about=about, unit="each", rows=compare("", forms, options.rounds))


def _counted(options: SpeedOptions, pool: Split) -> Seconds:
    plan = plan_of(options, MIXED_WITH)
    start = time.perf_counter()
    scores = class_of(MIXED_WITH)(plan.model).over(pool, pool)
    ready = time.perf_counter()
    for row in range(min(_ASKED, len(pool))):
        scores(np.array([row]), np.arange(len(pool))[None])
    return _seconds(start, ready, len(pool))


def _form(options: SpeedOptions, cell: Cell, data: PreparedData, pool: Split) -> Form:
    plan = plan_of(options, cell.model, dict(cell.settings))
    tokenizer = class_of(cell.model).tokenizer(data.splits["train"], plan.words, plan.model)
    model, ids = build_model(plan, tokenizer), tokenizer.encode(pool)
    order = np.argsort(ids.code_lengths, kind="stable")
    chunks = [order[at : at + _CHUNK] for at in range(0, len(order), _CHUNK)]
    device = next(model.parameters()).device
    half = plan.evaluate.matmul_precision == "bfloat16"

    def moved(batch: Batch) -> Batch:
        return {name: each.to(device) for name, each in batch.items()}

    def form() -> Seconds:
        with scoring(model), torch.autocast(device.type, torch.bfloat16, enabled=half):
            start = time.perf_counter()
            codes = [model.encode_code(moved(ids.codes(rows))) for rows in chunks]
            ready = time.perf_counter()
            for row in range(min(_ASKED, len(pool))):
                query = model.encode_query(moved(ids.queries([row])))
                for some in codes:
                    model.score_matrix(query, some).cpu()
            return _seconds(start, ready, len(pool))

    return form


def _seconds(start: float, ready: float, methods: int) -> Seconds:
    asked = min(_ASKED, methods)
    return {QUESTION: (time.perf_counter() - ready) / asked, METHOD: (ready - start) / methods}
