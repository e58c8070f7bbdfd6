"""What context brings: MRR over pools with the right context and its controls, beside BM25: ``context RUN_DIR``."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import numpy as np
from jaxtyping import Int64

from baselines.bm25.ranker import Bm25, Bm25Config
from data_prep.corpus.contexts import CONTEXT_FIELD
from data_prep.store.held_out import tree_of
from data_prep.store.prepared_data import Split
from experiments.context.finished_run import FinishedRun, rows_of_languages
from experiments.context.options import ContextOptions
from experiments.context.pools import Pool, PoolScores, model_scores, pool_ranks, pools
from experiments.context.results import ALL, OVERLAPS, ContextResult, reached, save_result
from experiments.context.systems import (
    BM25,
    BM25_TUNED,
    FUSED,
    FUSED_TUNED,
    OWN,
    bm25_systems,
    fused,
    fusion_weight,
    tuned_bm25,
    ways_of_asking,
)
from experiments.run.run import command_line
from experiments.terminal.console import say, show

_WORDS: Final = 100
"""Words of the contexts of BM25 and of a pair's class."""


def context(path: Path, options: ContextOptions) -> None:
    """Print, and save if wanted, what :func:`measured` finds.

    Raises:
        UserError: the run is not finished, or its data are not available.
    """
    for result in measured(path, options):
        show(page_of(result))
        if options.save:
            say(f"wrote {save_result(result, Path(options.save))}")


def measured(path: Path, options: ContextOptions) -> Iterator[ContextResult]:
    """Test a finished run on each language of its data and, if there are several, on all mixed.

    Raises:
        UserError: the run is not finished, its data are not available, or a language has a single pair.
    """
    run = FinishedRun.of(path, options.split, limit=options.limit, seed=options.seed)
    contexts, weights = plain_contexts(run), {}
    of_queries = model_scores(run.ranker, run.split)
    ways = ways_of_asking(run, seed=options.seed, ablate=options.ablate)
    systems = {name: of_queries(queries) for name, queries in ways}
    systems |= bm25_systems(contexts, rarest=options.rarest, seed=options.seed)
    for name, of, bm25 in ((FUSED, BM25, Bm25(Bm25Config())), (FUSED_TUNED, BM25_TUNED, tuned_bm25())):
        weights[name] = fusion_weight(run.ranker, bm25, run.asked.splits["valid"], options.seed)
        systems[name] = fused(systems[OWN], systems[of], weights[name])
    classes, groups = overlap_classes(contexts), {**rows_of_languages(run.split)}
    if len(groups) > 1:
        groups[ALL] = np.arange(len(run.split))
    for language, rows in groups.items():
        for size in options.sizes:
            yield _result(run, options, language, rows, classes, size, systems, weights)


def _result(
    run: FinishedRun,
    options: ContextOptions,
    language: str,
    rows: Int64[np.ndarray, " rows"],
    classes: Int64[np.ndarray, " pairs"],
    size: int,
    systems: Mapping[str, PoolScores],
    weights: Mapping[str, float],
) -> ContextResult:
    """The result on ``rows`` in pools of ``size``; ``weights``: of the model in both fusions."""
    parts, plan = pools(rows, size, options.seed), run.plan
    ranks = pool_ranks(systems, parts, len(run.split))
    last = pool_ranks(systems, [Pool(parts[-1].own, parts[-1].asked)], len(run.split))
    names, numbers = np.unique([tree_of(run.split, row) for row in rows.tolist()], return_inverse=True)
    return ContextResult(
        model=plan.model_name,
        dataset=plan.dataset,
        language=language,
        trained_on=plan.data.language,
        data_split=plan.data.hold_out or plan.data.split,
        split=options.split,
        train_seed=plan.train.seed,
        train_pairs=run.train_pairs,
        command=command_line("context", str(run.path.name), {"split": options.split, "pools": options.pools}),
        pool=len(parts[0].rows),
        padded=len(parts[-1].rows) - parts[-1].asked,
        pool_seed=options.seed,
        fusion_weight=weights[FUSED],
        tuned_fusion_weight=weights[FUSED_TUNED],
        wanted_pool=size,
        repositories=dict(zip(names.tolist(), np.bincount(numbers).tolist(), strict=True)),
        overlaps=np.bincount(classes[rows], minlength=len(OVERLAPS)).tolist(),
        systems={
            name: reached(each[rows], numbers, classes[rows], np.where(last[name] > 0, last[name], each)[rows])
            for name, each in ranks.items()
        },
    )


def overlap_classes(split: Split) -> Int64[np.ndarray, " pairs"]:
    """The class of OVERLAPS of each pair: the share of its function's words, name and tokens, in its context."""
    shares = np.zeros(len(split))
    if CONTEXT_FIELD in split.words:
        for row in range(len(split)):
            function = np.union1d(split.words["name"][row], split.words["tokens"][row])
            shares[row] = np.isin(function, split.words[CONTEXT_FIELD][row]).mean() if len(function) else 0.0
    return np.searchsorted(np.array(OVERLAPS), shares, side="right") - 1


def plain_contexts(run: FinishedRun) -> Split:
    """The tested pairs with the words of their contexts, however the model reads them; without, if there are none."""
    words, part = (getattr(run.plan.model, f"context_{name}", None) for name in ("words", "part"))
    if run.corpus is None or (words, part) == (_WORDS, "all"):
        return run.split
    return run.with_contexts(_WORDS)


def page_of(result: ContextResult) -> str:
    """The MRR of each system, for display."""
    head = (
        f"{result.model}, {result.language} of {result.dataset}: {result.queries:,} pairs of "
        f"{len(result.repositories)} source trees, pools of {result.pool:,}"
        f"{f', the last padded by {result.padded:,}' if result.padded else ''}"
    )
    return "\n".join([head, *(f"  {name:45} MRR {result.mrr(name):.4f}" for name in result.systems)])
