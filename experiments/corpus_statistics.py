"""The statistics of data sets as Markdown tables and a picture: of a corpus, beside those of Scotch's data set.

And of GenCodeSearchNet's sets: their sizes and the distances of their tokens, as in its paper's table 1.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from jaxtyping import Float
from numpy import ndarray

from data_prep.errors import UserError
from data_prep.gencodesearchnet.sets import find_fine_tuning
from data_prep.gencodesearchnet.statistics import (
    SIDES,
    SubsetStatistics,
    combined,
    distances,
    row_of,
    statistics_table,
    subset_statistics,
)
from data_prep.gencodesearchnet.subsets import find_subsets
from data_prep.pipeline.shards import Lengths
from evaluation.benchmark import COSQA
from experiments.tables.comparison_pictures import as_png
from experiments.tables.comparison_tables import markdown_table
from experiments.terminal.console import say
from training.drawing import Axes, Figure

SCOTCH: Final = {"python": 1_797_545, "javascript": 762_268, "java": 756_115, "go": 684_855}
"""Triples of Scotch's data set (its card and paper); there is no TypeScript in it."""
_LENGTHS: Final = {
    "doc_words": "documentation",
    "query_words": "first sentence",
    "code_words": "code",
    "code_lines": "lines of code",
    "context_lines": "lines of context",
}


def corpus_tables(name: str, found: Mapping[str, Mapping[str, Any]], lengths: Mapping[str, Lengths]) -> str:
    """Markdown: sizes, licences, reasons for leaving out functions and files, and mean lengths, by language.

    Args:
        name: of the data set.
        found: as in ``data_prep.pipeline.shards.statistics``.
        lengths: of the kept functions.
    """
    languages = [each for each, counts in found.items() if counts["trees"]]
    sizes = [
        ["source trees", *(f"{found[each]['trees_with_pairs']} of {found[each]['trees']}" for each in languages)],
        ["MB of source text parsed", *(f"{found[each]['bytes'] / 1e6:,.0f}" for each in languages)],
        ["functions", *(f"{sum(found[each]['functions'].values()):,}" for each in languages)],
        ["kept: triples before duplicates", *(f"{found[each]['functions'].get('', 0):,}" for each in languages)],
    ]
    if not SCOTCH.keys().isdisjoint(languages):
        row = ["Scotch's triples", *(f"{SCOTCH[each]:,}" if each in SCOTCH else "" for each in languages)]
        sizes.append(row)
    means = [
        [f"mean words of {title}" if field.endswith("words") else f"mean {title}", *_means(lengths, languages, field)]
        for field, title in _LENGTHS.items()
    ]
    parts = [
        (f"Corpus {name}", [*sizes, *means]),
        ("Licences of the kept functions", _counts(found, languages, "licences")),
        ("Functions that are left out", _counts(found, languages, "functions")),
        ("Files that are left out", _counts(found, languages, "files")),
    ]
    return "\n\n".join(markdown_table([title, *languages], rows) for title, rows in parts) + "\n"


def _means(lengths: Mapping[str, Lengths], languages: Sequence[str], field: str) -> list[str]:
    return [f"{lengths[each].mean(field):.1f}" if each in lengths else "" for each in languages]


def _counts(found: Mapping[str, Mapping[str, Any]], languages: Sequence[str], kind: str) -> list[list[str]]:
    """A row for each reason or licence, the largest first."""
    total = sum((Counter(found[each][kind]) for each in languages), Counter[str]())
    reasons = sorted(filter(None, total), key=lambda reason: (-total[reason], reason))
    return [[reason, *(f"{found[each][kind].get(reason, 0):,}" for each in languages)] for reason in reasons]


def corpus_picture(found: Mapping[str, Mapping[str, Any]], lengths: Mapping[str, Lengths]) -> bytes:
    """A PNG: triples by language and licence beside Scotch's, on a logarithmic axis, and mean lengths."""
    languages = [each for each, counts in found.items() if counts["trees"]]
    figure = Figure(figsize=(11, 4.5), dpi=110, layout="constrained")
    sizes, words = figure.subplots(1, 2)
    places = range(len(languages))
    kept = [max(1, found[each]["functions"].get("", 0)) for each in languages]
    sizes.bar([place - 0.2 for place in places], kept, 0.4, label="here, before duplicates")
    sizes.bar([place + 0.2 for place in places], [SCOTCH.get(each, 0) for each in languages], 0.4, label="Scotch")
    sizes.set(yscale="log", ylabel="triples", title="Triples by language")
    for number, (field, title) in enumerate([*_LENGTHS.items()][:3]):
        heights = [lengths[each].mean(field) if each in lengths else 0 for each in languages]
        words.bar([place + (number - 1) * 0.27 for place in places], heights, 0.27, label=title)
    words.set(ylabel="mean words", title="Lengths")
    for axes in (sizes, words):
        axes.set_xticks(list(places), languages)
        axes.grid(axis="y", color="0.9")
        axes.set_axisbelow(True)
        axes.legend(fontsize=9)
    return as_png(figure)


_DARK: Final = 0.6
"""Distance from which on a cell is dark, and its number white."""


def measured(path: Path) -> tuple[str, bytes]:
    """The table in Markdown, with the published numbers, and the heat map of all distances (PNG); b"" of one subset.

    Raises:
        ValueError: no subset is in the folder ``path``, or a file is damaged.
    """
    subsets, missing = find_subsets(path)
    try:
        source = find_fine_tuning(path, subsets).train
    except UserError as error:
        say(f"no distances to the fine-tuning set: {error}")
        source = None
    sets = [*([source] if source else []), *subsets]
    found = [subset_statistics(each.name, each.examples) for each in sets]
    rows = [row_of(each, found[0] if source else None) for each in found]
    tested = [row for row, each in zip(rows, sets, strict=True) if each is not source and each.name != COSQA[0]]
    origins = "\n".join(f"- {each.name}: {each.origin}" for each in sets)
    gone = f"\n\nMissing: {', '.join(missing)}." if missing else ""
    picture = distance_picture(found) if len(found) > 1 else b""
    return f"{statistics_table([*rows, combined(tested)])}\n\n{origins}{gone}\n", picture


def distance_picture(subsets: Sequence[SubsetStatistics]) -> bytes:
    """A PNG with the pairwise distances of the subsets: of texts on the left, of codes on the right.

    Raises:
        UserError: there are fewer than two subsets.
    """
    if len(subsets) < 2:
        raise UserError(f"a matrix of distances needs two subsets or more, there are {len(subsets)}")
    names = [subset.name for subset in subsets]
    side = 2.2 + 0.62 * len(subsets)
    figure = Figure(figsize=(2 * side + 1.5, side + 1.2), dpi=110, layout="constrained")
    panels = figure.subplots(1, len(SIDES), sharey=True)
    for axes, each in zip(panels, SIDES, strict=True):
        _draw(axes, names, distances(subsets, each), f"{each}s")
    figure.colorbar(panels[-1].images[0], ax=panels, label="0: same frequencies, 1: no token shared", shrink=0.8)
    figure.suptitle("Total variation distance of the subsets' token frequencies")
    return as_png(figure)


def _draw(axes: Axes, names: Sequence[str], found: Float[ndarray, "subsets subsets"], title: str) -> None:
    axes.imshow(found, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    places = range(len(names))
    axes.set_xticks(places, names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(places, names)
    axes.set_title(title)
    for row in places:
        for column in places:
            value = float(found[row, column])
            colour = "white" if value >= _DARK else "black"
            axes.text(column, row, f"{value:.2f}", ha="center", va="center", color=colour, fontsize=9)
