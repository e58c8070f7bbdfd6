"""The index of the JDK's java.base with its vectors, and questions to it by its engines, one at a time."""

import os
import tempfile
from functools import partial
from pathlib import Path

from data_prep.files.atomic import naming
from evaluation.provenance import peak_memory_mb
from evaluation.speed import Form, Measured, Seconds, SpeedOptions, asking, compare, timed
from search.engine.engine import Engine
from search.index.dense_retriever import near_rows
from search.index.index_file import open_index, read_head
from search.index.vector_file import up_to_date, vectors_path
from search.opening import reranker_maker
from search.quality.questions import of_comments
from search.speed.jdk import of_java_base, update_index, update_vectors, write_sources


def measure_index(options: SpeedOptions) -> Measured:
    """An index made anew, after one file has changed, and unchanged; then questions made from its comments.

    Raises:
        UserError: there is no JDK.
    """
    with tempfile.TemporaryDirectory() as folder, naming(Path(folder)):
        sources, path = Path(folder) / "sources", Path(folder) / "index"
        origin = write_sources(options, sources, of_java_base)
        rows = compare("index", _updates(sources, path), options.rounds)
        peak = peak_memory_mb()
        index = open_index(path)
        about = f"{origin}, {len(index):,} methods and types of {len(index.files):,} files of java.base"
        per_row = {"index": path.stat().st_size / len(index), "vectors": vectors_path(path).stat().st_size / len(index)}
        ready, reranker = timed(lambda: reranker_maker("")(index))  # as a server makes it
        opened, retriever = timed(lambda: near_rows(path, read_head(path).content, len(index), ""))
        engines = {
            "BM25 and whole files alone": Engine(index, None),
            "with the model": Engine(index, reranker),
            "with model and vectors": Engine(index, reranker, retriever=retriever),
        }
        asked = [" ".join(words) for words in of_comments(index, options.questions, options.seed).words]
        forms = {name: asking(engine.search, asked) for name, engine in engines.items()}
        rows += compare("a question", forms, options.rounds)
        facts = {
            "index": {
                "bytes a row": per_row["index"],
                "MiB of the largest process": peak,
                "s to open": timed(lambda: open_index(path))[0],
            },
            "vectors": {"bytes a row": per_row["vectors"], "s to open": opened},
            "model": {"s to open": ready},
        }
    about += (
        f", {os.cpu_count() or 1} processes, {len(asked)} questions, shortlist {engines['with the model'].shortlist}."
    )
    return Measured(about=about, unit="each", rows=rows, facts=facts)


def _updates(sources: Path, path: Path) -> dict[str, Form]:
    changing = next(iter(sorted(sources.rglob("*.java"))))

    def update() -> Seconds:
        index, vectors = (timed(partial(call, *given))[0] for call, given in steps)
        return {"rows": index, "vectors": vectors, "both": index + vectors}

    def make() -> Seconds:
        path.unlink(missing_ok=True)
        vectors_path(path).unlink(missing_ok=True)
        return update()

    def change() -> Seconds:
        changing.write_bytes(changing.read_bytes() + b"\n")
        return update()

    def check() -> Seconds:
        return {"both": timed(partial(update_index, sources, path))[0] + timed(partial(up_to_date, path, ""))[0]}

    steps = ((update_index, (sources, path)), (update_vectors, (path,)))
    return {"made anew": make, "one file changed": change, "nothing changed": check}
