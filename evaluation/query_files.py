"""The files of an evaluation: its queries with their ranks, as JSON Lines and as CSV, and the TREC files.

A test has a folder: that of its run, one of a later test, or one of another data set that was tested too.
"""

import csv
import io
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from data_prep.files.json_text import parse_json
from data_prep.files.reading import read_whole
from evaluation.evaluator import Evaluation
from evaluation.json_records import from_json
from evaluation.provenance import without_paths
from evaluation.queries import QueryFacts, query_facts
from evaluation.trec import code_ids, query_ids, write_qrels, write_run

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
    evaluation: Evaluation,
    folder: Path,
    *,
    tag: str,
    controls: Mapping[str, Evaluation],
    seen: Collection[int] = (),
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
    lines = [asdict(each) for each in query_ranks(evaluation, controls, frozenset(seen))]
    rows = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
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
        raise UserError(f"expected the ranks of a test in {path}, but it cannot be read: {error}") from error
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


def _columns(lines: Sequence[Mapping[str, object]], controls: Sequence[str]) -> tuple[list[str], list[list[object]]]:
    names = [name for name in QueryRank.__dataclass_fields__ if name != "controls"]
    header = [*names, *(f"rank of {name}" for name in controls)]
    rows = []
    for line in lines:
        others = line["controls"]
        assert isinstance(others, Mapping)
        rows.append([*(line[name] for name in names), *(others[name] for name in controls)])
    return header, rows
