"""The statistics of a corpus as Markdown tables and a picture, beside those of Scotch's data set."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from data_prep.pipeline.triples import Lengths
from experiments.tables.comparison_pictures import as_png
from experiments.tables.comparison_tables import markdown_table
from training.drawing import Figure

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
        found: as in ``data_prep.pipeline.triples.statistics``.
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
    total: dict[str, int] = {}
    for each in languages:
        for reason, number in found[each][kind].items():
            total[reason] = total.get(reason, 0) + number
    reasons = sorted(
        (reason for reason in total if reason and total[reason]), key=lambda reason: (-total[reason], reason)
    )
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
