"""``bash run.sh index``: indexes and their vectors, made or updated, with what was done printed.

With ``--list=FILE`` there is an index for each repository of a list, made and updated apart from the others.
"""

import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from data_prep.errors import UserError, unexpected
from data_prep.files.access import check_file_place, named_path, reason
from data_prep.installation import processors
from experiments.terminal import console
from experiments.terminal.console import say
from experiments.terminal.options import parsed
from search.options import IndexOptions

_CHOICE: Final = {"true": True, "false": False, "": None}

if TYPE_CHECKING:
    from search.index.build import Refreshed
    from search.index.code_index import Index
    from search.repository_list import Repository


def named_folder(typed: str) -> Path:
    """The folder that is named.

    Raises:
        UserError: there is none.
    """
    folder = named_path(typed)
    if not folder.is_dir():
        raise UserError(f"{folder} {'is no folder' if os.path.lexists(folder) else 'does not exist'}: name a folder")
    return folder


def index(arguments: Sequence[str]) -> None:
    """Make an index, or update one; with ``--list`` those of many repositories."""
    words, options = parsed(arguments, IndexOptions)
    if options.list:
        index_listed(words, options)
        return
    if len(words) != 1:
        raise unexpected("a folder: bash run.sh index DIR", words)
    from search.opening import index_place

    root = named_path(words[0])
    path = named_path(options.out) if options.out else index_place(root)
    run = checked_run(options.vectors)  # a bad model is reported before anything is read
    check_file_place(path, "--out")
    make_index(root, path, run, options)


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
    from search.index.build import refresh, sole_maker
    from search.opening import check_way
    from search.retrieval.exact import can_round

    check_way(root, path)
    told: list[tuple[str, str]] = []

    def tell(where: str, what: str) -> None:
        told.append((where, what))
        complain_about(where, what)

    processes = options.processes or processors()
    chosen = options.documents, options.everything, options.submodules
    documents, everything, submodules = (_CHOICE[each] for each in chosen)
    with sole_maker(path, console.complain if options.json else say) if root.is_dir() else nullcontext():
        started = time.perf_counter()
        done = refresh(
            root,
            path,
            processes=processes,
            tell=tell,
            documents=documents,
            everything=everything,
            submodules=submodules,
        )
        seconds = time.perf_counter() - started
        if not options.json:
            from search.index.code_index import rows_of_files

            what = f"read {done.read:,} files" if done.written else "nothing has changed"
            say(f"{rows_of_files(done.rows, done.files)} in {path}: {what}, {seconds:.2f} s")
            for line in said_of(done):
                say(line)
        vectors: list[str] = []
        build_vectors(run, path, vectors.append if options.json else say)
        if options.json:
            about = {"files_read": done.read, "changed": done.written, "seconds": round(seconds, 3)}
            left = {"unread": dict(sorted(done.unread.kinds.items())), "not_entered": sorted(done.unread.folders)}
            told_of = {**about, "vectors": vectors[-1] if vectors else None, **left}
            console.show(json.dumps({"folder": str(root), **_described(path, told), **told_of}, indent=1))
    for compiled in (one_thread_kernels, can_round):  # now, not at the first question
        compiled()


def said_of(done: "Refreshed") -> list[str]:
    """Lines about what of a folder is not in its index, and about files that were read in other encodings."""
    from search.files.unread import folders_in_words, in_words

    lines = [f"not read: {what}"] if (what := in_words(done.unread.kinds)) else []
    if what := folders_in_words(done.unread.folders):
        lines.append(f"not looked into: {what} (--everything=true reads them)")
    if what := in_words(done.encodings):
        lines.append(f"not in UTF-8: {what}")
    return lines


def checked_run(typed: str) -> str:
    """The value of ``--vectors``, a folder or an installed package with a model as its absolute path.

    Raises:
        ValueError: there is no model, or it is not a bi-encoder.
    """
    if typed in ("", "none"):
        return typed
    from search.models.folder import check_bi_encoder

    folder = named_path(typed)
    if not folder.is_dir():
        from modeling.transformers.pretrained import model_folder

        folder = model_folder(typed) or folder
    check_bi_encoder(folder)
    return str(folder)


def build_vectors(run: str, path: Path, tell: Callable[[str], None] = say) -> None:
    """Make, update or remove the vectors of an index; ``run`` is the value of ``--vectors``.

    If it is empty, existing vectors are updated by the model that made them. ``tell`` is called with what was done.
    """
    from search.index.freshness import want_vectors
    from search.index.vector_encoding import maker_of, remove_vectors, update_vectors

    want_vectors(path, wanted=run != "none")
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


def _described(path: Path, told: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """What the index in ``path`` has; ``told``: paths, and what is wrong with them."""
    from search.index.index_file import open_index

    index = open_index(path, mapped=True)
    left_out = {file.path: file.trouble for file in index.files if file.trouble}
    left_out |= {where: what for where, what in told if where not in left_out}
    return {
        "index": str(path),
        "documents": index.documents,
        "files": len(index.files),
        "rows": len(index),
        "languages": contents(index),
        "left_out": [{"path": where, "reason": what} for where, what in left_out.items()],
    }


def contents(index: "Index") -> dict[str, dict[str, Any]]:
    """For each language the number of its files, and of its rows by kind."""
    from search.index.code_index import UNIT_KINDS

    names = [file.language for file in index.files]
    numbers = {name: number for number, name in enumerate(sorted(set(names)))}
    of_file = np.array([numbers[name] for name in names], np.int64)
    counts = np.zeros((len(numbers), len(UNIT_KINDS)), np.int64)
    np.add.at(counts, (np.repeat(of_file, np.diff(index.file_edges)), index.kinds.astype(np.int64)), 1)
    return {
        name: {
            "files": names.count(name),
            "rows": {kind: count for kind, count in zip(UNIT_KINDS, counts[number].tolist(), strict=True) if count},
        }
        for name, number in numbers.items()
    }


def index_listed(words: Sequence[str], options: IndexOptions) -> None:
    """Make or update the indexes of a list's repositories, one after the other; one that fails stops no other.

    Raises:
        UserError: the list cannot be used, or some repositories could not be indexed; the message names them.
    """
    if words or options.out or options.json:
        raise UserError("--list=FILE names the folders and their indexes: leave out DIR, --out and --json")
    from search.repository_list import read_list

    listed = read_list(named_path(options.list))
    run = checked_run(options.vectors)
    failed = []
    for number, each in enumerate(listed, start=1):
        say(f"{number:,} of {len(listed):,}: {each.name}")
        if not _indexed(each, run, options):
            failed.append(each.name)
    if failed:
        raise UserError(f"{len(failed):,} of {len(listed):,} repositories could not be indexed: {', '.join(failed)}")
    say(f"{len(listed):,} repositories are indexed: search --list={quote(options.list)}")


def _indexed(repository: "Repository", run: str, options: IndexOptions) -> bool:
    """Whether a repository was indexed; if not, the reason is printed, and its former index remains as it was."""
    try:
        make_index(repository.folder, repository.index, run, options)
    except UserError as error:
        console.complain(f"{repository.name}: {error}")
        return False
    except OSError as error:
        console.complain(f"{repository.name}: {reason(error)}: {error.filename or repository.index}")
        return False
    return True
