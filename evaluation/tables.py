"""The result of a run as tables for the terminal: one row per ranker, one table per data set; and published results.

Of the published, bounds show which counting convention the papers used. The rows are those of GALM's Tables I and II,
which take their baselines from the papers of TabCS (CodeSearchNet) and FcarCS (the Java corpus of Hu et al.). For the
latter corpus, GALM's text gives other numbers than its Table II.

The numbers of SearchBySnippet and SnippeR (arXiv 2305.11625v2, LREC-COLING 2024) are measured on Stack Overflow with
models and data that were not released: reference only.
"""

import textwrap
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evaluation import metrics
from evaluation.metrics import Measures, Metric, published_columns, short_columns
from evaluation.reading import said_seen
from evaluation.results import Result, Tested

_WIDTH: Final = 100

_PRINTED: Final = tomllib.loads(Path(__file__).with_name("published.toml").read_text(encoding="utf-8"))

Row = tuple[str, ...]


def render_table(result: Result) -> str:
    """Plain-text tables with captions, of a run on one or more data sets."""
    convention = " Left: exact, ties against the ranker. Right: as earlier papers count (rank <= K + 1, MRR@10)."
    texts = [
        f"{_table(result, tested)}\n{textwrap.fill(_caption(dataset, result, tested) + convention, _WIDTH)}"
        for dataset, tested in ((result.dataset, result), *result.also.items())
    ]
    return "\n\n".join(texts)


def _table(result: Result, tested: Tested) -> str:
    """The exact columns, the published ones, and the lead over the first control if any."""
    against = next(iter(tested.controls), "")
    titles = [each.title for each in short_columns()] + [f"{each.title}*" for each in published_columns()]
    header = ("ranker", *titles, *((f"MRR - {against}", "95 % interval") if against else ()))
    others = {name: (each.exact, each.published_convention) for name, each in tested.controls.items()}
    ranks = metrics.chance_ranks(tested.pool_size)
    others["chance"] = metrics.exact(ranks), metrics.published_convention(ranks)
    first = (_ranker(result), *_numbers(tested.exact, tested.published_convention), *_lead(tested, against))
    empty = ("", "") if against else ()
    return _grid(header, [first, *((name, *_numbers(*each), *empty) for name, each in others.items())])


def _ranker(result: Result) -> str:
    """The model, with the one that its scores are fused with."""
    return " + ".join(filter(None, (result.model, result.config.get("evaluate", {}).get("fuse_with", ""))))


def _numbers(exact: Measures, published: Measures) -> Row:
    left = (_number(each, exact) for each in short_columns())
    return (*left, *(_number(each, published) for each in published_columns()))


def _number(metric: Metric, measures: Measures) -> str:
    """As elsewhere; but chance, which may round to zero, with its first digit."""
    value = measures.get(metric.name, 0.0)
    return f"{value:.1g}" if 0 < value < 0.0005 else metric.text(measures)


def _lead(tested: Tested, against: str) -> Row:
    if not against:
        return ()
    difference = tested.controls[against].mrr_difference
    return f"{difference.mean:+.3f}", f"{difference.low:+.3f} to {difference.high:+.3f}"


def _caption(dataset: str, result: Result, tested: Tested) -> str:
    each = "each over" if tested.queries > tested.pool_size else "over a pool of"
    seen = f" {_ranker(result)}: {said_seen(tested.seen, tested.queries)}." if tested.seen else ""
    return (
        f"{dataset} ({tested.data.origin}), {tested.split} split: {tested.queries:,} queries "
        f"{each} {tested.pool_size:,} methods, seed {result.seed}. "
        f"Duplicates cap Top@1 at {tested.ceiling_top1:.3f}."
        f"{published_mrr(dataset.partition(':')[0], tested.queries, tested.pool_size)}{seen}"
    )


def published_mrr(data: str, queries: int, candidates: int) -> str:
    """The published MRR on a whole test set in one sentence, "" if there is none."""
    whole = {"data": data, "queries": queries, "candidates": candidates}
    numbers = ", ".join(
        f"{row['model']} {row['mrr']:.3f}" for row in _PRINTED["fine_tuned"] if whole.items() <= row.items()
    )
    return f" Published MRR, fine-tuned on its training split: {numbers}." if numbers else ""


def _grid(header: Row, rows: Sequence[Row]) -> str:
    lines = [tuple(cell.rstrip("*") for cell in header), *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip() for line in lines]
    exact = sum(width + 2 for width in widths[1 : 1 + len(short_columns())])
    return "\n".join([f"{'':{widths[0] + 2}}{'exact':{exact}}published convention", *texts])


@dataclass(frozen=True, slots=True)
class Published:
    """A row of a paper's table."""

    data: str  # our name of the test set
    model: str  # our name of the model
    source: str
    measures: Measures  # as printed, in the order of the paper's columns


PUBLISHED: Final = tuple(
    Published(data, model, source, dict(zip(("top1", "top5", "top10", "mrr"), printed, strict=True)))
    for data, sources in _PRINTED["galm"].items()
    for source, rows in sources.items()
    for model, printed in rows.items()
)


def mrr_bounds(measures: Measures) -> tuple[float, float]:
    """Lower and upper bound of the MRR given exact Top@1, 5 and 10.

    Golds at rank 1 contribute 1 each; those at ranks 2 to 5 contribute 1/5 to 1/2, those at ranks 6 to 10 contribute
    1/10 to 1/6, and those below at most 1/11 each.
    """
    first, to_five, to_ten = measures["top1"], measures["top5"] - measures["top1"], measures["top10"] - measures["top5"]
    least = first + to_five / 5 + to_ten / 10
    return least, first + to_five / 2 + to_ten / 6 + (1 - measures["top10"]) / 11


def shifted_mrr_bounds(measures: Measures, *, truncated: bool = True) -> tuple[float, float]:
    """Bounds of the MRR if the printed Top@K are Top@(K + 1).

    Golds at ranks 1 and 2 contribute 1/2 to 1; :func:`_below_two` the others.

    Args:
        measures: as printed.
        truncated: whether the MRR is that of the first ten, MRR@10.
    """
    least, most = _below_two(measures, truncated=truncated)
    return measures["top1"] / 2 + least, measures["top1"] + most


def _below_two(measures: Measures, *, truncated: bool) -> tuple[float, float]:
    """What golds below rank 2 contribute: at ranks 3 to 6 1/6 to 1/3, at ranks 7 to 11 1/11 to 1/7, below 0 to 1/12.

    Truncated, those at rank 11 and below contribute nothing.
    """
    to_six, to_eleven = measures["top5"] - measures["top1"], measures["top10"] - measures["top5"]
    most = to_six / 3 + to_eleven / 7
    if truncated:
        return to_six / 6, most
    return to_six / 6 + to_eleven / 11, most + (1 - measures["top10"]) / 12


def exact_top1_bounds(measures: Measures, *, truncated: bool = True) -> tuple[float, float]:
    """Lower and upper bound of the exact Top@1 of a row that prints Top@(K + 1).

    With a fraction t of the golds at rank 1, the first two ranks contribute t + (Top@2 - t) / 2; the golds below
    contribute between the least and the most that their ranks allow.
    """
    rest_least, rest_most = _below_two(measures, truncated=truncated)
    least = 2 * (measures["mrr"] - rest_most) - measures["top1"]
    most = 2 * (measures["mrr"] - rest_least) - measures["top1"]
    return max(0.0, least), min(measures["top1"], most)


def exact_mrr_bounds(measures: Measures) -> tuple[float, float]:
    """Lower and upper bound of the whole MRR of a row that prints Top@(K + 1) and MRR@10.

    Golds below rank 10, of which there are at most 1 - Top@6, contribute at most 1/11 each.
    """
    return measures["mrr"], measures["mrr"] + (1 - measures["top5"]) / 11


SNIPPER_COUNTS: Final[Mapping[str, int]] = _PRINTED["snipper"]["counts"]
SNIPPER_PERCENTAGES: Final[Mapping[str, float]] = _PRINTED["snipper"]["percentages"]
SNIPPER_SIZES: Final[Mapping[str, tuple[float, float, float]]] = _PRINTED["snipper"]["sizes"]
CSN_SIZES: Final[Mapping[str, float]] = {"code": 755.59, "python code": 1060.22, "documentation": 209.87}
"""Mean characters of CodeSearchNet's fields."""
NCS_ANSWER: Final = 159.75
NCS_QUESTIONS: Final = 287
CSN_FUNCTIONS: Final = 2_070_536
"""Documented functions of CodeSearchNet."""

SNIPPER_ERRORS: Final[Mapping[str, tuple[str, str]]] = {
    "CodeSearchNet's size in percent of the data set": (
        "200.18",
        f"{100 * CSN_FUNCTIONS / SNIPPER_COUNTS['questions']:.2f}",
    ),
    "NeuralCodeSearch's size in percent": ("< 0.01", f"{100 * NCS_QUESTIONS / SNIPPER_COUNTS['questions']:.2f}"),
    "times that NeuralCodeSearch is smaller": ("3500", f"{SNIPPER_COUNTS['questions'] / NCS_QUESTIONS:,.0f}"),
    "CodeSearchNet's code in percent of code and error": (
        "55.38",
        f"{100 * CSN_SIZES['code'] / SNIPPER_SIZES['with code and error'][1]:.2f}",
    ),
    "NeuralCodeSearch's answer in percent of code and error": (
        "11.59",
        f"{100 * NCS_ANSWER / SNIPPER_SIZES['with code and error'][1]:.2f}",
    ),
}
"""Quantity -> as printed, as computed from the paper's own numbers."""

SCOTCH: Final[str] = _PRINTED["scotch"]["page"]
