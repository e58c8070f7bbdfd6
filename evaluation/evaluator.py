"""Ranks every query over the whole pool; depends only on the :class:`Ranker` interface.

Scores are computed in blocks of queries and discarded after counting: each query retains its gold's rank, the numbers
of better and tied codes, and the best few codes. Memory is one block of scores plus ``run_depth`` codes per query. How
a data set's test split is read, which rows are queries and what each is ranked among, is a :class:`TestReading`.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from jaxtyping import Float, Float32, Int, Int64
from tqdm import tqdm

from data_prep.errors import UserError
from data_prep.records import CODE_FIELDS
from data_prep.store.prepared_data import PreparedData, Split
from evaluation.config import EvaluateConfig
from evaluation.metrics import ceiling_top1, count_better_and_tied
from evaluation.saved_counts import Counts, SavedCounts
from modeling import distributed as processes
from modeling.ranker import Ranker, Scores


@dataclass(frozen=True, slots=True)
class TestReading:
    """Of a test split, from the manifest of its data set; by default each row is a query over all rows."""

    __test__ = False  # pytest: no tests in here

    candidates_without_query: bool = False
    """Whether rows with an empty query are candidates only."""
    group: int = 0
    """Rank each query among this many rows, itself included; 0: all. The rows are divided at random, with a fixed seed;
    the last ones that do not fill a group are left out, as in CodeSearchNet's evaluation (src/model_test.py)."""

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> "TestReading":
        """The reading that a manifest states.

        Raises:
            UserError: it states another.
        """
        stated = manifest.get("test_reading", {})
        match stated:
            case {"candidates_without_query": bool(only), **rest} if not rest:
                return cls(candidates_without_query=only)
            case {"group": int(group), **rest} if not rest and group > 1:
                return cls(group=group)
            case {**none} if not none:
                return cls()
        raise UserError(f"the manifest states a test_reading that is not known: {stated!r:.60}")

    def queries(self, split: Split) -> Int64[np.ndarray, " queries"]:
        """The rows of ``split`` that are queries."""
        rows = np.arange(len(split), dtype=np.int64)
        return rows[split.words["query"].lengths > 0] if self.candidates_without_query else rows

    def groups(self, size: int) -> Int64[np.ndarray, "groups group"]:
        """The rows of each group of a split of ``size`` rows; one of all if there are too few."""
        group = min(self.group, size)
        rows = np.random.RandomState(_SEED).permutation(size)[: size // group * group]
        return np.sort(rows.reshape(-1, group), axis=1).astype(np.int64)


WHOLE: Final = TestReading()
_SEED: Final = 0
"""CodeSearchNet's; its groups are others, since they also depend on the order of the rows."""


def asked(data: PreparedData) -> Split:
    """The test pairs of ``data``, without candidates that are no query."""
    split, reading = data.splits["test"], TestReading.of(data.manifest)
    return split.take(reading.queries(split)) if reading.candidates_without_query else split


_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False, slots=True)
class Evaluation:
    """A ranker's results on a pool."""

    pool: Split
    rows: Int64[np.ndarray, " queries"]  # row in the split of each query and of its gold
    golds: Int64[np.ndarray, " queries"]  # row in the pool of each query and of its gold
    candidates: int  # number of codes that each query was ranked among
    better: Int64[np.ndarray, " queries"]  # codes that scored higher than the gold
    tied: Int64[np.ndarray, " queries"]  # other codes that scored as high as the gold
    top_codes: Int64[np.ndarray, "queries depth"]  # best first, as rows of ``pool``; a gold is last among its ties
    top_scores: Float32[np.ndarray, "queries depth"]
    read_seconds: float  # for reading the queries and codes
    score_seconds: float

    @property
    def ranks(self) -> Int64[np.ndarray, " queries"]:
        """Rank of each query's gold, ties counted against the ranker."""
        return 1 + self.better + self.tied

    @property
    def pairs(self) -> int:
        """Number of pairs of query and code scored."""
        return len(self.golds) * self.candidates

    @property
    def seconds(self) -> float:
        """Total time of reading and scoring."""
        return self.read_seconds + self.score_seconds

    @property
    def pairs_per_second(self) -> float:
        """Pairs per second while scoring."""
        return self.pairs / self.score_seconds

    def ceiling_top1(self) -> float:
        """Highest possible Top@1, given repeated queries and codes; of a pool in groups the mean of theirs."""
        queries, codes = _keys(self.pool, ("query",)), _keys(self.pool, CODE_FIELDS)
        golds, size = self.golds, self.candidates
        if size == len(codes):
            return ceiling_top1([queries[gold] for gold in golds], [codes[gold] for gold in golds], codes)
        groups = [slice(start, start + size) for start in range(0, len(codes), size)]
        return float(np.mean([ceiling_top1(queries[group], codes[group]) for group in groups]))


def _keys(pool: Split, fields: Sequence[str]) -> list[tuple[bytes, ...]]:
    """A key of each row's words in some fields."""
    return [tuple(pool.words[field][row].tobytes() for field in fields) for row in range(len(pool))]


def pool_rows(size: int, config: EvaluateConfig) -> Int64[np.ndarray, " pool"]:
    """The rows of a split of ``size`` pairs that form the pool, in order."""
    if config.pool == 0 or config.pool >= size:
        if config.pool > size:
            _log.warning(
                "--evaluate.pool=%d is more than the %d available pairs: all of them are used", config.pool, size
            )
        return np.arange(size, dtype=np.int64)
    drawn = np.random.default_rng(config.pool_seed).choice(size, size=config.pool, replace=False)
    return np.sort(drawn).astype(np.int64)


def evaluate(
    ranker: Ranker,
    split: Split,
    config: EvaluateConfig,
    *,
    reading: TestReading = WHOLE,
    progress: bool = True,
    kept: SavedCounts | None = None,
) -> Evaluation:
    """Rank the queries of ``split`` over its methods, or those of a sample of ``config.pool`` pairs over that sample.

    The processes of a run share the queries, and each returns the whole result. ``kept`` has the saved counts of an
    interrupted evaluation, which are not computed again. ``reading`` may say that some rows are no queries, or that
    each query is ranked among a group; of groups, ``config.pool`` and ``kept`` are not used.

    Raises:
        UserError: when the split is empty or a score is NaN.
    """
    if not len(split):
        raise UserError(f"split {split.name} has no pairs to test on; prepare more data or raise --data.limit")
    if reading.group:
        return _grouped(ranker, split, config, reading, progress=progress)
    rows = pool_rows(len(split), config)
    pool = split if len(rows) == len(split) else split.take(rows)
    golds = reading.queries(pool)
    if not len(golds):
        raise UserError(f"split {split.name} has no query among its {len(pool)} pairs; raise --data.limit")
    mine = processes.share(len(golds))
    done = kept.load() if kept else None
    left = golds[mine.start + (len(done) if done else 0) : mine.stop]
    start = time.perf_counter()
    scores = ranker.over(pool if len(left) == len(pool) else pool.take(left), pool)
    read = time.perf_counter()
    counts = _counts(scores, pool, left, config.run_depth, done, kept, progress=progress and processes.is_first())
    found = Counts.joined(processes.gathered(counts))
    seconds = time.perf_counter() - read + (kept.seconds if kept else 0)
    ranked = (found.better, found.tied, found.codes, found.scores)
    return Evaluation(pool, rows[golds], golds, len(pool), *ranked, read - start, seconds)


def _grouped(
    ranker: Ranker, split: Split, config: EvaluateConfig, reading: TestReading, *, progress: bool
) -> Evaluation:
    """Rank each query over its group; a group is read and ranked as if there were no other."""
    groups = reading.groups(len(split))
    mine = processes.share(len(groups))
    found, read = [Counts.none(min(config.run_depth, groups.shape[1]))], 0.0
    start = time.perf_counter()
    for number in tqdm(
        range(mine.start, mine.stop), desc=f"ranking {split.name}", unit=" groups", disable=not progress, leave=False
    ):
        pool, begun = split.take(groups[number]), time.perf_counter()
        scores = ranker.over(pool, pool)
        read += time.perf_counter() - begun
        counts = _counts(scores, pool, np.arange(len(pool)), config.run_depth, None, None, progress=False)
        found.append(replace(counts, codes=counts.codes + number * len(pool)))
    whole = Counts.joined(processes.gathered(Counts.joined(found)))
    rows = groups.reshape(-1)
    seconds = time.perf_counter() - start - read
    ranked = (whole.better, whole.tied, whole.codes, whole.scores)
    return Evaluation(split.take(rows), rows, np.arange(len(rows)), groups.shape[1], *ranked, read, seconds)


def _counts(
    scores: Scores,
    pool: Split,
    rows: Int64[np.ndarray, " rows"],
    depth: int,
    done: Counts | None,
    kept: SavedCounts | None,
    *,
    progress: bool,
) -> Counts:
    """Counts of better and tied codes, and the best codes with their scores, of ``done`` and then of ``rows``."""
    counted = [done or Counts.none(min(depth, len(pool)))]
    before, at = len(counted[0]) * len(pool), 0
    with tqdm(
        total=before + len(rows) * len(pool), initial=before, desc=f"ranking {pool.name}",
        unit=" pairs", unit_scale=True, disable=not progress, leave=False,
    ) as bar:  # fmt: skip
        for block in scores.blocks() if len(rows) else ():
            assert block.shape[1] == len(pool), f"scores are {block.shape}, but the pool has {len(pool)} codes"
            gold = rows[at : at + len(block)]
            better, tied = count_better_and_tied(block, gold)
            counted.append(Counts(better.astype(np.int64), tied.astype(np.int64), *_top(block, gold, depth)))
            at += len(block)
            bar.update(block.size)
            if kept:
                kept.save(counted)
    assert at == len(rows), f"the ranker scored {at} of {len(rows)} queries"
    return Counts.joined(counted)


def _top(
    block: Float[np.ndarray, "block codes"], gold: Int[np.ndarray, " block"], depth: int
) -> tuple[Int64[np.ndarray, "block depth"], Float32[np.ndarray, "block depth"]]:
    """The best codes of each row: by score, then by row in the pool, with the gold last among its ties."""
    depth = min(depth, block.shape[1])
    codes = np.empty((len(block), depth), dtype=np.int64)
    for place, row in enumerate(block):
        least = -np.partition(-row, depth - 1)[depth - 1]  # ten times faster than ascending if most are 0
        above, at_least = np.flatnonzero(row > least), np.flatnonzero(row == least)
        at_least = at_least[np.argsort(at_least == gold[place], kind="stable")]
        found = np.concatenate((above, at_least[: depth - len(above)]))
        codes[place] = found[np.lexsort((found, found == gold[place], -row[found]))]
    return codes, np.take_along_axis(block, codes, axis=1).astype(np.float32)
