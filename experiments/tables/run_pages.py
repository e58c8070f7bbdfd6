"""The pages of runs side by side, in one folder: of a comparison, with pictures, and of a sweep over settings.

The table of a sweep has the validation of every configuration over its seeds, and the test of the chosen one.
"""

import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from jaxtyping import Float, Int

from data_prep.files.writing import write_atomically
from evaluation.comparison import Entry, mean_text
from evaluation.metrics import short_columns
from evaluation.query_files import QueryRank, as_csv
from evaluation.results import Result
from experiments.recipes.results_folder import in_words
from experiments.tables.comparison_pictures import forest_picture, kind_picture
from experiments.tables.comparison_tables import Row, Table, inline_text, markdown_table, plain_text, table_of
from experiments.tables.query_kinds import kinds_against, wins_table
from experiments.tables.run_comparison import Compared
from experiments.tables.sweep import Point, Sweep

PAGE: Final = "comparison.md"
_SHOWN: Final = 10
"""Wins, and losses, that are listed of each row."""
_LONGEST: Final = 160
"""Characters of a query that are shown."""


def write_comparison(found: Sequence[Compared], left: Sequence[str], folder: Path) -> list[str]:
    """Write all files of a comparison; returns their names, the page first.

    Args:
        found: what compares.
        left: why others do not, in words.
        folder: is created.

    Raises:
        OSError: a file cannot be written.
    """
    files: dict[str, str | bytes] = {}
    sections = []
    for number, each in enumerate(found, start=1):
        mark = "" if number == 1 else f"-{number}-{re.sub(r'[^A-Za-z0-9_.-]+', '_', each.pool.dataset)[:40]}"
        own = dict(_files(each, mark))
        sections.append(_section(each, [name for name in own if name.endswith(".png")]))
        files |= own
    told = [f"- {inline_text(line)}" for line in left]
    apart = ["## Not compared", "\n".join(told)] if told else []
    files = {PAGE: "\n\n".join(("# Comparison of runs", *sections, *apart)) + "\n", **files}
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        as_bytes = content.encode(errors="backslashreplace") if isinstance(content, str) else content
        write_atomically(folder / name, as_bytes)
    return [*files]


def comparison_table(found: Compared) -> Table:
    """All configurations, each against the reference."""
    table = table_of(found.pool, found.entries, (found.reference,), found.clusters, p_values=True)
    return Table(" ".join((table.caption, *found.notes)), table.header, table.rows)


def _files(found: Compared, mark: str) -> Iterator[tuple[str, str | bytes]]:
    table, against = comparison_table(found), found.entry(found.reference)
    yield f"comparison{mark}.csv", as_csv(table.header, table.rows)
    yield f"comparison{mark}.tex", table.latex
    yield f"queries{mark}.csv", as_csv(*_by_query(found))
    yield f"forest{mark}.png", forest_picture(found.leads, found.reference, found.pool.title)
    models = [entry for entry in found.entries if entry is not against]
    if found.facts and (png := kind_picture(found.pool, models, against, found.facts)):
        yield f"kinds{mark}.png", png


def _section(found: Compared, pictures: Sequence[str]) -> str:
    forest, *others = pictures
    against = found.entry(found.reference)
    models = [entry for entry in found.entries if entry is not against]
    parts = [
        f"## {inline_text(found.pool.title)}",
        comparison_table(found).markdown,
        f"![The difference of each row from the reference, with its interval]({forest})",
        _runs(found),
        *_wins(found, models, against),
    ]
    if found.facts:
        parts += ["### By kind of query", kinds_against(found.pool, models, against, found.facts)]
        parts += [f"![Ranks and differences by kind of query]({name})" for name in others]
    else:
        parts.append("These runs have not kept what their queries are: `bash run.sh evaluate RUN` writes it.")
    return "\n\n".join(parts)


def _runs(found: Compared) -> str:
    header = ("row", "its runs, by seed")
    rows = [(label, ", ".join(each.run.name for each in runs)) for label, runs in found.runs.items()]
    return markdown_table(header, [tuple(map(plain_text, row)) for row in rows])


def _wins(found: Compared, models: Sequence[Entry], against: Entry) -> Iterator[str]:
    """How often each row is ahead of the reference on a query and behind it, then the pairs with most of either."""
    gains = {model.label: model.reciprocal_ranks - against.reciprocal_ranks for model in models}
    yield "### Wins and losses"
    yield (
        f"Queries on which a row's 1/rank, the mean over its seeds, is above that of {inline_text(against.label)}, "
        "equal to it, and below. Then the pairs that differ most, with the median rank of several seeds; all are in "
        "`queries*.csv`."
    )
    yield wins_table([(each.label, each.reciprocal_ranks, against.reciprocal_ranks) for each in models])
    for model in models:
        gain = gains[model.label]
        order = np.argsort(-gain, kind="stable")
        sides = {"ahead of": order[gain[order] > 0][:_SHOWN], "behind": order[::-1][gain[order[::-1]] < 0][:_SHOWN]}
        for side, places in sides.items():
            if found.queries and len(places):
                yield f"**{inline_text(model.label)}** is {side} {inline_text(against.label)} most on these:"
                yield _pairs(found.queries, places, model, against)


def _pairs(queries: Sequence[QueryRank], places: Int[np.ndarray, " places"], model: Entry, against: Entry) -> str:
    header: Row = ("query", "its code", "place", model.label, against.label)
    own, other = _median_ranks(model), _median_ranks(against)
    rows = [
        (
            plain_text(_shortened(queries[place].text)),
            plain_text(queries[place].code or "-"),
            plain_text(queries[place].place or "-"),
            f"{own[place]:g}",
            f"{other[place]:g}",
        )
        for place in places.tolist()
    ]
    return markdown_table(header, rows)


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} ..."


def _median_ranks(entry: Entry) -> Float[np.ndarray, " queries"]:
    found: Float[np.ndarray, " queries"] = np.median([tested.ranks for tested in entry.tested], axis=0)
    return found


def _by_query(found: Compared) -> tuple[list[str], list[list[object]]]:
    """A table of all queries: what they are, and their rank by each run."""
    runs = [
        (entry.label, result.seed, tested.ranks)
        for entry in found.entries
        for result, tested in zip(entry.results, entry.tested, strict=True)
    ]
    header = ["query", "text", "code", "place", "words", "distinct", "shared", "code_words"]
    rows: list[list[object]] = []
    for place in range(found.pool.queries):
        known = [getattr(found.queries[place], name) for name in header] if found.queries else ["" for _ in header]
        rows.append([*known, *(ranks[place] for _, _, ranks in runs)])
    return [*header, *(f"rank of {label}, seed {seed}" for label, seed, _ in runs)], rows


SEED: Final = "train.seed"
_OF_TRAINING: Final = ("data.train_limit", "data.extra_train_sets", "data.exclude_overlap_with")
"""Options of data that change training pairs alone."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A configuration of a sweep, with those of its runs that have finished."""

    label: str
    wanted: int  # runs
    points: Sequence[Point]
    results: Sequence[Result]

    @property
    def validations(self) -> list[float]:
        """The validation MRR of each run."""
        return [validation(result)[0] for result in self.results]

    @property
    def mean(self) -> float:
        """Their mean."""
        return statistics.fmean(self.validations)


def validation(result: Result) -> tuple[float, int]:
    """The MRR on validation pairs and its epoch: of the epoch whose weights are kept, or of a whole validation split.

    The epoch is 0 for a ranker without training.
    """
    best = max(result.history, key=lambda each: each.mrr, default=None)
    if result.split == "valid":
        return result.exact["mrr"], best.epoch if best else 0
    assert best is not None, "a sweep tests what is not trained on validation pairs"
    return best.mrr, best.epoch


def tried(sweep: Sweep) -> list[Tried]:
    """The configurations that have a finished run, best validation first."""
    by_label: dict[str, list[Point]] = {}
    for point in sweep.points:
        names = [name for name in point.options if name != SEED]
        by_label.setdefault(", ".join(in_words(point.options, names)) or point.plan.model_name, []).append(point)
    found = []
    for label, points in by_label.items():
        results = [(point, result) for point in points if (result := point.result())]
        if results:
            done, of = zip(*results, strict=True)
            found.append(Tried(label, len(points), [*done], [*of]))
    return sorted(found, key=lambda each: -each.mean)


def sweep_table(sweep: Sweep) -> Table:
    """All configurations by validation; the test of the first alone, if all of its runs are done."""
    found = tried(sweep)
    plan = sweep.points[0].plan
    header = ("configuration", "seeds", "validation MRR", *(f"test {each.title}" for each in short_columns()))
    rows = []
    for place, each in enumerate(found):
        shown = place == 0 and len(each.results) == each.wanted and each.results[0].split == "test"
        seeds = str(len(each.results)) if len(each.results) == each.wanted else f"{len(each.results)} of {each.wanted}"
        rows.append(
            (each.label, seeds, mean_text(each.validations), *(_test(each) if shown else ("",) * len(short_columns())))
        )
    missing = len(sweep.points) - sum(len(each.results) for each in found)
    notes = " Their validation pairs may differ." * _differ(sweep) + f" Not finished: {missing}." * bool(missing)
    caption = (
        f"**{plan.dataset} {plan.model_name}**: {len(sweep.points)} runs. Validation MRR is of the epoch that each run "
        "keeps, the mean over seeds, ± their standard deviation. It chooses the first row, and of that alone the test "
        f"is shown.{notes}"
    )
    return Table(caption, header, rows)


def _differ(sweep: Sweep) -> bool:
    """Whether an option is swept that may change the validation pairs."""
    return any(name.startswith("data.") and name not in _OF_TRAINING for name in sweep.points[0].options)


def _test(chosen: Tried) -> tuple[str, ...]:
    entry = Entry(chosen.label, chosen.results, chosen.results)
    measures = entry.mean("exact")
    return tuple(entry.mrr_text if each.name == "mrr" else each.text(measures) for each in short_columns())


def write_sweep(sweep: Sweep, table: Table) -> list[Path]:
    """Write the table, and a line a run, into the sweep's folder."""
    names = [*sweep.points[0].options]
    runs = []
    for point in sweep.points:
        if result := point.result():
            mrr, epoch = validation(result)
            runs.append([point.name, *(point.options[name] for name in names), mrr, epoch, result.seconds.train])
    files = {
        "sweep.md": f"# Sweep\n\n{table.markdown}\n",
        "sweep.tex": table.latex,
        "sweep.csv": as_csv(("run", *names, "validation MRR", "epoch", "seconds of training"), runs),
    }
    for name, content in files.items():
        write_atomically(sweep.folder / name, content)
    return [sweep.folder / name for name in files]
