"""The page of printed numbers: what they can mean, by arithmetic alone."""

from collections.abc import Mapping, Sequence
from typing import Final

from evaluation.tables import PUBLISHED, Published, exact_mrr_bounds, exact_top1_bounds, mrr_bounds, shifted_mrr_bounds
from experiments.tables.comparison_tables import Row, markdown_table

_ROUNDING: Final = 0.0015
"""Tolerance for four numbers printed with three digits."""
TITLE: Final = "What can the numbers that papers print mean?"
_EXACT: Final = "exact"
_LEGEND: Final = (
    "Exact: Top@K counts ranks up to K, and MRR is over all ranks. Shifted: Top@K counts ranks up to K + 1, and MRR is "
    "cut at 10; MRR whole: it is not cut. Possible: what Top@1, 5 and 10 allow for MRR. Exact Top@1 and MRR: what the "
    "printed numbers allow for them. No test was run for this page, so it has no cost."
)


def published_page() -> str:
    """The question, how many printed rows can be exact, and the table."""
    found = [_possible(row.measures) for row in PUBLISHED]
    alone, never = sum(each == [_EXACT] for each in found), sum(_EXACT not in each for each in found)
    either = [row for row, each in zip(PUBLISHED, found, strict=True) if _EXACT in each and len(each) > 1]
    answer = (
        f"Of {len(found)} printed rows, {never} cannot be exact: they count ranks up to K + 1. {alone} can only be "
        f"exact, and {len(either)} may be either."
    )
    bounds = [f"Then `{row.model}` on {row.data} has an exact Top@1 of {_published_row(row)[-2]}." for row in either]
    return "\n\n".join((f"# {TITLE}", " ".join((answer, *bounds)), _LEGEND, published_table())) + "\n"


def published_table() -> str:
    """The numbers printed in papers, and the conventions that are arithmetically possible for them."""
    header = (
        *("test set", "model", "printed", "exact MRR possible", "shifted MRR@10 possible", "shifted MRR possible"),
        *("so it is", "exact Top@1", "exact MRR"),
    )
    return markdown_table(header, [_published_row(row) for row in PUBLISHED])


def _bounds_of(measures: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Convention -> what Top@K allow for MRR."""
    return {
        _EXACT: mrr_bounds(measures),
        "shifted": shifted_mrr_bounds(measures),
        "shifted, MRR whole": shifted_mrr_bounds(measures, truncated=False),
    }


def _possible(measures: Mapping[str, float]) -> list[str]:
    """The conventions for which the printed MRR is possible."""
    bounds, mrr = _bounds_of(measures), measures["mrr"]
    return [name for name, (low, high) in bounds.items() if low - _ROUNDING <= mrr <= high + _ROUNDING]


def _published_row(row: Published) -> Row:
    measures, mrr = row.measures, row.measures["mrr"]
    possible, found = _bounds_of(measures), _possible(measures)
    assert found, row
    top1 = {
        "exact": (measures["top1"],) * 2,
        "shifted": exact_top1_bounds(measures),
        "shifted, MRR whole": exact_top1_bounds(measures, truncated=False),
    }
    whole = {"shifted": exact_mrr_bounds(measures)}
    return (
        row.data,
        f"{row.model} ({row.source})",
        " ".join(f"{value:.3f}" for value in measures.values()),
        *map(_bounds, possible.values()),
        " or ".join(found),
        *(_bounds(_hull([of.get(name, (mrr, mrr)) for name in found])) for of in (top1, whole)),
    )


def _hull(bounds: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return min(low for low, _ in bounds), max(high for _, high in bounds)


def _bounds(bounds: tuple[float, float]) -> str:
    low, high = (f"{bound:.3f}" for bound in bounds)
    return low if low == high else f"{low} to {high}"
