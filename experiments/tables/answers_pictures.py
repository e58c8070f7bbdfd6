"""The pictures of the main page: all its differences with their intervals, and MRR against time."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from evaluation.comparison import Entry
from evaluation.speed import Row
from experiments.tables.answers import EARLIER_ROWS, FUSED, QUESTIONS, ROWS, Answers
from experiments.tables.comparison_pictures import as_png, forest_panels
from experiments.tables.main_table import MIXED_WITH, README_TESTS
from training.drawing import Figure

PICTURE: Final = "main.png"
TIME_PICTURE: Final = "main-time.png"


def answers_pictures(found: Mapping[str, Answers], times: Sequence[Row]) -> Iterator[tuple[str, bytes]]:
    """The page's pictures as PNG, by their names: differences, a panel for each test set; MRR against time."""
    if found:
        names = drawn_pairs(found)
        panels = {
            title: {name: each.leads[pair] for name, pair in names.items() if pair in each.leads}
            for title, each in found.items()
        }
        yield PICTURE, forest_panels(panels, [*names])
    if tested := timed(found, times):
        yield TIME_PICTURE, time_picture(tested, times)


def drawn_pairs(found: Mapping[str, Answers]) -> dict[str, tuple[str, str]]:
    """The pairs that two test sets have, or all where there is one test set, by their names in the picture."""
    pairs = [pair for of in QUESTIONS.values() for pair in of]
    least = min(2, len(found))
    often = {pair: sum(pair in each.leads for each in found.values()) for pair in pairs}
    return {" - ".join(pair): pair for pair in pairs if often[pair] >= least}


def timed(found: Mapping[str, Answers], times: Sequence[Row]) -> dict[str, Mapping[str, Entry]]:
    """The rows of README's test sets, where two or more were timed."""
    known = {name for row in times for name in (row.first, row.second)}
    rows = {title: found[title].rows for title in README_TESTS.values() if title in found}
    return {title: each for title, each in rows.items() if len(known & each.keys()) > 1}


def time_picture(tested: Mapping[str, Mapping[str, Entry]], times: Sequence[Row]) -> bytes:
    """A PNG of MRR against each kind of time. What is fused with BM25 takes the time of both.

    Earlier settings of a model that is drawn are left out: they take its time.

    Args:
        tested: test set -> rows of the page.
        times: of the models, compared with BM25's.
    """
    seconds: dict[str, dict[str, float]] = {}
    for row in times:
        of = seconds.setdefault(row.name, {row.first: row.first_seconds.median})
        of[row.second] = row.second_seconds.median
    for of in seconds.values():
        of |= {f"{name}{FUSED}": spent + of[MIXED_WITH] for name, spent in of.items() if name != MIXED_WITH}
    figure = Figure(figsize=(14, 4.6 * len(tested)), dpi=110, layout="constrained")
    panels = figure.subplots(len(tested), len(seconds), squeeze=False, sharey="row", sharex="col")
    known = [name for name in ROWS if any(name in rows and name in seconds[times[0].name] for rows in tested.values())]
    names = [name for name in known if name not in EARLIER_ROWS]
    plain = [*dict.fromkeys(name.removesuffix(FUSED) for name in names)]
    for line, (title, rows) in zip(panels, tested.items(), strict=True):
        for axes, (what, of) in zip(line, seconds.items(), strict=True):
            for name in (name for name in names if name in rows):
                colour = f"C{plain.index(name.removesuffix(FUSED)) % 10}"
                marker = "s" if name.endswith(FUSED) else "o"
                axes.plot(1000 * of[name], rows[name].mrr, label=name, color=colour, marker=marker, linestyle="")
            axes.set(xscale="log", xlabel=f"ms for {what}", title=title)
            axes.grid(color="0.9")
        line[0].set_ylabel("MRR")
    drawn = {line.get_label(): line for axes in panels[:, 0] for line in axes.lines}
    figure.legend([drawn[name] for name in names], names, loc="outside right upper", fontsize=9)
    return as_png(figure)
