"""What scoring costs: GALM's fast form, compared with its plain form and the machine's matrix product; and each model.

Operations are counted by the equations, without padding; a multiplication and an addition are two operations, and
exponentials, roots and tanh are not counted. For a pair with n query words and a method of m words, with vectors of
width d, B blocks, L layers and graph width F:

    eqs. 7 to 9: logits 2nmd, mix 2nmd, products and norms of the blocks 4nd
    eq. 12: first layer 2nBF + 2n²F; each further one 2n²F (edges, eq. 11) + 2nF² + 2n²F
    eq. 13: 2nF² + 2nF

Equal words of several queries are processed once per method, so less than that is executed: eqs. 7 to 9 and nBF once
for each distinct word of the block's queries, and the rest for each query. ``pools`` ranks pools of methods for each of
their queries: time and peak memory.
"""

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import torch
from jaxtyping import Float, Int

from data_prep.errors import UserError
from data_prep.store.prepared_data import PreparedData, limit_pairs, open_prepared
from data_prep.store.split import Split, TokenizedPairs
from data_prep.store.tokenizing import WordTokenizer
from evaluation.config import EvaluateConfig
from evaluation.evaluator import evaluate
from evaluation.speed import (
    WHOLE,
    Form,
    Measured,
    Row,
    Seconds,
    SpeedOptions,
    compare,
    form_of,
    in_own_process,
    memory_mb,
    rows_of,
)
from experiments.recipes.models import class_of, is_trained
from experiments.recipes.results_folder import RESULTS, load_results
from experiments.run.training import build_model
from experiments.speed.jdk import WIDTHS, galm_of, of_width, pairs_of, plan_of
from experiments.tables.answers import ROWS
from experiments.tables.cells import Cell
from experiments.tables.main_table import CELLS, MIXED_WITH
from experiments.terminal.console import say
from galm.config import GalmConfig
from galm.fast.all_pairs import EncodedWords, distinct_words
from galm.model import Galm
from modeling.base import NeuralRanker
from modeling.pool_ranker import PoolRanker, scoring

BLOCK: Final = 512
"""Queries, and methods, scored together, as by the ranker."""
SAMPLE: Final = 32
"""Queries of the block that the plain form scores."""
_QUERIES_A_BATCH: Final = 8
_CODES_A_BATCH: Final = 64
_PRODUCT: Final = 2048
"""Rows and columns of the matrices whose product measures the machine's speed."""
_MILLION: Final = 1e6
QUESTION: Final = "a question"
METHOD: Final = "a method read beforehand"
_ASKED: Final = 20
"""Questions of a round, one after the other, each with all methods."""
_CHUNK: Final = 128
"""Methods encoded together, of like length."""


def word_operations(config: GalmConfig, code_words: Int[np.ndarray, " codes"]) -> Float[np.ndarray, " codes"]:
    """Operations of one query word with each method: eqs. 7 to 9 and the first layer's weights."""
    attention = 4.0 * code_words * config.dim + 4 * config.dim
    return attention + 2 * config.num_blocks * config.gcn_dim


def graph_operations(config: GalmConfig, query_words: Int[np.ndarray, " queries"]) -> Float[np.ndarray, " queries"]:
    """Operations of each query's graph for one method: the remaining parts of eqs. 11 to 13."""
    n, width = query_words.astype(np.float64), config.gcn_dim
    further = 4 * n**2 * width + 2 * n * width**2
    return 2 * n**2 * width + (config.layers - 1) * further + 2 * n * width**2 + 2 * n * width


def all_operations(
    config: GalmConfig, query_words: Int[np.ndarray, " queries"], code_words: Int[np.ndarray, " codes"], words: int
) -> float:
    """Operations of all queries with all methods, of which so many query words are processed per method."""
    graphs = graph_operations(config, query_words).sum() * len(code_words)
    return float(words * word_operations(config, code_words).sum() + graphs)


def drawn(ids: TokenizedPairs, size: int, seed: int = 0) -> tuple[Int[np.ndarray, " rows"], Int[np.ndarray, " rows"]]:
    """Rows of at most ``size`` pairs: sorted by the length of their queries, and by that of their codes."""
    rows = np.random.default_rng(seed).choice(len(ids), min(size, len(ids)), replace=False)
    queries, codes = (np.argsort(lengths[rows], kind="stable") for lengths in (ids.query_lengths, ids.code_lengths))
    return rows[queries], rows[codes]


class Block:
    """Queries and methods that are scored together, in order of length as in the ranker, and encoded by a model."""

    def __init__(self, model: Galm, ids: TokenizedPairs) -> None:
        """Encode pairs drawn from ``ids``."""
        self.model, self.ids = model, ids
        self.query_rows, self.code_rows = drawn(ids, BLOCK)
        self.lengths = ids.query_lengths[self.query_rows], ids.code_lengths[self.code_rows]
        self.queries, self.codes = model.encode_query(ids.queries(self.query_rows)), self._codes(slice(None))
        self.sample = np.arange(0, len(self.query_rows), max(1, len(self.query_rows) // SAMPLE))
        """Positions of the queries that the plain form scores, spread over all lengths."""

    def _codes(self, columns: slice) -> EncodedWords:
        return self.model.encode_code(self.ids.codes(self.code_rows[columns]))

    def forms(self, operations: Mapping[str, float]) -> dict[str, Form]:
        """The forms, and matrix products with so many operations a pair."""
        amount, sampled = (len(each) * len(self.code_rows) / _MILLION for each in (self.query_rows, self.sample))
        fast = partial(self.model.score_matrix, self.queries, self.codes)
        found = {
            "fast": form_of(fast, amount),
            "bfloat16": form_of(torch.autocast("cpu", torch.bfloat16)(fast), amount),
            "plain, little padding": form_of(self._plain(padded=False), sampled),
            "plain, the ranker's padding": form_of(self._plain(padded=True), sampled),
        }
        left, right = torch.rand(2, _PRODUCT, _PRODUCT)
        product = partial(torch.mm, left, right, out=torch.empty_like(left))
        for name, count in operations.items():
            found[f"matrix product, {name}"] = form_of(product, 2 * _PRODUCT**3 / count / _MILLION)
        return found

    def _plain(self, *, padded: bool) -> Callable[[], None]:
        """The sampled queries with all methods, ``padded`` as by the ranker, else in small batches of like length."""
        step = len(self.sample) if padded else _QUERIES_A_BATCH
        batches = []
        for at in range(0, len(self.code_rows), _CODES_A_BATCH):
            codes = self._codes(slice(at, at + _CODES_A_BATCH))
            for rows in np.split(self.sample, range(step, len(self.sample), step)):
                trimmed = self.model.encode_query(self.ids.queries(self.query_rows[rows]))
                batches.append((self.queries.rows(torch.from_numpy(rows)) if padded else trimmed, codes))

        def score() -> None:
            for queries, codes in batches:
                NeuralRanker.score_matrix(self.model, queries, codes)

        return score


@torch.inference_mode()
def measure_scoring(options: SpeedOptions) -> Measured:
    """Both forms at every width, and products of matrices with as many operations."""
    data = pairs_of(options)
    tokenizer = WordTokenizer.build(data.splits["train"], plan_of(options).words)
    train, test = (tokenizer.encode(data.splits[name]) for name in ("train", "test"))
    rows: list[Row] = []
    facts: dict[str, dict[str, float]] = {}
    for width in WIDTHS:
        plan = plan_of(options, "galm", of_width(width))
        block = Block(galm_of(plan, tokenizer.vocabularies, train).eval(), test)
        words, distinct = int(block.lengths[0].sum()), len(distinct_words(block.queries)[0])
        pairs = len(block.query_rows) * len(block.code_rows)
        operations = {
            "operations executed": all_operations(plan.model, *block.lengths, distinct) / pairs,
            "operations by the equations": all_operations(plan.model, *block.lengths, words) / pairs,
        }
        rows += compare(f"width {width}", block.forms(operations), options.rounds)
        gflops = operations["operations by the equations"] * _MILLION / rows[-1].second_seconds.median / 1e9
        counts = {"distinct query words": distinct, "query words": words}
        facts[f"width {width}"] = {**operations, "GFLOP/s of the matrix product": gflops, **counts}
    about = (
        f"{data.manifest['origin']}: {len(block.query_rows)} queries and their methods of the test split, sorted by "
        f"length, {torch.get_num_threads()} threads. The plain form scores {len(block.sample)} of the queries: in "
        "small batches of like length on both sides; and padded to the longest query of all, as the ranker's batches. "
        "Operations are of a pair."
    )
    return Measured(about=about, unit="a million pairs", rows=rows, facts=facts)


def measure_pools(options: SpeedOptions) -> Measured:
    """Pools of several sizes, each in a process of its own; the smallest is compared with the others.

    Raises:
        UserError: a pool is larger than the training split.
    """
    data, sizes = pairs_of(options), sorted(set(options.pools))
    split = _split_for(data, sizes[-1])
    found = {}
    for size in sizes:
        say(f"{size:,} methods")
        found[size] = in_own_process(rank_pool, options, str(data.folder), split, size)
    (least, first), *others = ((f"{size:,} methods", [{WHOLE: each["seconds"]}]) for size, each in found.items())
    rows = [row for name, seconds in others for row in rows_of("", (least, first), (name, seconds))]
    return Measured(
        about=f"{data.manifest['origin']}, {split} split, galm before training, graph width {WIDTHS[0]}.",
        unit="a million pairs",
        rows=rows,
        facts={
            f"{size:,} methods": {"minutes": each["seconds"] * size**2 / 6e7, **each} for size, each in found.items()
        },
    )


def _split_for(data: PreparedData, largest: int) -> str:
    """The test split, or the training split if a pool is larger than that."""
    sizes = {name: len(split) for name, split in data.splits.items()}
    if largest > sizes["train"]:
        raise UserError(
            f"--pools asks for {largest:,} methods, but the training split has {sizes['train']:,}: name smaller pools"
        )
    return "test" if largest <= sizes["test"] else "train"


def rank_pool(options: SpeedOptions, folder: str, split: str, methods: int) -> Mapping[str, float]:
    """Rank a pool in this process: seconds of a million pairs, encoding included, and MiB before and at most."""
    plan, splits = plan_of(options, "galm", of_width(WIDTHS[0])), open_prepared(Path(folder))
    found = {str(name): each for name, each in limit_pairs(splits, options.pairs).splits.items()}
    tokenizer = WordTokenizer.build(found["train"], plan.words)
    model = galm_of(plan, tokenizer.vocabularies, tokenizer.encode(found["train"]))
    before = memory_mb()
    ranked = evaluate(PoolRanker(model, tokenizer), found[split], EvaluateConfig(pool=methods, run_depth=10))
    return {"seconds": ranked.seconds / methods**2 * 1e6, "MiB before": before, "MiB at most": memory_mb()}


def cells_of_models() -> dict[str, Cell]:
    """Row of the main page, in its order -> the first cell of its model, if that is trained, not fused, and tested."""
    rows = {label: row for row, labels in ROWS.items() for label in labels}
    saved = {run.name for run in load_results("main", RESULTS)}
    found: dict[str, Cell] = {}
    for cell in (cell for cells in CELLS.values() for cell in cells):
        if cell.label in rows and cell.key in saved and cell.weights_of is None and is_trained(cell.model):
            found.setdefault(rows[cell.label], cell)
    return {row: found[row] for row in ROWS if row in found}


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

    def form() -> Seconds:
        with scoring(model), torch.autocast(device.type, torch.bfloat16, enabled=half):
            start = time.perf_counter()
            codes = [model.encode_code(model.moved(ids.codes(rows))) for rows in chunks]
            ready = time.perf_counter()
            for row in range(min(_ASKED, len(pool))):
                query = model.encode_query(model.moved(ids.queries([row])))
                for some in codes:
                    model.score_matrix(query, some).cpu()
            return _seconds(start, ready, len(pool))

    return form


def _seconds(start: float, ready: float, methods: int) -> Seconds:
    asked = min(_ASKED, methods)
    return {QUESTION: (time.perf_counter() - ready) / asked, METHOD: (ready - start) / methods}
