"""The pairs of the JDK that speed is measured on, and the extraction of their methods: by tree-sitter and javalang."""

import hashlib
import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import javalang
from javalang.tree import ConstructorDeclaration, MethodDeclaration

from data_prep.datasets.jdk import Jdk
from data_prep.languages.java.declarations import find_methods, parse_java
from data_prep.pipeline.java_extraction import methods_of
from data_prep.records import SourceFile
from data_prep.store.prepared_data import PreparedData
from data_prep.store.tokenizing import TokenizedPairs
from evaluation.speed import Measured, SpeedOptions, compare, form_of
from experiments.recipes.config import REPOSITORY, Configuration, resolve
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
