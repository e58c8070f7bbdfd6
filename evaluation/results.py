"""The result of a run (``metrics.json``) and its per-query ranks; one schema for runs and for saved results."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from data_prep.errors import UserError, with_current_names
from data_prep.files.json_text import from_json, load_json, to_json
from data_prep.files.writing import write_atomically
from data_prep.installation import Machine, machine, peak_memory_mb, without_paths
from evaluation import metrics
from evaluation.evaluator import Evaluation
from evaluation.metrics import Measures
from evaluation.reading import Seen
from evaluation.significance import Difference, compare

_FIRST: Final = ("dataset", "model", "seed", "command", "code_version", "date", "data", "split", "pool_size", "queries")


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSource:
    """The data of a result."""

    origin: str  # e.g. "jdk-17.0.21"
    fingerprint: str  # of the words of the split that was ranked
    inputs: str = ""  # checksum of the raw files; "": not known


@dataclass(frozen=True, slots=True, kw_only=True)
class Seconds:
    """The duration of each part of a run."""

    prepare: float
    train: float
    evaluate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ties:
    """The effect of the tie rule; result tables count ties against the ranker."""

    queries: float  # fraction of queries whose gold ties with another code
    average: Measures  # with golds in the middle of their ties
    optimistic: Measures  # with golds first among their ties


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The results of one ranker on a pool."""

    exact: Measures
    published_convention: Measures
    ties: Ties
    score_pairs_per_second: float


@dataclass(frozen=True, kw_only=True)
class Control(Ranking):
    """Another ranker on the same queries and pool."""

    seconds_evaluate: float
    mrr_difference: Difference  # the model's MRR minus this ranker's


@dataclass(frozen=True, kw_only=True)
class Tested(Ranking):
    """A model's results on the pool of one data set, with other rankers for comparison."""

    data: DataSource
    split: str
    pool_size: int  # codes that each query is ranked among
    queries: int
    chance: Measures  # of a random order, on average
    ceiling_top1: float  # highest possible, given repeated queries and codes
    ranks: Sequence[int]  # of each query's gold, in the order of the queries
    controls: Mapping[str, Control]
    seen: Seen | None = None  # None: not looked for, since training left such pairs out

    def __post_init__(self) -> None:
        if self.queries < 1:
            raise UserError(f"a result has one query or more, not {self.queries}")
        for measures in (self.exact, self.published_convention, self.chance):
            if not all(0 <= value <= 1 for value in measures.values()):
                raise UserError(f"measures of a result lie from 0 to 1, not {measures}")
        if len(self.ranks) != self.queries or not 1 <= min(self.ranks) <= max(self.ranks) <= self.pool_size:
            raise UserError(f"a result has a rank from 1 to {self.pool_size} for each of its {self.queries} queries")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fusion:
    """How a model was fused with another ranker."""

    ranker: str  # the other one
    weight: float  # of the model, from 0 to 1
    tuned_on: str  # the data set by whose validation pairs the weight was chosen
    pairs: int  # their number


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """A model's results on validation pairs after an epoch of training."""

    epoch: int  # 1-based
    pairs: int  # trained on so far
    seconds: float  # of training steps so far
    top1: float
    mrr: float
    inside: Mapping[str, float] = field(default_factory=dict)  # ``part/name`` -> a number about the model's inner parts


def validations(history: Sequence[Mapping[str, int | float]], pairs: int) -> list[Validation]:
    """The validated epochs in the ``history`` of a training run with ``pairs`` pairs per epoch."""
    return [
        Validation(
            epoch=int(record["epoch"]),
            pairs=int(record["epoch"]) * pairs,
            seconds=record["seconds"],
            top1=record["top1"],
            mrr=record["mrr"],
            inside={name: value for name, value in record.items() if "/" in name},
        )
        for record in history
        if {"mrr", "top1"} <= record.keys()
    ]


@dataclass(frozen=True, kw_only=True)
class Result(Tested):
    """A whole run: the content of ``metrics.json``."""

    dataset: str
    model: str
    seed: int
    command: str
    code_version: str
    date: str  # ISO 8601, UTC
    seconds: Seconds
    peak_memory_mb: float
    train_pairs_per_second: float  # 0 if nothing is trained
    parameters: int
    machine: Machine
    also: Mapping[str, Tested]  # the same weights on other data sets
    config: Mapping[str, Any]  # the resolved configuration
    history: Sequence[Validation] = field(default_factory=list)  # in order; empty if nothing was trained
    fusion: Fusion | None = None  # None: the model alone; or the result is of before fusions were recorded


def measure(
    evaluation: Evaluation,
    *,
    data: DataSource,
    split: str = "test",
    controls: Mapping[str, Evaluation] | None = None,
    resamples: int = 10_000,
    seen: Seen | None = None,
) -> Tested:
    """All measures of an evaluation, with those of other rankers on the same pool.

    Raises:
        UserError: a control was evaluated on another pool.
    """
    pool_size = evaluation.candidates
    return Tested(
        **_ranking(evaluation),
        data=replace(data, origin=without_paths(data.origin)),
        split=split,
        pool_size=pool_size,
        queries=len(evaluation.ranks),
        chance=metrics.exact(metrics.chance_ranks(pool_size)),
        ceiling_top1=evaluation.ceiling_top1(),
        ranks=evaluation.ranks.tolist(),
        controls={name: _control(name, evaluation, other, resamples) for name, other in (controls or {}).items()},
        seen=seen,
    )


def result_of(
    tested: Tested,
    *,
    dataset: str,
    also: Mapping[str, Tested],
    config: Mapping[str, Any],
    **facts: Any,
) -> Result:
    """``tested`` with the ``facts`` of its run, the machine, the peak memory so far and the date; paths are removed.

    The command, one of the facts, keeps its own: it is typed again to make the run anew.
    """
    known = {field.name: getattr(tested, field.name) for field in fields(tested)}
    return Result(
        **known,
        **facts,
        dataset=without_paths(dataset),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        peak_memory_mb=peak_memory_mb(),
        machine=machine(),
        also={without_paths(name): other for name, other in also.items()},
        config=public(config),
    )


def save_result(result: Result, path: Path) -> None:
    """Write ``result`` as JSON, with the identifying fields first and each list of numbers on one line."""
    content = to_json(result)
    ordered = {name: content[name] for name in (*_FIRST, *content)}
    text = json.dumps(ordered, indent=1, allow_nan=False) + "\n"
    write_atomically(path, re.sub(r"\[[\d\s,]+\]", lambda found: re.sub(r"\s+", "", found[0]), text))


def load_result(path: Path) -> Result:
    """Load what :func:`save_result` wrote.

    Raises:
        UserError: the file is missing or invalid; the message is one line.
    """
    return as_result(load_json(path, "the result of a run"), str(path))


def as_result(content: object, where: str) -> Result:
    """The result that ``content`` of a file is, with today's names of options and metrics added since it was saved.

    Raises:
        UserError: it is none; ``where`` names the file in the message.
    """
    result = _completed(from_json(Result, content, where))
    also = {name: _completed(tested) for name, tested in result.also.items()}
    return replace(result, also=also, config=with_current_names(result.config))


_AnyTested = TypeVar("_AnyTested", bound=Tested)


def _completed(tested: _AnyTested) -> _AnyTested:
    """``tested`` with the metrics that it was saved without, from its ranks."""
    if all(each.name in tested.exact for each in metrics.METRICS):
        return tested
    ranks = np.asarray(tested.ranks)
    return replace(
        tested,
        exact={**metrics.exact(ranks), **tested.exact},
        published_convention={**metrics.published_convention(ranks), **tested.published_convention},
    )


def _ranking(evaluation: Evaluation) -> dict[str, Any]:
    average = metrics.average_ranks(evaluation.better, evaluation.tied)
    by_people = evaluation.ndcg_by_people
    return {
        "exact": {
            **metrics.exact(evaluation.ranks, evaluation.sought_ranks),
            **({} if by_people is None else {"ndcg_by_people": by_people}),
        },
        "published_convention": metrics.published_convention(evaluation.ranks),
        "ties": Ties(
            queries=float(np.mean(evaluation.tied > 0)),
            average=metrics.exact(average),
            optimistic=metrics.exact(metrics.optimistic_ranks(evaluation.better)),
        ),
        "score_pairs_per_second": evaluation.pairs_per_second,
    }


def _control(name: str, evaluation: Evaluation, other: Evaluation, resamples: int) -> Control:
    if not np.array_equal(evaluation.rows, other.rows):
        raise UserError(f"{name} was evaluated on other rows than the model; use one pool and one seed for both")
    difference = compare(1 / evaluation.ranks, 1 / other.ranks, resamples=resamples)
    return Control(**_ranking(other), seconds_evaluate=other.seconds, mrr_difference=difference)


def public(value: object) -> Any:
    """A configuration without the folders of paths, as it is saved."""
    if isinstance(value, Mapping):
        return {key: public(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [public(each) for each in value]
    return without_paths(value) if isinstance(value, str) else value
