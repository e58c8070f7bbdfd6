"""The registry of models by name. A new model needs its module and an entry here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any, Final

from experiments.terminal.options import unknown


@dataclass(frozen=True, slots=True)
class Recipe:
    """Classes and settings of a named model."""

    target: str
    """The class: a ``NeuralRanker``, which is trained, or a ``Ranker``, which is not."""
    about: str
    """Description in the help, one line."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Options in command line syntax, which the user's own override."""
    config: str = ""
    """The dataclass of its ``model`` section; "": the name of the class with "Config" behind it."""


_GALM: Final = {
    "words.api": "split",
    "words.stem": "true",
    "train.epochs": "8",
    "train.batch_size": "64",
    "train.learning_rate": "1e-3",
    "train.final_learning_rate": "1.7e-4",
}
"""What all forms of the model have, beside the defaults of its ``model`` section. Words are tokenized as for the BM25
baseline; the learning rate is three times the paper's and falls to a sixth as there, since 8 epochs replace its 30."""

BASELINE: Final = {
    "words.api": "split",
    "words.stem": "true",
    "model.init": "shared",
    "loss.kind": "cross_entropy",
    "loss.temperature": "0.1",
    "train.epochs": "8",
    "train.batch_size": "64",
    "train.learning_rate": "1e-3",
    "train.final_learning_rate": "1.7e-4",
}
"""The neural baselines, and word models of one's own. Words, epochs, batches and learning rates are galm's; initial
vectors and loss are those that ``bash run.sh tune`` found best for each on validation (results/tuning.md). The
temperature is galm_plus's, for cosines."""

_SCOTCH_LIGHT: Final = {
    "words.api": "split",
    "words.stem": "true",
    "words.joint": "true",
    "words.unknown_buckets": "1024",
    "words.tokens_length": "60",
    "loss.kind": "cross_entropy",
    "loss.temperature": "0.05",
    "train.epochs": "3",
    "train.batch_size": "128",
    "train.schedule": "linear",
    "train.learning_rate": "3e-3",
    "train.final_learning_rate": "3e-4",
}
"""The same settings with and without context; rate, temperature and initial gains were chosen on validation pairs of
`installed` (docs/scotch.md)."""

_RANKING_LOSS: Final = {"loss.kind": "ranking", "loss.temperature": "1"}

TRANSFORMER: Final = {
    "loss.kind": "cross_entropy",
    "loss.temperature": "0.05",
    "train.epochs": "1",
    "train.batch_size": "32",
    "train.schedule": "linear",
    "train.learning_rate": "2e-5",
    "train.final_learning_rate": "0",
    "train.warmup_steps": "100",
    "train.gradient_clip": "1",
    "train.precision": "auto",
}
"""Usual settings for fine-tuning, not tuned here, also of transformers of one's own; the temperature is
a scale of 20 in MultipleNegativesRankingLoss of sentence-transformers."""

_TOKEN_VECTORS: Final = {**TRANSFORMER, "train.new_weights_rate": "20"}
"""Projection and head start at random, so they learn faster than the pretrained weights."""

_SCOTCH: Final = {
    "model.vector": "mean",
    "loss.kind": "cross_entropy",
    "loss.directions": "queries",
    "loss.temperature": "1",
    "train.epochs": "1",
    "train.batch_size": "20",
    "train.schedule": "linear",
    "train.learning_rate": "2e-5",
    "train.final_learning_rate": "0",
    "train.warmup_share": "0.1",
    "train.gradient_clip": "1",
}
"""Scotch's loss and batches for the packaged MiniLM, whose vector is the mean of its states; the rate and the single
epoch are usual settings for fine-tuning, not tuned here."""

_SCOTCH_PAPER: Final = {
    **_SCOTCH,
    "model.base": "microsoft/codebert-base",
    "model.vector": "pooled",
    "model.length": "500",
    "train.epochs": "5",
    "train.learning_rate": "1e-5",
    "train.validate_pool": "1000",
    "train.seed": "69",
}
"""The settings of Scotch's released scripts; Adam's epsilon and weight decay are as there, 1e-8 and 0."""

_BM25: Final = "baselines.bm25:Bm25"
_BM25_TUNED: Final = {
    "model.k1": "2",
    "model.b": "1",
    "model.name_weight": "10",
    "model.distinct": "true",
    "model.common_words": "false",
}
"""Tuned on the JDK's validation split, one setting after the other: k1, b, the weight of the name, stop words,
forms of API words and repeated words. MRR is .595 over its 2,243 methods, and .515 with the defaults."""

MODELS: Final[dict[str, Recipe]] = {
    "galm": Recipe(
        "galm.model:Galm",
        "the paper's model: of the readings that its text allows, the best on validation",
        _GALM,
        "galm.config:GalmConfig",
    ),
    "galm_paper": Recipe(
        "galm.model:Galm",
        "the paper to the letter: one table for all fields, width 256, 30 epochs at its rates (hours)",
        {
            **_GALM,
            "model.code_tables": "one",
            "model.init_range": "0.1",
            "model.layers": "2",
            "model.gcn_dim": "256",
            "train.epochs": "30",
            "train.learning_rate": "3e-4",
            "train.final_learning_rate": "5e-5",
        },
        "galm.config:GalmConfig",
    ),
    "galm_plus": Recipe(
        "galm.model:Galm",
        "improved on validation: no graph, nodes also for the name, one vector plus offsets, cross-entropy",
        {
            **_GALM,
            "words.joint": "true",
            "words.unknown_buckets": "256",
            "model.code_tables": "offsets",
            "model.init": "uniform",
            "model.init_range": "0.1",
            "model.layers": "0",
            "model.gcn_dim": "16",
            "model.nodes": "query_and_name",
            "model.readout": "weighted",
            "model.dropout": "0.25",
            "loss.kind": "cross_entropy",
            "loss.temperature": "0.1",
            "train.epochs": "5",
        },
        "galm.config:GalmConfig",
    ),
    "unif": Recipe("baselines.unif:Unif", "UNIF: weighted mean of tokens", BASELINE),
    "deepcs": Recipe("baselines.deepcs:Deepcs", "DeepCS: recurrent networks", {**BASELINE, **_RANKING_LOSS}),
    "tabcs": Recipe("baselines.tabcs:Tabcs", "TabCS: attention, then co-attention", BASELINE),
    "tabcs_no_ast": Recipe(
        "baselines.tabcs:Tabcs", "TabCS without the syntax tree", {**BASELINE, "model.ast": "false"}
    ),
    "carlcs_cnn": Recipe(
        "baselines.carlcs:Carlcs", "CARLCS-CNN: convolutions, co-attention", {**BASELINE, **_RANKING_LOSS}
    ),
    "carlcs_ts": Recipe(
        "baselines.carlcs:Carlcs",
        "CARLCS-TS: CARLCS-CNN with the syntax tree as a field",
        {**BASELINE, **_RANKING_LOSS, "model.ast": "true"},
    ),
    "fcarcs": Recipe(
        "baselines.fcarcs:Fcarcs", "FcarCS: co-attention by convolutions", {**BASELINE, "data.statements": "true"}
    ),
    "fcarcs_no_ast": Recipe(
        "baselines.fcarcs:Fcarcs", "FcarCS without the statement trees", {**BASELINE, "model.structure": "none"}
    ),
    "scotch_light": Recipe(
        "baselines.scotch_light:ScotchLight",
        "Scotch in a light form: word vectors, and the text before the function is part of the query",
        _SCOTCH_LIGHT,
    ),
    "scotch_light_no_context": Recipe(
        "baselines.scotch_light:ScotchLight",
        "the same from the same initial state, without context",
        {**_SCOTCH_LIGHT, "model.context_words": "0"},
    ),
    "scotch": Recipe(
        "baselines.scotch_transformer:Scotch",
        "Scotch: two transformers, query under its context and function, from MiniLM (install sentences)",
        _SCOTCH,
    ),
    "scotch_no_context": Recipe(
        "baselines.scotch_transformer:Scotch",
        "the same from the same start, without context",
        {**_SCOTCH, "model.context": "false"},
    ),
    "scotch_paper": Recipe(
        "baselines.scotch_transformer:Scotch",
        "Scotch with its paper's settings: CodeBERT, 500 tokens, 5 epochs (a GPU; the Hub)",
        _SCOTCH_PAPER,
    ),
    "minilm": Recipe(
        "modeling.transformers.bi_encoder:TransformerBiEncoder",
        "a sentence-transformers model, fine-tuned as a bi-encoder over subwords (install sentences)",
        TRANSFORMER,
        "modeling.transformers.bi_encoder:TransformerConfig",
    ),
    "late_interaction": Recipe(
        "modeling.transformers.late_interaction:LateInteraction",
        "the same with a vector a token: each query token takes its most similar code token, as in ColBERT",
        _TOKEN_VECTORS,
    ),
    "galm_contextual": Recipe(
        "galm.contextual:GalmContextual", "GALM's alignment graph over the transformer's token states", _TOKEN_VECTORS
    ),
    "cross_encoder": Recipe(
        "modeling.transformers.cross_encoder:CrossEncoder",
        "a pretrained transformer that reads query and code together: for small pools, such as --evaluate.pool=100",
        {**TRANSFORMER, "loss.temperature": "1", "train.batch_size": "8", "train.validate_pool": "30"},
    ),
    "sentence_encoder": Recipe(
        "modeling.transformers.pretrained:SentenceEncoder",
        "a pretrained sentence-transformers model: no training",
    ),
    "bm25": Recipe(_BM25, "BM25 over split identifiers: no training"),
    "bm25_no_stems": Recipe(_BM25, "BM25 without stemming, as in most papers", {"model.stem": "false"}),
    "bm25_tuned": Recipe(_BM25, "with the settings tuned on validation", _BM25_TUNED),
}


def recipe_of(model: str) -> Recipe:
    """The recipe of a model.

    Raises:
        UserError: there is no such model; the message lists all models.
    """
    if model not in MODELS:
        raise unknown("model", model, list(MODELS))
    return MODELS[model]


def settings_of(model: str) -> dict[str, str]:
    """The options that a model's recipe sets; ``model.init`` only if the model has it, since recipes are shared."""
    settings = dict(recipe_of(model).settings)
    if "init" not in getattr(config_type_of(model), "__dataclass_fields__", ()):
        settings.pop("model.init", None)
    return settings


def config_type_of(model: str) -> type:
    """The dataclass of a model's ``model`` section."""
    recipe = recipe_of(model)
    return resolve_name(recipe.config or f"{recipe.target}Config")


def class_of(model: str) -> Any:
    """The class of a model; imports its dependencies."""
    return resolve_name(recipe_of(model).target)


def is_trained(model: str) -> bool:
    """Whether a model is trained, that is, a ``NeuralRanker``; imports its dependencies."""
    from modeling.base import NeuralRanker

    return issubclass(class_of(model), NeuralRanker)


def reads_texts(model: str, config: Any) -> bool:
    """Whether a model reads whole texts, not lists of words; ``config``: its section ``model``."""
    return class_of(model).reads == "subwords" or getattr(config, "reads", "") == "text"


OWN: Final[dict[str, str]] = {}
"""Name of the class of a model of one's own -> how it was named, FILE.py:CLASS with an absolute path."""


def as_typed(model: str) -> str:
    """How a model is named on the command line: by its name, or by ``--model=`` if it is one's own."""
    return f"--model={OWN[model]}" if model in OWN else model
