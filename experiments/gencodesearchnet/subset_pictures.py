"""A bar chart of GenCodeSearchNet's results: MRR by subset, labelled with the type of generalisation, and chance."""

from collections.abc import Sequence
from typing import Final

from data_prep.errors import UserError
from data_prep.gencodesearchnet.subsets import SUBSETS
from evaluation.benchmark import BenchmarkResult, RankingResult
from experiments.gencodesearchnet.report import label_of
from experiments.tables.comparison_pictures import as_png
from training.drawing import Axes, Figure, colormaps

_WIDTH: Final = 0.84
"""Width of all bars of a subset together; subsets are 1 apart."""


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
