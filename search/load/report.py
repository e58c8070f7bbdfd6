"""What a server under load was measured to do, and its page."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.provenance import Machine
from search.load.clients import Asked


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds of one kind of question."""

    questions: str
    answers: int
    median: float  # with the connection and the waiting for others
    p95: float
    own_median: float  # the search's own
    own_p95: float


@dataclass(frozen=True, slots=True)
class Load:
    """What clients were answered."""

    clients: int
    seconds: float
    answers: int
    errors: int
    first_error: str
    times: list[Times]


@dataclass(frozen=True, slots=True)
class ServeSpeed:
    """All measurements."""

    name: str  # of the folder or list
    indexes: int
    rows: int
    functions: int  # and types: rows that are neither files nor constants
    files: int
    questions: int
    seed: int
    loads: list[Load]
    memory_mb: float | None  # the server's largest; None: not known
    load_average: float  # processes that wanted a processor during the last minute
    code_version: str
    date: str
    machine: Machine


def load_of(asked: Sequence[Asked], clients: int, seconds: float) -> Load:
    """The times of all answers, and of those with and without a context."""
    errors = [each.error for each in asked if each.error]
    answered = [each for each in asked if not each.error]
    kinds = {
        "all": answered,
        "without a context": [each for each in answered if not each.in_context],
        "in a context": [each for each in answered if each.in_context],
    }
    times = [_times(name, each) for name, each in kinds.items() if each]
    return Load(clients, seconds, len(answered), len(errors), errors[0] if errors else "", times)


def _times(name: str, asked: Sequence[Asked]) -> Times:
    median, late = np.quantile([each.milliseconds for each in asked], [0.5, 0.95]).tolist()
    own, own_late = np.quantile([each.own for each in asked], [0.5, 0.95]).tolist()
    return Times(name, len(asked), median, late, own, own_late)


def markdown(found: ServeSpeed) -> str:
    """The tables in Markdown."""
    memory = "" if found.memory_mb is None else f" The server's largest memory: {found.memory_mb:,.0f} MiB."
    lines = [
        f"{found.name}: {found.functions:,} functions, methods and types, {found.rows:,} rows with files and "
        f"constants, of {found.files:,} files in {found.indexes:,} index{'es' * (found.indexes > 1)}; "
        f"{found.questions:,} questions (seed {found.seed}), every other one in a context; {found.machine.cpu}, "
        f"{found.machine.cores} cores, clients included, load {found.load_average:.1f} at the end; "
        f"{found.date[:10]}, code {found.code_version}.{memory}",
        "",
        "| clients | questions | answers | errors | median | 95 % | search alone: median | 95 % |",
        "|---:|---|---:|---:|---:|---:|---:|---:|",
        *(_row(load, each) for load in found.loads for each in load.times),
        "",
        "Each client asks its next question as soon as it has an answer; "
        + ", ".join(f"{load.clients} for {load.seconds:.0f} s: {load.answers:,} answers" for load in found.loads)
        + ".",
    ]
    return "\n".join(lines) + "\n"


def _row(load: Load, each: Times) -> str:
    errors = load.errors if each.questions == "all" else ""
    return (
        f"| {load.clients} | {each.questions} | {each.answers:,} | {errors} | {each.median:.1f} ms | "
        f"{each.p95:.1f} ms | {each.own_median:.1f} ms | {each.own_p95:.1f} ms |"
    )
