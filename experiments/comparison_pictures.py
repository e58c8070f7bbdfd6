"""The main table as pictures: each ranker's MRR with its interval, and the share of golds within the first K."""

import io
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evaluation.comparison import Entry, Pool, by_pool
from evaluation.results import Result

_PLACES: Final = np.unique(np.geomspace(1, 100, 60).astype(int))
"""The K of Top@K that are drawn."""
_LINES: Final = ("-", "--", "-.", ":")


def pictures(results: Iterable[tuple[str, Result]]) -> dict[str, bytes]:
    """A PNG for each pool that was tested on, by the name of its data set; results come with their labels."""
    return {pool.dataset.partition(":")[0]: _picture(pool, entries) for pool, entries in by_pool(results).items()}


def _picture(pool: Pool, entries: Sequence[Entry]) -> bytes:
    figure = Figure(figsize=(13, 1.8 + 0.32 * max(8, len(entries))), dpi=110, layout="constrained")
    dots, curves = figure.subplots(1, 2, width_ratios=(1, 1.3))
    _draw_dots(dots, entries)
    _draw_curves(curves, entries)
    figure.suptitle(f"{pool.dataset} ({pool.origin}), {pool.split} split: {pool.size:,} queries over as many methods")
    content = io.BytesIO()
    figure.savefig(content, format="png")
    return content.getvalue()


def _draw_dots(axes: Axes, entries: Sequence[Entry]) -> None:
    """MRR with the 95 % interval that its queries leave, mean ± 1.96 standard errors; a cross for each seed."""
    for place, entry in enumerate(reversed(entries)):
        values = entry.reciprocal_ranks
        reach = 1.96 * float(values.std(ddof=1)) / len(values) ** 0.5
        axes.errorbar(float(values.mean()), place, xerr=reach, fmt="o", color="#1f77b4", capsize=4)
        seeds = [tested.exact.mrr for tested in entry.tested] if entry.seeds > 1 else []
        axes.plot(seeds, [place] * len(seeds), "x", color="0.4", markersize=5)
    axes.set_yticks(range(len(entries)), [entry.label for entry in reversed(entries)])
    axes.grid(axis="x", color="0.9")
    axes.set(xlabel="MRR, with 95 % interval over queries", title="Mean reciprocal rank")


def _draw_curves(axes: Axes, entries: Sequence[Entry]) -> None:
    for number, entry in enumerate(entries):
        ranks = np.concatenate([np.asarray(tested.ranks) for tested in entry.tested])
        shares = [(ranks <= place).mean() for place in _PLACES]
        axes.plot(_PLACES, shares, _LINES[number // 10 % len(_LINES)], label=entry.label)
    axes.set_xscale("log")
    axes.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    axes.minorticks_off()
    axes.grid(color="0.9")
    axes.set(xlabel="K", ylabel="share of queries whose gold is among the first K", title="Top@K")
    axes.legend(fontsize=9)
