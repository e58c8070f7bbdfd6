"""What context brings: MRR over pools with the right context and its controls, beside BM25: ``context RUN_DIR``.

Controls of what a context brings: the context of another query anywhere, that of a function of another file of the
same source tree, and none. A gain that the second keeps is of the package, not of the function. Compared are also BM25
and the model fused with it.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from jaxtyping import Float, Int64

from baselines.bm25 import Bm25, Bm25Config
from data_prep.pipeline.contexts import (
    PARTS,
    Part,
    asked_with_context,
    contexts_of_neighbours,
    document_counts,
    nearest_words,
    shuffled_contexts,
    without_contexts,
)
from data_prep.records import CONTEXT_FIELD
from data_prep.store.arrays import weighted, z_scores
from data_prep.store.prepared_data import tree_of
from data_prep.store.split import Split
from evaluation.metrics import sum_of_reciprocal_ranks
from experiments.context.finished_run import (
    FinishedRun,
    Pool,
    PoolScores,
    model_scores,
    pool_ranks,
    pools,
    ranker_scores,
    rows_of_languages,
)
from experiments.context.options import ContextOptions
from experiments.context.results import ALL, OVERLAPS, ContextResult, reached, save_result
from experiments.recipes.config import resolve
from experiments.run.run import command_line
from experiments.terminal.console import say, show
from modeling.ranker import Ranker, best_weight

OWN: Final = "model"
OTHERS: Final = "model, contexts of other queries"
NEIGHBOURS: Final = "model, contexts of the same repository"
NONE: Final = "model, contexts left out"
FUSED: Final = "model and BM25 fused"
FUSED_TUNED: Final = "model and tuned BM25 fused"
BM25: Final = "BM25"
BM25_TUNED: Final = "BM25, tuned"
BM25_OWN: Final = "BM25, rarest context words added"
BM25_OTHERS: Final = "BM25, rarest words of other contexts added"
LENGTHS: Final = (5, 10, 20, 50)
"""Nearest words of shortened contexts."""
WEIGHED: Final = 1000
"""Validation pairs that the weight of a fusion is chosen on."""
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


def shortened(longest: int) -> str:
    """The name of the model with the nearest ``longest`` words of the contexts."""
    return f"model, nearest {longest} context words"


def part_name(part: Part) -> str:
    """The name of the model with a part of the contexts."""
    return f"model, {part} of the context"


def ways_of_asking(run: FinishedRun, *, seed: int, ablate: bool) -> Iterator[tuple[str, Split]]:
    """The tested queries with their contexts and the controls, by name.

    Args:
        run: the run.
        seed: of the exchange of contexts.
        ablate: whether there are also fewer words and parts of the contexts, if the model reads words.
    """
    split = run.split
    yield OWN, split
    if CONTEXT_FIELD not in split.words:
        return
    yield OTHERS, shuffled_contexts(split, seed)
    yield NEIGHBOURS, contexts_of_neighbours(split, seed)
    yield NONE, without_contexts(split)
    if ablate and hasattr(run.plan.model, "context_words"):
        for longest in LENGTHS:
            yield shortened(longest), nearest_words(split, longest)
        for part in PARTS[1:]:
            yield part_name(part), run.with_contexts(run.plan.model.context_words, part)


def bm25_systems(split: Split, *, rarest: int, seed: int) -> Mapping[str, PoolScores]:
    """BM25 on the query, tuned too, and with the rarest words of the right and of another context.

    Args:
        split: the pairs, with contexts if there are any.
        rarest: context words that are added to a query.
        seed: of the exchange of contexts.
    """
    bm25, found = Bm25(Bm25Config()), dict[str, PoolScores]()
    for name, each in ((BM25, bm25), (BM25_TUNED, tuned_bm25())):
        found[name] = lru_cache(maxsize=1)(ranker_scores(each, split, split))  # a fusion reads the same pool again
    if CONTEXT_FIELD not in split.words:
        return found
    counts = document_counts(split)
    for name, queries in ((BM25_OWN, split), (BM25_OTHERS, shuffled_contexts(split, seed))):
        asked = asked_with_context(queries, rarest=rarest, counts=counts)
        found[name] = ranker_scores(bm25, asked, split)
    return found


def tuned_bm25() -> Bm25:
    """BM25 with the settings of ``bm25_tuned``, which were chosen on validation pairs of the JDK."""
    config = resolve("jdk", "bm25_tuned", {}).model
    assert isinstance(config, Bm25Config)
    return Bm25(config)


def fused(first: PoolScores, second: PoolScores, weight: float) -> PoolScores:
    """``weight`` of the first and the rest of the second, each standardised over the pool for each query."""

    def scores(part: Pool) -> Float[np.ndarray, "asked pool"]:
        one, other = (z_scores(np.asarray(each(part), np.float32)) for each in (first, second))
        return weighted(one, other, weight)

    return scores


def fusion_weight(model: Ranker, bm25: Bm25, valid: Split, seed: int) -> float:
    """The model's weight beside BM25 that has the best MRR on validation pairs."""
    rows = np.random.default_rng(seed).permutation(len(valid))[:WEIGHED]
    pool = valid.take(np.sort(rows))
    return best_weight(model.over(pool, pool), bm25.over(pool, pool), sum_of_reciprocal_ranks)
