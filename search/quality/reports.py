"""What the measures of the search print, as text or as one JSON object, which the page shows too.

docs/search-quality.md describes the objects.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from jaxtyping import Float

from data_prep.files.printable import one_line
from evaluation.significance import Difference, bootstrap_interval
from search.engine.file_ranking import stemmed
from search.engine.question import words_of
from search.index.code_index import Index
from search.quality.query_file import TypedQuery
from search.quality.typed_queries import DEPTH, MeasuredQueries, same_file, seen

if TYPE_CHECKING:
    from search.quality.measure import Measured, MeasuredCode
    from search.quality.weight_fit import FitPlan, MeasuredWeights, Project

FAILED: Final = 0.5
"""NDCG@10 below which a query is listed as failed."""
_ALL: Final = "all"
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


def quality_lines(found: "Sequence[Measured]", asked: str, pool: int, base: str = "bm25") -> list[str]:
    """The results of questions made from code.

    Args:
        found: the results.
        asked: the value of ``--ask``, or of ``--under``.
        pool: number of rows that are ranked.
        base: what differences are from.
    """
    wide = max(28, *(len(each.name) + 2 for each in found))
    lines = [
        f"{len(found[0].ranks):,} {_ASKED[asked]}, each ranked among {pool:,} functions, types and files",
        f"{'':<{wide}}{'listed':>8}{'Top@1':>8}{'Top@5':>8}{'Top@10':>8}{'MRR':>8}   MRR - {base} (95 % interval)",
    ]
    for each in found:
        m = each.measures
        values = (each.listed, m.top1, m.top5, m.top10, m.mrr)
        cells = "".join(f"{'-':>8}" if math.isnan(value) else f"{value:>8.3f}" for value in values)
        lines.append(f"{each.name:<{wide}}{cells}{_lead(each.lead)}")
    noise = max(((each.lead.high - each.lead.low) / 2 for each in found if each.lead), default=0.0)
    return [
        *lines,
        f"With so many queries, differences of about {noise:.3f} in MRR are significant; queries made from code differ "
        "from typed questions. listed: share of queries whose answer is among the candidates",
    ]


def code_lines(measured: "MeasuredCode", index: Index) -> list[str]:
    """The results of questions that are code."""
    *lines, note = quality_lines(measured.found, measured.asked, len(index))
    for name, each in measured.frames.items():
        low, high = interval(each.right)
        lines.append(
            f"{name}: {each.frames:,} frames, of a trace's {each.right.mean():.3f} ({low:.3f} to {high:.3f}) are "
            f"placed in their function; {each.elsewhere:.3f} of all in another one; all of the trace's in "
            f"{np.mean(each.right == 1):.3f} of the traces; of frames of a library {each.outside:.3f} are placed at all"
        )
    return [*lines, note]


def _lead(lead: Difference | None) -> str:
    return f"   {lead.mean:+.3f} ({lead.low:+.3f} to {lead.high:+.3f}), p = {lead.p_value:.4f}" if lead else ""


def interval(values: Float[np.ndarray, " queries"]) -> tuple[float, float]:
    """The 95 % bootstrap interval of the mean."""
    return bootstrap_interval(values, np.zeros_like(values))


def of_categories(queries: Sequence[TypedQuery]) -> dict[str, list[int]]:
    """Category -> positions of its queries; all of them first."""
    found: dict[str, list[int]] = {_ALL: [*range(len(queries))]}
    for place, each in enumerate(queries):
        found.setdefault(one_line(each.category), []).append(place)
    return found


def query_lines(measured: Sequence[MeasuredQueries], queries: Sequence[TypedQuery], files: int) -> list[str]:
    """The results of typed queries: by category, differences from the whole search, and what failed."""
    places = of_categories(queries)
    wide = max(20, *(len(each.name) + 2 for each in measured))
    what = f"NDCG@10 by file (95 % interval) and the difference from {measured[0].name}"
    lines = [f"{len(queries):,} queries over {files:,} files; {what}", ""]
    for name, own in places.items():
        lines.append(f"{name}, {len(own)} {'queries' if len(own) > 1 else 'query'}")
        for each in measured:
            values = each.values[own]
            low, high = interval(values)
            lead = _lead(each.lead if name == _ALL else None)
            lines.append(f"  {each.name:<{wide}}{values.mean():.3f} ({low:.3f} to {high:.3f}){lead}")
    return [*lines, *_times(measured, wide), *_failures(measured[0], queries)]


def _times(measured: Sequence[MeasuredQueries], wide: int) -> list[str]:
    timed = [(each.name, each.times) for each in measured if each.times]
    what = "seconds: of a question asked again (median); of all, the first time, with the encoding of rows as needed"
    lines = [f"  {name:<{wide}}{own.again:.4f}{own.first:>10.2f}" for name, own in timed]
    return [what, *lines] if lines else []


def _failures(whole: MeasuredQueries, queries: Sequence[TypedQuery]) -> list[str]:
    failed = [place for place in np.argsort(whole.values, kind="stable").tolist() if whole.values[place] < FAILED]
    lines = [f"below {FAILED} with {whole.name}: {len(failed)}"] if failed else []
    for place in failed:
        query, own = queries[place], whole.answers[place]
        first = ", ".join(map(one_line, own.found[:3])) or "nothing"
        ranked = zip(query.paths[:3], own.ranks[:3], strict=True)
        wanted = ", ".join(f"{one_line(path)} ({f'rank {rank}' if rank else 'not found'})" for path, rank in ranked)
        lines.append(f"  {whole.values[place]:.2f}  {one_line(query.text)}: expected {wanted}; found {first}")
    return lines


def as_records(
    measured: Sequence[MeasuredQueries], queries: Sequence[TypedQuery], index: Index, root: str = ""
) -> dict[str, Any]:
    """The results of typed queries as one JSON object; ``root`` as in :func:`answered`."""
    stages = [
        {
            "name": each.name,
            "categories": {name: _summary(each.values[places]) for name, places in of_categories(queries).items()},
            "difference": _difference(each.lead),
            "seconds": None if each.times is None else asdict(each.times),
            "queries": [
                {
                    "query": query.text,
                    "category": query.category,
                    "ndcg": round(float(own.ndcg), 6),
                    "found": list(own.found),
                }
                for query, own in zip(queries, each.answers, strict=True)
            ],
        }
        for each in measured
    ]
    why = reasons(measured, queries, index, root)
    return {"measure": "NDCG@10 by file", "files": len(index.files), "stages": stages, "why": why}


def reasons(
    measured: Sequence[MeasuredQueries], queries: Sequence[TypedQuery], index: Index, root: str = ""
) -> list[dict[str, Any]]:
    """For each query where its relevant files were found by each stage, with which of its words, and what was before.

    What was before are the first files of the whole search that are not relevant, up to the last relevant one.
    """
    paths = [seen(root, file.path) for file in index.files]
    numbers = {path: number for number, path in enumerate(paths)}
    found = []
    for place, query in enumerate(queries):
        stems = stemmed(words_of(query.text))
        whole = measured[0].answers[place]
        relevant = []
        for number, path in enumerate(query.paths):
            there = next((file for file, own in enumerate(paths) if same_file(own, path)), None)
            relevant.append(
                {
                    "path": path,
                    "indexed": "" if there is None else index.files[there].path,
                    "ranks": {each.name: each.answers[place].ranks[number] or None for each in measured},
                    "words": {} if there is None else words_in(index, there, stems),
                }
            )
        last = DEPTH if 0 in whole.ranks else max(whole.ranks)
        before = [path for path in whole.found[:last] if not any(same_file(path, own) for own in query.paths)]
        others = [
            {"path": index.files[numbers[path]].path, "words": words_in(index, numbers[path], stems)} for path in before
        ]
        told = {"query": query.text, "category": query.category, "ndcg": round(float(whole.ndcg), 6)}
        found.append({**told, "relevant": relevant, "before": others})
    return found


def words_in(index: Index, file: int, stems: Mapping[str, str]) -> dict[str, list[str]]:
    """The words that a file has, and where: in its text, comments, name (stem) or folders."""
    found = {}
    for word, stem in stems.items():
        files, counts = index.whole.postings(stem)
        place = int(np.searchsorted(files, file))
        if place < len(files) and files[place] == file:
            found[word] = [kind for kind, times in counts.items() if times[place]]
    return found


def _summary(values: Float[np.ndarray, " queries"]) -> dict[str, float | int]:
    low, high = interval(values)
    return {"queries": len(values), "ndcg": float(values.mean()), "low": low, "high": high}


def _difference(lead: Difference | None) -> dict[str, float] | None:
    return None if lead is None else {name: getattr(lead, name) for name in ("mean", "low", "high", "p_value")}


def fit_record(
    projects: "Mapping[str, Project[Any]]", plan: "FitPlan[Any]", measured: "Sequence[MeasuredWeights[Any]]"
) -> dict[str, Any]:
    """The results as one JSON object."""
    sizes = {
        name: {"queries": len(each.asked.queries), "files": len(each.index.files), "rows": len(each.index)}
        for name, each in projects.items()
    }
    settings = [
        {
            "name": each.name,
            "mean": each.mean,
            "ndcg": dict(each.values),
            "weights": {name: asdict(weights) for name, weights in each.weights.items()},
        }
        for each in measured
    ]
    return {"measure": f"NDCG@10 by file, {plan.what}", "projects": sizes, "settings": settings}


def fit_lines(
    projects: "Mapping[str, Project[Any]]", plan: "FitPlan[Any]", measured: "Sequence[MeasuredWeights[Any]]"
) -> list[str]:
    """The results as text: a line per setting, a column per project."""
    asked = sum(len(each.asked.queries) for each in projects.values())
    shown, first = [one_line(name) for name in projects], max(len(each.name) for each in measured)
    wide = [max(8, len(name) + 2) for name in shown]

    def line(name: str, cells: Iterable[str], mean: str) -> str:
        return f"{name:<{first}}{''.join(f'{cell:>{w}}' for cell, w in zip(cells, wide, strict=True))}{mean:>9}"

    own = measured[-1].weights.items()
    return [
        f"{asked:,} queries about {len(projects)} projects; NDCG@10 by file, {plan.what}, and the projects' mean",
        line("", shown, "mean"),
        line("queries", (f"{len(each.asked.queries):,}" for each in projects.values()), ""),
        line("files", (f"{len(each.index.files):,}" for each in projects.values()), ""),
        *(line(each.name, (f"{value:.3f}" for value in each.values.values()), f"{each.mean:.4f}") for each in measured),
        "the weights that were fitted on the others:",
        *(f"  {one_line(n)}: {', '.join(f'{field} {v:g}' for field, v in asdict(w).items())}" for n, w in own),
    ]
