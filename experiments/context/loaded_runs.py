"""A finished run with the pairs that it is tested on, and what is shown of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import numpy as np
from jaxtyping import Int64

from data_prep.errors import UserError
from data_prep.languages.registry import language_of
from data_prep.pipeline.corpus import Corpus
from data_prep.pipeline.triples import Triple, triples
from data_prep.records import SplitName
from data_prep.registry import data_set
from data_prep.store.prepared_data import PairText, PreparedData, Split, words_sha256
from experiments.recipes.config import REPOSITORY, Configuration
from experiments.recipes.run_folder import RunFolder
from experiments.recipes.trained_run import load_run
from experiments.run.data import contexts_stage, prepare_stage
from experiments.run.run import command_line
from modeling.device import best_device
from modeling.pool_ranker import PoolRanker

ALL = "all"


@dataclass(frozen=True, eq=False)
class LoadedRun:
    """A run, its model, and its data with the contexts that the model reads."""

    path: Path
    plan: Configuration
    ranker: PoolRanker
    plain: PreparedData  # without contexts
    asked: PreparedData
    split_name: SplitName

    @classmethod
    def of(cls, path: Path, split: SplitName = "test", *, limit: int = 0, seed: int = 0) -> "LoadedRun":
        """Load a run and its data, at most ``limit`` pairs of ``split``, sampled in order (0: all).

        Raises:
            UserError: the run is not finished, or its data are not available.
        """
        folder = RunFolder(path)
        plan = Configuration.load(folder.config)
        ranker = PoolRanker(*load_run(folder.path), best_device())
        data = prepare_stage(plan.dataset, plan.data, command_line("context", str(path), {}))
        if 0 < limit < len(data.splits[split]):
            rows = np.sort(np.random.default_rng(seed).choice(len(data.splits[split]), limit, replace=False))
            data = replace(data, splits={**data.splits, split: data.splits[split].take(rows)})
        seen = [*dict.fromkeys((split, "valid"))]
        asked = contexts_stage(plan, plan.dataset, plan.data, data, splits=seen)
        return cls(path, plan, ranker, data, asked, split)

    @property
    def split(self) -> Split:
        """The tested pairs, with contexts if the model reads them."""
        return self.asked.splits[self.split_name]

    @property
    def train_pairs(self) -> int:
        """Training pairs at most: copies of tested pairs are left out in training."""
        pairs = len(self.plain.splits["train"])
        return min(pairs, self.plan.data.train_limit or pairs)

    @property
    def corpus(self) -> Corpus | None:
        """The data set, if it keeps the text before its functions."""
        found = data_set(self.plan.dataset, replace(self.plan.data, root=str(REPOSITORY / self.plan.data.root)))
        return found if isinstance(found, Corpus) else None

    def triples(self, rows: Sequence[int]) -> dict[int, Triple]:
        """The query, context and function of some tested pairs.

        Raises:
            UserError: the data set does not keep the text before its functions.
        """
        if self.corpus is None:
            raise UserError(f"{self.plan.dataset} does not keep the text before its functions: take a run of a corpus")
        order = sorted(set(rows))
        chosen = self.plain.splits[self.split_name].take(np.asarray(order, np.int64))
        data = replace(self.plain, splits={**self.plain.splits, self.split_name: chosen})
        return dict(zip(order, triples(data, self.split_name, self.corpus.shard_folder), strict=True))


def same_pairs(runs: Sequence[LoadedRun]) -> Sequence[LoadedRun]:
    """``runs``, which were tested on the same pairs.

    Raises:
        UserError: they were not.
    """
    if len({(run.plan.dataset, words_sha256(run.plain.splits[run.split_name])) for run in runs}) > 1:
        raise UserError(f"{', '.join(str(run.path) for run in runs)} have different test pairs: name runs of the same")
    return runs


def rows_of_languages(split: Split) -> Mapping[str, Int64[np.ndarray, " rows"]]:
    """The rows of each language."""
    found: dict[str, list[int]] = {}
    for row in range(len(split)):
        language = language_of(split.text(row).path)
        found.setdefault(language.name if language else "other", []).append(row)
    return {name: np.asarray(found[name], np.int64) for name in sorted(found)}


def url_of(text: PairText, dataset: str) -> str:
    """The address of a function's lines: at a commit, or in a package by a package URL with the path behind it."""
    tree, _, revision = text.origin.rpartition("@")
    lines = f"#L{text.start_line}-L{text.end_line}"
    if dataset == "repositories":
        return f"https://github.com/{tree}/blob/{revision}/{quote(text.path)}{lines}"
    return f"pkg:{quote(tree)}@{revision}/{quote(text.path)}{lines}"
