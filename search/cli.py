"""The commands ``bash run.sh index`` and ``search``."""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from data_prep.files.named_paths import check_file_place, named_path
from search.options import IndexOptions, SearchOptions
from terminal import console
from terminal.console import say
from terminal.options import parsed

if TYPE_CHECKING:
    from search.cursor.place import Cursor
    from search.engine.engine import Engine


def index(arguments: Sequence[str]) -> None:
    """Make an index, or update one; with ``--list`` those of many repositories."""
    words, options = parsed(arguments, IndexOptions)
    if options.list:
        from search.joint.command import index_listed

        index_listed(words, options)
        return
    if len(words) != 1:
        raise ValueError("expected a folder: bash run.sh index DIR")
    from search.index.places import former_index, index_place

    root = named_path(words[0])
    path = named_path(options.out) if options.out else index_place(root)
    run = checked_run(options.vectors)  # a bad model is reported before anything is read
    check_file_place(path, "--out")
    make_index(root, path, run, options)
    if not options.out and (former := former_index(root)):
        console.complain(f"{former}: an index in the folder itself, as earlier versions made, is not used or changed")


def make_index(root: Path, path: Path, run: str, options: IndexOptions) -> None:
    """Make or update the index of a folder in the file ``path``, and the vectors beside it, and print what was done.

    Args:
        root: the folder.
        path: the file.
        run: as :func:`build_vectors` takes it.
        options: which files are read, by how many processes, and how what was done is printed.

    Raises:
        ValueError: there is nothing to index, or ``path`` cannot be used.
        OSError: the index cannot be written.
    """
    from galm.kernel_library import one_thread_kernels
    from retrieval.ann.rounded import can_round
    from search.index.build import refresh
    from search.index.contents import Made, as_json
    from search.index.places import check_way
    from search.index.update import sole_maker

    check_way(root, path)
    told: list[tuple[str, str]] = []

    def tell(where: str, what: str) -> None:
        told.append((where, what))
        complain_about(where, what)

    processes, documents = options.processes or os.cpu_count() or 1, {"true": True, "false": False}
    with sole_maker(path, console.complain if options.json else say) if root.is_dir() else nullcontext():
        started = time.perf_counter()
        done = refresh(root, path, processes=processes, tell=tell, documents=documents.get(options.documents))
        made = Made(done, time.perf_counter() - started, told)
        if not options.json:
            say(made.line(path))
        vectors: list[str] = []
        build_vectors(run, path, vectors.append if options.json else say)
        if options.json:
            console.show(as_json(root, path, made, vectors))
    for compiled in (one_thread_kernels, can_round):  # now, not at the first question
        compiled()


def checked_run(typed: str) -> str:
    """The value of ``--vectors``, a folder as its absolute path.

    Raises:
        ValueError: there is no model, or it is not a bi-encoder.
    """
    if typed in ("", "none"):
        return typed
    from search.index.vector_encoding import check_bi_encoder

    check_bi_encoder(folder := named_path(typed))
    return str(folder)


def build_vectors(run: str, path: Path, tell: Callable[[str], None] = say) -> None:
    """Make, update or remove the vectors of an index; ``run`` is the value of ``--vectors``.

    If it is empty, existing vectors are updated by the model that made them. ``tell`` is called with what was done.
    """
    from search.index.update import update_vectors
    from search.index.vector_file import maker_of, remove_vectors

    if run == "none":
        return remove_vectors(path)
    known = maker_of(path)
    started = time.perf_counter()
    try:
        what = update_vectors(run or known or "", path, complain_about)
    except ValueError as error:
        if run or not known:
            raise
        console.complain(f"{error}; or name another run by --vectors=, or none")
        return None
    tell(f"vectors beside it: {what or 'nothing has changed'}, {time.perf_counter() - started:.2f} s")
    return None


def complain_about(path: str, trouble: str) -> None:
    """Report on standard error what is wrong with a path."""
    console.complain(f"{path}: {trouble}")


def search(arguments: Sequence[str]) -> None:
    """Answer a question."""
    words, options = parsed(arguments, SearchOptions)
    if words == ["-"] or (options.snippet and not words):
        from search.snippets.command import search_code

        search_code(options)
        return
    if (len(words) != 1 and not (options.at and not words)) or options.snippet:
        raise ValueError(
            'expected one question: bash run.sh search "read all lines of a file", a comment that asks, by '
            "--at=FILE:LINE, or code, by - or --snippet=FILE"
        )
    from search.engine.question import words_of
    from search.engine.show import as_json, as_text
    from search.files.languages import chosen_languages
    from search.opening import check_answers

    cursor = _cursor(options.at, *words) if options.at else None
    question = cursor.query if cursor else words[0]
    words_of(question)  # a bad query is reported before anything is opened
    engine = _engine(options, cursor.file.parent if cursor else None)
    languages = chosen_languages(options.language or (cursor.language if cursor else ""))
    check_answers(engine.index, options.path, languages)
    started = time.perf_counter()
    hits = engine.search(
        question,
        top=options.top,
        path=options.path,
        languages=languages,
        by_file=options.by == "file",
        context=cursor.context if cursor else (),
    )
    seconds = time.perf_counter() - started
    answer: Callable[..., str] = as_json if options.json else as_text
    console.show(answer(engine, question, hits, seconds, explain=options.explain), painted=not options.json)


def _engine(options: SearchOptions, folder: Path | None) -> "Engine":
    """The engine that answers; ``folder``: that whose index is asked if none is named, None: the current one."""
    if options.list:
        from search.joint.opening import opened_list

        near = options.model != "none" and options.nearest != "none"
        return opened_list(named_path(options.list), options.model, near=near, tell=complain_about)
    from search.engine.engine import Engine
    from search.opening import index_path, opened, reranker_of

    nearest = "none" if options.model == "none" else options.nearest
    found, retriever = opened(index_path(options.index, folder), nearest, mapped=True)
    return Engine(found, reranker_of(found, options.model), retriever=retriever)


def _cursor(typed: str, query: str = "") -> "Cursor":
    from search.cursor.place import cursor_at

    return cursor_at(typed, query)
