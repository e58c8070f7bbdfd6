"""An index and its vectors, made or updated, with what was done printed: what all commands that index share."""

import os
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from data_prep.errors import UserError
from data_prep.files.named_paths import named_path
from experiments.terminal import console
from experiments.terminal.console import say
from search.options import IndexOptions


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
    from galm.fast.kernels import one_thread_kernels
    from search.index.build import refresh
    from search.index.contents import Made, as_json
    from search.index.places import check_way
    from search.index.update import sole_maker
    from search.retrieval.ann.rounded import can_round

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
    except UserError as error:
        if run or not known:
            raise
        console.complain(f"{error}; or name another run by --vectors=, or none")
        return None
    tell(f"vectors beside it: {what or 'nothing has changed'}, {time.perf_counter() - started:.2f} s")
    return None


def complain_about(path: str, trouble: str) -> None:
    """Report on standard error what is wrong with a path."""
    console.complain(f"{path}: {trouble}")
