"""The main table: all models of the GALM paper with the same data, trainer, evaluator and convention.

``bash run.sh benchmark PART`` runs the missing cells of a part (a few minutes to an hour each on 2 cores);
``bash run.sh table`` writes ``experiments/results/main.md`` and the README's table from the saved results.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from evaluation.results import Result
from experiments.tables.cells import Cell
from experiments.tables.comparison_tables import named, summary
from experiments.tables.tuning import BEST, CHOSEN, ENCODER, best_of_trials


def of_trials(model: str) -> str:
    """The label of a model with the setting of its best trial."""
    return f"{model}, best of eight trials"


WITHOUT_GRAPH: Final = "galm, L = 0"
_NO_LAYERS: Final = {"model.layers": "0"}

REFERENCES: Final = (of_trials("galm"), "bm25_tuned")
"""All others on a pool are compared with each of these that was tested on it."""

MIXED_WITH: Final = "bm25_tuned"
FUSED: Final = ("galm", "galm_plus", "tabcs")
"""Models that are fused with it too."""

README_ROWS: Final[Mapping[str, str]] = {
    "bm25_tuned": "BM25, tuned",
    "minilm": "MiniLM, pretrained, then fine-tuned",
    of_trials("galm_plus"): "galm_plus",
    of_trials("galm"): "GALM, its open choices tuned",
    of_trials("tabcs"): "TabCS",
    "galm_paper": "GALM, literal reading (one seed)",
    "minilm + BM25": "MiniLM, fine-tuned, + BM25",
    f"{of_trials('galm_plus')} + BM25": "galm_plus + BM25",
}
"""Label, as shown -> its name in README, whose readers know no recipes: BM25, alone, fused, each best first."""
README_ALSO: Final[Mapping[str, str]] = {
    label.replace("minilm", "minilm, one epoch"): name for label, name in README_ROWS.items() if "minilm" in label
}
"""The same of rows that stand in for those of ``README_ROWS`` on a data set that these are not tested on."""
README_TESTS: Final[Mapping[str, str]] = {"jdk": "JDK (seen project)", "debian_sample": "Debian (unseen libraries)"}
TESTS: Final[Mapping[str, str]] = {
    **README_TESTS,
    "csn_tabcs": "CSN (papers' test set)",
    "jcg_tabcs": "JCG (papers' test set)",
}
"""Data set -> its name on the page."""

_SEEDS: Final = {"galm": 3, "galm_plus": 3, "tabcs": 3, "unif": 3, "deepcs": 3, "fcarcs": 3, "carlcs_ts": 3}
"""Number of seeds of a model; one if not given."""

_CONTROLS: Final = ("bm25_tuned", "bm25", "bm25_no_stems")
_ALL: Final = (
    *_CONTROLS,
    "galm",
    "galm_plus",
    "unif",
    "deepcs",
    "tabcs",
    "tabcs_no_ast",
    "carlcs_cnn",
    "carlcs_ts",
    "fcarcs",
    "fcarcs_no_ast",
)
_NODE_KINDS: Final = Cell(
    "jdk", "fcarcs", 0, "fcarcs, node kinds", {"data.statements": "false", "model.structure": "ast"}
)
"""FcarCS with TabCS's syntax-tree field in place of its statement trees."""
_TO_THE_LETTER: Final = Cell("jdk", "galm_paper", 0, "galm_paper")
"""The paper's own settings: hours."""
_TWO_LAYERS: Final = tuple(
    Cell(
        "jdk",
        "galm",
        seed,
        "galm, L = 2, start 0.1",
        {"model.layers": "2", "model.init_range": "0.1", "model.gcn_dim": "16"},
    )
    for seed in range(3)
)
"""GALM as it was before a reading was chosen on validation: with it the edges are uniform, and its nodes all alike."""
_MORE: Final = {"data.extra_train_sets": "repositories,open_java", "evaluate.extra_tests": "csn_tabcs,jcg_tabcs"}
"""The Java of hundreds of repositories and of open data in addition to the JDK's pairs, without pairs, and without
repositories, that are in the published tests."""


def _cells(dataset: str, models: tuple[str, ...]) -> tuple[Cell, ...]:
    """Every model's first seed, then the other seeds, so that a table with all rows is available early."""
    wanted = [(seed, model) for model in models for seed in range(_SEEDS.get(model, 1))]
    return tuple(Cell(dataset, model, seed, model) for seed, model in sorted(wanted, key=lambda each: each[0]))


def _wide(dataset: str) -> tuple[Cell, ...]:
    """galm_plus with word vectors twice as wide, in twice the time: better by ``bash run.sh ablate wide``."""
    return tuple(
        Cell(dataset, "galm_plus", seed, "galm_plus, vectors of 512", {"model.dim": "512"}) for seed in range(3)
    )


def _mixtures(cells: tuple[Cell, ...], models: tuple[str, ...], tuned_on: str = "") -> tuple[Cell, ...]:
    """Models of ``cells`` fused with BM25; ``tuned_on`` is the data set that the fusion weight is tuned on."""
    elsewhere = {"evaluate.fuse_tuned_on": tuned_on} if tuned_on else {}
    return tuple(
        replace(
            cell,
            label=f"{cell.label} + {MIXED_WITH}" + (f", fusion weight tuned on {tuned_on}" if tuned_on else ""),
            settings={**cell.settings, "evaluate.fuse_with": MIXED_WITH, **elsewhere},
            weights_of=cell,
        )
        for cell in cells
        if cell.model in models
    )


def _without_graph(dataset: str) -> tuple[Cell, ...]:
    """GALM without its graph convolutions: the same attention, block cosines and head, at the same settings."""
    return tuple(Cell(dataset, "galm", seed, WITHOUT_GRAPH, _NO_LAYERS) for seed in range(3))


_EQUAL_ROWS: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    **{name: (name, best_of_trials(name)) for name in BEST},
    WITHOUT_GRAPH: ("galm", {**best_of_trials("galm"), **_NO_LAYERS}),
}
"""Row -> model and settings: each word model with the best of its trials, and GALM without its graph, else the same."""


def _equal_budgets(dataset: str) -> tuple[Cell, ...]:
    """Each of ``_EQUAL_ROWS``, whose settings the JDK's validation pairs have chosen; first seeds first."""
    return tuple(
        Cell(dataset, model, seed, of_trials(name), settings)
        for seed in range(3)
        for name, (model, settings) in _EQUAL_ROWS.items()
    )


_EQUAL: Final = (_equal_budgets("jdk"), _equal_budgets("debian_sample"))
_JDK: Final = _cells("jdk", _ALL)
_JDK_WITHOUT_GRAPH: Final = _without_graph("jdk")
_JDK_WIDE: Final = _wide("jdk")
_COPIES_OVER_SEEDS: Final = ("galm_plus", "tabcs", "unif", _TWO_LAYERS[0].label)
_WITH_COPIES: Final = tuple(
    replace(cell, label=f"{cell.label}, copies left in", settings={**cell.settings, "data.clean_splits": "false"})
    for cell in (*_JDK, *_TWO_LAYERS, _NODE_KINDS)
    if cell.model not in _CONTROLS and (cell.seed == 0 or cell.label in _COPIES_OVER_SEEDS)
)
"""With the training pairs that copy a test or validation pair: how much of a lead would be memory?"""
_DEBIAN: Final = (
    *_cells("debian_sample", (*_CONTROLS, "galm", "galm_plus", "unif", "tabcs")),
    *_without_graph("debian_sample"),
    *_wide("debian_sample"),
)
_TRANSFERRED: Final[dict[str, tuple[str, dict[str, str], int]]] = {
    "galm_plus": (", start 0.2", {"model.init_range": "0.2"}, 3),
    "scotch_light_no_context": ("", {}, 3),
    "galm": ("", {}, 3),
    "tabcs_no_ast": ("", {}, 3),
    "unif": ("", {}, 3),
}
"""Model -> what its row says besides the data, settings, number of seeds. The start is what validation repositories
prefer: words that training has not seen attend to themselves from the start."""
_TRANSFER: Final = tuple(
    Cell("jdk", model, seed, f"{model}{said} (JDK + repositories + open Java)", {**settings, **_MORE})
    for seed in range(3)
    for model, (said, settings, seeds) in _TRANSFERRED.items()
    if seed < seeds
)

_RATE: Final = {"train.new_weights_rate": "3"}
"""The rate of weights that begin at random, in the encoder's; not compared with others."""
_AS_IT_COMES: Final = ("sentence_encoder", 0, "minilm as it comes")
_HEADS: Final[Mapping[str, tuple[str, dict[str, str]]]] = {
    "minilm": ("minilm", {}),
    "late_interaction": ("late_interaction", _RATE),
    "galm_contextual, L = 1": ("galm_contextual", _RATE),
    "galm_contextual, L = 0": ("galm_contextual", {**_RATE, "model.layers": "0"}),
}
"""Label -> model and settings: four ways to read the token states of one pretrained encoder."""
_ALONE: Final = {"model.pooled": "false"}
_MORE_HEADS: Final[Mapping[str, tuple[str, dict[str, str]]]] = {
    "galm_contextual, L = 2": ("galm_contextual", {**_RATE, "model.layers": "2"}),
    "late_interaction, without pooled": ("late_interaction", {**_RATE, **_ALONE}),
    "galm_contextual, L = 1, without pooled": ("galm_contextual", {**_RATE, **_ALONE}),
    "galm_contextual, L = 0, without pooled": ("galm_contextual", {**_RATE, "model.layers": "0", **_ALONE}),
}
"""A second layer; and the tokens alone, without the cosine of pooled vectors."""

TOKEN_HEADS: Final = tuple(label for label in (*_HEADS, *_MORE_HEADS) if label != "minilm")
"""Labels of those that compare tokens; ``minilm`` compares pooled vectors."""


def _encoders(dataset: str) -> tuple[Cell, ...]:
    """The encoder as it comes, and fine-tuned: the pooled vector, then the other heads by seed."""
    tuned = _fine_tuned(dataset, _HEADS)
    return _with_mixtures((Cell(dataset, *_AS_IT_COMES), *sorted(tuned, key=lambda cell: cell.label != "minilm")))


def _one_epoch() -> tuple[Cell, ...]:
    """The encoder fine-tuned on the JDK in a third of the time, for machines without a GPU."""
    settings = {"train.epochs": "1", "train.learning_rate": "0.0003", "train.weight_decay": "0.01"}
    return _with_mixtures(_fine_tuned("jdk", {"minilm, one epoch": (ENCODER, settings)}))


def _with_jdk() -> tuple[Cell, ...]:
    """The encoder fine-tuned on the JDK's pairs in addition to those of Debian's libraries."""
    more = {"data.extra_train_sets": "jdk"}
    cells = _fine_tuned("debian_sample", {"minilm (Debian + JDK)": ("minilm", more)})
    return _with_mixtures(cells)


def _fine_tuned(dataset: str, heads: Mapping[str, tuple[str, dict[str, str]]]) -> tuple[Cell, ...]:
    return tuple(
        Cell(dataset, model, seed, label, {**CHOSEN, **settings})
        for seed in range(3)
        for label, (model, settings) in heads.items()
    )


def _with_mixtures(cells: tuple[Cell, ...], tuned_on: str = "") -> tuple[Cell, ...]:
    """Each cell, and after it the same fused; see :func:`_mixtures`."""
    mixtures = _mixtures(cells, tuple(cell.model for cell in cells), tuned_on)
    return tuple(cell for pair in zip(cells, mixtures, strict=True) for cell in pair)


CELLS: Final[dict[str, tuple[Cell, ...]]] = {
    "jdk": (
        *_JDK,
        *_JDK_WITHOUT_GRAPH,
        *_JDK_WIDE,
        *_TWO_LAYERS,
        _NODE_KINDS,
        _TO_THE_LETTER,
        *_WITH_COPIES,
        *_mixtures((*_JDK, *_JDK_WITHOUT_GRAPH, *_JDK_WIDE), FUSED),
    ),
    "debian_sample": (*_DEBIAN, *_mixtures(_DEBIAN, FUSED)),
    "tuned": tuple(cell for of in _EQUAL for cell in (*of, *_mixtures(of, FUSED))),
    "encoders": (
        *_encoders("debian_sample"),
        *_encoders("jdk"),
        *_with_mixtures(tuple(Cell(name, *_AS_IT_COMES) for name in ("csn_tabcs", "jcg_tabcs")), "jdk"),
        *_one_epoch(),
        *_with_jdk(),
        *_with_mixtures(_fine_tuned("debian_sample", _MORE_HEADS)),
        *_with_mixtures(_fine_tuned("jdk", _MORE_HEADS)),
    ),
    "transfer": (
        *_cells("csn_tabcs", _CONTROLS),
        *_cells("jcg_tabcs", _CONTROLS),
        *_TRANSFER,
        *_mixtures(_TRANSFER, ("galm", "galm_plus", "scotch_light_no_context", "tabcs_no_ast"), "repositories"),
    ),
}
"""The cells of each part of the table: by training data set; ``tuned``, with equal budgets; ``encoders``, which start
from a pretrained one and need ``bash run.sh install sentences``; or ``transfer`` to the published tests."""


def shown(label: str) -> str:
    """A saved label as tables and figures show it."""
    return label.replace(f" + {MIXED_WITH}", " + BM25")


_OF_TRIALS: Final = (
    "Each word model with the best setting of its trials, `galm, L = 0` with galm's, trained anew with up to three "
    "seeds. MRR: mean ± deviation over seeds, of all test queries over as many methods. [main.md](main.md) compares "
    "them."
)


def best_trials_section(results: Iterable[tuple[str, Result]]) -> str:
    """The section of the page of settings: the word models with the best of their trials; "" without results.

    Args:
        results: of the cells of ``benchmark tuned``, with their labels.
    """
    found = named(
        results, {f"{of_trials(name)}{end}": f"{name}{end}" for name in _EQUAL_ROWS for end in ("", " + BM25")}, TESTS
    )
    if not found:
        return ""
    names = dict.fromkeys(name for rows in found.values() for name in rows)
    return f"## The best of eight trials, on test splits\n\n{_OF_TRIALS}\n\n{summary(found, names)}"
