"""GenCodeSearchNet's results as Markdown, and as a bar chart."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.gencodesearchnet.subsets import SUBSETS
from evaluation.benchmark import BenchmarkResult, ByType, RankingResult, SubsetResult
from evaluation.json_records import from_json
from evaluation.result_store import ResultStore
from experiments.tables.comparison_pictures import as_png
from experiments.tables.comparison_tables import markdown_table
from training.drawing import Axes, Figure, colormaps

FOLDER: Final = "gencodesearchnet"
"""Folder of the saved results."""
NONE: Final = "-"
_WIDTH: Final = 0.84
"""Width of all bars of a subset together; subsets are 1 apart."""
_TYPES: Final = {
    "csn": "CSN",
    "robustness": "robustness",
    "cross_lingual": "cross-lingual",
    "domain": "domain",
    "combined": "combined",
    "eight": "mean of eight",
}


def ranking_table(results: Sequence[BenchmarkResult]) -> str:
    """MRR by subset and model, with intervals; "" if nothing was ranked."""
    return _table(results, "MRR", _mrr)


def matching_table(results: Sequence[BenchmarkResult]) -> str:
    """Accuracy by subset and model, with intervals; "" if nothing was matched."""
    return _table(results, "accuracy", _accuracy)


def type_table(results: Sequence[BenchmarkResult]) -> str:
    """Means by type: none for a type of which a subset was not tested, with a star for substitute sets."""
    rows = []
    for result in results:
        for measure, means in (("MRR", result.mrr_by_type), ("accuracy", result.accuracy_by_type)):
            if means and any(getattr(means, name) is not None for name in _TYPES):
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
        ("Ranking: MRR, ties counting against the model (95 % interval over queries)", ranking_table(results)),
        ("Matching: accuracy, half of the pairs matching (95 % interval over texts)", matching_table(results)),
        ("By type of generalisation", type_table(results)),
        ("No transfer to another language", learned_list(results)),
        ("The data", data_list(results)),
    ]
    return "\n\n".join(f"{title}\n\n{table}" for title, table in parts if table)


def learned_list(results: Sequence[BenchmarkResult]) -> str:
    """The languages of the subsets that a model has learned from, which are no transfer; "" if none has from any."""
    known = [(each, {subset.language for subset in each.subsets} & {*each.learned}) for each in results]
    return "\n".join(
        f"- {label_of(each)} has learned from {', '.join(sorted(names))}" for each, names in known if names
    )


def data_list(results: Sequence[BenchmarkResult]) -> str:
    """The origin of each subset, and what was left out or not done."""
    seen = {subset.name: subset for result in results for subset in result.subsets}
    missing = sorted({name for result in results for name in result.missing})
    lines = [f"- {each.name} ({each.language}): {'; '.join((each.origin, *_told(each)))}" for each in seen.values()]
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
    commands = "\n".join(f"- `{each.command}`: code {each.code_version}, {each.date[:10]}" for each in found)
    machines = ", ".join(dict.fromkeys(f"{each.machine.cpu}, {each.machine.cores} cores" for each in found))
    return f"# GenCodeSearchNet\n\n{pages(found)}\n\nMade by, on {machines}:\n\n{commands}\n"


def _domain(result: BenchmarkResult) -> float:
    means = result.mrr_by_type
    return means.domain if means and means.domain is not None else 0.0


def label_of(result: BenchmarkResult) -> str:
    """The model, and the protocol unless it is the canonical one."""
    return result.model if result.protocol == "canonical" else f"{result.model} ({result.protocol})"


def _table(results: Sequence[BenchmarkResult], measure: str, cell: Callable[[SubsetResult], str]) -> str:
    names = list(dict.fromkeys(subset.name for result in results for subset in result.subsets))
    rows = []
    for result in results:
        found = {subset.name: cell(subset) for subset in result.subsets}
        rows.append((label_of(result), *(found.get(name, NONE) for name in names)))
    filled = any(each != NONE for row in rows for each in row[1:])
    return markdown_table((measure, *names), rows) if filled else ""


def _mrr(subset: SubsetResult) -> str:
    found = subset.ranking
    if found is None:
        return NONE
    part = f", {found.queries:,} queries" if found.queries < subset.pairs else ""
    return f"{found.mrr:.3f} ({found.mrr_low:.3f} to {found.mrr_high:.3f}){part}"


def _accuracy(subset: SubsetResult) -> str:
    found = subset.matching
    return f"{found.accuracy:.3f} ({found.accuracy_low:.3f} to {found.accuracy_high:.3f})" if found else NONE


def _means(means: ByType, star: str) -> list[str]:
    values = [getattr(means, name) for name in _TYPES]
    return [NONE if value is None else f"{value:.3f}{star}" for value in values]


def _told(subset: SubsetResult) -> list[str]:
    dropped = [f"left out {count:,}: {reason}" for reason, count in subset.dropped.items()]
    return [*dropped, *subset.notes]


def subset_picture(results: Sequence[BenchmarkResult]) -> bytes:
    """A PNG: a group of bars for each subset that was ranked, with one bar and its 95 % interval per model.

    Raises:
        UserError: nothing was ranked.
    """
    ranked = [{subset.name: subset.ranking for subset in each.subsets if subset.ranking} for each in results]
    names = [entry.name for entry in SUBSETS if any(entry.name in found for found in ranked)]
    if not names:
        raise UserError("a picture needs a subset that was ranked, and there is none")
    figure = Figure(figsize=(3 + 1.6 * len(names), 5.5), dpi=110, layout="constrained")
    axes = figure.subplots()
    axes.set_prop_cycle(color=colormaps["tab20"](range(20)))
    for number, (result, found) in enumerate(zip(results, ranked, strict=True)):
        width = _WIDTH / len(results)
        shift = (number + 0.5) * width - _WIDTH / 2
        _draw(axes, [(place + shift, found[name]) for place, name in enumerate(names) if name in found], width, result)
    kinds = {entry.name: ", ".join(entry.generalisation) for entry in SUBSETS}
    axes.set_xticks(range(len(names)), [f"{name}\n{kinds[name]}" for name in names])
    axes.axhline(next(iter(ranked[0].values())).chance_mrr, color="0.3", linestyle=":", label="chance")
    axes.set(ylabel="MRR, with 95 % interval over queries", ylim=(0, 1), title="Ranking among 100 codes, by subset")
    axes.grid(axis="y", color="0.9")
    axes.set_axisbelow(True)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=9)
    return as_png(figure)


def _draw(axes: Axes, bars: Sequence[tuple[float, RankingResult]], width: float, result: BenchmarkResult) -> None:
    heights = [ranking.mrr for _, ranking in bars]
    reach = [
        [ranking.mrr - ranking.mrr_low for _, ranking in bars],
        [ranking.mrr_high - ranking.mrr for _, ranking in bars],
    ]
    axes.bar([place for place, _ in bars], heights, width, yerr=reach, capsize=2, label=label_of(result))
