"""Where indexes are stored, and an index as the commands open it, with its vectors and the model that an option names.

Indexes are in the user's cache folder, by the indexed folder, out of reach of what is indexed: a folder from elsewhere
may contain links, or an index made by somebody else. So nothing is written into it, and no index in it is used, unless
the user names a file there.
"""

import hashlib
import os
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Final

from data_prep.errors import UserError
from data_prep.files.access import cache_folder, named_path, own_folder
from experiments.terminal import console

if TYPE_CHECKING:
    from search.engine.signals import Reranker, Retriever
    from search.index.code_index import Index
    from search.index.index_file import Head

_INDEXES: Final = "indexes"
_FILE: Final = "index"
_ATTEMPTS: Final = 5
"""Attempts to open an index that is replaced meanwhile."""


def index_place(folder: Path) -> Path:
    """The file of the index of ``folder``, by its real path.

    Raises:
        UserError: as :func:`own_folder`.
    """
    return cache_folder() / _INDEXES / _name_of(os.path.realpath(folder)) / _FILE


def _name_of(real: str) -> str:
    name = re.sub(r"[^\w.-]+", "_", Path(real).name, flags=re.ASCII)[:40] or "root"
    return f"{name}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:16]}"


def judgements_place(index: Path) -> Path:
    """The file of the user's questions about what ``index`` has, in ``XDG_DATA_HOME``, by default ``~/.local/share``.

    Raises:
        UserError: as :func:`own_folder`.
    """
    real = Path(os.path.realpath(index))
    in_cache = real.parent.parent == Path(os.path.realpath(cache_folder() / _INDEXES))
    name = real.parent.name if in_cache else _name_of(str(real))
    return own_folder("XDG_DATA_HOME") / "queries" / f"{name}.json"


def indexed_above(folder: Path) -> tuple[Path, Path] | None:
    """``folder`` or the nearest folder above it that has an index, and the index.

    A git repository ends the way up: the index of a folder around it is of another tree.
    """
    for each in _way_up(folder):
        if (place := index_place(each)).is_file():
            return each, place
    return None


def tree_top(folder: Path) -> Path:
    """The top of the git checkout that contains ``folder``; the folder itself, if there is none."""
    top = _way_up(folder)[-1]
    return top if os.path.lexists(top / ".git") else folder


def _way_up(folder: Path) -> list[Path]:
    """``folder`` and the folders above it, to the top of the git checkout or of the file system."""
    way: list[Path] = []
    real = Path(os.path.realpath(folder))
    for each in (real, *real.parents):
        way.append(each)
        if os.path.lexists(each / ".git"):
            break
    return way


def check_way(folder: Path, file: Path) -> None:
    """Refuse to write ``file`` if its path is inside ``folder`` but goes through a link.

    Raises:
        UserError: a folder between ``folder`` and ``file`` is a link.
    """
    if not file.is_relative_to(folder):
        return
    for each in file.parents[: len(file.relative_to(folder).parts) - 1]:
        if each.is_symlink():
            raise UserError(f"{file} leads through the link {each}: name a file that no link leads to by --out=")


def index_path(typed: str, folder: Path | None = None) -> Path:
    """The index named by ``--index``, or that of a folder or of the nearest folder above it.

    Args:
        typed: the value of ``--index``.
        folder: the folder; None: the current one.

    Raises:
        UserError: there is none.
    """
    if typed:
        return named_index(typed)
    here = folder or named_path(".")
    if found := indexed_above(here):
        return found[1]
    raise UserError(
        f"there is no index of {here} or of a folder above it: make one by `bash run.sh index DIR`, or name one by "
        "--index="
    )


def named_index(typed: str) -> Path:
    """The file that ``--index`` names.

    Raises:
        UserError: it is a folder.
    """
    path = named_path(typed)
    if path.is_dir():
        raise UserError(f"--index names the file of an index; a folder comes last: bash run.sh search QUESTION {path}")
    return path


def opened(
    path: Path, how: str, *, mapped: bool = False, tell: Callable[[str], None] = console.complain
) -> "tuple[Index, Retriever | None]":
    """An index, memory-mapped if ``mapped``, and a retriever over its vectors; ``how`` is the option ``nearest``.

    Vectors that cannot be used are told, as those that are being made; this is an error only if ``how`` asks for them.
    """
    from search.index.vectors import vectors_path

    found, head = _opened_whole(path, mapped=mapped)
    if how == "none" or (how == "" and not vectors_path(path).exists()):
        return found, None
    from search.index.vectors import near_rows

    try:
        return found, near_rows(path, head.content, len(found), how)
    except (UserError, OSError) as error:
        if how:
            raise
        tell(f"{error}; answered without them")
        return found, None


def _opened_whole(path: Path, *, mapped: bool) -> "tuple[Index, Head]":
    """An index and its head, which is that of the same file even if another one takes its place meanwhile."""
    from search.index.index_file import UnusableIndexError, open_index, read_head

    for _ in range(_ATTEMPTS):
        head = read_head(path)
        found = open_index(path, mapped=mapped)
        if read_head(path) == head:
            return found, head
    raise UnusableIndexError(f"the index {path} is replaced again and again: ask again")


def check_answers(index: "Index", paths: str, languages: Collection[str] = ()) -> None:
    """Refuse an empty index, or a pattern of paths or languages that none of its files has.

    Raises:
        UserError: there are no rows, or none in files that match.
    """
    if not len(index):
        raise UserError("the index is empty: index a folder that has source files, by `bash run.sh index DIR`")
    from search.engine.filters import path_filter

    if paths and not any(map(path_filter(paths), (file.path for file in index.files))):
        raise UserError(
            f"--path={paths} matches none of the index's {len(index.files):,} files, such as {index.files[0].path}"
        )
    if languages and not any(not file.languages.isdisjoint(languages) for file in index.files):
        there = sorted({file.language for file in index.files})
        raise UserError(
            f"--language={','.join(sorted(languages))} matches none of the index's {len(index.files):,} files, "
            f"which are of {', '.join(there)}"
        )


def reranker_of(index: "Index", model: str) -> "Reranker | None":
    """The reranker that ``--model`` names, over the rows of ``index``; None: BM25 alone."""
    return None if model == "none" else reranker_maker(model, for_many=False)(index)


def sentence_model(name: str) -> Path | None:
    """The folder of the sentence-transformers model ``name``: a folder itself, or that in an installed package."""
    from modeling.transformers.pretrained import model_folder

    folder = model_folder(name)
    return folder if folder and (folder / "modules.json").is_file() else None


def check_model(name: str) -> None:
    """Check that a model exists, before anything is read.

    Raises:
        UserError: the message names what is missing.
    """
    from search.models.folder import checked_parts

    if not sentence_model(name):
        checked_parts(named_path(name))


def reranker_maker(model: str, *, for_many: bool = True) -> "Callable[[Index], Reranker]":
    """Load the model that ``model`` names; the result makes a reranker over the rows of an index.

    ``for_many``: whether many queries will come, so that it is worth to prepare all rows for them.
    """
    if model and (sentences := sentence_model(model)):
        from search.models.torch_models import SentenceReranker

        return lambda index: SentenceReranker(sentences, index.split)
    from search.engine.packed_reranker import PackedModel, PackedReranker, scored_without_torch
    from search.models.folder import CONFIG, DEFAULT_MODEL, no_model

    folder = named_path(model) if model else DEFAULT_MODEL
    if scored_without_torch(folder):
        packed = PackedModel(folder)
        return lambda index: PackedReranker(packed, index.split, for_many=for_many)
    if not (folder / CONFIG).is_file():  # which is said before torch is imported
        raise no_model(folder, CONFIG)
    from search.models.packed_model import load_model
    from search.models.torch_models import ModelReranker

    ranker, tokenizer = load_model(folder)
    return lambda index: ModelReranker(ranker, tokenizer, index.split)
