"""Differences of models on the same texts of GenCodeSearchNet, paired, with intervals and tests; from saved ranks."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from data_prep.errors import UserError
from data_prep.gencodesearchnet.subsets import POOLS, SUBSETS
from evaluation.benchmark import BenchmarkResult, SubsetResult
from evaluation.comparison import Lead, adjusted
from evaluation.significance import RunDifference, Runs, compare_runs
from experiments.tables.answers import said
from experiments.tables.comparison_pictures import as_png, draw_leads
from experiments.tables.comparison_tables import markdown_table, with_interval
from training.drawing import Figure

REFERENCE: Final = "bm25"
NONE: Final = "-"
_ORDER: Final = [entry.name for entry in (*SUBSETS, *POOLS)]
_KINDS: Final = {entry.name: ", ".join(entry.generalisation) for entry in SUBSETS}
_PANELS: Final = 5
"""Panels of a picture beside each other."""
_NO_MODELS: Final = ("chance", "bm25_plain")
_HEADLINE: Final = "statcodesearch"
"""The subset of another language in another domain, which the benchmark is made for."""


@dataclass(frozen=True, slots=True, order=True)
class Column:
    """The texts that models are compared on: a subset of some size."""

    place: int  # in the order of the benchmark
    name: str
    pairs: int

    @classmethod
    def of(cls, subset: SubsetResult) -> "Column":
        """The column of a result."""
        place = _ORDER.index(subset.name) if subset.name in _ORDER else len(_ORDER)
        return cls(place, subset.name, subset.pairs)


Row = Mapping[Column, SubsetResult]


def label_of(result: BenchmarkResult) -> str:
    """The model, and the protocol unless it is the canonical one."""
    return result.model if result.protocol == "canonical" else f"{result.model} ({result.protocol})"


def merged(results: Iterable[BenchmarkResult]) -> list[BenchmarkResult]:
    """One result for each row: runs of one model on other subsets, or on other sizes of one, are joined.

    Means by type are those of the run on most subsets.
    """
    rows: dict[str, list[BenchmarkResult]] = {}
    for result in results:
        rows.setdefault(label_of(result), []).append(result)
    return [_joined(each) for each in rows.values()]


def _joined(runs: Sequence[BenchmarkResult]) -> BenchmarkResult:
    subsets = {Column.of(subset): subset for run in runs for subset in run.subsets}
    whole = max(runs, key=lambda run: len(run.subsets))
    return replace(whole, subsets=[subsets[column] for column in sorted(subsets)])


def columns(results: Sequence[BenchmarkResult]) -> dict[Column, str]:
    """The columns of all results in order, each with its title."""
    found = sorted({Column.of(subset) for result in results for subset in result.subsets})
    names = [column.name for column in found]
    return {each: each.name + f" ({each.pairs:,})" * (names.count(each.name) > 1) for each in found}


def row_of(result: BenchmarkResult) -> Row:
    """The results of a row by their columns."""
    return {Column.of(subset): subset for subset in result.subsets}


def one_seed(result: BenchmarkResult) -> bool:
    """Whether the row is of a trained model, of which each has one seed; older results do not say it."""
    return "/" in result.model if result.trained is None else result.trained


def paired(results: Sequence[BenchmarkResult], reference: str) -> dict[Column, dict[str, Lead]]:
    """For each column the difference of every row from ``reference`` on the same texts.

    The interval is over texts, those of one project or of equal code together. A trained row has one seed, so that
    nothing is known of another training: it gets no p-value, and its interval is of this run.
    """
    rows = {label_of(each): row_of(each) for each in results}
    trained = {label_of(each) for each in results if one_seed(each)}
    found = {}
    for column in columns(results):
        ranked = {label: row[column] for label, row in rows.items() if column in row and row[column].ranking}
        if base := ranked.pop(reference, None):
            groups = next((each.groups for each in (base, *ranked.values()) if each.groups), None)
            differences = {label: _difference(each, base, groups) for label, each in ranked.items()}
            found[column] = adjusted(
                {
                    label: replace(each, p_value=math.nan) if label in trained else each
                    for label, each in differences.items()
                    if each
                }
            )
    return {column: each for column, each in found.items() if each}


def _difference(row: SubsetResult, base: SubsetResult, groups: Sequence[int] | None) -> RunDifference | None:
    """The difference in MRR; None if they ranked different numbers of texts."""
    assert row.ranking is not None
    assert base.ranking is not None
    if row.ranking.queries != base.ranking.queries:
        return None
    one, other = (Runs(1 / np.array([each.ranking.ranks]), trained=False) for each in (row, base) if each.ranking)
    return compare_runs(one, other, groups)


def difference_table(results: Sequence[BenchmarkResult], reference: str) -> str:
    """The differences in MRR from ``reference``, with intervals and adjusted p-values; "" if there are none."""
    found, titles = paired(results, reference), columns(results)
    labels = [label_of(each) for each in results if any(label_of(each) in leads for leads in found.values())]
    if not labels:
        return ""
    header = (f"MRR - {reference}", *(titles[column] for column in found))
    rows = [(label, *(_cell(leads.get(label)) for leads in found.values())) for label in labels]
    return markdown_table(header, rows)


def _cell(lead: Lead | None) -> str:
    if lead is None:
        return NONE
    return f"{with_interval(lead.difference)}, {_p_text(lead)}"


def _p_text(lead: Lead) -> str:
    return "one seed" if math.isnan(lead.adjusted_p) else f"p {lead.adjusted_p:.2g}"


def answer(results: Sequence[BenchmarkResult]) -> str:
    """How models differ from BM25 on most texts of R, best first; "" if it was not ranked with others."""
    found = paired(results, REFERENCE)
    column = max((each for each in found if each.name == _HEADLINE), key=lambda each: each.pairs, default=None)
    if column is None:
        return ""
    models = [each for each in found[column].items() if each[0] not in _NO_MODELS]
    ordered = sorted(models, key=lambda each: -each[1].difference.mean)
    told = " ".join(said((label, REFERENCE), lead) for label, lead in ordered)
    return f"On {column.pairs:,} texts of R, in MRR: {told}"


def difference_picture(results: Sequence[BenchmarkResult]) -> bytes:
    """A PNG: for each column the difference of every row from BM25, with its interval.

    Raises:
        UserError: nothing was ranked beside BM25.
    """
    found, titles = paired(results, REFERENCE), columns(results)
    if not found:
        raise UserError(f"a picture needs rows that were ranked beside {REFERENCE}, and there are none")
    labels = [label_of(each) for each in results if any(label_of(each) in leads for leads in found.values())]
    lines, width = -(-len(found) // _PANELS), min(len(found), _PANELS)
    size = 4 + 2 * width, lines * (1.2 + 0.28 * len(labels))
    figure = Figure(figsize=size, dpi=110, layout="constrained")
    panels = figure.subplots(lines, width, sharey=True, squeeze=False).ravel()
    for spare in panels[len(found) :]:
        spare.set_visible(False)
    for axes, (column, leads) in zip(panels, found.items(), strict=False):
        draw_leads(axes, leads, labels)
        axes.set_title("\n".join(filter(None, (titles[column], _KINDS.get(column.name, "")))), fontsize=8)
    figure.supxlabel(f"MRR minus that of {REFERENCE}, 95 % interval; light: one seed, interval of this run", fontsize=9)
    return as_png(figure)
