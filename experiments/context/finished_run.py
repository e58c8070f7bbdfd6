"""A finished run, the pairs that it is tested on, and its scores over pools of their functions.

Scotch's MRR is over a test set in shuffled pools of equal size, a query's own function among the others of its pool.
Ties count against the query, as in the paper's code. The last pool, which would be smaller and so easier, is padded by
functions of the other pools, which are not asked for again. A bi-encoder computes its vectors once for all pools.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import numpy as np
from jaxtyping import Float, Int64

from data_prep.config import data_set
from data_prep.errors import UserError
from data_prep.languages.registry import language_of
from data_prep.pipeline.contexts import Part, Triple, triples, with_contexts
from data_prep.pipeline.corpus import Corpus
from data_prep.records import SplitName
from data_prep.store.prepared_data import PreparedData, words_sha256
from data_prep.store.split import PairText, Split
from evaluation.metrics import count_better_and_tied
from experiments.recipes.config import REPOSITORY, Configuration
from experiments.recipes.run_folder import RunFolder, load_run
from experiments.run.data import contexts_stage, prepare_stage
from experiments.run.run import command_line
from modeling.base import BiEncoder
from modeling.pool_ranker import PoolRanker
from modeling.ranker import Ranker, best_device


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
    if dataset != "installed":
        return f"https://github.com/{tree}/blob/{revision}/{quote(text.path)}{lines}"
    return f"pkg:{quote(tree)}@{revision}/{quote(text.path)}{lines}"


@dataclass(frozen=True, eq=False, slots=True)
class Pool:
    """Functions that are ranked together."""

    rows: Int64[np.ndarray, " pool"]
    """Of the split; the first ``asked`` are queries too."""
    asked: int

    @property
    def own(self) -> Int64[np.ndarray, " asked"]:
        """The rows that are queries."""
        return self.rows[: self.asked]


PoolScores = Callable[[Pool], Float[np.ndarray, "asked pool"]]
"""The scores of a pool's queries against its functions; higher is better."""


def pools(rows: Int64[np.ndarray, " rows"], size: int, seed: int) -> list[Pool]:
    """The pools of some rows of a split; if there are fewer than ``size``, all are one pool.

    Raises:
        UserError: there are no pairs, or a pool would have no other function.
    """
    if min(len(rows), size) < 2:
        raise UserError(
            f"a pool has 2 functions or more, not {min(len(rows), size)}: prepare more data or raise --pools"
        )
    order, found = np.random.default_rng(seed).permutation(rows), []
    for start in range(0, len(rows), size):
        own = order[start : start + size]
        found.append(Pool(np.concatenate([own, order[: min(size - len(own), start)]]), len(own)))
    return found


def pool_ranks(
    systems: Mapping[str, PoolScores], parts: Sequence[Pool], size: int
) -> dict[str, Int64[np.ndarray, " pairs"]]:
    """The rank of each pair's own function by each system, 1 is best, in the order of the split.

    Args:
        systems: name -> scores of a pool.
        parts: as :func:`pools` made them.
        size: pairs of the split; those that are in no pool have rank 0.
    """
    ranks = {name: np.zeros(size, np.int64) for name in systems}
    for part in parts:
        for name, scores in systems.items():
            better, tied = count_better_and_tied(scores(part), np.arange(part.asked))
            ranks[name][part.own] = 1 + better + tied
    return ranks


def ranker_scores(ranker: Ranker, queries: Split, codes: Split) -> PoolScores:
    """The scores of a ranker, which reads each pool anew.

    Args:
        ranker: scores queries against functions.
        queries: the pairs as they are asked.
        codes: the same pairs in the same order.
    """

    def scores(part: Pool) -> Float[np.ndarray, "asked pool"]:
        return np.concatenate([*ranker.over(queries.take(part.own), codes.take(part.rows)).blocks()])

    return scores


def model_scores(ranker: PoolRanker, codes: Split) -> Callable[[Split], PoolScores]:
    """A function that gives the scores of queries, as they are asked, against ``codes``, their own functions."""
    if not isinstance(ranker.model, BiEncoder):
        return lambda queries: ranker_scores(ranker, queries, codes)
    vectors = ranker.vectors(codes, "code")

    def of_queries(queries: Split) -> PoolScores:
        asked = ranker.vectors(queries, "query")

        def scores(part: Pool) -> Float[np.ndarray, "asked pool"]:
            return np.asarray(asked[part.own] @ vectors[part.rows].T)

        return scores

    return of_queries
