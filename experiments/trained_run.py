"""The model that a finished run has left."""

from pathlib import Path
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode

from data_prep.batching import Encoder
from data_prep.vocabulary import Vocabularies
from experiments.config import Configuration
from experiments.registry import class_of
from experiments.run_folder import RunFolder
from matching.contract import Matcher
from training.checkpoint import load_weights


def load_run(path: Path) -> tuple[Matcher, Encoder]:
    """The model of the finished run in ``path``, on the processor and ready to score.

    Raises:
        ValueError: there is none, it is damaged or unfinished, or its model is one that is not trained.
    """
    folder = RunFolder(path)
    plan = Configuration.load(folder.config)
    if not issubclass(class_of(plan.model_name), Matcher):
        raise ValueError(
            f"the run in {folder.path} is of {plan.model_name}, which has nothing trained to load: name a run of a "
            "trained model, such as galm_plus"
        )
    check_finished(folder)
    matcher, encoder = without_weights(plan, Vocabularies.load(folder.vocabulary))
    load_weights(matcher, folder.weights)
    return matcher.eval(), encoder


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


def without_weights(plan: Configuration, vocabularies: Vocabularies) -> tuple[Matcher, Encoder]:
    """The model with whatever stood in memory as its weights."""
    with _NoStartingValues():
        return class_of(plan.model_name)(plan.model, vocabularies), Encoder(vocabularies, plan.words)
