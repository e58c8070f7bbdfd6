"""The model that scores candidates, by its name in an option: a run's, a packed one or one of sentence-transformers."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from data_prep.files.access import named_path

if TYPE_CHECKING:
    from search.engine.signals import Reranker
    from search.index.code_index import Index


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
