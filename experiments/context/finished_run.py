"""A finished run with the pairs that it is tested on, and the first functions of several runs for people to judge."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import quote

import numpy as np
from jaxtyping import Int64

from data_prep.errors import UserError
from data_prep.languages.registry import language_of
from data_prep.pipeline.contexts import Part, with_contexts
from data_prep.pipeline.corpus import Corpus
from data_prep.pipeline.triples import Triple, triples
from data_prep.records import SplitName
from data_prep.registry import data_set
from data_prep.store.prepared_data import PairText, PreparedData, Split, words_sha256
from experiments.context.pools import Pool, model_scores
from experiments.recipes.config import REPOSITORY, Configuration
from experiments.recipes.run_folder import RunFolder, load_run
from experiments.run.data import contexts_stage, prepare_stage
from experiments.run.run import command_line
from modeling.pool_ranker import PoolRanker
from modeling.ranker import best_device

CONTEXT_LINES: Final = 40
"""Lines of a context that are shown, its last."""


@dataclass(frozen=True, eq=False)
class FinishedRun:
    """A run, its model, and its data with the contexts that the model reads."""

    path: Path
    plan: Configuration
    ranker: PoolRanker
    plain: PreparedData  # without contexts
    asked: PreparedData
    split_name: SplitName

    @classmethod
    def of(cls, path: Path, split: SplitName = "test", *, limit: int = 0, seed: int = 0) -> "FinishedRun":
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

    def with_contexts(self, longest: int, part: Part = "all") -> Split:
        """The tested pairs with the last ``longest`` words of a part of their contexts."""
        assert self.corpus is not None
        found = with_contexts(
            self.plain, self.corpus.shard_folder, longest=longest, part=part, splits=[self.split_name]
        )
        return found.splits[self.split_name]

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


def same_pairs(runs: Sequence[FinishedRun]) -> Sequence[FinishedRun]:
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


@dataclass(frozen=True, eq=False)
class FirstFunctions:
    """A query, and the first functions of several runs over all functions of its language."""

    language: str
    query: str
    query_url: str
    context: str  # its last lines
    rows: Sequence[Sequence[int]]  # of each run, best first
    code: Mapping[int, str]  # of each of these rows
    urls: Mapping[int, str]


def first_functions(
    runs: Sequence[FinishedRun], queries: int, top: int, random: np.random.Generator
) -> Iterator[FirstFunctions]:
    """The first ``top`` functions of each run, for at most ``queries`` of each language, drawn at random."""
    split, dataset = runs[0].split, runs[0].plan.dataset
    for language, rows in rows_of_languages(split).items():
        asked = np.sort(random.choice(rows, min(queries, len(rows)), replace=False))
        pool = Pool(np.concatenate([asked, np.setdiff1d(rows, asked)]), len(asked))
        orders = [
            np.argsort(-model_scores(run.ranker, run.split)(run.split)(pool), axis=1, kind="stable") for run in runs
        ]
        firsts = np.stack([pool.rows[order[:, :top]] for order in orders], axis=1)  # [queries, runs, top]
        shown = runs[0].triples([*asked.tolist(), *firsts.ravel().tolist()])
        for row, first in zip(asked.tolist(), firsts.tolist(), strict=True):
            found = {each for own in first for each in own}
            yield FirstFunctions(
                language=language,
                query=split.text(row).query_text,
                query_url=url_of(split.text(row), dataset),
                context="\n".join(shown[row].context.splitlines()[-CONTEXT_LINES:]),
                rows=first,
                code={each: shown[each].function for each in found},
                urls={each: url_of(split.text(each), dataset) for each in found},
            )
