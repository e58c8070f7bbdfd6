"""Figures of the main table: each ranker's MRR with its interval, and Top@K as a function of K."""

import io
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from evaluation.comparison import Entry, Pool, by_pool
from evaluation.results import Result
from training.drawing import Axes, Figure

_PLACES: Final = np.unique(np.geomspace(1, 100, 60).astype(int))
"""The K of Top@K that are drawn."""
_LINES: Final = ("-", "--", "-.", ":")


def pictures(results: Iterable[tuple[str, Result]]) -> dict[str, bytes]:
    """A PNG per test data set, by its name; results come with their labels."""
    return {name: _picture(pool, entries) for name, (pool, entries) in largest_pools(results).items()}


def largest_pools(results: Iterable[tuple[str, Result]]) -> dict[str, tuple[Pool, list[Entry]]]:
    """For each data set, by name, the pool with most rankers; there are several if the data were prepared again."""
    ordered = sorted(by_pool(results).items(), key=lambda found: len(found[1]))
    return {pool.dataset.partition(":")[0]: (pool, entries) for pool, entries in ordered}


def _picture(pool: Pool, entries: Sequence[Entry]) -> bytes:
    width = 10 + 0.16 * max(len(entry.label) for entry in entries)  # the labels appear twice
    figure = Figure(figsize=(width, 1.8 + 0.32 * max(8, len(entries))), dpi=110, layout="constrained")
    dots, curves = figure.subplots(1, 2, width_ratios=(1, 1.3))
    _draw_dots(dots, entries)
    _draw_curves(curves, entries)
    figure.suptitle(title_of(pool))
    return as_png(figure)


def title_of(pool: Pool) -> str:
    """The test set, in one line."""
    return f"{pool.dataset} ({pool.origin}), {pool.split} split: {pool.size:,} queries over as many methods"


def as_png(figure: Figure) -> bytes:
    """The figure as the bytes of a PNG file."""
    content = io.BytesIO()
    figure.savefig(content, format="png")
    return content.getvalue()


def line_style(number: int) -> str:
    """The line style of curve ``number``; colours repeat after ten."""
    return _LINES[number // 10 % len(_LINES)]


def _draw_dots(axes: Axes, entries: Sequence[Entry]) -> None:
    """MRR with its 95 % interval over queries, mean ± 1.96 standard errors; above it, a cross for each seed."""
    for place, entry in enumerate(reversed(entries)):
        values = entry.reciprocal_ranks
        reach = 1.96 * float(values.std(ddof=1)) / len(values) ** 0.5
        axes.errorbar(float(values.mean()), place, xerr=reach, fmt="o", color="#1f77b4", capsize=4)
        seeds = [tested.exact["mrr"] for tested in entry.tested] if entry.seeds > 1 else []
        axes.plot(seeds, [place + 0.25] * len(seeds), "x", color="0.4", markersize=4)
    axes.set_yticks(range(len(entries)), [entry.label for entry in reversed(entries)])
    axes.grid(axis="x", color="0.9")
    axes.set(xlabel="MRR, with 95 % interval over queries; crosses: seeds", title="Mean reciprocal rank")


def _draw_curves(axes: Axes, entries: Sequence[Entry]) -> None:
    for number, entry in enumerate(entries):
        ranks = np.concatenate([np.asarray(tested.ranks) for tested in entry.tested])
        shares = [(ranks <= place).mean() for place in _PLACES]
        axes.plot(_PLACES, shares, line_style(number), label=entry.label)
    axes.set_xscale("log")
    axes.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    axes.minorticks_off()
    axes.grid(color="0.9")
    axes.set(xlabel="K", ylabel="share of queries whose gold is among the first K", title="Top@K")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=9)  # beside the curves, which would cross it
