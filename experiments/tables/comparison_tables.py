"""Tables that compare rankers with one of them, in Markdown: short ones, or with all columns."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from data_prep.files.printable import one_line
from evaluation.comparison import Entry, Lead, Pool, by_pool, leads
from evaluation.metrics import Measures, further_columns, published_columns, short_columns
from evaluation.published import PUBLISHED, exact_top1_bounds, mrr_bounds, shifted_mrr_bounds
from evaluation.results import Result

_OF_RUNS: Final = ("printed*", "weight of the model", "parameters", "training minutes", "ms per query")

_ROUNDING: Final = 0.0015
"""Tolerance for four numbers printed with three digits."""

Row = tuple[str, ...]


Clusters = Mapping[str, Sequence[int]]
"""Fingerprint of a test split -> a number for the file of each query."""


def tables(results: Iterable[tuple[str, Result]], references: Sequence[str], clusters: Clusters, *, whole: bool) -> str:
    """A table for each pool that was tested on; the results come with the labels of their rows.

    Rows are compared with each of ``references`` that is a row of the table.
    """
    parts = []
    for pool, entries in by_pool(results).items():
        labels = {entry.label for entry in entries}
        compared = [each for each in references if each in labels] or references[:1]
        found = [leads(entries, reference, clusters.get(pool.fingerprint)) for reference in compared]
        lead = (column for reference in compared for column in (f"MRR - {reference}", "significant"))
        header = ("ranker", "seeds", *(each.title for each in short_columns()), *lead, *(_further() if whole else ()))
        rows = [_row(entry, [each.get(entry.label) for each in found], pool, whole=whole) for entry in entries]
        parts.append(f"{_caption(pool, entries, compared, clusters, whole=whole)}\n\n{markdown_table(header, rows)}")
    return "\n\n".join(parts)


def _further() -> Row:
    """The titles of the columns that only whole tables have."""
    further = (each.title for each in further_columns())
    return (*further, *(f"{each.title}*" for each in published_columns()), *_OF_RUNS)


def published_table() -> str:
    """The numbers printed in papers, and the convention that is arithmetically possible for them."""
    header = ("test set", "model", "printed", "exact MRR possible", "shifted MRR possible", "so it is", "exact Top@1")
    rows = []
    for row in PUBLISHED:
        exact, shifted = mrr_bounds(row.measures), shifted_mrr_bounds(row.measures)
        is_exact = exact[0] - _ROUNDING <= row.measures["mrr"] <= exact[1] + _ROUNDING
        is_shifted = shifted[0] - _ROUNDING <= row.measures["mrr"] <= shifted[1] + _ROUNDING
        assert is_exact != is_shifted, row
        top1 = f"{row.measures['top1']:.3f}" if is_exact else _interval(exact_top1_bounds(row.measures))
        verdict = "exact" if is_exact else "shifted"
        printed = " ".join(_numbers(row.measures))
        rows.append(
            (row.data, f"{row.model} ({row.source})", printed, _interval(exact), _interval(shifted), verdict, top1)
        )
    return markdown_table(header, rows)


def _interval(bounds: tuple[float, float]) -> str:
    return f"{bounds[0]:.3f} to {bounds[1]:.3f}"


def markdown_table(header: Row, rows: Sequence[Row]) -> str:
    """A table whose first column is text; the contents of cells are escaped."""
    lines = [header, ("---", *["---:"] * (len(header) - 1)), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    return one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")


def with_interval(mean: float, low: float, high: float) -> str:
    """A difference with the ends of its interval, where that is known."""
    return f"{mean:+.3f}" if math.isnan(low) else f"{mean:+.3f} ({low:+.3f} to {high:+.3f})"


def _caption(pool: Pool, entries: Sequence[Entry], compared: Sequence[str], clusters: Clusters, *, whole: bool) -> str:
    files = len(set(clusters.get(pool.fingerprint, ())))
    clustered = f"those of one of {files:,} files together" if 0 < files < pool.size else "each for itself"
    trained = sorted({_trained_on(result) for entry in entries for result in entry.results if result.parameters})
    columns = " and ".join(f"MRR - {reference}" for reference in compared)
    text = (
        f"**{pool.dataset}** ({pool.origin}), {pool.split} split: {pool.size:,} queries over as many methods, "
        f"trained on {' or '.join(trained) or 'nothing'}. Duplicates cap Top@1 at {pool.ceiling_top1:.3f}. "
        "Means over seeds, ± their standard deviation; ties count against the ranker. "
        f"{columns}: with the 95 % interval over training seeds and queries ({clustered}); significant at p < 0.05 "
        "after Holm's correction for all rows of the column, which intervals do not have. A trained model with one "
        "seed gets no verdict."
    )
    also = (
        " *: as earlier papers count (rank <= K + 1, MRR@10); printed: what the papers print, trained on other data. "
        "Weight of the model: of each seed in a fusion, and the data set on whose validation pairs it was tuned."
    )
    return text + also * whole


def _trained_on(result: Result) -> str:
    """The data sets whose training pairs a model has seen."""
    extra = result.config["data"].get("extra_train_sets", "")
    return " with ".join((result.dataset, *filter(None, (extra.replace(",", " and "),))))


def _row(entry: Entry, found: Sequence[Lead | None], pool: Pool, *, whole: bool) -> Row:
    exact, published = entry.mean("exact"), entry.mean("published_convention")
    deviation = {"mrr": "" if entry.mrr_deviation is None else f" ± {entry.mrr_deviation:.3f}"}
    short = (each.text(exact) + deviation.get(each.name, "") for each in short_columns())
    row = (entry.label, str(entry.seeds), *short, *(column for lead in found for column in _lead(lead)))
    if not whole:
        return row
    minutes = sum(each.seconds.train for each in entry.results) / entry.seeds / 60
    speed = sum(tested.score_pairs_per_second for tested in entry.tested) / entry.seeds
    return (
        *row,
        *(each.text(exact) for each in further_columns()),
        *(each.text(published) for each in published_columns()),
        _printed(pool.dataset.partition(":")[0], entry.label),
        _weights(entry),
        f"{entry.results[0].parameters:,}",
        f"{minutes:.1f}",
        f"{1000 * pool.size / speed:.1f}",
    )


def _numbers(measures: Measures) -> list[str]:
    return [f"{value:.3f}" for value in measures.values()]


def _lead(lead: Lead | None) -> tuple[str, str]:
    if lead is None:
        return "", ""
    found = lead.difference
    return with_interval(found.mean, found.low, found.high), lead.verdict


def _weights(entry: Entry) -> str:
    """The fusion weight of each seed, and the data set on which it was tuned; "" for a model alone."""
    fusions = [result.fusion for result in entry.results if result.fusion]
    places = " or ".join(dict.fromkeys(fusion.tuned_on for fusion in fusions))
    return f"{', '.join(f'{fusion.weight:.2f}' for fusion in fusions)} ({places})" if fusions else ""


def _printed(dataset: str, model: str) -> str:
    rows = [each.measures for each in PUBLISHED if (each.data, each.model) == (dataset, model)]
    return "; ".join(" ".join(_numbers(measures)) for measures in rows)
