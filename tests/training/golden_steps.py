"""The losses of the first steps of a training, one by one."""

from pathlib import Path

from data_prep.store.prepared_data import open_prepared
from data_prep.store.tokenizing import WordTokenizer
from experiments.recipes.config import resolve
from experiments.recipes.models import class_of
from training.board import Board
from training.state import seed_everything
from training.task import Loss, PairTask
from training.trainer import train

STEPS = 20
SIZES = {"train.epochs": "2", "train.batch_size": "32", "train.threads": "1", "words.min_count": "1"}
FORMS = {"galm": {"model.layers": "2", "model.init_range": "0.1", "model.gcn_dim": "16"}}
"""Settings of the form whose losses are kept, where it is not the recipe's."""


class Losses(Board):
    """What a trainer draws on: keeps the loss of each step."""

    def __init__(self) -> None:
        self.found: list[float] = []

    def training(self, _step: int, _pairs: int, loss: float, *_: float) -> None:
        self.found.append(loss)

    def open(self, _pairs: int) -> None: ...

    def validation(self, _measures: object) -> None: ...

    def flush(self) -> None: ...


def losses_of_a_word_model(name: str, store: Path, run: Path) -> list[float]:
    """The first steps of the named model by its recipe or in its kept form, on the pairs in ``store``."""
    plan = resolve("folder", name, {**SIZES, **FORMS.get(name, {}), "data.path": str(store)})
    pairs = open_prepared(store).splits["train"]
    tokenizer = WordTokenizer.build(pairs, plan.words)
    ids = tokenizer.encode(pairs)
    seed_everything(plan.train.seed, plan.train.threads)
    model = class_of(name)(plan.model, tokenizer.vocabularies)
    model.start_from(ids)
    found = Losses()
    run.mkdir()
    task = PairTask(model, Loss(plan.loss), ids, lambda _: {"mrr": 0.0}, plan.train)
    seed_everything(plan.train.seed, plan.train.threads)
    train(task, plan.train, run, board=found)
    return found.found[:STEPS]
