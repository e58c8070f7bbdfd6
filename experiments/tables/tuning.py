"""Settings of the trained word models, chosen on validation with equal budgets: eight trials for each.

``bash run.sh tune MODEL`` trains a model with each of the :data:`TRIALS` settings, which are the same for all models:
rate, epochs, dropout, loss and starting vectors. The test split is not looked at. Before that, four settings were
compared with less data; recipes that have not had their trials yet are from there. ``tune minilm`` compares
:data:`ENCODER_SETTINGS` of a pretrained encoder's fine-tuning on two data sets, also on validation; an hour each on a
CPU, a minute on a GPU.
"""

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
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


ENCODER_SETTINGS: Final[Mapping[str, Mapping[str, str]]] = {
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
CHOSEN: Final = ENCODER_SETTINGS["256, 2e-4, 3"]
"""The setting of the main table's rows."""


def encoder_cells() -> tuple[Cell, ...]:
    """One run a setting and data set, with one seed."""
    return tuple(
        Cell(dataset, ENCODER, 0, _label(setting, dataset), {**_VALIDATION, **options})
        for dataset in DATASETS
        for setting, options in ENCODER_SETTINGS.items()
    )


def encoder_section(found: Mapping[str, Result]) -> str:
    """The table of the trials, from results by label; "" if there are none."""
    rows: list[tuple[str, ...]] = []
    sizes: dict[str, int] = {}
    for setting in ENCODER_SETTINGS:
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


def encoder_trials(found: Mapping[str, Result]) -> tuple[dict[str, int], int]:
    """The number of settings of the encoder that were compared on each data set, and of those compared on all.

    Args:
        found: results by label.
    """
    tried = {name: {each for each in ENCODER_SETTINGS if _label(each, name) in found} for name in DATASETS}
    return {name: len(each) for name, each in tried.items() if each}, len(set.intersection(*tried.values()))


def _label(setting: str, dataset: str) -> str:
    return f"{ENCODER}, {setting}, {dataset}"


TUNED: Final = ("galm", "galm_plus", "unif", "deepcs", "tabcs", "carlcs_cnn", "carlcs_ts", "fcarcs")
"""Their forms with or without a field take the setting of the tuned form."""

TRIED: Final = (*TUNED, ENCODER)
"""All models with trials: the word models, and the pretrained encoder with settings of its own."""

TRIALS: Final = 8
_RATES: Final = (1e-4, 3e-3)
_DECAY: Final = 6
"""First rate by the last, as in GALM's paper."""
_EPOCHS: Final = ("4", "8", "12")
_DROPOUTS: Final = ("0.0", "0.1", "0.25")
_RANKING: Final = {"loss.kind": "ranking", "loss.temperature": "1"}
_CROSS_ENTROPY: Final = {"loss.kind": "cross_entropy", "loss.temperature": "0.1"}
_NO_CHOICE: Final = {"galm_plus": ("model.init",)}
"""Model -> options of a trial that it does not have: equal words of galm_plus share their vectors anyway."""


def _trials() -> tuple[dict[str, str], ...]:
    """A Latin hypercube: each pair of loss and start twice, the other values equally often, in a random order."""
    draw = random.Random("trials")

    def shuffled(values: Sequence[str]) -> list[str]:
        return draw.sample([values[number % len(values)] for number in range(TRIALS)], TRIALS)

    low, high = map(math.log, _RATES)
    exponents = [low + (high - low) * (number + 0.5) / TRIALS for number in range(TRIALS)]
    rates = draw.sample(exponents, TRIALS)
    columns = zip(rates, shuffled(_EPOCHS), shuffled(_DROPOUTS), strict=True)
    pairs = [(loss, start) for loss in (_RANKING, _CROSS_ENTROPY) for start in ("uniform", "shared")] * 2
    return tuple(
        {
            "train.learning_rate": f"{math.exp(rate):.1e}",
            "train.final_learning_rate": f"{math.exp(rate) / _DECAY:.1e}",
            "train.epochs": epochs,
            "model.dropout": dropout,
            **loss,
            "model.init": start,
        }
        for (rate, epochs, dropout), (loss, start) in zip(columns, pairs, strict=True)
    )


SETTINGS: Final = _trials()
"""The settings of each trial, the same for every model."""


def trial_cells(model: str) -> tuple[Cell, ...]:
    """The trials of ``model``, with one seed, on the whole JDK without copies of test pairs."""
    return tuple(
        Cell("jdk", model, 0, f"{model}, trial {number}", {**_VALIDATION, **_of(model, settings)})
        for number, settings in enumerate(SETTINGS, start=1)
    )


def _of(model: str, settings: Mapping[str, str]) -> dict[str, str]:
    """The settings without those that a model has no choice of."""
    return {name: value for name, value in settings.items() if name not in _NO_CHOICE.get(model, ())}


BEST: Final[Mapping[str, int]] = {
    "galm": 6, "galm_plus": 7, "unif": 6, "deepcs": 1, "tabcs": 4, "carlcs_cnn": 1, "carlcs_ts": 1, "fcarcs": 4,
}  # fmt: skip
"""Model -> the number of the best of its trials."""


def best_of_trials(model: str) -> dict[str, str]:
    """The setting of the best trial of a model."""
    return _of(model, SETTINGS[BEST[model] - 1])


_BUDGET: Final = {"data.limit": "12000", "data.clean_splits": "false", **_VALIDATION}
EARLIER: Final[dict[str, Mapping[str, str]]] = {
    "apart, ranking loss": {"model.init": "uniform", **_RANKING},
    "apart, cross-entropy": {"model.init": "uniform", **_CROSS_ENTROPY},
    "shared, ranking loss": {"model.init": "shared", **_RANKING},
    "shared, cross-entropy": {"model.init": "shared", **_CROSS_ENTROPY},
}
"""Label -> settings that were compared before: initial vectors per side or shared by equal words, and the loss."""
_EARLIER_MODELS: Final = ("galm", "unif", "deepcs", "tabcs", "carlcs_cnn", "fcarcs")
_EARLIER_FORMS: Final = {
    "galm": {"model.layers": "2", "model.init_range": "0.1", "model.gcn_dim": "16"},
    "fcarcs": {"data.statements": "false", "model.structure": "ast"},
}
"""Model -> the form that was compared, if it is not the recipe's: GALM with two layers, FcarCS with node kinds."""


def earlier_cells(model: str) -> tuple[Cell, ...]:
    """The four settings that were compared before, if ``model`` was."""
    return tuple(
        Cell("jdk", model, 0, f"{model}, {label}", {**_BUDGET, **_EARLIER_FORMS.get(model, {}), **settings})
        for label, settings in (EARLIER.items() if model in _EARLIER_MODELS else ())
    )


def cells_of(model: str) -> tuple[Cell, ...]:
    """All that the page shows of ``model``."""
    return run_by_tune(model) + earlier_cells(model)


def run_by_tune(model: str) -> tuple[Cell, ...]:
    """All that ``bash run.sh tune`` runs of ``model``."""
    return encoder_cells() if model == ENCODER else trial_cells(model)


def tuning_page(results: Iterable[tuple[str, Result]]) -> str:
    """Tables of models and settings, from results with the labels of their cells; "" if there are none.

    The best setting of each model is bold.
    """
    found = dict(results)
    parts = (
        _table(found, "## Eight trials a model", _about_trials, tuple(f"trial {n}" for n in range(1, TRIALS + 1))),
        encoder_section(found),
        _table(found, "## Four settings, before", _about_earlier, tuple(EARLIER)),
    )
    text = "\n\n".join(filter(None, parts))
    return f"# Settings by validation\n\n{text}\n" if text else ""


def _table(found: Mapping[str, Result], head: str, about: Callable[[Result], str], labels: Sequence[str]) -> str:
    rows, any_result = [], None
    for model in TUNED:
        reached = [found.get(f"{model}, {label}") for label in labels]
        best = max((each.exact["mrr"] for each in reached if each), default=None)
        if best is not None:
            rows.append((model, *(_shown(each, best) for each in reached)))
            any_result = next(each for each in reached if each)
    if any_result is None:
        return ""
    return f"{head}\n\n{about(any_result)}\n\n{markdown_table(('model', *labels), rows)}"


def _about_trials(result: Result) -> str:
    names = [name.partition(".")[2] for name in SETTINGS[0]]
    rows = [(f"trial {number}", *settings.values()) for number, settings in enumerate(SETTINGS, start=1)]
    settings = markdown_table(("", *names), rows)
    return (
        f"{result.data.origin}, {result.split} split without copies: MRR of {result.queries:,} queries over as many "
        "methods, seed 0. Every model has the same eight settings, a Latin hypercube; batches, words and all "
        f"else are those of its recipe. What is not listed was not run.\n\n{settings}"
    )


def _about_earlier(result: Result) -> str:
    return (
        f"{result.data.origin}, {result.split} split: MRR of {result.queries:,} queries over as many methods after "
        "training on the training pairs among 12,000 of all splits, seed 0, with the epochs, rates, batches and words "
        "of each model's recipe. Starting vectors of queries and code are drawn apart, or are the same for equal words."
    )


def _shown(result: Result | None, best: float) -> str:
    if result is None:
        return ""
    text = f"{result.exact['mrr']:.3f}"
    return f"**{text}**" if result.exact["mrr"] == best else text
