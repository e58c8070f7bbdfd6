"""An index as the commands open it: its place, the vectors beside it, and the model that an option names."""

import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from data_prep.errors import UserError
from data_prep.files.named_paths import named_path
from experiments.terminal import console
from search.files.languages import language_name
from search.files.path_pattern import path_matcher

if TYPE_CHECKING:
    from search.engine.signals import Reranker, Retriever
    from search.index.code_index import Index


def index_path(typed: str, folder: Path | None = None) -> Path:
    """The index named by ``--index``, or that of a folder or of the nearest folder above it.

    Args:
        typed: the value of ``--index``.
        folder: the folder; None: the current one.

    Raises:
        UserError: there is none.
    """
    from search.index.places import former_index, index_above

    if typed:
        return named_path(typed)
    here = folder or named_path(".")
    if found := index_above(here):
        return found
    former = former_index(here)
    other = f" ({former} is used only where --index= names it)" if former else ""
    raise UserError(
        f"there is no index of {here} or of a folder above it: make one by `bash run.sh index DIR`, or name one by "
        f"--index={other}"
    )


def indexed_folder(index: Path) -> Path | None:
    """The current folder or the nearest one above it whose index is ``index``; None: the index is of another one."""
    from search.index.places import index_place

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
    if languages and not any(language_name(file.path) in languages for file in index.files):
        there = sorted({language_name(file.path) for file in index.files})
        raise UserError(
            f"--language={','.join(sorted(languages))} matches none of the index's {len(index.files):,} files, "
            f"which are of {', '.join(there)}"
        )


def reranker_of(index: "Index", model: str) -> "Reranker | None":
    """The reranker that ``--model`` names, over the rows of ``index``; None: BM25 alone."""
    return None if model == "none" else reranker_maker(model, for_many=False)(index)


def check_model(name: str) -> None:
    """Check that a model exists, before anything is read.

    Raises:
        UserError: the message names what is missing.
    """
    from search.engine.sentence_reranker import sentence_model
    from search.models.folder import model_hash

    if not sentence_model(name):
        model_hash(named_path(name))


def reranker_maker(model: str, *, for_many: bool = True) -> "Callable[[Index], Reranker]":
    """Load the model that ``model`` names; the result makes a reranker over the rows of an index.

    ``for_many``: whether many queries will come, so that it is worth to prepare all rows for them.
    """
    if model:
        from search.engine.sentence_reranker import SentenceReranker, sentence_model

        if sentences := sentence_model(model):
            return lambda index: SentenceReranker(sentences, index.split)
    from search.engine.packed_reranker import PackedModel, PackedReranker, scored_without_torch
    from search.models.folder import DEFAULT_MODEL

    folder = named_path(model) if model else DEFAULT_MODEL
    if scored_without_torch(folder):
        packed = PackedModel.load(folder)
        return lambda index: PackedReranker(packed, index.split, for_many=for_many)
    from search.engine.reranker import ModelReranker
    from search.models.packed_model import load_model

    ranker, tokenizer = load_model(folder)
    return lambda index: ModelReranker(ranker, tokenizer, index.split)
