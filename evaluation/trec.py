"""An evaluation as TREC run and qrels files, for trec_eval, ir_measures and ranx.

The run lists the ``run_depth`` best codes of each query, so a gold beyond that depth counts 0 in those tools: their RR
is our MRR truncated at that depth, their Success@k our Top@k. They sort by score, and ties by name, in single
precision, so the scores written here strictly decrease, with the gold last among its ties as in our ranks.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

import numpy as np
from jaxtyping import Float32

from data_prep.files.atomic import atomic_file
from data_prep.store.prepared_data import Split
from evaluation.evaluator import Evaluation

_LEAST_STEP: Final = np.float32(1e-9)


def query_ids(evaluation: Evaluation) -> list[str]:
    """A name for each query: ``q`` and its row in the split."""
    return [f"q{row}" for row in evaluation.rows.tolist()]


def code_ids(pool: Split) -> list[str]:
    """A name for each code, ``origin/path:line``, percent-encoded; ``#2`` marks a second code on the same line."""
    ids, seen = [], dict[str, int]()
    for row in range(len(pool)):
        text = pool.text(row)
        name = f"{_plain(text.origin)}/{_plain(text.path)}:{text.start_line}"
        seen[name] = seen.get(name, 0) + 1
        ids.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return ids


def write_qrels(evaluation: Evaluation, path: Path) -> None:
    """Write the qrels, ``query 0 code 1``, the same for all rankers of a pool.

    Raises:
        OSError: the file cannot be written.
    """
    queries, codes = query_ids(evaluation), code_ids(evaluation.pool)
    sought = zip(queries, sought_codes(evaluation), strict=True)
    _write(path, (f"{query} 0 {codes[code]} 1\n" for query, rows in sought for code in rows))


def sought_codes(evaluation: Evaluation) -> list[list[int]]:
    """The rows in the pool of the codes that each query seeks."""
    golds = evaluation.golds.tolist()
    return [[gold] if evaluation.sought is None else evaluation.sought.codes[gold].tolist() for gold in golds]


def write_run(evaluation: Evaluation, path: Path, *, tag: str) -> None:
    """Write the run, ``query Q0 code rank score tag``.

    Raises:
        OSError: the file cannot be written.
    """
    lines = _run_lines(evaluation, query_ids(evaluation), code_ids(evaluation.pool), _plain(tag, safe=""))
    _write(path, lines)


def _plain(text: str, safe: str = "/") -> str:
    """``text`` percent-encoded, including bytes of file names that are not UTF-8."""
    return quote(text, safe, errors="backslashreplace")


def strictly_decreasing(scores: Float32[np.ndarray, "queries depth"]) -> Float32[np.ndarray, "queries depth"]:
    """The scores, each lowered by as little as needed to be smaller than the one before it."""
    largest = np.finfo(np.float32).max / 2
    lowered = np.clip(scores, -largest, largest)
    for place in range(1, lowered.shape[1]):
        before = lowered[:, place - 1]
        step = np.maximum(np.spacing(np.abs(before)), _LEAST_STEP)
        lowered[:, place] = np.minimum(lowered[:, place], before - step)
    return lowered


def _run_lines(evaluation: Evaluation, queries: list[str], codes: list[str], tag: str) -> Iterator[str]:
    scores = strictly_decreasing(evaluation.top_scores)
    for query, top, row in zip(queries, evaluation.top_codes.tolist(), scores, strict=True):
        for rank, (code, score) in enumerate(zip(top, row, strict=True), start=1):
            yield f"{query} Q0 {codes[code]} {rank} {score:.9g} {tag}\n"


def _write(path: Path, lines: Iterator[str]) -> None:
    with atomic_file(path) as new, new.open("w", encoding="ascii", newline="\n") as file:
        file.writelines(lines)
