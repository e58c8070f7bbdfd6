"""The model that a finished run has left."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from modeling.contract import NeuralRanker, PairTokenizer
from recipes.config import Configuration
from recipes.models import class_of
from recipes.run_folder import RunFolder
from training.checkpoint import check_weights, put_weights, saved_weights


def load_run(path: Path) -> tuple[NeuralRanker, PairTokenizer]:
    """The model of the finished run in ``path``, on the processor and ready to score.

    Raises:
        ValueError: there is none, it is damaged or unfinished, or its model is one that is not trained.
    """
    folder = RunFolder(path)
    plan = Configuration.load(folder.config)
    if not issubclass(class_of(plan.model_name), NeuralRanker):
        raise ValueError(
            f"the run in {folder.path} is of {plan.model_name}, which has nothing trained to load: name a run of a "
            "trained model, such as galm_plus"
        )
    check_finished(folder)
    tokenizer: PairTokenizer = class_of(plan.model_name).saved_tokenizer(folder.vocabulary, plan.words, plan.model)
    weights = saved_weights(folder.weights, folder.made_with)
    check_weights(weights, weights_of(plan, tokenizer), str(folder.weights))  # before memory is asked for them
    model = without_weights(plan, tokenizer)
    put_weights(model, weights, str(folder.weights))
    return model.eval(), tokenizer


def check_finished(folder: RunFolder) -> None:
    """Refuse the run of a trained model that has no weights yet.

    Raises:
        ValueError: the message says how to go on with it.
    """
    if not folder.weights.exists():
        raise ValueError(f"the run in {folder.path} is not finished: go on with it by --train.resume={folder.path}")


class _NoStartingValues(TorchFunctionMode):
    """Leaves out the drawing of starting values, which takes longer than the weights that replace all of them."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__module__", None) == "torch.nn.init" or func is Tensor.zero_:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))


def weights_of(plan: Configuration, tokenizer: PairTokenizer) -> Mapping[str, Tensor]:
    """The weights that the model has, as shapes and types alone: they take no memory, however many there are.

    Raises:
        ValueError: there is no such model.
    """
    try:
        with torch.device("meta"):
            return without_weights(plan, tokenizer).state_dict()
    except (RuntimeError, TypeError, OverflowError, MemoryError) as error:
        why = " ".join(str(error).split())
        raise ValueError(f"there is no {plan.model_name} with such settings and vocabularies: {why:.200}") from error


def without_weights(plan: Configuration, tokenizer: PairTokenizer) -> NeuralRanker:
    """The model with whatever stood in memory as its weights."""
    with _NoStartingValues():
        model: NeuralRanker = class_of(plan.model_name)(plan.model, tokenizer.vocabulary)
    return model
