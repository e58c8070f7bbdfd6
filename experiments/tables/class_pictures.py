"""Figures of ranks, and of differences from BM25, by kind of query."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from jaxtyping import Bool, Float

from evaluation.comparison import Entry
from evaluation.query_classes import KINDS, LENGTH, OVERLAP, QueryClass, gain, query_classes
from experiments.tables.class_tables import AGAINST, compared
from experiments.tables.comparison_pictures import as_png, title_of
from experiments.tables.query_facts import KnownPool
from training.drawing import Axes, Figure, Patch, withStroke

_BANDS: Final = {"1": 1, "2-5": 5, "6-10": 10, "11-100": 100}
"""Label -> last rank; after them comes "> 100"."""
_BAND_COLOURS: Final = ("#08519c", "#3182bd", "#6baed6", "#c6dbef", "#d9d9d9")
_AXES: Final = {LENGTH: "words of the query", OVERLAP: "which share of the query's words its method has too"}
_COLOURS: Final = ("#d62728", "#2ca02c")
"""Colours of the models' differences from BM25."""


def pictures(known: Iterable[KnownPool]) -> dict[str, bytes]:
    """A PNG for each data set that has the models, BM25 and enough queries, by its name."""
    found = {}
    for pool, entries, facts in sorted(known, key=lambda each: len(each[1])):  # the pool with most rankers last
        rankers, classes = compared(entries), query_classes(facts)
        by_kind = {kind: group for kind in KINDS if (group := [each for each in classes if each.kind == kind])}
        if rankers and by_kind:
            found[pool.dataset.partition(":")[0]] = _picture(title_of(pool), *rankers, by_kind, facts.files)
    return found


def band_shares(entry: Entry, rows: Bool[np.ndarray, " queries"]) -> Float[np.ndarray, " bands"]:
    """The share of the queries ``rows`` whose gold is in each band of ranks, over all seeds."""
    ranks = np.concatenate([np.asarray(tested.ranks)[rows] for tested in entry.tested])
    bands = np.searchsorted([*_BANDS.values()], ranks)  # of a rank: how many bands end before it
    return np.bincount(bands, minlength=len(_BANDS) + 1) / len(ranks)


def _picture(
    title: str,
    models: Sequence[Entry],
    against: Entry,
    by_kind: Mapping[str, Sequence[QueryClass]],
    files: Sequence[int],
) -> bytes:
    figure = Figure(figsize=(1 + 7 * len(by_kind), 9), dpi=110, layout="constrained")
    panels = figure.subplots(2, len(by_kind), sharey="row", height_ratios=(1.25, 1), squeeze=False)
    for column, (kind, classes) in enumerate(by_kind.items()):
        _draw_bands(panels[0, column], classes, [*models, against])
        _draw_leads(panels[1, column], classes, models, against, files)
        panels[1, column].set_xlabel(_AXES[kind])
        for axes in panels[:, column]:
            axes.set_xlim(-0.6, len(classes) - 0.4)
    panels[0, 0].set_ylabel("share of queries")
    panels[1, 0].set_ylabel(f"MRR minus that of {AGAINST}, 95 % interval")
    panels[1, 0].legend(fontsize=9)
    names = (*_BANDS, f"> {max(_BANDS.values())}")
    patches = [Patch(color=colour, label=name) for colour, name in zip(_BAND_COLOURS, names, strict=True)]
    panels[0, -1].legend(handles=patches, title="rank", loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=9)
    figure.suptitle(title)
    return as_png(figure)


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
        places = np.arange(len(classes)) + (number - (len(models) - 1) / 2) * 0.2
        gains = [gain(model, against, each.rows, files) for each in classes]
        means = np.array([each.mean for each in gains])
        reach = np.array([[each.mean - each.low, each.high - each.mean] for each in gains]).T
        axes.errorbar(places, means, yerr=reach, fmt="o", capsize=4, color=_COLOURS[number], label=model.label)
    axes.axhline(0, color="0.3", linewidth=1)
    axes.set_xticks(range(len(classes)), [f"{each.label}\n{each.size:,} queries" for each in classes])
    axes.grid(axis="y", color="0.9")
