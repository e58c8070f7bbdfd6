"""How nearest-neighbour search grows: ``bash run.sh speed ann`` measures it at 10,000, 100,000 and 1,000,000 functions.

The vectors are those that the shipped bi-encoder makes of the JDK's functions, or those of an index that is named;
beyond their number they are repeated with noise of a tenth of their length. Questions are those made from comments.
Each engine runs in a process of its own, on one thread, one after the other. One that takes too long or fails is given
up, also for larger numbers, which the table says; the others go on. The command writes ``ann-speed.json`` and
``ann-speed.md`` to ``experiments/results/``.
"""

import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float16

from data_prep.config import DataConfig
from data_prep.datasets.jdk import Jdk
from data_prep.errors import UserError
from data_prep.files.atomic import naming, write_atomically
from data_prep.files.named_paths import named_path
from evaluation.json_records import to_json
from evaluation.provenance import Machine, code_version, machine, peak_memory_mb
from experiments.recipes.config import REPOSITORY
from experiments.recipes.results_folder import results_folder
from experiments.terminal.console import say, show
from experiments.terminal.options import parsed
from search.ann_options import AnnSpeedOptions
from search.index.build import refresh
from search.index.index_file import open_index
from search.index.vector_encoding import refresh_vectors, row_encoder
from search.index.vector_file import open_vectors, vectors_path
from search.quality.questions import of_comments
from search.retrieval.ann.exact import ExactVectors, VectorIndex
from search.retrieval.ann.faiss_index import FaissVectors
from search.retrieval.ann.milvus import MilvusVectors

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

ENGINES: Final[dict[str, Callable[[np.ndarray, Path], VectorIndex]]] = {
    "exact": lambda vectors, _: ExactVectors(vectors),
    "faiss": lambda vectors, _: FaissVectors(vectors),
    "milvus": lambda vectors, folder: MilvusVectors(vectors, str(folder / "vectors.db")),
}
TOP: Final = 15
NOISE: Final = 0.1
_QUESTIONS: Final = 100
_BLOCK: Final = 50_000


@dataclass(frozen=True, slots=True)
class Growth:
    """One engine over one number of rows."""

    engine: str
    rows: int
    trouble: str = ""  # why it was given up; "": it was measured
    build_seconds: float | None = None
    memory_mb: float | None = None  # that its process holds once it answers, without mapped files and what was before
    peak_mb: float | None = None  # the largest that its process held, with mapped files, libraries and the vectors
    disk_mb: float | None = None  # beside the vectors themselves
    median_ms: float | None = None  # of a question
    p95_ms: float | None = None
    recall: float | None = None  # of the exact TOP, ties with the last one counted as found; None: exact was given up


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


def measure_ann(arguments: Sequence[str]) -> None:
    """Measure all, print and save it.

    Raises:
        UserError: a wrong option, or the named index has no vectors or too few comments.
    """
    words, options = parsed(arguments, AnnSpeedOptions)
    if words:
        raise UserError(f"bash run.sh speed ann takes options only, not {' '.join(words)}")
    results = results_folder([{"ann": asdict(options)}], [{"ann": asdict(AnnSpeedOptions())}], options.out)
    with tempfile.TemporaryDirectory() as name, naming(Path(name)):
        if options.index:
            path = named_path(options.index)
            found = measured(path, f"index {path.parent.name}", Path(name), options)
        else:
            path, origin = _indexed_jdk(Path(name))
            found = measured(path, origin, Path(name), options)
    results.mkdir(parents=True, exist_ok=True)
    write_atomically(results / "ann-speed.json", json.dumps(to_json(found), indent=1) + "\n")
    write_atomically(results / "ann-speed.md", markdown(found))
    show(f"\n{markdown(found)}")


def _indexed_jdk(folder: Path, module: str = "java.base") -> tuple[Path, str]:
    """An index of a module of the JDK with its vectors, and what it is of."""
    jdk = Jdk(DataConfig(root=str(REPOSITORY / "data")))
    for file in jdk.java_files():
        if file.path.split("/")[0] == module:
            place = folder / "sources" / file.path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.data)
    path = folder / "index"
    refresh(folder / "sources", path, processes=os.cpu_count() or 1, tell=lambda *_: None)
    refresh_vectors(row_encoder(), path, lambda *_: None)
    return path, f"{jdk.origin()}, {module}"


def measured(index: Path, origin: str, folder: Path, options: AnnSpeedOptions) -> AnnSpeed:
    """All measurements over the vectors beside the file ``index``, shuffled; ``folder``: for what is written.

    Raises:
        UserError: there are no vectors by the shipped bi-encoder, or too few comments.
    """
    encoder = row_encoder()
    stored = open_vectors(vectors_path(index))
    if stored.head.model != encoder.model:
        raise UserError(f"the vectors beside {index} are not by the shipped model: make them by `bash run.sh index`")
    real = np.random.default_rng(0).permutation(np.array(stored.vectors))
    asked = np.concatenate([encoder.query(words) for words in of_comments(open_index(index), _QUESTIONS, 0).words])
    growth: list[Growth] = []
    for size in sorted(options.sizes):
        given_up = {each.engine: each for each in growth if each.trouble}
        growth += _grown(real, asked, size, folder, options.limit, given_up)
    return AnnSpeed(
        origin=origin,
        real_rows=len(real),
        dim=real.shape[1],
        questions=len(asked),
        top=TOP,
        limit_seconds=options.limit,
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


def _grown(
    real: np.ndarray, asked: np.ndarray, rows: int, folder: Path, limit: int, given_up: Mapping[str, Growth]
) -> list[Growth]:
    """Each engine over so many rows but those given up; the exact one first, by which the others are judged."""
    path, best = folder / "vectors.npy", folder / "best.npy"
    grown(real, rows, path)
    best.unlink(missing_ok=True)
    np.save(folder / "asked.npy", asked)
    found = []
    for engine in ENGINES:
        if engine in given_up:
            found.append(Growth(engine, rows, f"not tried, since given up at {given_up[engine].rows:,}"))
            continue
        say(f"{engine}: {rows:,} vectors")
        with tempfile.TemporaryDirectory(dir=folder) as own:
            found.append(_apart(engine, rows, limit, path, folder / "asked.npy", best, Path(own)))
        say(_row(found[-1]))
    return found


def _apart(engine: str, rows: int, limit: int, vectors: Path, asked: Path, best: Path, own: Path) -> Growth:
    """Measure in a process of its own."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_measured, args=(engine, vectors, asked, best, own, sender))
    process.start()
    sender.close()
    try:
        if not receiver.poll(limit):
            return Growth(engine, rows, f"not within {limit} s")
        told: Growth = receiver.recv()
        return told
    except EOFError:
        process.join()
        return Growth(engine, rows, f"its process ended with the exit code {process.exitcode}, perhaps for memory")
    finally:
        process.kill()
        process.join()


def _measured(engine: str, path: Path, asked_at: Path, best_at: Path, own: Path, sender: "Connection") -> None:
    """What :func:`_apart` runs."""
    asked, vectors = np.load(asked_at), np.load(path, mmap_mode="r")
    np.linalg.norm(asked @ asked.T)  # the libraries' own memory is not the engine's
    before = _status_mb("RssAnon")
    started = time.perf_counter()
    try:
        index = ENGINES[engine](vectors, own)
    except (ValueError, OSError) as error:
        sender.send(Growth(engine, len(vectors), str(error)))
        return
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
    recall = float((found >= np.load(best_at)[:, -1:] - 1e-6).mean()) if best_at.exists() else None
    median, late = np.quantile(taken[len(taken) // 5 :], [0.5, 0.95]).tolist()
    disk = sum(file.stat().st_size for file in own.rglob("*") if file.is_file()) / 1e6
    held = _status_mb("RssAnon") - before
    sender.send(Growth(engine, len(vectors), "", built, held, _status_mb("VmHWM"), disk, median, late, recall))
    index.close()


def _status_mb(name: str) -> float:
    """Memory of this process, such as RssAnon, that no file backs (Linux; elsewhere its largest size so far)."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    found = [int(line.split()[1]) for line in lines if line.startswith(f"{name}:")]
    return found[0] / 1024 if found else peak_memory_mb()


def markdown(found: AnnSpeed) -> str:
    """The table in Markdown."""
    lines = [
        f"{found.real_rows:,} vectors of functions ({found.origin}; {found.dim} dimensions, 16 bits), and beyond "
        f"the same with noise; {found.questions} questions, one thread; {found.machine.cpu}, {found.machine.cores} "
        f"cores; {found.date[:10]}, code {found.code_version}.",
        "",
        f"| engine | functions | ready in | memory | at most | disk | a question | 95 % | recall@{found.top} |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
        *map(_row, found.growth),
        "",
        "Memory is what the process holds beyond its start once it answers, without mapped files; at most: the largest "
        "that it held, libraries and mapped vectors included. "
        f"An engine that takes more than {found.limit_seconds} s is given up.",
    ]
    return "\n".join(lines) + "\n"


def _row(each: Growth) -> str:
    if each.trouble:
        return f"| {each.engine} | {each.rows:,} | {each.trouble} | | | | | | |"
    recall = "" if each.recall is None else f"{each.recall:.3f}"
    return (
        f"| {each.engine} | {each.rows:,} | {each.build_seconds:.1f} s | {each.memory_mb:,.0f} MiB | "
        f"{each.peak_mb:,.0f} MiB | {each.disk_mb:,.0f} MB | {each.median_ms:.1f} ms | {each.p95_ms:.1f} ms | "
        f"{recall} |"
    )
