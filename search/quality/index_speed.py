"""Speed of the index of the JDK's java.base with its vectors, of a question, and of the first one about a folder.

And of reading the files of each language: do they take as long for a megabyte as those of Java?
"""

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from data_prep.config import DataConfig
from data_prep.datasets.jdk import Jdk
from data_prep.errors import UserError
from data_prep.files.access import named_path
from data_prep.files.writing import naming
from data_prep.installation import peak_memory_mb, processors
from data_prep.records import SourceFile
from evaluation.speed import Form, Measured, Seconds, SpeedOptions, asking, compare, timed
from experiments.recipes.config import REPOSITORY
from search.engine.engine import Engine
from search.files.languages import LANGUAGES, language_name, read_file
from search.files.stamps import Found
from search.files.tree import found_files
from search.index.build import refresh, watched
from search.index.code_index import rows_of_files
from search.index.index_file import open_index, read_head
from search.index.vector_encoding import refresh_vectors, up_to_date
from search.index.vectors import near_rows, row_encoder, vectors_path
from search.models.packed import reranker_maker
from search.quality.questions import of_comments

ROWS: Final = 10_000
"""Methods and types of the index, at least."""
QUESTION: Final = "read all lines of a file"


def measure_question(options: SpeedOptions) -> Measured:
    """Commands, each as a process of its own.

    Raises:
        UserError: there is no JDK.
    """
    with tempfile.TemporaryDirectory() as folder, naming(Path(folder)):
        root, rows = Path(folder) / "sources", 0

        def is_wanted(file: SourceFile) -> bool:
            nonlocal rows
            wanted = file.path.startswith("java.base/java/") and rows < ROWS
            rows += len(read_file(file).units) if wanted else 0
            return wanted

        origin = write_sources(options, root, is_wanted)
        environment = {**os.environ, "XDG_CACHE_HOME": folder, "GALM_PYTHON": "", "PYTHONPATH": str(REPOSITORY)}
        python, shell = [sys.executable, "-m", "cli.main"], ["bash", str(REPOSITORY / "run.sh")]
        run([*python, "index", str(root)], root, environment)
        commands = {
            "run.sh search, model and vectors": [*shell, "search", QUESTION],
            "the same without run.sh": [*python, "search", QUESTION],
            "run.sh search --model=none": [*shell, "search", QUESTION, "--model=none"],
            "python with numpy alone": [sys.executable, "-c", "import numpy"],
        }
        forms = {name: partial(run, command, root, environment) for name, command in commands.items()}
        found = compare("", forms, options.rounds)
    return Measured(about=f"{origin}, {rows:,} methods and types; *{QUESTION}*.", unit="a question", rows=found)


def run(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Seconds:
    """The seconds of a command, by the clock and of all processors."""
    before = processor_seconds()
    seconds, done = timed(
        lambda: subprocess.run(command, check=False, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    )
    if done.returncode not in (0, 1):  # 1: nothing found
        done.check_returncode()
    return {"clock": seconds, "processor": processor_seconds() - before}


def processor_seconds() -> float:
    """Seconds of all processors that processes of this one have taken which have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def write_sources(options: SpeedOptions, folder: Path, is_wanted: Callable[[SourceFile], bool]) -> str:
    """Write the files that are wanted to ``folder``; the release's name."""
    jdk = Jdk(DataConfig(root=str(REPOSITORY / options.root), path=options.path))
    for file in filter(is_wanted, jdk.java_files()):
        place = folder / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.data)
    return jdk.origin()


def of_java_base(file: SourceFile) -> bool:
    """Whether a file is of the module java.base."""
    return file.path.split("/")[0] == "java.base"


def update_index(sources: Path, path: Path) -> None:
    """Make or update the index of ``sources`` in the file ``path``, without vectors."""
    refresh(sources, path, processes=processors(), tell=lambda *_: None)


def update_vectors(path: Path) -> None:
    """Make or update the vectors of the index in the file ``path``."""
    refresh_vectors(row_encoder(), path, lambda *_: None)


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
    shortlist = engines["with the model"].ranking.shortlist
    about += f", {processors()} processes, {len(asked)} questions, shortlist {shortlist}."
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


def measure_first(options: SpeedOptions) -> Measured:
    """Commands, each as a process of its own; what is compiled once on a machine is compiled before.

    Raises:
        UserError: no folder is named, or it has no source files.
    """
    if not options.path:
        raise UserError("expected a folder of sources: bash run.sh speed first DIR")
    root = named_path(options.path)
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        python = [sys.executable, "-m", "cli.main"]
        make = partial(run, [*python, "index", str(root), f"--out={index}"], root, environment)
        ask = partial(run, [*python, "search", QUESTION, f"--index={index}"], root, environment)

        def first() -> Seconds:
            index.unlink(missing_ok=True)
            vectors_path(index).unlink(missing_ok=True)
            made, asked = make(), ask()
            return {part: made[part] + asked[part] for part in made}

        forms: dict[str, Form] = {
            "index, then search": first,
            "search, with an index": ask,
            "python with numpy alone": partial(run, [sys.executable, "-c", "import numpy"], root, environment),
        }
        rows = compare("", forms, options.rounds)
        head = read_head(index)
    about = f"{root.name}: {rows_of_files(head.rows, head.files)}; *{QUESTION}*."
    return Measured(about=about, unit="a first question", rows=rows)


MEGABYTES: Final = 4.0
"""Of each language, at most."""
_JAVA: Final = "java"


def measure_languages(options: SpeedOptions) -> Measured:
    """All languages of a folder, in turn, on the same random files in each round.

    Raises:
        UserError: no folder is named, or it has no files of Java and of another language.
    """
    if not options.path:
        raise UserError("expected a folder of sources in several languages: bash run.sh speed languages DIR")
    root, processes = named_path(options.path), processors()
    files = _files(root, options.seed)
    if _JAVA not in files or len(files) < 2:
        raise UserError(f"{options.path!r:.60} has no files of Java and of another language")
    sizes = {name: sum(each.size for each in found) / 1e6 for name, found in files.items()}
    forms = {name: partial(_a_megabyte, root, found, processes, sizes[name]) for name, found in files.items()}
    facts = {name: {"files": len(found), "MB": sizes[name]} for name, found in files.items()}
    about = f"{len(files)} languages, {sum(map(len, files.values())):,} files, {processes} processes."
    return Measured(about=about, unit="a megabyte", rows=compare("", forms, options.rounds), facts=facts)


def _files(root: Path, seed: int) -> dict[str, list[Found]]:
    """Random files of each language, Java first."""
    found: dict[str, list[Found]] = {_JAVA: []}
    left: dict[str, float] = {}
    every = found_files(root, LANGUAGES, lambda *_: None, None)
    random.Random(seed).shuffle(every)
    for each in every:
        name = language_name(each.path)
        if name and left.setdefault(name, MEGABYTES * 1e6) >= each.size:
            found.setdefault(name, []).append(each)
            left[name] -= each.size
    return {name: found[name] for name in (_JAVA, *sorted({*found} - {_JAVA})) if found[name]}


def _a_megabyte(root: Path, found: Sequence[Found], processes: int, megabytes: float) -> Seconds:
    """Seconds by the clock and of all processors."""
    before = processor_seconds() + time.process_time()
    seconds, _ = timed(lambda: sum(len(part.names) for part in watched(root, found, processes, None)))
    used = processor_seconds() + time.process_time() - before
    return {"clock": seconds / megabytes, "processor": used / megabytes}
