"""The pairs of the JDK that speed is measured on, and the recipes of the models."""

from typing import Any, Final

from data_prep.store.prepared_data import PreparedData
from data_prep.store.tokenizing import TokenizedPairs
from evaluation.speed import SpeedOptions
from experiments.recipes.config import Configuration, resolve
from experiments.run.data import prepare_stage
from galm.model import Galm
from training.state import seed_everything

WIDTHS: Final = (32, 256)
"""Graph widths to measure: GSMN's, and that of a word vector."""


def plan_of(options: SpeedOptions, model: str = "galm", settings: dict[str, str] | None = None) -> Configuration:
    """A model's recipe for the JDK."""
    data = {"data.path": options.path, "data.root": options.root, "data.limit": str(options.pairs)}
    return resolve("jdk", model, {**{name: text for name, text in data.items() if text}, **(settings or {})})


def of_width(width: int) -> dict[str, str]:
    """The settings of galm with a graph width, and two layers: the edges of eq. 10 and those of eq. 11."""
    return {"model.gcn_dim": str(width), "model.layers": "2"}


def pairs_of(options: SpeedOptions) -> PreparedData:
    """The pairs."""
    return prepare_stage("jdk", plan_of(options).data, "bash run.sh speed")


def galm_of(plan: Configuration, vocabularies: Any, train: TokenizedPairs, kind: type[Galm] = Galm) -> Galm:
    """GALM before training, on the CPU."""
    seed_everything(plan.train.seed, plan.train.threads)
    model = kind(plan.model, vocabularies)
    model.start_from(train)
    return model
