"""Loading the model of a finished run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from data_prep.errors import UserError
from experiments.recipes.config import Configuration
from experiments.recipes.models import class_of
from experiments.recipes.packed_files import check_is_run
from experiments.recipes.run_folder import RunFolder
from modeling.base import NeuralRanker, PairTokenizer
from training.checkpoint import check_weights, put_weights, saved_weights


def load_run(path: Path) -> tuple[NeuralRanker, PairTokenizer]:
    """Load the model of the finished run in ``path``, on the CPU and in evaluation mode.

    Raises:
        UserError: there is no run, it is damaged or unfinished, or its model has no training.
    """
    folder = RunFolder(path)
    plan = Configuration.load(folder.config)
    if not issubclass(class_of(plan.model_name), NeuralRanker):
        raise UserError(
            f"the run in {folder.path} is of {plan.model_name}, which has nothing trained to load: name a run of a "
            "trained model, such as galm_plus"
        )
    check_finished(folder)
    tokenizer: PairTokenizer = class_of(plan.model_name).saved_tokenizer(folder.vocabulary, plan.words, plan.model)
    weights = saved_weights(folder.weights, folder.made_with)
    check_weights(weights, weights_of(plan, tokenizer), str(folder.weights))  # before memory is allocated
    model = without_weights(plan, tokenizer)
    put_weights(model, weights, str(folder.weights))
    return model.eval(), tokenizer


def check_finished(folder: RunFolder) -> None:
    """Check that the run of a trained model has weights.

    Raises:
        UserError: it has none yet, and the message states how to resume it; or the folder has a packed model.
    """
    if not folder.weights.exists():
        check_is_run(folder.path)
        raise UserError(f"the run in {folder.path} is not finished: resume it with --train.resume={folder.path}")


class _NoStartingValues(TorchFunctionMode):
    """Skips random initialisation, which takes longer than loading the weights that replace it."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__module__", None) == "torch.nn.init" or func is Tensor.zero_:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))


def weights_of(plan: Configuration, tokenizer: PairTokenizer) -> Mapping[str, Tensor]:
    """The names, shapes and types of the model's weights, as meta tensors, which take no memory.

    Raises:
        UserError: there is no such model.
    """
    try:
        with torch.device("meta"):
            return without_weights(plan, tokenizer).state_dict()
    except (RuntimeError, TypeError, OverflowError, MemoryError) as error:
        why = " ".join(str(error).split())
        raise UserError(f"there is no {plan.model_name} with such settings and vocabularies: {why:.200}") from error


def without_weights(plan: Configuration, tokenizer: PairTokenizer) -> NeuralRanker:
    """The model with uninitialised weights."""
    with _NoStartingValues():
        model: NeuralRanker = class_of(plan.model_name)(plan.model, tokenizer.vocabulary)
    return model
