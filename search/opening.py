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
from data_prep.files.named_paths import cache_folder, named_path, own_folder
from experiments.terminal import console
from search.files.languages import path_matcher

if TYPE_CHECKING:
    from search.engine.signals import Reranker, Retriever
    from search.index.code_index import Index

_INDEXES: Final = "indexes"
_FILE: Final = "index"


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
    """``folder`` or the nearest folder above it that has an index, and the index."""
    for each in (folder, *folder.parents):
        if (place := index_place(each)).is_file():
            return each, place
    return None


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
        return named_path(typed)
    here = folder or named_path(".")
    if found := indexed_above(here):
        return found[1]
    raise UserError(
        f"there is no index of {here} or of a folder above it: make one by `bash run.sh index DIR`, or name one by "
        "--index="
    )


def indexed_folder(index: Path) -> Path | None:
    """The current folder or the nearest one above it whose index is ``index``; None: the index is of another one."""
    here, real = named_path("."), os.path.realpath(index)  # which, unlike resolve, knows no error: links may be a loop
    return next((each for each in (here, *here.parents) if os.path.realpath(index_place(each)) == real), None)


def opened(path: Path, how: str, *, mapped: bool = False) -> "tuple[Index, Retriever | None]":
    """An index, memory-mapped if ``mapped``, and a retriever over its vectors; ``how`` is the option ``nearest``.

    Vectors that cannot be used are reported; this is an error only if ``how`` asks for them.
    """
    from search.index.index_file import UnusableIndexError, open_index, read_head
    from search.index.vector_file import vectors_path

    there = vectors_path(path).exists()
    before = read_head(path)
    found = open_index(path, mapped=mapped)
    if how == "none" or (how == "" and not there):
        return found, None
    if read_head(path) != before:
        raise UnusableIndexError(f"the index {path} was replaced while it was opened: ask again")
    from search.index.dense_retriever import near_rows

    try:
        return found, near_rows(path, before.content, len(found), how)
    except (UserError, OSError) as error:
        if how:
            raise
        console.complain(f"{error}; answered without them")
        return found, None


def check_answers(index: "Index", paths: str, languages: Collection[str] = ()) -> None:
    """Refuse an empty index, or a pattern of paths or languages that none of its files has.

    Raises:
        UserError: there are no rows, or none in files that match.
    """
    if not len(index):
        raise UserError("the index is empty: index a folder that has source files, by `bash run.sh index DIR`")
    if paths and not any(map(path_matcher(paths), (file.path for file in index.files))):
        raise UserError(
            f"--path={paths} matches none of the index's {len(index.files):,} files, such as {index.files[0].path}"
        )
    if languages and not any(file.language in languages for file in index.files):
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
    from search.models.folder import model_hash

    if not sentence_model(name):
        model_hash(named_path(name))


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
