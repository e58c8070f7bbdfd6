"""Tables that compare rankers with one of them, in Markdown: short ones, or with all columns; and README's."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from data_prep.errors import one_line
from evaluation.comparison import MARGIN, Entry, Lead, Pool, Side, by_pool, largest_pools, leads
from evaluation.metrics import further_columns, published_columns, short_columns
from evaluation.results import Result, Tested
from evaluation.significance import RunDifference

_OF_RUNS: Final = ("weight of the model", "parameters")
_HOUR: Final = 3600

_LATEX: Final = {
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
}

SAID: Final[Mapping[Side, str]] = {
    "better": "is ahead of",
    "worse": "is behind",
    "level": "is level with",
    "not shown": "is not shown to differ from",
    "one seed": "gets no verdict, with one seed, against",
}

WORDS: Final[Mapping[Side, str]] = {
    "better": "ahead",
    "worse": "behind",
    "level": "level",
    "not shown": "not shown",
    "one seed": "one seed",
}
"""How a comparison came out, in a cell of a table."""
_GROUPS: Final[Mapping[Side, str]] = {
    "better": "Ahead",
    "worse": "Behind",
    "level": f"Level, within {MARGIN:g}",
    "not shown": "Not shown to differ",
    "one seed": "No verdict, with one seed",
}

Row = Sequence[str]
Clusters = Mapping[str, Sequence[int]]
"""Fingerprint of a test split -> a number for the file of each query."""
Results = Iterable[tuple[str, Result]]
"""Results with the labels of their rows."""
Named = Mapping[str, Mapping[str, Entry]]
"""Name of a test -> name of a row -> the ranker."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with what is above it, to be written in several forms."""

    caption: str  # Markdown
    header: Row
    rows: Sequence[Row]

    @property
    def markdown(self) -> str:
        """Caption and table."""
        return f"{self.caption}\n\n{markdown_table(self.header, self.rows)}"

    @property
    def latex(self) -> str:
        """The table as LaTeX, without packages; its first column is text."""
        lines = [" & ".join(map(latex_text, line)) + r" \\" for line in (self.header, *self.rows)]
        columns = "l" + "r" * (len(self.header) - 1)
        body = "\n".join((rf"\begin{{tabular}}{{{columns}}}", r"\hline", lines[0], r"\hline", *lines[1:], r"\hline"))
        return f"{body}\n\\end{{tabular}}\n"


def latex_text(text: str) -> str:
    """``text`` with LaTeX's special characters escaped."""
    return "".join(_LATEX.get(letter, letter) for letter in one_line(text))


def plain_text(text: str) -> str:
    """``text`` of others as Markdown without markup: no link, picture, code or emphasis."""
    return re.sub(r"[\\`*\[\]~$]|\b_|_\b", r"\\\g<0>", text)


def inline_text(text: str) -> str:
    """:func:`plain_text` outside of tables, whose cells are escaped apart."""
    return plain_text(one_line(text)).replace("&", "&amp;").replace("<", "&lt;")


def markdown_table(header: Row, rows: Sequence[Row]) -> str:
    """A table whose first column is text; the contents of cells are escaped."""
    lines = [header, ("---", *["---:"] * (len(header) - 1)), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def table_lines(heads: Row, rows: Mapping[str, Row]) -> list[str]:
    """The lines of a table of texts that need no escaping: name of each row -> its cells; nothing without rows."""
    lines = [f"| {' | '.join(heads)} |", "|---|" + "---:|" * (len(heads) - 1)]
    return [*lines, *(f"| {' | '.join((name, *cells))} |" for name, cells in rows.items())] if rows else []


def _cell(text: str) -> str:
    return one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")


def with_interval(found: RunDifference) -> str:
    """A difference with the ends of its interval, where that is known."""
    text = f"{found.mean:+.3f}"
    return text if math.isnan(found.low) else f"{text} ({_end(found.low)} to {_end(found.high)})"


def _end(value: float) -> str:
    """The end of an interval, with as many decimals as show on which side of 0 it lies, five at most."""
    places = next((places for places in (3, 4, 5) if abs(value) >= 0.5 / 10**places), 3)
    return f"{value:+.{places}f}"


def said(pair: tuple[str, str], lead: Lead) -> str:
    """A comparison in a sentence, with its interval."""
    return f"`{pair[0]}` {SAID[lead.side]} `{pair[1]}`, {with_interval(lead.difference)}."


def by_side(found: Mapping[str, Lead]) -> list[str]:
    """A line of a list for each way in which comparisons came out, with their names and intervals."""
    lines = []
    for side, word in _GROUPS.items():
        rows = [f"`{name}` {with_interval(lead.difference)}" for name, lead in found.items() if lead.side == side]
        lines += [f"- {word}: {'; '.join(rows)}."] if rows else []
    return lines


def counted(number: int, what: str) -> str:
    """A number of things, such as ``1 run``, ``2 runs``."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def cost(results: Iterable[Result]) -> str:
    """The hours of all runs, in a sentence; training counts once for weights that were tested again."""
    runs = {(each.dataset, each.command): each for each in results}.values()
    train = sum(each.seconds.train for each in runs if each.train_pairs_per_second)
    test = sum(each.seconds.evaluate + sum(map(_test_seconds, each.also.values())) for each in runs)
    return (
        f"Cost: {counted(len(runs), 'run')}, {train / _HOUR:.1f} hours of training and {test / _HOUR:.1f} of ranking, "
        "added up as if one came after the other; two at a time, a thread each, they take about half of that on 2 "
        "cores."
    )


def _test_seconds(tested: Tested) -> float:
    return tested.queries * tested.pool_size / tested.score_pairs_per_second


def named(results: Results, rows: Mapping[str, str], tests: Mapping[str, str]) -> Named:
    """The entries with the labels ``rows``, tested on the data sets ``tests``, by the names that these give them."""
    found = {
        name: {rows[entry.label]: entry for entry in entries if entry.label in rows}
        for name, (_, entries) in largest_pools(results).items()
    }
    return {title: found[name] for name, title in tests.items() if found.get(name)}


def summary(found: Named, names: Iterable[str]) -> str:
    """MRR of the rows ``names``; "-": not tested."""
    header = ("MRR ± standard deviation over seeds", *found)
    rows = [(name, *(each[name].mrr_text if name in each else "-" for each in found.values())) for name in names]
    return markdown_table(header, rows)


def tables(results: Results, references: Sequence[str], clusters: Clusters, *, whole: bool) -> str:
    """A table for each pool that was tested on.

    Rows are compared with each of ``references`` that is a row of the table, if there are others.
    """
    parts = []
    for pool, entries in by_pool(results).items():
        labels = {entry.label for entry in entries}
        compared = [each for each in references if each in labels and len(labels) > 1]
        parts.append(table_of(pool, entries, compared, clusters, whole=whole).markdown)
    return "\n\n".join(parts)


def table_of(
    pool: Pool,
    entries: Sequence[Entry],
    compared: Sequence[str],
    clusters: Clusters,
    *,
    whole: bool = False,
    p_values: bool = False,
) -> Table:
    """The rankers of a pool, each compared with those of the labels ``compared``.

    Args:
        pool: that they were tested on.
        entries: the rows.
        compared: labels of rows.
        clusters: the files of the queries.
        whole: whether to add all other columns.
        p_values: whether to add the adjusted p-values.
    """
    found = [leads(entries, reference, clusters.get(pool.fingerprint)) for reference in compared]
    adjusted = ("adjusted p",) if p_values else ()
    lead = (column for reference in compared for column in (f"MRR - {reference}", *adjusted, "significant"))
    header = ("ranker", "seeds", *(each.title for each in short_columns()), *lead, *(_further() if whole else ()))
    rows = [
        _row(entry, [_lead(each.get(entry.label), p_values=p_values) for each in found], whole=whole)
        for entry in entries
    ]
    return Table(_caption(pool, entries, compared, clusters, whole=whole), header, rows)


def _further() -> Row:
    """The titles of the columns that only whole tables have."""
    further = (each.title for each in further_columns())
    return (*further, *(f"{each.title}*" for each in published_columns()), *_OF_RUNS)


def _row(entry: Entry, compared: Sequence[Row], *, whole: bool) -> Row:
    exact, published = entry.mean("exact"), entry.mean("published_convention")
    short = (entry.mrr_text if each.name == "mrr" else each.text(exact) for each in short_columns())
    row = (entry.label, str(entry.seeds), *short, *chain.from_iterable(compared))
    if not whole:
        return row
    return (
        *row,
        *(each.text(exact) for each in further_columns()),
        *(each.text(published) for each in published_columns()),
        _weights(entry),
        f"{entry.results[0].parameters:,}",
    )


def _lead(lead: Lead | None, *, p_values: bool) -> Row:
    if lead is None:
        return ("",) * (3 if p_values else 2)
    adjusted = "" if math.isnan(lead.adjusted_p) else f"{lead.adjusted_p:.2g}"
    return (with_interval(lead.difference), *([adjusted] * p_values), lead.verdict)


def _weights(entry: Entry) -> str:
    """The fusion weight of each seed, and the data set on which it was tuned; "" for a model alone."""
    fusions = [result.fusion for result in entry.results if result.fusion]
    places = " or ".join(dict.fromkeys(fusion.tuned_on for fusion in fusions))
    return f"{', '.join(f'{fusion.weight:.2f}' for fusion in fusions)} ({places})" if fusions else ""


def _caption(pool: Pool, entries: Sequence[Entry], compared: Sequence[str], clusters: Clusters, *, whole: bool) -> str:
    files = len(set(clusters.get(pool.fingerprint, ())))
    clustered = f"those of one of {files:,} files together" if 0 < files < pool.queries else "each for itself"
    trained = sorted({_trained_on(result) for entry in entries for result in entry.results if result.parameters})
    columns = " and ".join(f"MRR - {reference}" for reference in compared)
    text = (
        f"**{inline_text(pool.dataset)}** ({inline_text(pool.origin)}), {pool.split} split: {pool.asked}, "
        f"trained on {' or '.join(trained) or 'nothing'}. Duplicates cap Top@1 at {pool.ceiling_top1:.3f}. "
        "Means over seeds, ± their standard deviation; ties count against the ranker."
    )
    leads_text = (
        f" {columns}: with the 95 % interval over training seeds and queries ({clustered}); significant at p < 0.05 "
        "after Holm's correction for all rows of the column, which intervals do not have. A trained model with one "
        "seed gets no verdict."
    ) * bool(compared)
    also = (
        " *: as earlier papers count (rank <= K + 1, MRR@10). Weight of the model: of each seed in a fusion, and the "
        "data set on whose validation pairs it was tuned."
    )
    return text + leads_text + also * whole


def _trained_on(result: Result) -> str:
    """The data sets whose training pairs a model has seen."""
    extra = result.config["data"].get("extra_train_sets", "")
    return " with ".join((result.dataset, *filter(None, (extra.replace(",", " and "),))))
