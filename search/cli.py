"""The commands ``bash run.sh index``, ``search`` and ``quality``."""

import fnmatch
import os
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from data_prep.files.named_paths import check_file_place, named_path
from data_prep.files.printable import one_line
from search.options import IndexOptions, QualityOptions, SearchOptions
from terminal import console
from terminal.console import say
from terminal.options import parsed

if TYPE_CHECKING:
    from search.engine.engine import Reranker, Retriever
    from search.index.code_index import Index


def index(arguments: Sequence[str]) -> None:
    """Make an index, or update one."""
    words, options = parsed(arguments, IndexOptions)
    if len(words) != 1:
        raise ValueError("expected a folder: bash run.sh index DIR")
    from search.index.build import refresh
    from search.index.places import check_way, former_index, index_place
    from search.index.update import sole_maker

    root = named_path(words[0])
    path = named_path(options.out) if options.out else index_place(root)
    check_way(root, path)
    run = _checked_run(options.vectors)  # a bad model is reported before anything is read
    check_file_place(path, "--out")
    with sole_maker(path, say) if root.is_dir() else nullcontext():
        started = time.perf_counter()
        done = refresh(root, path, processes=options.processes or os.cpu_count() or 1, tell=_tell)
        seconds = time.perf_counter() - started
        what = f"read {done.read:,} files" if done.written else "nothing has changed"
        say(f"{done.rows:,} methods and types of {done.files:,} files in {path}: {what}, {seconds:.2f} s")
        _vectors(run, path)
    if not options.out and (former := former_index(root)):
        console.complain(f"{former}: an index in the folder itself, as earlier versions made, is not used or changed")


def _checked_run(typed: str) -> str:
    """The value of ``--vectors``, a folder as its absolute path.

    Raises:
        ValueError: there is no model, or it is not a bi-encoder.
    """
    if typed in ("", "none"):
        return typed
    from search.index.vector_encoding import check_bi_encoder

    check_bi_encoder(folder := named_path(typed))
    return str(folder)


def _vectors(run: str, path: Path) -> None:
    """Make, update or remove the vectors of an index; ``run`` is the value of ``--vectors``.

    If it is empty, existing vectors are updated by the model that made them.
    """
    from search.index.update import update_vectors
    from search.index.vector_file import maker_of, remove_vectors

    if run == "none":
        return remove_vectors(path)
    known = maker_of(path)
    started = time.perf_counter()
    try:
        what = update_vectors(run or known or "", path, _tell)
    except ValueError as error:
        if run or not known:
            raise
        console.complain(f"{error}; or name another run by --vectors=, or none")
        return None
    say(f"vectors beside it: {what or 'nothing has changed'}, {time.perf_counter() - started:.2f} s")
    return None


def _tell(path: str, trouble: str) -> None:
    console.complain(f"{path}: {trouble}")


def search(arguments: Sequence[str]) -> None:
    """Answer a question."""
    words, options = parsed(arguments, SearchOptions)
    if len(words) != 1:
        raise ValueError('expected one question: bash run.sh search "read all lines of a file"')
    from search.engine.engine import Engine, words_of
    from search.engine.show import as_json, as_text

    words_of(words[0])  # a bad query is reported before anything is opened
    found, retriever = _opened(index_path(options.index), "none" if options.model == "none" else options.nearest)
    _check_answers(found, options.path)
    engine = Engine(found, reranker_of(found, options.model), retriever=retriever)
    started = time.perf_counter()
    hits = engine.search(words[0], top=options.top, path=options.path, by_file=options.by == "file")
    seconds = time.perf_counter() - started
    answer: Callable[..., str] = as_json if options.json else as_text
    console.show(answer(engine, words[0], hits, seconds, explain=options.explain), painted=not options.json)


def quality(arguments: Sequence[str]) -> None:
    """Measure the search on a folder of code."""
    words, options = parsed(arguments, QualityOptions)
    if len(words) != 1:
        raise ValueError("expected a folder: bash run.sh quality DIR")
    import tempfile

    from search.index.build import refresh
    from search.index.code_index import open_index
    from search.quality.measure import measure_quality, quality_lines, with_comments
    from search.quality.questions import asked

    root, run = named_path(words[0]), _checked_run(options.vectors)
    names = [options.model, *filter(None, [options.against])]
    alike = len({Path(name).name for name in names}) < len(names)
    for name in filter(None, names):
        _check_model(name)
    with tempfile.TemporaryDirectory() as folder:
        refresh(root, path := Path(folder) / "index", processes=os.cpu_count() or 1, tell=_tell)
        questions = asked(options.ask, open_index(path), root, options.queries, options.seed)
        makers = {one_line(name if alike else Path(name).name) or "default": _reranker_maker(name) for name in names}
        _vectors(run, path)
        found, retriever = _opened(path, "")
    hidden = options.ask in ("comment", "member")
    rerankers = {name: maker(found) for name, maker in makers.items()}
    searched = with_comments(found, 0 if hidden else options.comments)
    measured = measure_quality(searched, rerankers, options, questions, retriever)
    console.show("\n".join(quality_lines(measured, questions.source, len(found))))


def index_path(typed: str) -> Path:
    """The index named by ``--index``, or that of the current folder or of the nearest folder above it.

    Raises:
        ValueError: there is none.
    """
    from search.index.places import former_index, index_above

    if typed:
        return named_path(typed)
    here = named_path(".")
    if found := index_above(here):
        return found
    former = former_index(here)
    other = f" ({former} is used only where --index= names it)" if former else ""
    raise ValueError(
        f"there is no index of {here} or of a folder above it: make one by `bash run.sh index DIR`, or name one by "
        f"--index={other}"
    )


def _opened(path: Path, how: str) -> "tuple[Index, Retriever | None]":
    """An index, and a retriever over the vectors beside it; ``how`` is the option ``nearest``.

    Vectors that cannot be used are reported; this is an error only if ``how`` asks for them.
    """
    from search.index.code_index import UnusableIndexError, open_index, read_head
    from search.index.vector_file import vectors_path

    there = vectors_path(path).exists()
    before = read_head(path)
    found = open_index(path)
    if how == "none" or (how == "" and not there):
        return found, None
    if read_head(path) != before:
        raise UnusableIndexError(f"the index {path} was replaced while it was opened: ask again")
    from search.index.dense_retriever import near_rows

    try:
        return found, near_rows(path, before.content, len(found), how)
    except ValueError as error:
        if how:
            raise
        console.complain(f"{error}; answered without them")
        return found, None


def _check_answers(index: "Index", paths: str) -> None:
    """Refuse an empty index, or a pattern of paths that matches none of its files.

    Raises:
        ValueError: there are no methods and types, or none in files that match.
    """
    if not len(index):
        raise ValueError("the index has no methods or types: index a folder that has some, by `bash run.sh index DIR`")
    if paths and not any(fnmatch.fnmatchcase(file.path, paths) for file in index.files):
        raise ValueError(
            f"--path={paths} matches none of the index's {len(index.files):,} files, such as {index.files[0].path}"
        )


def reranker_of(index: "Index", model: str) -> "Reranker | None":
    """The reranker that ``--model`` names, over the rows of ``index``; None: BM25 alone."""
    return None if model == "none" else _reranker_maker(model)(index)


def _check_model(name: str) -> None:
    """Check that a model exists, before anything is read.

    Raises:
        ValueError: the message names what is missing.
    """
    from search.engine.sentence_reranker import sentence_model
    from search.models.folder import model_hash

    if not sentence_model(name):
        model_hash(named_path(name))


def _reranker_maker(model: str) -> "Callable[[Index], Reranker]":
    """Load the model that ``model`` names; the result makes a reranker over the rows of an index."""
    from search.engine.sentence_reranker import SentenceReranker, sentence_model

    if folder := sentence_model(model):
        return lambda index: SentenceReranker(folder, index.split)
    from search.engine.reranker import ModelReranker
    from search.models.folder import DEFAULT_MODEL
    from search.models.packed_model import load_model

    ranker, tokenizer = load_model(named_path(model) if model else DEFAULT_MODEL)
    return lambda index: ModelReranker(ranker, tokenizer, index.split)
