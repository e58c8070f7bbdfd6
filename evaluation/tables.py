"""Results of runs as tables for the terminal: one row per ranker, one table per data set and pool."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from evaluation import metrics
from evaluation.metrics import Measures, Metric, published_columns, short_columns
from evaluation.reading import said_seen
from evaluation.results import Result, Tested

_WIDTH: Final = 100

_CSN: Final = "GraphCodeBERT/codesearch/README.md of microsoft/CodeBERT"
PUBLISHED_MRR: Final[dict[tuple[str, int, int], tuple[tuple[str, float, str], ...]]] = {
    ("csn_filtered", 10_955, 40_347): (
        ("CodeBERT", 0.676, _CSN),
        ("GraphCodeBERT", 0.691, _CSN),
        ("UniXcoder", 0.726, "UniXcoder (Guo et al. 2022, arXiv:2203.03850), table of code search"),
    ),
}
"""Our name of the test set, its queries and candidates -> model, MRR as printed, source; fine-tuned on its training
split."""

Row = tuple[str, ...]
DataKey = tuple[str, str, int]  # fingerprint, split, pool size


def render_table(results: Sequence[Result]) -> str:
    """Plain-text tables with captions, of runs on one or more data sets."""
    convention = " Left: exact, ties against the ranker. Right: as earlier papers count (rank <= K + 1, MRR@10)."
    texts = (f"{grid}\n{textwrap.fill(caption + convention, _WIDTH)}" for grid, caption in _tables(results))
    return "\n\n".join(texts)


def _tables(results: Sequence[Result]) -> Iterator[tuple[str, str]]:
    """Grid and caption of each: the exact columns, the published ones, and the lead over the first control if any."""
    groups: dict[tuple[str, DataKey], list[tuple[Result, Tested]]] = {}
    for result in results:
        for dataset, tested in ((result.dataset, result), *result.also.items()):
            key = (tested.data.fingerprint, tested.split, tested.pool_size)
            groups.setdefault((dataset, key), []).append((result, tested))
    for (dataset, _), runs in groups.items():
        against = next((name for _, tested in runs for name in tested.controls), "")
        lead = (f"MRR - {against}", "95 % interval") if against else ()
        titles = [each.title for each in short_columns()] + [f"{each.title}*" for each in published_columns()]
        header = ("ranker", *titles, *lead)
        yield _grid(header, _rows(runs, against)), _caption(dataset, runs)


def _rows(runs: Sequence[tuple[Result, Tested]], against: str) -> list[Row]:
    controls = {name: control for _, tested in runs for name, control in tested.controls.items()}
    times = Counter(_ranker(result) for result, _ in runs)
    rows = []
    for result, tested in runs:
        name = _ranker(result)
        label = name if times[name] == 1 else f"{name}, seed {result.seed}"
        rows.append((label, *_numbers(tested.exact, tested.published_convention), *_lead(tested, against)))
    empty = ("", "") if against else ()
    for name, control in controls.items():
        if name not in times:
            rows.append((name, *_numbers(control.exact, control.published_convention), *empty))
    ranks = metrics.chance_ranks(runs[0][1].pool_size)
    return [*rows, ("chance", *_numbers(metrics.exact(ranks), metrics.published_convention(ranks)), *empty)]


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
    if against not in tested.controls:
        return "", ""
    difference = tested.controls[against].mrr_difference
    return f"{difference.mean:+.3f}", f"{difference.low:+.3f} to {difference.high:+.3f}"


def _caption(dataset: str, runs: Sequence[tuple[Result, Tested]]) -> str:
    tested = runs[0][1]
    seeds = ", ".join(dict.fromkeys(str(result.seed) for result, _ in runs))
    each = "each over" if tested.queries > tested.pool_size else "over a pool of"
    return (
        f"{dataset} ({tested.data.origin}), {tested.split} split: {tested.queries:,} queries "
        f"{each} {tested.pool_size:,} methods, seed {seeds}. "
        f"Duplicates cap Top@1 at {tested.ceiling_top1:.3f}."
        f"{published_mrr(dataset.partition(':')[0], tested.queries, tested.pool_size)}"
        f"{''.join(f' {_ranker(result)}: {said_seen(each.seen, each.queries)}.' for result, each in runs if each.seen)}"
    )


def published_mrr(data: str, queries: int, candidates: int) -> str:
    """The published MRR on a whole test set in one sentence, "" if there is none."""
    rows = PUBLISHED_MRR.get((data, queries, candidates), ())
    numbers = ", ".join(f"{model} {value:.3f}" for model, value, _ in rows)
    return f" Published MRR, fine-tuned on its training split: {numbers}." if rows else ""


def _grid(header: Row, rows: Sequence[Row]) -> str:
    lines = [tuple(cell.rstrip("*") for cell in header), *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip() for line in lines]
    exact = sum(width + 2 for width in widths[1 : 1 + len(short_columns())])
    return "\n".join([f"{'':{widths[0] + 2}}{'exact':{exact}}published convention", *texts])
