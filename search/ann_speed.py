"""How nearest-neighbour search grows: ``bash run.sh speed ann`` measures it at 10,000, 100,000 and 1,000,000 functions.

The vectors are those that the shipped bi-encoder makes of the JDK's functions; beyond their number they are repeated
with noise of a tenth of their length. Questions are those made from comments. Each engine runs in a process of its own,
on one thread, one after the other; one that takes too long is given up, which the table says. The command writes
``ann-speed.json`` and ``ann-speed.md`` to ``experiments/results/``.
"""

import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np
from jaxtyping import Float16

from data_prep.config import DataConfig
from data_prep.datasets.jdk import Jdk
from data_prep.files.atomic import naming, write_atomically
from evaluation.json_records import to_json
from evaluation.provenance import Machine, code_version, machine
from recipes.config import REPOSITORY
from retrieval.ann.exact import ExactVectors, VectorIndex
from retrieval.ann.faiss_index import FaissVectors
from retrieval.ann.milvus import MilvusVectors
from search.index.build import refresh
from search.index.code_index import open_index
from search.index.vector_encoding import refresh_vectors, row_encoder
from search.index.vector_file import open_vectors, vectors_path
from search.quality.questions import of_comments
from terminal.console import say, show

SIZES: Final = (10_000, 100_000, 1_000_000)
ENGINES: Final[dict[str, Callable[[np.ndarray, Path], VectorIndex]]] = {
    "exact": lambda vectors, _: ExactVectors(vectors),
    "faiss": lambda vectors, _: FaissVectors(vectors),
    "milvus": lambda vectors, folder: MilvusVectors(vectors, str(folder / "vectors.db")),
}
TOP: Final = 15
NOISE: Final = 0.1
_QUESTIONS: Final = 100
_LIMIT: Final = 240
"""Seconds after which an engine is given up."""
_BLOCK: Final = 50_000


@dataclass(frozen=True, slots=True)
class Growth:
    """One engine over one number of rows."""

    engine: str
    rows: int
    build_seconds: float | None = None  # None: it was given up after the limit
    memory_mb: float | None = None  # that its process holds once it answers, without mapped files; None: not measured
    disk_mb: float | None = None  # beside the vectors themselves
    median_ms: float | None = None  # of a question
    p95_ms: float | None = None
    recall: float | None = None  # of the exact TOP, ties with the last one counted as found


@dataclass(frozen=True, slots=True)
class AnnSpeed:
    """All measurements."""

    origin: str
    real_rows: int  # rows whose vectors have no noise
    dim: int
    questions: int
    top: int
    limit_seconds: int
    growth: list[Growth]
    code_version: str
    date: str
    machine: Machine


def measure_ann(module: str = "java.base") -> AnnSpeed:
    """Measure all on the JDK's sources, and write it to ``experiments/results/``."""
    jdk = Jdk(DataConfig(root=str(REPOSITORY / "data")))
    with tempfile.TemporaryDirectory() as name, naming(Path(name)):
        folder = Path(name)
        for file in jdk.java_files():
            if file.path.split("/")[0] == module:
                place = folder / "sources" / file.path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(file.data)
        path = folder / "index"
        refresh(folder / "sources", path, processes=0, tell=lambda *_: None)
        refresh_vectors(row_encoder(), path, lambda *_: None)
        found = measured(path, f"{jdk.origin()}, {module}", folder)
    results = REPOSITORY / "experiments" / "results"
    write_atomically(results / "ann-speed.json", json.dumps(to_json(found), indent=1) + "\n")
    write_atomically(results / "ann-speed.md", markdown(found))
    show(f"\n{markdown(found)}")
    return found


def measured(index: Path, origin: str, folder: Path) -> AnnSpeed:
    """All measurements over the vectors beside the file ``index``, shuffled; ``folder``: for what is written."""
    stored = np.array(open_vectors(vectors_path(index)).vectors)
    real, encoder = np.random.default_rng(0).permutation(stored), row_encoder()
    asked = np.concatenate([encoder.query(words) for words in of_comments(open_index(index), _QUESTIONS, 0).words])
    growth = [each for size in SIZES for each in _grown(real, asked, size, folder)]
    return AnnSpeed(
        origin=origin,
        real_rows=len(real),
        dim=real.shape[1],
        questions=len(asked),
        top=TOP,
        limit_seconds=_LIMIT,
        growth=growth,
        code_version=code_version(REPOSITORY),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=machine(),
    )


def grown(real: Float16[np.ndarray, "real dim"], rows: int, path: Path) -> Float16[np.ndarray, "rows dim"]:
    """So many vectors of length 1 in the file ``path``, mapped: the real ones, then these with noise, repeatedly."""
    random = np.random.default_rng(1)
    vectors = np.lib.format.open_memmap(path, "w+", np.float16, (rows, real.shape[1]))
    first = min(rows, len(real))
    vectors[:first] = real[:first]
    for start in range(first, rows, _BLOCK):
        places = np.arange(start, min(start + _BLOCK, rows)) % len(real)
        noise = random.standard_normal((len(places), real.shape[1]), np.float32) * NOISE / np.sqrt(real.shape[1])
        block = real[places].astype(np.float32) + noise
        vectors[start : start + len(places)] = block / np.maximum(np.linalg.norm(block, axis=1, keepdims=True), 1e-6)
    vectors.flush()
    return vectors


def _grown(real: np.ndarray, asked: np.ndarray, rows: int, folder: Path) -> list[Growth]:
    """Each engine over so many rows; the exact one first, by which the others are judged."""
    path, best = folder / "vectors.npy", folder / "best.npy"
    grown(real, rows, path)
    np.save(folder / "asked.npy", asked)
    found = []
    for engine in ENGINES:
        say(f"{engine}: {rows:,} vectors")
        with tempfile.TemporaryDirectory(dir=folder) as own:
            found.append(_apart(engine, path, folder / "asked.npy", best, Path(own)) or Growth(engine, rows))
    return found


def _apart(engine: str, vectors: Path, asked: Path, best: Path, own: Path) -> Growth | None:
    """Measure in a process of its own; None: it took too long."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_measured, args=(engine, vectors, asked, best, own, sender))
    process.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(_LIMIT) else None
    except EOFError as error:
        raise ValueError(f"the process that measures {engine} ended before it was done, perhaps for memory") from error
    finally:
        process.kill()
        process.join()


def _measured(engine: str, path: Path, asked_at: Path, best_at: Path, own: Path, sender: object) -> None:
    """What :func:`_apart` runs."""
    asked, vectors = np.load(asked_at), np.load(path, mmap_mode="r")
    np.linalg.norm(asked @ asked.T)  # the libraries' own memory is not the engine's
    before = _held_mb()
    started = time.perf_counter()
    index = ENGINES[engine](vectors, own)
    built = time.perf_counter() - started
    taken, hits = [], []
    for query in asked:
        started = time.perf_counter()
        scores, _ = index.search(query[None], TOP)
        taken.append(1000 * (time.perf_counter() - started))
        hits.append(scores[0])
    found = np.array(hits)
    if engine == "exact":
        np.save(best_at, found)
    last = np.load(best_at)[:, -1:] if best_at.exists() else np.full((len(asked), 1), np.nan)
    median, late = np.quantile(taken[len(taken) // 5 :], [0.5, 0.95]).tolist()
    recall = float((found >= last - 1e-6).mean())
    disk = sum(file.stat().st_size for file in own.rglob("*") if file.is_file()) / 1e6
    told = Growth(engine, len(vectors), built, _held_mb() - before, disk, median, late, recall)
    sender.send(told)  # type: ignore[attr-defined]
    index.close()


def _held_mb() -> float:
    """Memory of this process that no file backs (Linux; elsewhere its largest size so far)."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    held = [int(line.split()[1]) for line in lines if line.startswith("RssAnon:")]
    return held[0] / 1024 if held else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def markdown(found: AnnSpeed) -> str:
    """The table in Markdown."""
    lines = [
        f"{found.real_rows:,} vectors of functions ({found.origin}; {found.dim} dimensions, 16 bits), and beyond "
        f"the same with noise; {found.questions} questions, one thread; {found.machine.cpu}, {found.machine.cores} "
        f"cores; {found.date[:10]}, code {found.code_version}.",
        "",
        f"| engine | functions | ready in | memory | disk | a question | 95 % | recall@{found.top} |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        *(_row(each, found.limit_seconds) for each in found.growth),
    ]
    return "\n".join(lines) + "\n"


def _row(each: Growth, limit: int) -> str:
    if each.build_seconds is None:
        return f"| {each.engine} | {each.rows:,} | not within {limit} s | | | | | |"
    memory = "" if each.memory_mb is None else f"{each.memory_mb:,.0f} MiB"
    return (
        f"| {each.engine} | {each.rows:,} | {each.build_seconds:.1f} s | {memory} | "
        f"{each.disk_mb:,.0f} MB | {each.median_ms:.1f} ms | {each.p95_ms:.1f} ms | {each.recall:.3f} |"
    )
