"""Speed measurements: forms that are compared run in turn, and their ratios are of the same round.

``bash run.sh speed NAME`` runs one of the measurements that ``cli/tables.py`` lists. Each takes :class:`SpeedOptions`
and returns :class:`Measured`.
"""

import multiprocessing
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import numpy as np
from tqdm import tqdm

from data_prep.errors import COUNT, SEED, Bounded, UserError, whole

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Found = TypeVar("Found")
Seconds = Mapping[str, float]
"""Part of what a form did, such as the backward pass -> its seconds."""
Form = Callable[[], Seconds]
WHOLE: Final = ""
"""The part that is all."""


@dataclass(frozen=True, slots=True)
class SpeedOptions(Bounded):
    """Options of ``speed``; each measurement reads those that concern it."""

    rounds: Annotated[int, whole(1, 1000)] = 5
    """Rounds over all forms, after one that is not counted. Forms with a process of their own run once."""
    path: str = ""
    """The folder of serve, the dump of posts, else the JDK's sources as data.path of the data set jdk; the same as the
    word after the measurement's name."""
    root: str = "data"
    """Folder of the prepared data sets."""
    index: str = ""
    """File of the index of serve, empty: that of its folder; of ann, empty: one of the JDK's java.base is made."""
    list: str = ""
    """File that lists repositories, as for the command serve: all are searched together."""
    model: str = ""
    """Folder of a stage of training, for posts; empty: a light encoder before training, which takes the same time."""
    tag: str = "python"
    """Tag of the questions of a dump of posts; empty: all."""
    pairs: Annotated[int, COUNT] = 0
    """Pairs of the JDK; 0: all."""
    steps: Annotated[int, whole(1, 100_000)] = 40
    """Training steps of a round; a tenth of them where the plain form takes part."""
    files: Annotated[int, whole(1, 1_000_000)] = 150
    """Java files from which methods are extracted."""
    pools: tuple[int, ...] = (1000, 2000, 5000, 10_000)
    """Sizes of the pools of methods."""
    sizes: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    """Numbers of vectors, for ann."""
    limit: Annotated[int, whole(1, 86_400)] = 240
    """Seconds after which an engine of ann is given up."""
    posts: Annotated[int, whole(1, 10_000_000)] = 300_000
    """Number of posts that are indexed; those of the dump are repeated."""
    questions: Annotated[int, whole(20, 100_000)] = 300
    """Questions of a round: of an index, of a dump, or of a server, which is asked them again and again."""
    clients: Annotated[int, whole(2, 64)] = 8
    """Clients that ask a server at the same time, each its next question as soon as it has an answer."""
    seconds: Annotated[int, whole(1, 3600)] = 10
    """How long they ask in a round."""
    seed: Annotated[int, SEED] = 0
    """Seed of the questions and of their order."""
    out: str = ""
    """Folder of speed.jsonl and speed.md; empty: experiments/results, or runs/results with a path or another option."""

    def __post_init__(self) -> None:
        super(SpeedOptions, self).__post_init__()
        for name, least, most in (("pools", 2, 1_000_000), ("sizes", 20, 100_000_000)):
            typed = getattr(self, name)
            if not typed or min(typed) < least or max(typed) > most:
                numbers = ",".join(map(str, typed))
                raise UserError(f"--{name} takes numbers from {least} to {most:,}, comma-separated, not {numbers:.60}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Median, minimum and maximum over the rounds; no minimum and maximum of a single round."""

    median: float
    least: float | None = None
    most: float | None = None

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """The spread of one or more ``values``."""
        if len(values) == 1:
            return cls(median=values[0])
        return cls(median=statistics.median(values), least=min(values), most=max(values))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Two forms that do the same."""

    name: str
    first: str
    first_seconds: Spread
    second: str
    second_seconds: Spread
    ratio: Spread  # of the second's seconds to the first's, in the same round


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a measurement found."""

    about: str  # what it ran on
    unit: str  # what the seconds are of, such as "a step"
    rows: Sequence[Row]
    facts: Mapping[str, Mapping[str, Any]] = field(
        default_factory=dict
    )  # name -> column -> number or text: what is no time of two forms


def compare(name: str, forms: Mapping[str, Form], rounds: int, *, warm_up: bool = True) -> list[Row]:
    """A row for the first form with each of the others, and for each part that both have.

    The forms run in turn, so that changes in the machine's speed affect all alike.

    Args:
        name: what they do.
        forms: name -> form.
        rounds: rounds over all forms that count.
        warm_up: whether one more round runs before these, which compiles and fills caches.
    """
    found: dict[str, list[Seconds]] = {each: [] for each in forms}
    with tqdm(total=(warm_up + rounds) * len(forms), leave=False, disable=None) as bar:
        for number in range(warm_up + rounds):
            for each, form in forms.items():
                bar.set_description(f"{name} {each}")
                seconds = form()
                if number >= warm_up:
                    found[each].append(seconds)
                bar.update()
    first, *others = forms
    return [row for other in others for row in rows_of(name, (first, found[first]), (other, found[other]))]


def rows_of(name: str, first: tuple[str, Sequence[Seconds]], second: tuple[str, Sequence[Seconds]]) -> list[Row]:
    """A row for each part that two forms have in all rounds; they come with their seconds by round."""
    rows = []
    for part in (each for each in first[1][0] if all(each in seconds for seconds in (*first[1], *second[1]))):
        one, other = ([seconds[part] for seconds in form[1]] for form in (first, second))
        rows.append(
            Row(
                name=", ".join(filter(None, (name, part))),
                first=first[0],
                first_seconds=Spread.of(one),
                second=second[0],
                second_seconds=Spread.of(other),
                ratio=Spread.of([slow / max(fast, 1e-12) for fast, slow in zip(one, other, strict=True)]),
            )
        )
    return rows


def timed(call: Callable[[], Found]) -> tuple[float, Found]:
    """The seconds that ``call`` took, and what it returned."""
    start = time.perf_counter()
    value = call()
    return time.perf_counter() - start, value


def form_of(call: Callable[[], object], amount: float = 1.0) -> Form:
    """The form that runs ``call``, which does as much as ``amount`` units."""
    return lambda: {WHOLE: timed(call)[0] / amount}


def quantiles(seconds: Sequence[float]) -> Seconds:
    """The median and the 95 % quantile, as parts of a form that answers many questions."""
    median, late = np.quantile(seconds, [0.5, 0.95]).tolist()
    return {"median": median, "95 %": late}


def asking(ask: Callable[[Any], object], questions: Sequence[Any]) -> Form:
    """The form that asks one question after the other."""
    return lambda: quantiles([timed(partial(ask, asked))[0] for asked in questions])


class GivenUpError(UserError):
    """A process that took too long, or ended."""


def in_own_process(call: Callable[..., Found], *arguments: object, limit: int | None = None) -> Found:
    """What ``call`` returns in a new process, whose memory is its own.

    Raises:
        GivenUpError: it took more than ``limit`` seconds, or ended.
        UserError, OSError: ``call`` raised it.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, call, arguments))
    process.start()
    sender.close()
    try:
        if not receiver.poll(limit):
            raise GivenUpError(f"not within {limit} s")
        told = receiver.recv()
    except EOFError:
        process.join()
        raise GivenUpError(f"its process ended with the exit code {process.exitcode}, perhaps for memory") from None
    finally:
        process.kill()
        process.join()
    if isinstance(told, Exception):
        raise told
    found: Found = told
    return found


def _send(sender: "Connection", call: Callable[..., object], arguments: Sequence[object]) -> None:
    try:
        sender.send(call(*arguments))
    except (ValueError, OSError) as error:
        sender.send(error)


def memory_mb(kind: str = "VmHWM", process: int | str = "self") -> float:
    """Memory of a process in MiB as Linux states it, such as its largest resident size; elsewhere NaN."""
    status = Path(f"/proc/{process}/status")
    lines = status.read_text(encoding="ascii", errors="replace").splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{kind}:")), float("nan"))
