"""Pictures of saved results: recall at k of both models of a pair, MRR by the length of the context."""

from collections.abc import Mapping, Sequence

import numpy as np

from experiments.context.measure import BM25, FUSED, LENGTHS, NONE, OWN, shortened
from experiments.context.results import DEPTHS, ContextResult, Pairs, Seeds, paired
from experiments.tables.comparison_pictures import as_png
from training.drawing import Figure

CONTEXT_WORDS = 100


def pictures(results: Sequence[ContextResult]) -> Mapping[str, bytes]:
    """The pictures by file name: of each data set split by repository, its largest pools."""
    found = {}
    for key, pairs in sorted(paired(results).items()):
        dataset, split, model, of_all, _, pool = key
        if split == "repo":
            name = f"scotch-{dataset}-{model}{'-all' * of_all}"
            found[f"{name}-recall.png"] = _recall_picture(pairs, pool)
            shortest = shortened(LENGTHS[0])
            ablated = {language: each for language, (each, _) in pairs.items() if shortest in each[0].systems}
            if ablated:
                found[f"{name}-length.png"] = _length_picture(ablated, pool)
    return found


def _recall_picture(pairs: Pairs, pool: int) -> bytes:
    """A PNG: recall at k with and without context and of BM25, a panel for each language."""
    figure = Figure(figsize=(3.2 * len(pairs), 3.6), dpi=110, layout="constrained")
    panels = figure.subplots(1, len(pairs), sharey=True, squeeze=False)[0]
    for axes, (language, (with_context, without)) in zip(panels, pairs.items(), strict=True):
        curves = (
            ("with context", with_context, OWN),
            ("without", without, OWN),
            ("with context and BM25 fused", with_context, FUSED),
            ("BM25", with_context, BM25),
        )
        for name, results, system in curves:
            axes.plot(DEPTHS, _mean([each.systems[system].recall for each in results]), marker=".", label=name)
        axes.set(xscale="log", title=language, xlabel="k", xticks=DEPTHS[::2], ylim=(0, 1))
        axes.set_xticklabels([str(k) for k in DEPTHS[::2]])
        axes.grid(color="0.9")
    panels[0].set_ylabel(f"recall at k, pools of {pool:,}")
    panels[-1].legend(fontsize=8, loc="lower right")
    return as_png(figure)


def _length_picture(results: Mapping[str, Seeds], pool: int) -> bytes:
    """A PNG: MRR of a model with context by the number of context words that it is given, a line for each language."""
    figure = Figure(figsize=(6, 3.8), dpi=110, layout="constrained")
    axes = figure.subplots()
    systems = [NONE, *map(shortened, LENGTHS), OWN]
    for language, found in results.items():
        values = _mean(
            [[each.mrr(system) for system in systems] for each in found if set(systems) <= set(each.systems)]
        )
        axes.plot([0, *LENGTHS, CONTEXT_WORDS], values, marker=".", label=language)
    axes.set(xlabel="nearest words of the context", ylabel=f"MRR, pools of {pool:,}")
    axes.grid(color="0.9")
    figure.legend(fontsize=9, loc="outside right upper")
    return as_png(figure)


def _mean(rows: Sequence[Sequence[float]]) -> list[float]:
    found: list[float] = np.mean(rows, axis=0).tolist()
    return found
