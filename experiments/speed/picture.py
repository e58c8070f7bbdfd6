"""A figure of the speed measurements."""

import io
from collections.abc import Sequence
from typing import Final, Literal

import numpy as np

from experiments.speed.pools import WIDTH, PoolSpeed
from experiments.speed.report import SpeedReport, digits
from experiments.speed.timing import Growth, Spread
from training.drawing import Axes, Figure

_FAST: Final = "#1f77b4"
_PLAIN: Final = "#ff7f0e"


def picture(report: SpeedReport) -> bytes:
    """Pairs per second of both forms, and time against pool size and method length, as PNG."""
    figure = Figure(figsize=(15, 4.8), dpi=110, layout="constrained")
    rates, pools, lengths = figure.subplots(1, 3)
    _draw_rates(rates, report)
    sizes = [pool.methods for pool in report.pools]
    _draw_times(pools, report.pools, sizes)
    _draw_fit(pools, sizes, [size**2 for size in sizes], report.growth_with_pairs, "pairs")
    pools.set(xscale="log", yscale="log", xlabel="methods in the pool, and queries")
    pools.set_title(f"Ranking a whole pool, graph width {WIDTH}")
    words = [pool.code_words for pool in report.lengths]
    _draw_times(lengths, report.lengths, words)
    _draw_fit(lengths, words, words, report.growth_with_length, "words")
    lengths.set(xlabel="words of a method, on average", ylim=(0, None), xlim=(0, 1.15 * max(words)))
    lengths.set_title(f"{report.lengths[0].methods:,} methods cut to fewer words")
    for axes, places in ((pools, sizes), (lengths, words)):
        axes.set_xticks(places, [digits(place) for place in places])
        axes.minorticks_off()
        axes.margins(0.2)
    figure.suptitle(f"{report.machine.cpu}, {report.threads} threads")
    content = io.BytesIO()
    figure.savefig(content, format="png")
    return content.getvalue()


def _draw_rates(axes: Axes, report: SpeedReport) -> None:
    places = np.arange(len(report.scoring))
    forms = (("plain", _PLAIN, "plain_pairs_per_second"), ("fast", _FAST, "fast_pairs_per_second"))
    for shift, (name, colour, attribute) in zip((-0.2, 0.2), forms, strict=True):
        rates: list[Spread] = [getattr(scoring, attribute) for scoring in report.scoring.values()]
        medians = [rate.median for rate in rates]
        bars = axes.bar(places + shift, medians, 0.38, yerr=_reach(rates), color=colour, capsize=4, label=name)
        axes.bar_label(bars, [digits(value) for value in medians], padding=3)
    axes.set_xticks(places, [f"graph width {width}" for width in report.scoring])
    axes.margins(y=0.15)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylabel("pairs per second")
    axes.set_title("Scoring pairs, both forms")
    axes.legend(loc="upper right")


def _draw_times(axes: Axes, runs: Sequence[PoolSpeed], places: Sequence[float]) -> None:
    """The seconds of each run, with its peak memory below."""
    medians = [run.seconds.median for run in runs]
    axes.errorbar(places, medians, _reach([run.seconds for run in runs]), fmt="o", color=_FAST, capsize=4)
    for place, median, run in zip(places, medians, runs, strict=True):
        text = f"{digits(median)} s\n{run.peak_memory_mb:,.0f} MiB"
        axes.annotate(
            text, (place, run.seconds.least), (0, -9), textcoords="offset points", ha="center", va="top", fontsize=9
        )
    axes.set_ylabel("seconds")
    axes.grid(color="0.9")


def _draw_fit(
    axes: Axes, places: Sequence[float], sizes: Sequence[float], growth: Growth, unit: Literal["pairs", "words"]
) -> None:
    label = f"fit: {unit} to the power of {growth.exponent:.2f}"
    axes.plot(places, [growth.seconds(size) for size in sizes], "--", color="0.4", label=label)
    axes.legend(loc="upper left" if unit == "pairs" else "lower right")


def _reach(spreads: Sequence[Spread]) -> list[list[float]]:
    """Distances of the minima and maxima from the medians."""
    return [[each.median - each.least for each in spreads], [each.most - each.median for each in spreads]]
