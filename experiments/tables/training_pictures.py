"""Training curves of the models of the main table: MRR on validation pairs by epoch and by time."""

from collections.abc import Iterable, Sequence

from evaluation.comparison import Entry
from evaluation.history import Validation
from evaluation.results import Result
from experiments.tables.comparison_pictures import as_png, largest_pools, line_style
from training.drawing import Axes, Figure, LogLocator, MaxNLocator


def pictures(results: Iterable[tuple[str, Result]]) -> dict[str, bytes]:
    """A PNG per training data set, by its name; results come with their labels."""
    found = {}
    for name, (pool, entries) in largest_pools(results).items():
        trained = [entry for entry in entries if entry.validations() and entry.results[0].dataset == pool.dataset]
        if trained:
            found[name] = _picture(f"Training on {pool.dataset} ({pool.origin})", trained)
    return found


def _picture(title: str, entries: Sequence[Entry]) -> bytes:
    figure = Figure(figsize=(14, max(5, 0.9 + 0.22 * len(entries))), dpi=110, layout="constrained")
    by_epoch, by_time = figure.subplots(1, 2, sharey=True)
    for number, entry in enumerate(entries):
        _draw((by_epoch, by_time), entry.validations(), number, entry.label)
        for result in entry.results if entry.seeds > 1 else ():
            _draw((by_epoch, by_time), result.history, number)
    by_epoch.set(xlabel="epochs", ylabel="MRR on validation pairs")
    by_epoch.xaxis.set_major_locator(MaxNLocator(integer=True))
    by_time.set(xlabel="minutes of training, without validation", xscale="log")
    by_time.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    by_time.xaxis.set_major_formatter("{x:g}")
    by_time.minorticks_off()
    for axes in (by_epoch, by_time):
        axes.grid(color="0.9")
    figure.legend(*by_time.get_legend_handles_labels(), loc="outside right upper", fontsize=9, handlelength=4)
    several = "; thick: the mean over seeds, thin: each seed" if any(entry.seeds > 1 for entry in entries) else ""
    figure.suptitle(title + several, x=0.01, ha="left")  # not above the legend, which may be as high as the figure
    return as_png(figure)


def _draw(panels: tuple[Axes, Axes], run: Sequence[Validation], number: int, label: str | None = None) -> None:
    """A run, or with a label the mean of several, by epochs and by minutes."""
    epochs, minutes = [float(each.epoch) for each in run], [each.seconds / 60 for each in run]
    scores, colour = [each.mrr for each in run], f"C{number % 10}"
    width, marker = (2.0, ".") if label else (0.6, "")
    for axes, places in zip(panels, (epochs, minutes), strict=True):
        axes.plot(places, scores, line_style(number), color=colour, linewidth=width, marker=marker, label=label)
