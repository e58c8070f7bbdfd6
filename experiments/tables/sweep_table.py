"""The table of a sweep: the validation of every configuration over its seeds, and the test of the chosen one."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from data_prep.files.writing import write_atomically
from evaluation.comparison import Entry
from evaluation.metrics import short_columns
from evaluation.query_files import as_csv
from evaluation.results import Result
from experiments.recipes.results_folder import in_words
from experiments.tables.comparison_tables import Table
from experiments.tables.sweep import Point, Sweep

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

    @property
    def text(self) -> str:
        """The mean, with the deviation over seeds, as the text of a cell."""
        spread = f" ± {statistics.stdev(self.validations):.3f}" if len(self.validations) > 1 else ""
        return f"{self.mean:.3f}{spread}"


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
        rows.append((each.label, seeds, each.text, *(_test(each) if shown else ("",) * len(short_columns()))))
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
