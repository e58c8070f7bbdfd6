"""What context brings: MRR over pools with the right context, another query's, and none, beside BM25's with both."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from data_prep.bounds import SEED, check_bounds, whole
from data_prep.corpus.contexts import (
    CONTEXT_FIELD,
    asked_with_context,
    document_counts,
    shuffled_contexts,
    without_contexts,
)
from data_prep.files.atomic import write_atomically
from data_prep.store.prepared_data import Split
from evaluation.metrics import mrr
from experiments.context.pools import Pool, pool_ranks, pools
from experiments.run.data import contexts_stage, prepare_stage
from experiments.run.run import command_line
from modeling.pool_ranker import PoolRanker
from modeling.ranker import Ranker
from recipes.config import Configuration
from recipes.run_folder import RunFolder
from recipes.trained_run import load_run
from retrieval.bm25 import Bm25, Bm25Config
from terminal.console import show
from terminal.options import parsed


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """Options of the command ``context``."""

    pool: int = 1000
    """Functions of a pool (the paper: 5,000; its scripts: 1,000)."""
    seed: int = 0
    """Seed of the pools and of the exchange of contexts."""
    rarest: int = 5
    """Context words that BM25 adds to a query, the rarest of the test set."""
    out: str = ""
    """JSON file for the numbers; empty: none."""

    def __post_init__(self) -> None:
        check_bounds(self, _BOUNDS)


_BOUNDS: Final = {"pool": whole(2, 1_000_000), "seed": SEED, "rarest": whole(1, 10_000)}


def context(arguments: Sequence[str]) -> None:
    """Test finished runs with the right contexts, with those of other queries, and BM25 beside them.

    Raises:
        ValueError: no run is named, a run is not finished, or no run's data have contexts.
    """
    words, options = parsed(arguments, ContextOptions)
    if not words:
        raise ValueError("expected finished runs: bash run.sh context RUN_DIR [RUN_DIR ...]")
    command = command_line("context", " ".join(words), {})
    found: dict[str, Any] = {"options": asdict(options), "tested": []}
    for place, word in enumerate(words):
        folder = RunFolder(Path(word))
        plan = Configuration.load(folder.config)
        data = prepare_stage(plan.dataset, plan.data, command)
        test = contexts_stage(plan, plan.dataset, plan.data, data).splits["test"]
        parts = pools(len(test), options.pool, options.seed)
        about = {
            "run": folder.path.name,
            "model": plan.model_name,
            "data": plan.dataset,
            "language": plan.data.language,
            "split": plan.data.split,
            "train_seed": plan.train.seed,
            "test_pairs": len(test),
            "functions_of_a_pool": len(parts[0].rows),
            "padded": len(parts[-1].rows) - parts[-1].asked,
        }
        measured = tested(PoolRanker(*load_run(folder.path)), test, parts, options, plan.model_name)
        found["tested"].append({**about, "mrr": {**measured, **(_bm25(test, parts, options) if place == 0 else {})}})
        show("\n".join(f"{name:45} MRR {value:.4f}" for name, value in found["tested"][-1]["mrr"].items()))
    if options.out:
        write_atomically(Path(options.out), json.dumps(found, indent=1) + "\n")


def tested(ranker: Ranker, test: Split, parts: list[Pool], options: ContextOptions, name: str) -> dict[str, float]:
    """MRR of a ranker over ``parts`` of ``test``; with contexts, also with those of other queries and with none."""
    found = {name: mrr(pool_ranks(ranker, test, test, parts))}
    if CONTEXT_FIELD in test.words:
        others = shuffled_contexts(test, options.seed)
        found[f"{name}, contexts of other queries"] = mrr(pool_ranks(ranker, others, test, parts))
        found[f"{name}, contexts left out"] = mrr(pool_ranks(ranker, without_contexts(test), test, parts))
    return found


def _bm25(test: Split, parts: list[Pool], options: ContextOptions) -> dict[str, float]:
    """BM25 on the query, and with the rarest words of the right and of another context."""
    bm25 = Bm25(Bm25Config())
    found = {"bm25": mrr(pool_ranks(bm25, test, test, parts))}
    if CONTEXT_FIELD in test.words:
        counts = document_counts(test)
        for name, split in (("its", test), ("another", shuffled_contexts(test, options.seed))):
            asked = asked_with_context(split, rarest=options.rarest, counts=counts)
            found[f"bm25, {options.rarest} rarest words of {name} context"] = mrr(pool_ranks(bm25, asked, test, parts))
    return found
