"""Figures of rankers: differences with their intervals, and ranks by kind of query."""

import io
from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill
from typing import Final

import numpy as np
from jaxtyping import Bool, Float

from evaluation.comparison import MARGIN, Entry, Lead, Pool, Side
from evaluation.queries import CODE, LENGTH, OVERLAP, TRAINED, QueryClass, QueryFacts, gain
from experiments.tables.query_kinds import KnownPool, classes_by_kind, compared
from training.drawing import Axes, Figure, Patch, withStroke

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
        f"difference of {what}, 95 % interval over seeds and queries; red: ahead, blue: behind, dark grey: level, "
        f"light grey: not shown, hollow: one seed; band: within {MARGIN:g}"
    )
    figure.supxlabel(fill(told, int(_LETTERS * figure.get_figwidth())), fontsize=10)
    return as_png(figure)


def _draw_lead(axes: Axes, lead: Lead, place: int) -> None:
    mean, low, high = lead.difference.mean, lead.difference.low, lead.difference.high
    face = "none" if lead.side == "one seed" else SIDES[lead.side]
    reach = [[mean - low], [high - mean]]
    axes.errorbar(mean, place, xerr=reach, fmt="o", capsize=4, color=SIDES[lead.side], markerfacecolor=face)


def kind_pictures(known: Iterable[KnownPool]) -> dict[str, bytes]:
    """Ranks and differences from BM25 by kind of query: a PNG for each data set that has them, by its name."""
    return {name: kind_picture(pool, *rankers, facts) for name, (pool, rankers, facts) in drawn_kinds(known).items()}


def drawn_kinds(known: Iterable[KnownPool]) -> dict[str, tuple[Pool, tuple[list[Entry], Entry], QueryFacts]]:
    """What has such a picture, by the name of its data set: the pool, models with BM25, facts."""
    found = ((pool, compared(entries), facts) for pool, entries, facts in known)
    return {
        pool.dataset.partition(":")[0]: (pool, rankers, facts)
        for pool, rankers, facts in found
        if rankers and _kinds_drawn(facts)
    }


def _kinds_drawn(facts: QueryFacts) -> dict[str, list[QueryClass]]:
    return {kind: classes for kind, classes in classes_by_kind(facts).items() if kind in _AXES}


def kind_picture(pool: Pool, models: Sequence[Entry], against: Entry, facts: QueryFacts) -> bytes:
    """A PNG of ranks, and of differences from a ranker, by kind of query; empty if there are too few queries."""
    by_kind = _kinds_drawn(facts)
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
