"""Time and peak memory of ranking a whole pool, by the size of the pool and by the length of the methods.

Each measurement has its own process, ``python -m experiments.speed.pools TASK``, so that the peak is its own.
"""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from jaxtyping import Int

from data_prep.config import WordsConfig
from data_prep.errors import UserError
from data_prep.installation import IMPORT_ROOT
from data_prep.records import SplitName
from data_prep.store.derived_splits import limit_pairs
from data_prep.store.prepared_data import PreparedData, Split, open_prepared
from data_prep.store.tokenizing import WordTokenizer
from evaluation.config import EvaluateConfig
from evaluation.evaluator import evaluate
from evaluation.json_records import from_json, to_json
from experiments.speed.scoring import galm_of_width, plan_of_width
from experiments.speed.timing import Growth, Spread
from experiments.terminal.console import open_terminal
from modeling.pool_ranker import PoolRanker

WIDTH: Final = 32
LENGTHS: Final = (10, 20, 40, 80)
"""Approximate lengths that the longest methods are truncated to, in words."""
LENGTH_POOL: Final = 1000
PAIRS: Final = 12_000_000
"""Pairs after which a pool is not scored again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The measurement of one process."""

    folder: str  # of the prepared data
    limit: int  # --data.limit
    split: SplitName
    methods: int
    longest: int = 0  # 0: methods drawn from the split; else its longest ones, truncated to about so many words


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """The ranking of a pool for each of its queries."""

    methods: int
    query_words: float  # mean
    code_words: float  # mean
    seconds: float  # encoding and scoring
    peak_memory_mb: float
    memory_before_mb: float  # with the model and the data loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSpeed:
    """The same, repeated in new processes."""

    methods: int
    query_words: float
    code_words: float
    seconds: Spread
    pairs_per_second: float
    peak_memory_mb: float  # the largest
    memory_before_mb: float

    @classmethod
    def of(cls, runs: Sequence[Ranked]) -> "PoolSpeed":
        """Combine the measurements of several processes."""
        seconds = Spread.of([run.seconds for run in runs])
        return cls(
            methods=runs[0].methods,
            query_words=runs[0].query_words,
            code_words=runs[0].code_words,
            seconds=seconds,
            pairs_per_second=runs[0].methods ** 2 / seconds.median,
            peak_memory_mb=max(run.peak_memory_mb for run in runs),
            memory_before_mb=max(run.memory_before_mb for run in runs),
        )


def split_for(data: PreparedData, pools: Sequence[int]) -> SplitName:
    """The test split, or the training split if a pool is larger than that.

    Raises:
        UserError: a pool is larger than the training split.
    """
    largest, sizes = max(pools), {name: len(split) for name, split in data.splits.items()}
    if largest <= sizes["test"]:
        return "test"
    if largest > sizes["train"]:
        raise UserError(
            f"--speed.pools asks for {largest:,} methods, but the training split has {sizes['train']:,}: "
            "name smaller pools, or raise --data.limit"
        )
    return "train"


def measure_pools(data: PreparedData, limit: int, pools: Sequence[int], repeats: int) -> list[PoolSpeed]:
    """Every size of ``pools``, from one split."""
    split = split_for(data, pools)
    tasks = [Task(folder=str(data.folder), limit=limit, split=split, methods=size) for size in sorted(set(pools))]
    return in_rounds(tasks, repeats)


def measure_lengths(data: PreparedData, limit: int, repeats: int) -> list[PoolSpeed]:
    """Pools of the longest methods, truncated to each of ``LENGTHS``."""
    size = min(LENGTH_POOL, len(data.splits["train"]))
    task = Task(folder=str(data.folder), limit=limit, split="train", methods=size)
    return in_rounds([replace(task, longest=length) for length in LENGTHS], repeats)


def in_rounds(tasks: Sequence[Task], repeats: int) -> list[PoolSpeed]:
    """All tasks, in rounds, each in its own process."""
    runs: list[list[Ranked]] = [[] for _ in tasks]
    for number in range(repeats):
        for run, task in zip(runs, tasks, strict=True):
            if number < times(task.methods, repeats):
                run.append(in_a_process(task))
    return [PoolSpeed.of(run) for run in runs]


def times(size: int, repeats: int) -> int:
    """How often a pool of ``size`` is ranked: up to ``repeats`` times if it is small, else once."""
    return max(1, min(repeats, PAIRS // size**2))


def growth_with_pairs(pools: Sequence[PoolSpeed]) -> Growth:
    """How seconds grow with the number of pairs."""
    return Growth.of([each.methods**2 for each in pools], [each.seconds.median for each in pools])


def growth_with_length(lengths: Sequence[PoolSpeed]) -> Growth:
    """How seconds grow with the words of a method."""
    return Growth.of([each.code_words for each in lengths], [each.seconds.median for each in lengths])


def in_a_process(task: Task) -> Ranked:
    """Run ``task`` in a new process.

    Raises:
        UserError: the process failed.
    """
    command = [sys.executable, "-m", "experiments.speed.pools", json.dumps(asdict(task))]
    environment = {**os.environ, "PYTHONPATH": str(IMPORT_ROOT)}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=False)
    if done.returncode:
        raise UserError(f"the process that ranked {task.methods:,} methods ended with code {done.returncode}")
    return from_json(Ranked, json.loads(done.stdout.splitlines()[-1]), "the process's answer")


def perform(task: Task) -> Ranked:
    """Rank the pool of ``task``."""
    data = limit_pairs(open_prepared(Path(task.folder)), task.limit)
    plan, train, split = plan_of_width(WIDTH), data.splits["train"], data.splits[task.split]
    tokenizer = WordTokenizer.build(train, plan.words)
    model = galm_of_width(WIDTH, tokenizer, tokenizer.encode(train))
    if task.longest:
        split = split.take(longest_rows(split, tokenizer, task.methods))
        tokenizer = WordTokenizer(tokenizer.vocabularies, cut_to(plan.words, task.longest))
    before = own_peak_mb()
    evaluation = evaluate(PoolRanker(model, tokenizer), split, EvaluateConfig(pool=task.methods, run_depth=10))
    peak, ids = own_peak_mb(), tokenizer.encode(evaluation.pool)
    return Ranked(
        methods=len(evaluation.pool),
        query_words=float(ids.query_lengths.mean()),
        code_words=float(ids.code_lengths.mean()),
        seconds=evaluation.seconds,
        peak_memory_mb=peak,
        memory_before_mb=before,
    )


def cut_to(words: WordsConfig, longest: int) -> WordsConfig:
    """``words`` with methods truncated to about ``longest`` words, half of them tokens."""
    name, tokens = max(1, longest // 10), longest // 2
    return replace(words, name_length=name, tokens_length=tokens, api_length=longest - name - tokens)


def longest_rows(split: Split, tokenizer: WordTokenizer, count: int) -> Int[np.ndarray, " rows"]:
    """The methods with most words when all are truncated to the largest of ``LENGTHS``."""
    widest = WordTokenizer(tokenizer.vocabularies, cut_to(tokenizer.config, max(LENGTHS)))
    return np.sort(np.argsort(-widest.encode(split).code_lengths, kind="stable")[:count])


def own_peak_mb() -> float:
    """Peak resident memory of this process so far, in MiB.

    On Linux it is read from ``/proc``, since ``ru_maxrss`` of a new process starts at its parent's value.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        return int(status.read_text(encoding="ascii").partition("VmHWM:")[2].split()[0]) / 1024
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, KiB elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def main(argument: str) -> None:
    """Run a task given as JSON; the result is the last line printed."""
    open_terminal()
    sys.stdout.write(f"{json.dumps(to_json(perform(Task(**json.loads(argument)))))}\n")


if __name__ == "__main__":
    main(sys.argv[1])
