"""The page of printed numbers: what they can mean, by arithmetic alone."""

from collections.abc import Sequence
from typing import Final

from evaluation.tables import PUBLISHED, Published, exact_mrr_bounds, exact_top1_bounds, mrr_bounds, shifted_mrr_bounds
from experiments.tables.comparison_tables import Row, markdown_table

_ROUNDING: Final = 0.0015
"""Tolerance for four numbers printed with three digits."""


def published_table() -> str:
    """The numbers printed in papers, and the conventions that are arithmetically possible for them."""
    header = (
        *("test set", "model", "printed", "exact MRR possible", "shifted MRR@10 possible", "shifted MRR possible"),
        *("so it is", "exact Top@1", "exact MRR"),
    )
    return markdown_table(header, [_published_row(row) for row in PUBLISHED])


def _published_row(row: Published) -> Row:
    measures, mrr = row.measures, row.measures["mrr"]
    possible = {
        "exact": mrr_bounds(measures),
        "shifted": shifted_mrr_bounds(measures),
        "shifted, MRR whole": shifted_mrr_bounds(measures, truncated=False),
    }
    found = [name for name, (low, high) in possible.items() if low - _ROUNDING <= mrr <= high + _ROUNDING]
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
