"""The results of measures of the search as text."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from data_prep.files.printable import one_line
from evaluation.metrics import short_columns
from evaluation.significance import bootstrap_interval
from search.quality.measure import FramesFound, Measured
from search.quality.typed_queries import ALL

FAILED: Final = 0.5
"""NDCG@10 below which a query is listed as failed."""
_ASKED: Final[Mapping[str, str]] = {
    "comment": "methods whose comment became a query",
    "return": "methods whose @return became a query",
    "member": "methods whose type's name and comment became a query",
    "name": "methods and types whose name became a query",
    "file": "functions whose comment became a query under the text above it in its file",
    "call": "functions whose comment became a query under the text above its first call in another file",
    "snippet": "first halves of functions' bodies",
    "namesake": "functions' bodies that functions of the same name in other files answer",
    "trace": "stack traces whose innermost function answers",
}
"""The values of ``--ask`` and ``--under`` in words."""


def quality_lines(found: Sequence[Measured], asked: str, pool: int, base: str = "bm25") -> list[str]:
    """The results of questions made from code.

    Args:
        found: the results.
        asked: the value of ``--ask``, or of ``--under``.
        pool: number of rows that are ranked.
        base: what differences are from.
    """
    wide = max(28, *(len(each.name) + 2 for each in found))
    titles = "".join(f"{metric.title:>8}" for metric in short_columns())
    lines = [
        f"{len(found[0].ranks):,} {_ASKED[asked]}, each ranked among {pool:,} functions, types and files",
        f"{'':<{wide}}{'listed':>8}{titles}   MRR - {base} (95 % interval)",
    ]
    for each in found:
        listed = f"{'-':>8}" if math.isnan(each.listed) else f"{each.listed:>8.3f}"
        cells = "".join(f"{metric.text(each.measures):>8}" for metric in short_columns())
        lines.append(f"{each.name:<{wide}}{listed}{cells}{_lead(asdict(each.lead) if each.lead else None)}")
    noise = max(((each.lead.high - each.lead.low) / 2 for each in found if each.lead), default=0.0)
    return [
        *lines,
        f"With so many queries, differences of about {noise:.3f} in MRR are significant; queries made from code differ "
        "from typed questions. listed: share of queries whose answer is among the candidates",
    ]


def frame_lines(found: Mapping[str, FramesFound]) -> list[str]:
    """How the frames of traces are placed, by how the traces were asked."""
    lines = []
    for name, each in found.items():
        low, high = bootstrap_interval(each.right, np.zeros_like(each.right))
        lines.append(
            f"{name}: {each.frames:,} frames, of a trace's {each.right.mean():.3f} ({low:.3f} to {high:.3f}) are "
            f"placed in their function; {each.elsewhere:.3f} of all in another one; all of the trace's in "
            f"{np.mean(each.right == 1):.3f} of the traces; of frames of a library {each.outside:.3f} are placed at all"
        )
    return lines


def _lead(lead: Mapping[str, float] | None) -> str:
    return "   {mean:+.3f} ({low:+.3f} to {high:+.3f}), p = {p_value:.4f}".format(**lead) if lead else ""


def query_lines(record: Mapping[str, Any]) -> list[str]:
    """The results of typed queries: by category, differences from the whole search, seconds, and what failed."""
    stages = record["stages"]
    whole, wide = stages[0], max(20, *(len(each["name"]) + 2 for each in stages))
    what = f"NDCG@10 by file (95 % interval) and the difference from {whole['name']}"
    lines = [f"{len(whole['queries']):,} queries over {record['files']:,} files; {what}", ""]
    for name, of_whole in whole["categories"].items():
        lines.append(f"{name}, {of_whole['queries']} {'queries' if of_whole['queries'] > 1 else 'query'}")
        for each in stages:
            own, lead = each["categories"][name], _lead(each["difference"] if name == ALL else None)
            lines.append(f"  {each['name']:<{wide}}{own['ndcg']:.3f} ({own['low']:.3f} to {own['high']:.3f}){lead}")
    lines.append(
        "seconds: of a question asked again (median); of all, the first time, with the encoding of rows as needed"
    )
    for each in stages:
        lines.append(f"  {each['name']:<{wide}}{each['seconds']['again']:.4f}{each['seconds']['first']:>10.2f}")
    failed = [place for place, each in enumerate(record["why"]) if each["ndcg"] < FAILED]
    if failed:
        lines.append(f"below {FAILED} with {whole['name']}: {len(failed)}")
    for place in sorted(failed, key=lambda place: record["why"][place]["ndcg"]):
        lines.append(_failure(record["why"][place], whole["queries"][place]["found"], whole["name"]))
    return lines


def _failure(why: Mapping[str, Any], found: Sequence[str], whole: str) -> str:
    first = ", ".join(map(one_line, found[:3])) or "nothing"
    ranks = {one_line(each["path"]): each["ranks"][whole] for each in why["relevant"][:3]}
    wanted = ", ".join(f"{path} ({f'rank {rank}' if rank else 'not found'})" for path, rank in ranks.items())
    return f"  {why['ndcg']:.2f}  {one_line(why['query'])}: expected {wanted}; found {first}"


def fit_lines(record: Mapping[str, Any]) -> list[str]:
    """The results of fits: a line per setting, a column per project."""
    projects, settings = record["projects"], record["settings"]
    shown, first = [one_line(name) for name in projects], max(len(each["name"]) for each in settings)
    wide = [max(8, len(name) + 2) for name in shown]

    def line(name: str, cells: Iterable[str], mean: str) -> str:
        return f"{name:<{first}}{''.join(f'{cell:>{w}}' for cell, w in zip(cells, wide, strict=True))}{mean:>9}"

    asked = sum(each["queries"] for each in projects.values())
    lines = [
        f"{asked:,} queries about {len(projects)} projects; {record['measure']}, and the projects' mean",
        line("", shown, "mean"),
        *(line(what, (f"{each[what]:,}" for each in projects.values()), "") for what in ("queries", "files")),
    ]
    for each in settings:
        lines.append(line(each["name"], (f"{value:.3f}" for value in each["ndcg"].values()), f"{each['mean']:.4f}"))
    lines.append("the weights that were fitted on the others:")
    for name, weights in settings[-1]["weights"].items():
        lines.append(f"  {one_line(name)}: {', '.join(f'{field} {value:g}' for field, value in weights.items())}")
    return lines
