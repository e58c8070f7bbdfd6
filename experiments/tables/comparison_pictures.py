"""Figures of rankers: MRR with its interval, Top@K by K, training curves, and ranks by kind of query."""

import io
from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill
from typing import Final

import numpy as np
from jaxtyping import Bool, Float

from evaluation.comparison import MARGIN, Entry, Lead, Pool, Side, largest_pools
from evaluation.queries import CODE, LENGTH, OVERLAP, TRAINED, QueryClass, QueryFacts, gain
from evaluation.results import Validation
from experiments.tables.comparison_tables import Named, Results
from experiments.tables.query_kinds import KnownPool, classes_by_kind, compared
from training.drawing import Axes, Figure, LogLocator, MaxNLocator, Patch, withStroke

_PLACES: Final = np.unique(np.geomspace(1, 100, 60).astype(int))
"""The K of Top@K that are drawn."""
_LINES: Final = ("-", "--", "-.", ":")
_LETTERS: Final = 13
"""Of a text of 10 points, in an inch."""
_FEW: Final = 2
"""Models whose names have room beside their differences."""
_BANDS: Final = {"1": 1, "2-5": 5, "6-10": 10, "11-100": 100}
"""Label -> last rank; after them comes "> 100"."""
_BAND_COLOURS: Final = ("#08519c", "#3182bd", "#6baed6", "#c6dbef", "#d9d9d9")
_AXES: Final = {
    LENGTH: "words of the query",
    OVERLAP: "which share of the query's words its method has too",
    CODE: "tokens of its method",
    TRAINED: "tokens that its method shares with the nearest training method",
}
_COLOURS: Final = ("#d62728", "#2ca02c", "#1f77b4", "#9467bd", "#8c564b", "#e377c2")
"""Colours of the models' differences from BM25."""
SIDES: Final[Mapping[Side, str]] = {
    "worse": "#2166ac",
    "level": "0.3",
    "not shown": "0.6",
    "better": "#b2182b",
    "one seed": "0.6",
}
"""How a row compares with the reference -> its colour."""


def as_png(figure: Figure) -> bytes:
    """The figure as the bytes of a PNG file."""
    content = io.BytesIO()
    figure.savefig(content, format="png")
    return content.getvalue()


def draw_leads(axes: Axes, leads: Mapping[str, Lead], labels: Sequence[str]) -> None:
    """Draw differences with their intervals, the first of ``labels`` on top; a label without one has an empty line."""
    for place, name in enumerate(reversed(labels)):
        if name in leads:
            _draw_lead(axes, leads[name], place)
    axes.axvspan(-MARGIN, MARGIN, color="0.93", zorder=0)
    axes.axvline(0, color="0.3", linewidth=1)
    axes.grid(axis="x", color="0.9")
    axes.set_yticks(range(len(labels)), labels[::-1])
    axes.set_ylim(-0.6, len(labels) - 0.4)


def forest_picture(leads: Mapping[str, Lead], reference: str, title: str) -> bytes:
    """A PNG of the difference of each row from the reference, with its interval."""
    return forest_panels({title: leads}, [*leads], f"MRR from that of {reference}")


def forest_panels(panels: Mapping[str, Mapping[str, Lead]], rows: Sequence[str], what: str = "MRR") -> bytes:
    """A PNG of differences with their intervals.

    Args:
        panels: title of each -> row -> difference.
        rows: all of them, from above.
        what: the difference is of.
    """
    width = 4 + 0.11 * max(map(len, rows)) + 3.2 * (len(panels) - 1)
    figure = Figure(figsize=(max(9, width), 1.6 + 0.35 * max(3, len(rows))), dpi=110, layout="constrained")
    all_axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (title, leads) in zip(all_axes, panels.items(), strict=True):
        draw_leads(axes, leads, rows)
        axes.set_title(fill(title, _LETTERS * 6), fontsize=10)
    told = (
        f"difference of {what}, 95 % interval over seeds and queries; red, blue: significant; hollow: one seed; "
        f"band: within {MARGIN:g}"
    )
    figure.supxlabel(fill(told, int(_LETTERS * figure.get_figwidth())), fontsize=10)
    return as_png(figure)


def _draw_lead(axes: Axes, lead: Lead, place: int) -> None:
    mean, low, high = lead.difference.mean, lead.difference.low, lead.difference.high
    face = "none" if lead.side == "one seed" else SIDES[lead.side]
    reach = [[mean - low], [high - mean]]
    axes.errorbar(mean, place, xerr=reach, fmt="o", capsize=4, color=SIDES[lead.side], markerfacecolor=face)


def line_style(number: int) -> str:
    """The line style of curve ``number``; colours repeat after ten."""
    return _LINES[number // 10 % len(_LINES)]


def comparison_pictures(results: Results) -> dict[str, bytes]:
    """Each ranker's MRR with its interval, and its Top@K as a function of K: a PNG per test data set, by its name."""
    found = {}
    for name, (pool, entries) in largest_pools(results).items():
        width = 10 + 0.16 * max(len(entry.label) for entry in entries)  # the labels appear twice
        figure = Figure(figsize=(width, 1.8 + 0.32 * max(8, len(entries))), dpi=110, layout="constrained")
        dots, curves = figure.subplots(1, 2, width_ratios=(1, 1.3))
        _draw_dots(dots, entries)
        _draw_curves(curves, entries)
        figure.suptitle(pool.title)
        found[name] = as_png(figure)
    return found


def _draw_dots(axes: Axes, entries: Sequence[Entry]) -> None:
    """MRR with its 95 % interval over queries, mean ± 1.96 standard errors; above it, a cross for each seed."""
    for place, entry in enumerate(reversed(entries)):
        _draw_dot(axes, entry, place)
        seeds = [tested.exact["mrr"] for tested in entry.tested] if entry.seeds > 1 else []
        axes.plot(seeds, [place + 0.25] * len(seeds), "x", color="0.4", markersize=4)
    axes.set_yticks(range(len(entries)), [entry.label for entry in reversed(entries)])
    axes.grid(axis="x", color="0.9")
    axes.set(xlabel="MRR, with 95 % interval over queries; crosses: seeds", title="Mean reciprocal rank")


def _draw_dot(axes: Axes, entry: Entry, place: int) -> None:
    values = entry.reciprocal_ranks
    reach = 1.96 * float(values.std(ddof=1)) / len(values) ** 0.5
    axes.errorbar(float(values.mean()), place, xerr=reach, fmt="o", color="#1f77b4", capsize=4)


def overview_picture(found: Named, names: Sequence[str], line: str) -> Figure:
    """The table of README: a panel for each test, its rows ``names``, and a vertical line at the row ``line``."""
    figure = Figure(figsize=(9, 3.8), dpi=100, layout="constrained")
    panels = figure.subplots(1, len(found), sharex=True, sharey=True, squeeze=False)[0]
    for axes, (title, entries) in zip(panels, found.items(), strict=True):
        for place, name in enumerate(reversed(names)):
            if name in entries:
                _draw_dot(axes, entries[name], place)
            else:
                axes.text(0.5, place, "not tested", transform=axes.get_yaxis_transform(), color="0.4", va="center")
        if line in entries:
            axes.axvline(entries[line].mrr, color="#d62728", linestyle="--", linewidth=1)
        axes.grid(axis="x", color="0.9")
        axes.set_title(title)
    figure.supxlabel(f"MRR, with 95 % interval over queries; dashed line: {line}", fontsize=10)
    panels[0].set_yticks(range(len(names)), names[::-1])
    return figure


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


def training_pictures(results: Results) -> dict[str, bytes]:
    """MRR on validation pairs by epoch and by time: a PNG per training data set, by its name."""
    found = {}
    for name, (pool, entries) in largest_pools(results).items():
        trained = [entry for entry in entries if entry.validations() and entry.results[0].dataset == pool.dataset]
        if trained:
            found[name] = _training(f"Training on {pool.dataset} ({pool.origin})", trained)
    return found


def _training(title: str, entries: Sequence[Entry]) -> bytes:
    figure = Figure(figsize=(14, max(5, 0.9 + 0.22 * len(entries))), dpi=110, layout="constrained")
    by_epoch, by_time = figure.subplots(1, 2, sharey=True)
    for number, entry in enumerate(entries):
        _draw_run((by_epoch, by_time), entry.validations(), number, entry.label)
        for result in entry.results if entry.seeds > 1 else ():
            _draw_run((by_epoch, by_time), result.history, number)
    by_epoch.set(xlabel="epochs", ylabel="MRR on validation pairs")
    by_epoch.xaxis.set_major_locator(MaxNLocator(integer=True))
    by_time.set(xlabel="minutes of training, without validation", xscale="log")
    by_time.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    by_time.xaxis.set_major_formatter("{x:g}")
    by_time.minorticks_off()
    for axes in (by_epoch, by_time):
        axes.grid(color="0.9")
    figure.legend(*by_time.get_legend_handles_labels(), loc="outside right upper", fontsize=9, handlelength=4)
    several = "; thick: the mean over seeds, thin: each seed" if any(entry.seeds > 1 for entry in entries) else ""
    figure.suptitle(title + several, x=0.01, ha="left")  # not above the legend, which may be as high as the figure
    return as_png(figure)


def _draw_run(panels: tuple[Axes, Axes], run: Sequence[Validation], number: int, label: str | None = None) -> None:
    """A run, or with a label the mean of several, by epochs and by minutes."""
    epochs, minutes = [float(each.epoch) for each in run], [each.seconds / 60 for each in run]
    scores, colour = [each.mrr for each in run], f"C{number % 10}"
    width, marker = (2.0, ".") if label else (0.6, "")
    for axes, places in zip(panels, (epochs, minutes), strict=True):
        axes.plot(places, scores, line_style(number), color=colour, linewidth=width, marker=marker, label=label)


def kind_pictures(known: Iterable[KnownPool]) -> dict[str, bytes]:
    """Ranks and differences from BM25 by kind of query: a PNG for each data set that has them, by its name."""
    found = {}
    for pool, entries, facts in sorted(known, key=lambda each: len(each[1])):  # the pool with most rankers last
        rankers = compared(entries)
        if rankers and (png := kind_picture(pool, *rankers, facts)):
            found[pool.dataset.partition(":")[0]] = png
    return found


def kind_picture(pool: Pool, models: Sequence[Entry], against: Entry, facts: QueryFacts) -> bytes:
    """A PNG of ranks, and of differences from a ranker, by kind of query; empty if there are too few queries."""
    by_kind = {kind: classes for kind, classes in classes_by_kind(facts).items() if kind in _AXES}
    if not by_kind:
        return b""
    figure = Figure(figsize=(1 + 7 * len(by_kind), 9), dpi=110, layout="constrained")
    panels = figure.subplots(2, len(by_kind), sharey="row", height_ratios=(1.25, 1), squeeze=False)
    for column, (kind, classes) in enumerate(by_kind.items()):
        _draw_bands(panels[0, column], classes, [*models, against])
        _draw_leads(panels[1, column], classes, models, against, facts.files)
        panels[1, column].set_xlabel(_AXES[kind])
        for axes in panels[:, column]:
            axes.set_xlim(-0.6, len(classes) - 0.4)
    panels[0, 0].set_ylabel("share of queries")
    panels[1, 0].set_ylabel(f"MRR minus that of {against.label}, 95 % interval")
    if len(models) > _FEW:  # the legend would hide points
        panels[1, -1].legend(*panels[1, 0].get_legend_handles_labels(), loc="upper left", bbox_to_anchor=(1.0, 1.0))
    else:
        panels[1, 0].legend(fontsize=9)
    names = (*_BANDS, f"> {max(_BANDS.values())}")
    patches = [Patch(color=colour, label=name) for colour, name in zip(_BAND_COLOURS, names, strict=True)]
    panels[0, -1].legend(handles=patches, title="rank", loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=9)
    figure.suptitle(pool.title)
    return as_png(figure)


def band_shares(entry: Entry, rows: Bool[np.ndarray, " queries"]) -> Float[np.ndarray, " bands"]:
    """The share of the queries ``rows`` whose gold is in each band of ranks, over all seeds."""
    ranks = np.concatenate([np.asarray(tested.ranks)[rows] for tested in entry.tested])
    bands = np.searchsorted([*_BANDS.values()], ranks)  # of a rank: how many bands end before it
    return np.bincount(bands, minlength=len(_BANDS) + 1) / len(ranks)


def _draw_bands(axes: Axes, classes: Sequence[QueryClass], entries: Sequence[Entry]) -> None:
    """A bar for each class and ranker, divided by band of ranks."""
    width = 0.8 / len(entries)
    for number, entry in enumerate(entries):
        places = np.arange(len(classes)) + (number - (len(entries) - 1) / 2) * width
        below = np.zeros(len(classes))
        for band, heights in enumerate(np.transpose([band_shares(entry, each.rows) for each in classes])):
            axes.bar(places, heights, 0.92 * width, bottom=below, color=_BAND_COLOURS[band])
            below = below + heights
        for place in places.tolist():
            name = axes.text(place, 0.02, entry.label, rotation=90, ha="center", va="bottom", fontsize=8, color="white")
            name.set_path_effects([withStroke(linewidth=2, foreground=_BAND_COLOURS[0])])
    axes.set_xticks(range(len(classes)), [each.label for each in classes])
    axes.set_ylim(0, 1)


def _draw_leads(
    axes: Axes, classes: Sequence[QueryClass], models: Sequence[Entry], against: Entry, files: Sequence[int]
) -> None:
    """The difference of MRR in each class, with its 95 % interval."""
    for number, model in enumerate(models):
        places = np.arange(len(classes)) + (number - (len(models) - 1) / 2) * min(0.2, 0.8 / len(models))
        gains = [gain(model, against, each.rows, files) for each in classes]
        means = np.array([each.mean for each in gains])
        reach = np.array([[each.mean - each.low, each.high - each.mean] for each in gains]).T
        colour = _COLOURS[number % len(_COLOURS)]
        axes.errorbar(places, means, yerr=reach, fmt="o", capsize=4, color=colour, label=model.label)
    axes.axhline(0, color="0.3", linewidth=1)
    axes.set_xticks(range(len(classes)), [f"{each.label}\n{each.size:,} queries" for each in classes])
    axes.grid(axis="y", color="0.9")
