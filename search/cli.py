"""``bash run.sh index``, ``search`` and ``quality``: from a command line to what is printed."""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from experiments import console
from experiments.console import say
from search.options import IndexOptions, QualityOptions, SearchOptions, parsed

if TYPE_CHECKING:
    from search.engine import Reads
    from search.index import Index


def index(arguments: Sequence[str]) -> None:
    """Make an index, or bring one up to date."""
    words, options = parsed(arguments, IndexOptions)
    if len(words) != 1:
        raise ValueError("expected a folder: bash run.sh index DIR")
    from search.build import refresh
    from search.index import PLACE

    root = Path(words[0]).expanduser().absolute()
    path = Path(options.out).expanduser().absolute() if options.out else root / PLACE
    started = time.perf_counter()
    done = refresh(root, path, processes=options.processes or os.cpu_count() or 1, tell=_tell)
    seconds = time.perf_counter() - started
    what = f"read {done.read:,} files" if done.written else "nothing has changed"
    say(f"{done.rows:,} methods and types of {done.files:,} files in {path}: {what}, {seconds:.2f} s")


def _tell(path: str, trouble: str) -> None:
    console.complain(f"{path}: {trouble}")


def search(arguments: Sequence[str]) -> None:
    """Answer one question."""
    words, options = parsed(arguments, SearchOptions)
    if len(words) != 1:
        raise ValueError('expected one question: bash run.sh search "read all lines of a file"')
    from search.engine import Engine, words_of
    from search.index import open_index
    from search.show import as_json, as_text

    words_of(words[0])  # a bad query is told before anything is opened
    found = open_index(index_path(options.index))
    engine = Engine(found, reader_of(found, options.model))
    started = time.perf_counter()
    hits = engine.search(words[0], top=options.top, path=options.path, by_file=options.by == "file")
    seconds = time.perf_counter() - started
    show: Callable[..., str] = as_json if options.json else as_text
    say(show(engine, words[0], hits, seconds, explain=options.explain))


def quality(arguments: Sequence[str]) -> None:
    """Measure the search on one's own code."""
    words, options = parsed(arguments, QualityOptions)
    if len(words) != 1:
        raise ValueError("expected a folder: bash run.sh quality DIR")
    import tempfile

    from search.build import refresh
    from search.index import open_index
    from search.quality import measure_quality, quality_lines, with_comments
    from search.questions import of_comments, of_returns

    root = Path(words[0]).expanduser().absolute()
    with tempfile.TemporaryDirectory() as folder:
        refresh(root, path := Path(folder) / "index", processes=os.cpu_count() or 1, tell=_tell)
        found = open_index(path)
        hidden = options.ask == "comment"
        draw = options.queries, options.seed
        questions = of_comments(found, *draw) if hidden else of_returns(found, root, *draw)
    names = [options.model, *filter(None, [options.against])]
    readers = {Path(name).name or "default": _reader(found, name) for name in names}
    searched = with_comments(found, 0 if hidden else options.comments)
    measured = measure_quality(searched, readers, options, questions)
    say("\n".join(quality_lines(measured, questions.source, len(found))))


def index_path(typed: str) -> Path:
    """The index that ``--index`` names, or that of this folder or of the nearest one above it.

    Raises:
        ValueError: there is none.
    """
    from search.index import PLACE

    if typed:
        return Path(typed).expanduser().absolute()
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / PLACE).is_file():
            return folder / PLACE
    raise ValueError(
        f"there is no index in {here} or above it: make one by `bash run.sh index DIR`, or name it by --index="
    )


def reader_of(index: "Index", model: str) -> "Reads | None":
    """The model that ``--model`` names over the rows of ``index``; None: BM25 alone."""
    return None if model == "none" else _reader(index, model)


def _reader(index: "Index", model: str) -> "Reads":
    from search.sentence_reader import SentenceReader, sentence_model

    if folder := sentence_model(model):
        return SentenceReader(folder, index.split)
    from search.packed_model import DEFAULT_MODEL, load_model
    from search.reader import Reader

    matcher, encoder = load_model(Path(model).expanduser() if model else DEFAULT_MODEL)
    return Reader(matcher, encoder, index.split)
