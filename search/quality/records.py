"""The search measured by typed questions, as one JSON object: by stage and category, and why each question fails.

``quality --json`` prints it and the page shows it (docs/search-quality.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from jaxtyping import Float

from evaluation.significance import Difference
from search.engine.file_ranking import stemmed
from search.engine.question import words_of
from search.index.code_index import Index
from search.quality.query_file import TypedQuery
from search.quality.typed_queries import DEPTH, MeasuredQueries, interval, of_categories, same_file, seen


def as_records(
    measured: Sequence[MeasuredQueries], queries: Sequence[TypedQuery], index: Index, root: str = ""
) -> dict[str, Any]:
    """The results as one JSON object; ``root`` as in :func:`answered`."""
    stages = [
        {
            "name": each.name,
            "categories": {name: _summary(each.values[places]) for name, places in of_categories(queries).items()},
            "difference": None if each.lead is None else _difference(each.lead),
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


def _difference(lead: Difference) -> dict[str, float]:
    return {"mean": lead.mean, "low": lead.low, "high": lead.high, "p_value": lead.p_value}
