"""The files of an evaluation: its queries with their ranks, as JSON Lines and as CSV, and the TREC files.

A test has a folder: that of its run, one of a later test, or one of another data set that was tested too.

The TREC files are for trec_eval, ir_measures and ranx. The run lists the ``run_depth`` best codes of each query, so a
gold beyond that depth counts 0 in those tools: their RR is our MRR truncated at that depth, their Success@k our Top@k.
They sort by score, and ties by name, in single precision, so the scores written here strictly decrease, with the gold
last among its ties as in our ranks.
"""

import csv
import io
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import quote

import numpy as np
from jaxtyping import Float32

from data_prep.errors import UserError
from data_prep.files.access import read_whole, reason
from data_prep.files.json_text import from_json, parse_json
from data_prep.files.writing import atomic_file, write_atomically
from data_prep.installation import without_paths
from data_prep.store.split import Split
from evaluation.evaluator import Evaluation
from evaluation.queries import QueryFacts, query_facts

RANKS: Final = "ranks.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRank:
    """A query of a test: its rank, and what its pair is."""

    query: str  # its name in the TREC files
    rank: int
    better: int = 0  # codes that scored higher
    tied: int = 0  # other codes that scored the same
    text: str = ""
    code: str = ""  # type and name of its method
    place: str = ""  # the name of its method in the TREC files
    words: int = 0  # of the query
    distinct: int = 0  # stems of the query
    shared: int = 0  # of these, those of its method too
    code_words: int = 0  # tokens of its method
    seen: bool = False  # whether the model was trained on the pair, or on a copy
    controls: Mapping[str, int] = field(default_factory=dict)  # name of another ranker -> its rank


def write_evaluation(
    evaluation: Evaluation, folder: Path, *, tag: str, controls: Mapping[str, Evaluation], seen: Collection[int] = ()
) -> None:
    """Write the files of a test; each of ``controls`` has a run file and a column of its own.

    Args:
        evaluation: of the model.
        folder: is created.
        tag: the model's name.
        controls: other rankers on the same queries.
        seen: the queries that the model was trained on, by their places.

    Raises:
        OSError: a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lines = query_ranks(evaluation, controls, frozenset(seen))
    rows = "".join(f"{json.dumps(asdict(line), ensure_ascii=False)}\n" for line in lines)
    for name, text in ((RANKS, rows), ("ranks.csv", as_csv(*_columns(lines, [*controls])))):
        write_atomically(folder / name, text.encode(errors="backslashreplace"))  # half a character of a data set
    write_qrels(evaluation, folder / "qrels.trec")
    write_run(evaluation, folder / "run.trec", tag=tag)
    for name, other in controls.items():
        write_run(other, folder / f"run-{name}.trec", tag=name)


def query_ranks(
    evaluation: Evaluation, controls: Mapping[str, Evaluation], seen: Collection[int] = ()
) -> list[QueryRank]:
    """The queries of a test, in order."""
    asked, codes = evaluation.pool.take(evaluation.golds), code_ids(evaluation.pool)
    facts = query_facts(asked, dataset="", origin="")
    others = {name: other.ranks.tolist() for name, other in controls.items()}
    found = []
    for place, (query, gold) in enumerate(zip(query_ids(evaluation), evaluation.golds.tolist(), strict=True)):
        text = asked.text(place)
        found.append(
            QueryRank(
                query=query,
                rank=int(evaluation.ranks[place]),
                better=int(evaluation.better[place]),
                tied=int(evaluation.tied[place]),
                text=text.query_text,
                code=".".join(filter(None, (text.type_name, text.method_name))),
                place=codes[gold],
                words=facts.words[place],
                distinct=facts.distinct[place],
                shared=facts.shared[place],
                code_words=facts.code_words[place],
                seen=place in seen,
                controls={name: ranks[place] for name, ranks in others.items()},
            )
        )
    return found


def load_query_ranks(folder: Path) -> list[QueryRank]:
    """The queries of a test.

    Raises:
        UserError: their file is missing or damaged.
    """
    path = folder / RANKS
    try:
        lines = read_whole(path).splitlines()
    except OSError as error:
        raise UserError(f"expected the ranks of a test in {path}, but it cannot be read: {reason(error)}") from error
    return [from_json(QueryRank, parse_json(line), f"{path}: line {n}") for n, line in enumerate(lines, start=1)]


def facts_of(lines: Sequence[QueryRank], fingerprint: str, split: str) -> QueryFacts | None:
    """The facts of the queries of a test; None if an earlier version saved it without them."""
    if not any(line.words for line in lines):
        return None
    numbers: dict[str, int] = {}
    return QueryFacts(
        dataset="",
        origin="",
        fingerprint=fingerprint,
        split=split,
        words=[line.words for line in lines],
        distinct=[line.distinct for line in lines],
        shared=[line.shared for line in lines],
        files=[numbers.setdefault(file, len(numbers)) for file in _files(lines)],
        code_words=[line.code_words for line in lines],
    )


def _files(lines: Sequence[QueryRank]) -> list[str]:
    """The file of each query's method; of a release with one path for all, each stands for itself."""
    files = [line.place.rpartition(":")[0] for line in lines]
    return files if len(set(files)) > 1 else [line.query for line in lines]


def folder_of_test(folder: Path, dataset: str) -> Path:
    """Where the files of another data set that was tested too are, by its name among the results."""
    return folder / "also" / re.sub(r"[^\w.-]+", "_", without_paths(dataset))


def as_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV; missing values are empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def _columns(lines: Sequence[QueryRank], controls: Sequence[str]) -> tuple[list[str], list[list[object]]]:
    names = [name for name in QueryRank.__dataclass_fields__ if name != "controls"]
    header = [*names, *(f"rank of {name}" for name in controls)]
    rows = [[*(getattr(line, each) for each in names), *(line.controls[each] for each in controls)] for line in lines]
    return header, rows


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
