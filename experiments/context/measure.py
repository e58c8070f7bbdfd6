"""What context brings: MRR over pools with the right context and its controls, beside BM25: ``context RUN_DIR``."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from jaxtyping import Int64

from baselines.bm25.ranker import Bm25, Bm25Config
from data_prep.pipeline.contexts import CONTEXT_FIELD, PARTS, with_contexts
from data_prep.store.derived_splits import tree_of
from data_prep.store.prepared_data import Split
from experiments.context.encoded_pairs import model_scores
from experiments.context.loaded_runs import LoadedRun, rows_of_languages
from experiments.context.options import ContextOptions
from experiments.context.pools import Pool, PoolScores, pool_ranks, pools_of
from experiments.context.results import ALL, OVERLAPS, ContextResult, reached, save_result
from experiments.context.systems import (
    BM25,
    BM25_TUNED,
    FUSED,
    FUSED_TUNED,
    OWN,
    asked_ways,
    bm25_systems,
    fused,
    fusion_weight,
    part_name,
    shortened_ways,
    tuned_bm25,
)
from experiments.run.run import command_line
from experiments.terminal.console import say, show

_WORDS: Final = 100
"""Words of the contexts of BM25 and of a pair's class."""


def context(path: Path, options: ContextOptions) -> None:
    """Print, and save if wanted, what :func:`measured` finds.

    Raises:
        ValueError: the run is not finished, or its data are not available.
    """
    for result in measured(path, options):
        show(page_of(result))
        if options.save:
            say(f"wrote {save_result(result, Path(options.save))}")


def measured(path: Path, options: ContextOptions) -> Iterator[ContextResult]:
    """Test a finished run on each language of its data and, if there are several, on all mixed.

    Raises:
        ValueError: the run is not finished, its data are not available, or a language has a single pair.
    """
    tested = Tested.of(LoadedRun.of(path, options.split, limit=options.limit, seed=options.seed), options)
    groups = rows_of_languages(tested.run.split)
    mixed = {ALL: np.arange(len(tested.run.split))} if len(groups) > 1 else {}
    for language, rows in {**groups, **mixed}.items():
        for size in options.sizes:
            yield tested.on(language, rows, size)


def page_of(result: ContextResult) -> str:
    """The MRR of each system, for display."""
    head = (
        f"{result.model}, {result.language} of {result.dataset}: {result.queries:,} pairs of "
        f"{len(result.repositories)} source trees, pools of {result.pool:,}"
        f"{f', the last padded by {result.padded:,}' if result.padded else ''}"
    )
    return "\n".join([head, *(f"  {name:45} MRR {result.mrr(name):.4f}" for name in result.systems)])


@dataclass(frozen=True, eq=False)
class Tested:
    """A run with the scores of all systems on its pairs."""

    run: LoadedRun
    options: ContextOptions
    systems: Mapping[str, PoolScores]
    fusion_weights: Mapping[str, float]
    repositories: Sequence[str]  # of each pair
    classes: Int64[np.ndarray, " pairs"]  # of OVERLAPS

    @classmethod
    def of(cls, run: LoadedRun, options: ContextOptions) -> "Tested":
        """Encode the pairs of a run in all ways."""
        split, contexts = run.split, plain_contexts(run)
        of_queries = model_scores(run.ranker, split)
        ways = [*asked_ways(split, options.seed)]
        if options.ablate and CONTEXT_FIELD in split.words and hasattr(run.plan.model, "context_words"):
            ways += [*shortened_ways(split), *_part_ways(run)]
        systems = {name: of_queries(queries) for name, queries in ways}
        systems |= bm25_systems(contexts, rarest=options.rarest, seed=options.seed)
        weights = {}
        for name, of, bm25 in ((FUSED, BM25, Bm25(Bm25Config())), (FUSED_TUNED, BM25_TUNED, tuned_bm25())):
            weights[name] = fusion_weight(run.ranker, bm25, run.asked.splits["valid"], options.seed)
            systems[name] = fused(systems[OWN], systems[of], weights[name])
        names = [tree_of(split, row) for row in range(len(split))]
        return cls(run, options, systems, weights, names, overlap_classes(contexts))

    def on(self, language: str, rows: Int64[np.ndarray, " rows"], size: int) -> ContextResult:
        """The result on some rows in pools of ``size``.

        Raises:
            ValueError: there is only one row.
        """
        plan, options = self.run.plan, self.options
        parts = pools_of(rows, size, options.seed)
        ranks = pool_ranks(self.systems, parts, len(self.run.split))
        last = pool_ranks(self.systems, [Pool(parts[-1].own, parts[-1].asked)], len(self.run.split))
        names, numbers = np.unique([self.repositories[row] for row in rows], return_inverse=True)
        return ContextResult(
            model=plan.model_name,
            dataset=plan.dataset,
            language=language,
            trained_on=plan.data.language,
            data_split=plan.data.hold_out or plan.data.split,
            split=options.split,
            train_seed=plan.train.seed,
            train_pairs=self.run.train_pairs,
            command=command_line("context", str(self.run.path.name), {"split": options.split, "pools": options.pools}),
            pool=len(parts[0].rows),
            padded=len(parts[-1].rows) - parts[-1].asked,
            pool_seed=options.seed,
            fusion_weight=self.fusion_weights[FUSED],
            tuned_fusion_weight=self.fusion_weights[FUSED_TUNED],
            wanted_pool=size,
            repositories=dict(zip(names.tolist(), np.bincount(numbers).tolist(), strict=True)),
            overlaps=np.bincount(self.classes[rows], minlength=len(OVERLAPS)).tolist(),
            systems={
                name: reached(each[rows], numbers, self.classes[rows], np.where(last[name] > 0, last[name], each)[rows])
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


def plain_contexts(run: LoadedRun) -> Split:
    """The tested pairs with the words of their contexts, however the model reads them; without, if there are none."""
    words, part = (getattr(run.plan.model, f"context_{name}", None) for name in ("words", "part"))
    if run.corpus is None or (words, part) == (_WORDS, "all"):
        return run.split
    found = with_contexts(run.plain, run.corpus.shard_folder, longest=_WORDS, splits=[run.split_name])
    return found.splits[run.split_name]


def _part_ways(run: LoadedRun) -> Iterator[tuple[str, Split]]:
    """The queries with each part of their contexts."""
    assert run.corpus is not None
    for part in PARTS[1:]:
        found = with_contexts(
            run.plain,
            run.corpus.shard_folder,
            longest=run.plan.model.context_words,
            part=part,
            splits=[run.split_name],
        )
        yield part_name(part), found.splits[run.split_name]
