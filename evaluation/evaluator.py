"""Ranks every query over the whole pool; depends only on the :class:`Ranker` interface.

Scores are computed in blocks of queries and discarded after counting: each query retains its gold's rank, the numbers
of better and tied codes, and the best few codes. Memory is one block of scores plus ``run_depth`` codes per query. How
a data set's test split is read is a :class:`TestReading`. The counts so far of an interrupted evaluation are saved, in
one file per process.
"""

import io
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Final

import numpy as np
from jaxtyping import Float, Float32, Float64, Int, Int64
from tqdm import tqdm

from data_prep.errors import UserError
from data_prep.files.access import ABSENT, read_whole
from data_prep.files.writing import remove_leftovers, write_atomically
from data_prep.records import CODE_FIELDS
from data_prep.store.split import Split
from evaluation.config import EvaluateConfig
from evaluation.metrics import ceiling_top1, count_better_and_tied
from evaluation.reading import WHOLE, Sought, TestReading, pool_rows
from modeling import distributed as processes
from modeling.ranker import Ranker, Scores

_EVERY: Final = 20.0
"""Seconds between writes."""


@dataclass(frozen=True, eq=False, slots=True)
class Counts:
    """The counts of ranked queries."""

    better: Int64[np.ndarray, " queries"]  # codes that scored higher than the gold
    tied: Int64[np.ndarray, " queries"]  # other codes that scored as high as the gold
    codes: Int64[np.ndarray, "queries depth"]  # the best codes, as rows of the pool
    scores: Float32[np.ndarray, "queries depth"]  # of these codes
    sought: Int64[np.ndarray, "queries most"]  # ranks of all codes that a query seeks, if it may seek several
    gained: Float64[np.ndarray, "queries one"]  # NDCG by people's grades, in one column; in none without grades

    def __len__(self) -> int:
        return len(self.better)

    @classmethod
    def none(cls, depth: int, most: int = 0, graded: int = 0) -> "Counts":
        """The counts of no query."""
        empty = np.empty(0, np.int64)
        top = (np.empty((0, depth), np.int64), np.empty((0, depth), np.float32))
        return cls(empty, empty, *top, np.empty((0, most), np.int64), np.empty((0, graded)))

    @classmethod
    def joined(cls, blocks: Sequence["Counts"]) -> "Counts":
        """Blocks of counts as one; there is at least one."""
        return cls(*(np.concatenate([getattr(block, each.name) for block in blocks]) for each in fields(cls)))


@dataclass
class SavedCounts:
    """Counts in a file; ``stamp`` identifies their model, pool and depth."""

    path: Path
    stamp: str
    seconds: float = 0.0  # of ranking before the counts that :meth:`load` returned were saved
    _begun: float = field(default_factory=time.monotonic)
    _saved: float = field(default_factory=time.monotonic)

    @property
    def _file(self) -> Path:
        """This process's file."""
        return self.path.with_name(f"{self.path.name}.{processes.rank()}-of-{processes.count()}")

    def load(self) -> Counts | None:
        """The saved counts; None if there are none, or if they have another stamp or are damaged."""
        self.seconds, self._begun = 0.0, time.monotonic()
        try:
            content = read_whole(self._file)
        except ABSENT:
            return None
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as saved:
                if str(saved["stamp"]) != self.stamp:
                    return None
                counts = Counts(*(saved[each.name] for each in fields(Counts)))
                self.seconds = float(saved["seconds"])
        except Exception:  # numpy raises many kinds of errors for a damaged file, which has a checksum
            return None
        return counts

    def save(self, done: Sequence[Counts]) -> None:
        """Save these blocks of counts, unless the last save was less than 20 seconds ago."""
        if time.monotonic() - self._saved < _EVERY:
            return
        buffer, counts = io.BytesIO(), Counts.joined(done)
        arrays = {each.name: getattr(counts, each.name) for each in fields(counts)}
        np.savez(buffer, stamp=self.stamp, seconds=self.seconds + time.monotonic() - self._begun, **arrays)
        remove_leftovers(self._file)
        write_atomically(self._file, buffer.getvalue())
        self._saved = time.monotonic()

    def remove(self) -> None:
        """Delete the saved counts, when the evaluation is done."""
        self._file.unlink(missing_ok=True)


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
    sought: Sought | None = None  # None: each query seeks its gold alone
    sought_ranks: Int64[np.ndarray, "queries most"] | None = None  # of all it seeks, ascending; 0: there are fewer
    ndcg_by_people: float | None = None  # NDCG by grades, if people gave some

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
        if self.sought is None and size != len(codes):
            groups = [slice(start, start + size) for start in range(0, len(codes), size)]
            return float(np.mean([ceiling_top1(queries[group], codes[group]) for group in groups]))
        counts = [True] * len(codes) if self.sought is None else self.sought.candidates
        distinct = [code for code, counted in zip(codes, counts, strict=True) if counted]
        return ceiling_top1([queries[gold] for gold in golds], [codes[gold] for gold in golds], distinct)


def _keys(pool: Split, fields: Sequence[str]) -> list[tuple[bytes, ...]]:
    """A key of each row's words in some fields."""
    return [tuple(pool.words[field][row].tobytes() for field in fields) for row in range(len(pool))]


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
    sought = reading.sought(pool)
    counting = _Counting(pool, config.run_depth, sought)
    counts = counting.counts(scores, left, done, kept, progress=progress and processes.is_first())
    found = Counts.joined(processes.gathered(counts))
    seconds = time.perf_counter() - read + (kept.seconds if kept else 0)
    ranked = (found.better, found.tied, found.codes, found.scores)
    size = len(pool) if sought is None else int(sought.candidates.sum())
    graded = reading.mean_ndcg(found.gained) if reading.grades else None
    several = (sought, None if sought is None else found.sought, graded)
    return Evaluation(pool, rows[golds], golds, size, *ranked, read - start, seconds, *several)


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
        counts = _Counting(pool, config.run_depth).counts(scores, np.arange(len(pool)), None, None, progress=False)
        found.append(replace(counts, codes=counts.codes + number * len(pool)))
    whole = Counts.joined(processes.gathered(Counts.joined(found)))
    rows = groups.reshape(-1)
    seconds = time.perf_counter() - start - read
    ranked = (whole.better, whole.tied, whole.codes, whole.scores)
    return Evaluation(split.take(rows), rows, np.arange(len(rows)), groups.shape[1], *ranked, read, seconds)


@dataclass(frozen=True, eq=False, slots=True)
class _Counting:
    """What is counted of the scores of queries."""

    pool: Split
    depth: int
    sought: Sought | None = None

    def counts(
        self,
        scores: Scores,
        rows: Int64[np.ndarray, " rows"],
        done: Counts | None,
        kept: SavedCounts | None,
        *,
        progress: bool,
    ) -> Counts:
        """Counts of better and tied codes, and the best codes with their scores, of ``done`` and then of ``rows``."""
        size, most = len(self.pool), self.sought.most if self.sought else 0
        graded = int(bool(self.sought and self.sought.graded))
        counted = [done or Counts.none(min(self.depth, self._candidates), most, graded)]
        before, at = len(counted[0]) * size, 0
        with tqdm(
            total=before + len(rows) * size, initial=before, desc=f"ranking {self.pool.name}",
            unit=" pairs", unit_scale=True, disable=not progress, leave=False,
        ) as bar:  # fmt: skip
            for block in scores.blocks() if len(rows) else ():
                assert block.shape[1] == size, f"scores are {block.shape}, but the pool has {size} codes"
                counted.append(self._of_block(block, rows[at : at + len(block)]))
                at += len(block)
                bar.update(block.size)
                if kept:
                    kept.save(counted)
        assert at == len(rows), f"the ranker scored {at} of {len(rows)} queries"
        return Counts.joined(counted)

    @property
    def _candidates(self) -> int:
        return len(self.pool) if self.sought is None else int(self.sought.candidates.sum())

    def _of_block(self, block: Float[np.ndarray, "block codes"], gold: Int64[np.ndarray, " block"]) -> Counts:
        better, tied = count_better_and_tied(block, gold)
        ranks, gained = np.zeros((len(gold), 0), np.int64), np.zeros((len(gold), 0))
        if self.sought is not None:
            better, tied, ranks = self.sought.ranks(block, gold)
            gained = self.sought.gained(block, gold)
            block = np.where(self.sought.candidates, block, -np.inf)
            gold = np.array([self.sought.codes[row][0] for row in gold.tolist()], np.int64)
        top = _top(block, gold, min(self.depth, self._candidates))
        return Counts(better.astype(np.int64), tied.astype(np.int64), *top, ranks, gained)


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
