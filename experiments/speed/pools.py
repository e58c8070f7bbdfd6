"""Pools of methods ranked by GALM for each of their queries: time and peak memory."""

from collections.abc import Mapping
from pathlib import Path

from data_prep.errors import UserError
from data_prep.store.derived_splits import limit_pairs
from data_prep.store.prepared_data import PreparedData, open_prepared
from data_prep.store.tokenizing import WordTokenizer
from evaluation.config import EvaluateConfig
from evaluation.evaluator import evaluate
from evaluation.speed import WHOLE, Measured, SpeedOptions, in_own_process, memory_mb, rows_of
from experiments.speed.pairs import WIDTHS, galm_of, of_width, pairs_of, plan_of
from experiments.terminal.console import say
from modeling.pool_ranker import PoolRanker


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
