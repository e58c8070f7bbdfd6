"""Speed measured on the JDK: the extraction of its methods by tree-sitter and javalang, and steps of training.

Training steps are taken in two ways that lead to the same weights, on one thread. ``training``: GALM's fast form and
the plain equations. ``rows``: rows of word tables that wait until a batch reads them, and rows that all move at every
step (``tests/training/test_row_adam.py``). ``selected``: gradients of the scores that the loss reads, after its
warm-up, and gradients of all (``tests/training/test_task.py``).
"""

import hashlib
import heapq
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, Literal

import javalang
import numpy as np
import torch
from javalang.tree import ConstructorDeclaration, MethodDeclaration
from jaxtyping import Float
from torch import Tensor

from data_prep.datasets.jdk import Jdk
from data_prep.languages.java.declarations import find_methods, parse_java
from data_prep.pipeline.java_extraction import methods_of
from data_prep.records import SourceFile
from data_prep.store.prepared_data import PreparedData
from data_prep.store.split import TokenizedPairs
from evaluation.speed import Measured, Seconds, SpeedOptions, compare, form_of
from experiments.recipes.config import REPOSITORY, Configuration, resolve
from experiments.recipes.models import class_of
from experiments.run.data import prepare_stage, training_data
from galm.fast.all_pairs import EncodedWords
from galm.model import Galm
from modeling.base import NeuralRanker
from training.state import RunState, seed_everything
from training.task import Loss, PairTask

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


def galm_of(plan: Configuration, vocabularies: Any, train: TokenizedPairs) -> Galm:
    """GALM before training, on the CPU."""
    seed_everything(plan.train.seed, plan.train.threads)
    model = Galm(plan.model, vocabularies)
    model.start_from(train)
    return model


_SPARE = 2
"""Files drawn_files per file needed, since javalang cannot parse the newest Java."""


def drawn_files(files: Iterable[SourceFile], count: int, seed: int = 0) -> list[SourceFile]:
    """``count`` files, chosen and ordered by their paths and the seed alone."""
    return heapq.nsmallest(count, files, key=lambda file: hashlib.sha256(f"{seed} {file.path}".encode()).digest())


def javalang_methods(file: SourceFile) -> int:
    """Number of methods and constructors with a body that javalang finds."""
    tree = javalang.parse.parse(file.data.decode("utf-8", errors="replace"))
    kinds = MethodDeclaration | ConstructorDeclaration
    return sum(isinstance(node, kinds) and node.body is not None for _, node in tree)


def declarations(file: SourceFile) -> int:
    """The same that tree-sitter finds."""
    return sum(1 for _ in find_methods(parse_java(file.data), documented_only=False))


def whole_methods(file: SourceFile) -> int:
    """The same with name, tokens, API words and tree, as in data preparation."""
    return sum(1 for _ in methods_of(file))


WAYS: Final[dict[str, Callable[[SourceFile], int]]] = {
    "tree-sitter, all fields": whole_methods,
    "tree-sitter, declarations": declarations,
    "javalang, declarations": javalang_methods,
}


def javalang_parses(file: SourceFile) -> bool:
    """Whether javalang can parse a file."""
    try:
        javalang_methods(file)
    except (javalang.parser.JavaSyntaxError, javalang.tokenizer.LexerError, RecursionError):
        return False
    return True


def measure_extraction(options: SpeedOptions) -> Measured:
    """All ways on the same files, in one process."""
    config = plan_of(options).data
    jdk = Jdk(replace(config, root=str(REPOSITORY / config.root)))
    files = [file for file in drawn_files(jdk.java_files(), _SPARE * options.files) if javalang_parses(file)][
        : options.files
    ]
    methods = {name: _count(way, files) for name, way in WAYS.items()}
    forms = {name: form_of(partial(_count, way, files), max(1, methods[name]) / 1000) for name, way in WAYS.items()}
    megabytes = sum(len(file.data) for file in files) / 1e6
    return Measured(
        about=f"{jdk.origin()}, {len(files)} files ({megabytes:.1f} MB) that javalang can parse, one process.",
        unit="1,000 methods",
        rows=compare("", forms, options.rounds),
        facts={name: {"methods": count} for name, count in methods.items()},
    )


def _count(way: Callable[[SourceFile], int], files: Sequence[SourceFile]) -> int:
    return sum(map(way, files))


BUCKETS: Final = ("256", "19553")
"""Vectors for unknown words: the recipe's, and as many as make galm_plus as large as it is with the JDK, repositories
and open Java in training, 33,351,490 parameters."""
MODELS: Final[Mapping[str, tuple[str, dict[str, str]]]] = {
    "galm, L = 1, width 32": ("galm", {}),
    "galm, L = 1, width 64": ("galm", {"model.gcn_dim": "64"}),
    "galm, L = 2, width 64": ("galm", {"model.layers": "2", "model.gcn_dim": "64"}),
    "galm, L = 1, width 256": ("galm", {"model.gcn_dim": "256"}),
    "galm_paper, L = 2, width 256": ("galm_paper", {}),
    "carlcs_cnn": ("carlcs_cnn", {}),
    "carlcs_ts": ("carlcs_ts", {}),
}
"""Name -> model and settings, for selected scores."""
_PARTS: Final = ("forward and loss", "backward", "clipping and optimiser")


class PlainGalm(Galm):
    """GALM that scores by the equations as written."""

    def score_matrix(self, queries: EncodedWords, codes: EncodedWords, **_: Any) -> Float[Tensor, "queries codes"]:  # type: ignore[override]
        """One padded tensor per equation."""
        return NeuralRanker.score_matrix(self, queries, codes)


class TrainingSteps:
    """A run in progress, at an epoch of its loss."""

    def __init__(
        self,
        plan: Configuration,
        data: PreparedData,
        steps: int,
        *,
        kind: type[NeuralRanker] | None = None,
        lazy: bool | None = None,
        selects: bool | None = None,
        precision: Literal["float32", "bfloat16"] | None = None,
        mixed_lengths: bool = False,
    ) -> None:
        """Build the model and the optimiser.

        Args:
            plan: the recipe.
            data: the pairs.
            steps: number of batches.
            kind: class of the model; None: the recipe's.
            lazy: whether rows of word tables wait; None: as in the recipe.
            selects: after the loss's warm-up, whether only scores that it reads have a gradient; None: at its start.
            precision: of the forward pass; None: as in the recipe.
            mixed_lengths: draw each batch from all pairs of the steps, not from pairs of similar lengths.
        """
        data, kind = training_data(plan, data, ""), kind or class_of(plan.model_name)
        tokenizer = kind.tokenizer(data.splits["train"], plan.words, plan.model)
        ids = tokenizer.encode(data.splits["train"])
        config = plan.train if lazy is None else replace(plan.train, lazy_embedding_updates=lazy)
        config = replace(config, precision=precision or config.precision)
        seed_everything(config.seed, config.threads)
        self.config, self.model = config, kind(plan.model, tokenizer.vocabulary)
        self.model.start_from(ids)
        loss = Loss(plan.loss)
        self.epoch = 0.0 if selects is None else plan.loss.warmup_epochs
        task = PairTask(self.model, loss, ids, lambda _: {}, config)
        self.task = replace(task, selects=loss.selects) if selects else task
        self.optimiser = RunState(self.task, config).optimiser
        self.batches = self.task.batches(0)[:steps]
        if mixed_lengths:
            drawn = np.random.default_rng(config.seed).permutation(np.concatenate(self.batches))
            self.batches = np.array_split(drawn, len(self.batches))

    def run(self) -> Seconds:
        """Train on the first batches of an epoch; the seconds of a step and of its parts."""
        self.model.train()
        total = np.zeros(len(_PARTS))
        for number, rows in enumerate(self.batches):
            self.optimiser.zero_grad()
            marks = [time.perf_counter()]
            with torch.autocast("cpu", torch.bfloat16, enabled=self.config.precision == "bfloat16"):
                loss = self.task.loss(rows, self.epoch, number)
            marks.append(time.perf_counter())
            loss.backward()
            marks.append(time.perf_counter())
            self.optimiser.clip(self.config.gradient_clip)
            self.optimiser.step(self.config.learning_rate)
            total += np.diff([*marks, time.perf_counter()])
        means = (total / len(self.batches)).tolist()
        return {**dict(zip(_PARTS, means, strict=True)), "whole step": sum(means)}


def measure_training(options: SpeedOptions) -> Measured:
    """The fast form and the plain form at both widths, with gradients of all scores."""
    cases = ((f"width {width}", "galm", of_width(width)) for width in WIDTHS)
    return _measured(options, max(1, options.steps // 10), cases, fast={}, plain={"kind": PlainGalm})


def measure_rows(options: SpeedOptions) -> Measured:
    """Both ways of moving the rows of word tables, with a small and a large table."""
    cases = (
        (f"galm_plus, {int(count):,} vectors for unknown words", "galm_plus", {"words.unknown_buckets": count})
        for count in BUCKETS
    )
    ways = {"rows wait": {"lazy": True}, "every row moves": {"lazy": False}}
    return _measured(options, options.steps, cases, **ways)


def measure_selected(options: SpeedOptions) -> Measured:
    """Gradients of few scores and of all, for graphs of several sizes and for co-attention."""
    cases = ((name, model, settings) for name, (model, settings) in MODELS.items())
    ways: dict[str, dict[str, Any]] = {
        "scores that the loss reads": {"selects": True},
        "all scores": {"selects": False},
    }
    return _measured(options, options.steps, cases, **ways)


def measure_encoder(options: SpeedOptions) -> Measured:
    """A pretrained encoder in bfloat16 and in float32, with texts of similar lengths in a batch and of mixed ones."""
    cases = [("minilm, 32 and 128 subwords", "minilm", {"model.query_length": "32", "model.code_length": "128"})]
    ways: dict[str, dict[str, Any]] = {
        f"{precision}, {lengths} lengths": {"precision": precision, "mixed_lengths": lengths == "mixed"}
        for precision in ("bfloat16", "float32")
        for lengths in ("similar", "mixed")
    }
    return _measured(options, max(1, options.steps // 10), cases, **ways)


def _measured(
    options: SpeedOptions, steps: int, cases: Iterable[tuple[str, str, dict[str, str]]], **ways: dict[str, Any]
) -> Measured:
    """Steps of each case (its name, model and settings) in all ways: name -> what is said to :class:`TrainingSteps`."""
    data, rows = pairs_of(options), []
    for name, model, settings in cases:
        plan = plan_of(options, model, {**settings, "train.threads": "1"})
        runs = {way: TrainingSteps(plan, data, steps, **how) for way, how in ways.items()}
        rows += compare(name, {way: run.run for way, run in runs.items()}, options.rounds)
    about = f"{data.manifest['origin']}, {steps} steps of {plan.train.batch_size} pairs a round, one thread."
    return Measured(about=about, unit="a training step", rows=rows)
