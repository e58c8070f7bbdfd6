"""The speed of the search: ``bash run.sh speed search`` measures it on the JDK's sources, on the CPU.

It makes, updates and opens an index of ``java.base`` with its vectors, and runs queries with the model and by BM25
alone, one at a time. It writes ``search-speed.json`` and ``search-speed.md`` to ``experiments/results/``.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np

from data_prep.config import DataConfig
from data_prep.datasets.jdk import Jdk
from data_prep.files.atomic import naming, write_atomically
from evaluation.json_records import to_json
from evaluation.provenance import Machine, code_version, machine, peak_memory_mb
from experiments.recipes.config import REPOSITORY
from experiments.recipes.results_folder import RESULTS
from experiments.terminal.console import say, show
from search.engine.engine import Engine
from search.engine.signals import Reranker
from search.index.build import refresh
from search.index.code_index import Index
from search.index.dense_retriever import DenseRetriever, near_rows
from search.index.index_file import open_index, read_head
from search.index.vector_encoding import refresh_vectors, row_encoder
from search.index.vector_file import up_to_date, vectors_path
from search.opening import reranker_maker
from search.quality.questions import of_comments


@dataclass(frozen=True, slots=True)
class QueryTime:
    """Milliseconds per query, after a warm-up."""

    name: str
    median: float
    p95: float


@dataclass(frozen=True, slots=True)
class SearchSpeed:
    """All measurements."""

    origin: str
    rows: int  # methods and types
    files: int
    index_seconds: float  # from scratch
    vectors_seconds: float  # from scratch for this index, including loading their model
    peak_memory_mb: float  # of making both, in the largest process
    bytes_a_row: float  # on disk
    bytes_a_vector: float  # the same for the vectors beside it
    unchanged_seconds: float  # a second run over the same files
    one_file_seconds: float  # a run after one file changed
    open_seconds: float
    reader_seconds: float  # loading the model, and turning the rows into its word ids
    finder_seconds: float  # opening the vectors, and loading their model
    queries: int
    shortlist: int
    times: list[QueryTime]
    processes: int
    code_version: str
    date: str
    machine: Machine


def measure_search(queries: int = 300, modules: Sequence[str] = ("java.base",)) -> SearchSpeed:
    """Measure all on the JDK's sources, and write it to ``experiments/results/``."""
    jdk = Jdk(DataConfig(root=str(REPOSITORY / "data")))
    with tempfile.TemporaryDirectory() as folder, naming(Path(folder)):
        root = Path(folder) / "sources"
        for file in jdk.java_files():
            if file.path.split("/")[0] in modules:
                place = root / file.path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(file.data)
        found = _measured(root, Path(folder) / "index", jdk.origin(), queries)
    RESULTS.mkdir(parents=True, exist_ok=True)
    write_atomically(RESULTS / "search-speed.json", json.dumps(to_json(found), indent=1) + "\n")
    write_atomically(RESULTS / "search-speed.md", markdown(found))
    show(f"\n{markdown(found)}")
    return found


def _measured(root: Path, path: Path, origin: str, queries: int) -> SearchSpeed:
    processes = os.cpu_count() or 1

    def refreshed() -> float:
        return _seconds(lambda: refresh(root, path, processes=processes, tell=lambda *_: None))

    say("an index, made anew, unchanged and after one file changed")

    def vectorised() -> float:
        return _seconds(lambda: refresh_vectors(row_encoder(), path, lambda *_: None))

    made, vectors = refreshed(), vectorised()
    peak = peak_memory_mb()
    unchanged = min(refreshed() + _seconds(lambda: up_to_date(path, "")) for _ in range(3))
    changed = next(iter(sorted(root.rglob("*.java"))))
    changed.write_bytes(changed.read_bytes() + b"\n")
    one_file = refreshed() + vectorised()
    opened = min(_seconds(lambda: open_index(path)) for _ in range(3))
    index = open_index(path)
    started = time.perf_counter()
    reranker = reranker_maker("")(index)  # as a server makes it
    loaded = time.perf_counter() - started
    started = time.perf_counter()
    retriever = near_rows(path, read_head(path).content, len(index), "")
    found = time.perf_counter() - started
    return SearchSpeed(
        origin=origin,
        rows=len(index),
        files=len(index.files),
        index_seconds=made,
        vectors_seconds=vectors,
        peak_memory_mb=peak,
        bytes_a_row=path.stat().st_size / len(index),
        bytes_a_vector=vectors_path(path).stat().st_size / len(index),
        unchanged_seconds=unchanged,
        one_file_seconds=one_file,
        open_seconds=opened,
        reader_seconds=loaded,
        finder_seconds=found,
        queries=queries,
        shortlist=Engine(index, None).ranking.shortlist,
        times=_query_times(index, reranker, retriever, queries),
        processes=processes,
        code_version=code_version(REPOSITORY),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=machine(),
    )


def _query_times(index: Index, reranker: Reranker, retriever: DenseRetriever, queries: int) -> list[QueryTime]:
    """Times of queries made from comments of the index itself; the first half is a warm-up."""
    asked = [" ".join(words) for words in of_comments(index, 2 * queries, 0).words]
    engines = {
        "BM25 alone": Engine(index, None),
        "with the model and vectors": Engine(index, reranker, retriever=retriever),
        "with the model alone": Engine(index, reranker),
    }
    found = []
    for name, engine in engines.items():
        say(f"queries: {name}")
        taken = [1000 * _seconds(partial(engine.search, query)) for query in asked]
        median, late = np.quantile(taken[len(taken) // 2 :], [0.5, 0.95]).tolist()
        found.append(QueryTime(name, median, late))
    return found


def _seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def markdown(found: SearchSpeed) -> str:
    """The tables in Markdown."""
    lines = [
        f"{found.origin}, {found.rows:,} methods and types of {found.files:,} files; {found.machine.cpu}, "
        f"{found.machine.cores} cores; {found.date[:10]}, code {found.code_version}.",
        "",
        "| index | |",
        "|---|---:|",
        f"| made anew, {found.processes} processes | {found.index_seconds:.1f} s |",
        f"| its vectors, made anew after that | {found.vectors_seconds:.1f} s |",
        f"| largest process | {found.peak_memory_mb:,.0f} MiB |",
        f"| on disk | {found.bytes_a_row:,.0f} bytes a method or type, {found.bytes_a_vector:,.0f} its vector |",
        f"| nothing changed, both | {1000 * found.unchanged_seconds:.0f} ms |",
        f"| one file changed, both | {found.one_file_seconds:.2f} s |",
        f"| opened | {found.open_seconds:.2f} s |",
        f"| model loaded and ready for all rows | {found.reader_seconds:.2f} s |",
        f"| vectors and their model opened | {found.finder_seconds:.2f} s |",
        "",
        f"| a query, {found.queries} of them; shortlist {found.shortlist} | median | 95 % |",
        "|---|---:|---:|",
        *(f"| {each.name} | {each.median:.1f} ms | {each.p95:.1f} ms |" for each in found.times),
    ]
    return "\n".join(lines) + "\n"
