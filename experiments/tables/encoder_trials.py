"""Settings of a pretrained encoder's fine-tuning, compared on validation.

``bash run.sh tune minilm`` trains it with each of :data:`SETTINGS` on two data sets; an hour each on a CPU, a minute on
a GPU. The test splits are not looked at.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from evaluation.results import Result
from experiments.tables.cells import Cell
from experiments.tables.comparison_tables import markdown_table

ENCODER: Final = "minilm"
DATASETS: Final = ("jdk", "debian_sample")
_LENGTHS: Final = {"model.query_length": "32", "model.code_length": "128"}
_VALIDATION: Final = {"evaluate.split": "valid", "evaluate.bootstrap_samples": "100"}


_CENTRE: Final = (128, "0.0002", 2)


def _setting(batch: int, rate: str, epochs: int, others: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    chosen = {"train.batch_size": f"{batch}", "train.learning_rate": rate, "train.epochs": f"{epochs}"}
    warm = {"train.warmup_steps": "0", "train.warmup_share": "0.1"} if batch > 64 else {}
    return {**_LENGTHS, **chosen, **warm, **others}


SETTINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "batches of 64, rate 1e-4, 1 epoch": _setting(64, "0.0001", 1),
    "128, 2e-4, 1": _setting(128, "0.0002", 1),
    "256, 3e-4, 1": _setting(256, "0.0003", 1),
    "128, 1e-4, 2": _setting(128, "0.0001", 2),
    "128, 2e-4, 2": _setting(128, "0.0002", 2),
    "128, 2e-4, 3": _setting(128, "0.0002", 3),
    "256, 1e-4, 3": _setting(256, "0.0001", 3),
    "256, 2e-4, 3": _setting(256, "0.0002", 3),
    "128, 2e-4, 2, temperature .03": _setting(*_CENTRE, {"loss.temperature": "0.03"}),
    "128, 2e-4, 2, temperature .1": _setting(*_CENTRE, {"loss.temperature": "0.1"}),
    "128, 2e-4, 2, four of a file together": _setting(*_CENTRE, {"train.same_file_negatives": "4"}),
    "128, 2e-4, 2, a hard negative": _setting(*_CENTRE, {"train.hard_negatives": "1"}),
    "128, 2e-4, 2, 256 tokens of code": _setting(*_CENTRE, {"model.code_length": "256"}),
    "128, 2e-4, 2, 64 tokens of a query": _setting(*_CENTRE, {"model.query_length": "64"}),
}
"""Label -> options: pairs a batch, learning rate, epochs, and what else differs."""
CHOSEN: Final = SETTINGS["256, 2e-4, 3"]
"""The setting of the main table's rows."""


def encoder_cells() -> tuple[Cell, ...]:
    """One run a setting and data set, with one seed."""
    return tuple(
        Cell(dataset, ENCODER, 0, _label(setting, dataset), {**_VALIDATION, **options})
        for dataset in DATASETS
        for setting, options in SETTINGS.items()
    )


def encoder_section(found: Mapping[str, Result]) -> str:
    """The table of the trials, from results by label; "" if there are none."""
    rows: list[tuple[str, ...]] = []
    sizes: dict[str, int] = {}
    for setting in SETTINGS:
        reached = {dataset: found.get(_label(setting, dataset)) for dataset in DATASETS}
        if any(reached.values()):
            rows.append((setting, *(f"{each.exact['mrr']:.3f}" if each else "" for each in reached.values())))
        sizes |= {dataset: each.queries for dataset, each in reached.items() if each}
    if not rows:
        return ""
    of = ", ".join(f"{queries:,} queries of {dataset}" for dataset, queries in sizes.items())
    about = (
        f"`{ENCODER}`, validation splits: MRR of {of}, over as many methods, seed 0. Each row: pairs a batch, rate, "
        "epochs, and what else differs. A blank was not run."
    )
    return f"## A pretrained encoder\n\n{about}\n\n{markdown_table(('setting', *DATASETS), rows)}"


def _label(setting: str, dataset: str) -> str:
    return f"{ENCODER}, {setting}, {dataset}"
