"""The limits of certainty (:mod:`search.engine.evidence`), fitted on several projects and measured on those left out.

Each project, a folder of code with typed questions, is asked

- ``typed``: its own questions;
- ``comment``: first sentences of its comments, which are searchable, as a reader of the code would ask;
- ``nonsense``: made-up words, alone, several, and among common ones;
- ``name``: names of functions of projects of another kind, which nothing in it is called;
- ``other``: typed questions about other projects of another kind, also those that are not there;
- ``topic``: questions of the kind ``foreign``, about what no project is about.

A logistic regression tells typed questions from nonsense, those about other projects and topics. ``strong`` begins
where at most MISSED of the typed questions of left-out projects are below, ``weak`` where at most LOST are.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from jaxtyping import Float
from tqdm import tqdm

from data_prep.errors import UserError
from evaluation.significance import wilson
from search.engine.certainty import Certainty
from search.engine.engine import Engine
from search.engine.evidence import LIMITS, Limits
from search.index.code_index import Index
from search.quality.query_file import QueryFile
from search.quality.questions import of_comments

MISSED: Final = 0.03
"""Share of real questions that may be called weak or none."""
LOST: Final = 0.01
"""Share of real questions that may be called none."""
MOST: Final = 60
"""Questions of each kind per project."""
_FITTED: Final = ("typed", "nonsense", "other", "topic")
_FOREIGN: Final = "foreign"
_NAME: Final = re.compile(r"[a-z]\w*(?:[a-z][A-Z]|[a-z]_[a-z])\w*")
_SYLLABLES: Final = ("bla", "fre", "gno", "zi", "vor", "krem", "plo", "snu", "waf", "tho", "quez", "mip", "nux", "kwil")
_AMONG: Final = (
    "how does the {} {}",
    "{} of a {}",
    "where is the {} file {}",
    "create a {} value with {}",
    "{}",
    "{} {}",
)


@dataclass(frozen=True, eq=False, slots=True)
class Part:
    """A project and its engine."""

    asked: QueryFile
    engine: Engine


Answered = Mapping[str, Sequence[Certainty]]
"""The certainty of the answers to the questions of a project, by their kinds."""


def nonsense(count: int, seed: int) -> list[str]:
    """Questions of words that do not exist, some among words that do."""
    chance = random.Random(seed)
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4))) for _ in range(2 * count)]
    pairs = zip(words[::2], words[1::2], strict=True)
    return [_AMONG[place % len(_AMONG)].format(*pair) for place, pair in enumerate(pairs)]


def names_absent(own: Index, others: Sequence[Index], count: int, seed: int) -> list[str]:
    """Names of several words that ``others`` have and nothing in ``own`` is called, however it is written."""
    plain = {_plain(name) for name in own.names}
    found = {name.rpartition(".")[2] for other in others for name in other.names}
    names = sorted(name for name in found if _NAME.fullmatch(name) and _plain(name) not in plain)
    return random.Random(seed).sample(names, min(count, len(names)))


def _plain(name: str) -> str:
    return name.rpartition(".")[2].replace("_", "").lower()


def answers(parts: Mapping[str, Part], elsewhere: Sequence[QueryFile], seed: int) -> dict[str, Answered]:
    """What each project says to all kinds of questions; ``elsewhere``: questions about projects that are not there."""
    return {
        name: {
            kind: [part.engine.certainty(text, part.engine.search(text)) for text in texts]
            for kind, texts in _texts(parts, name, elsewhere, seed)
        }
        for name, part in tqdm(parts.items(), desc="asked", unit=" projects", disable=None)
    }


def _texts(
    parts: Mapping[str, Part], name: str, elsewhere: Sequence[QueryFile], seed: int
) -> Iterator[tuple[str, Sequence[str]]]:
    own, chance = parts[name], random.Random(f"{seed} {name}")
    others = [each for each in parts.values() if each.asked.kind != own.asked.kind]
    yield "typed", [query.text for query in own.asked.queries]
    try:
        yield "comment", of_comments(own.engine.index, MOST, seed).texts
    except UserError:  # too few
        yield "comment", ()
    yield "nonsense", nonsense(MOST, chance.randrange(1 << 30))
    yield "name", names_absent(own.engine.index, [each.engine.index for each in others], MOST, seed)
    away = [*(each.asked for each in others), *(each for each in elsewhere if each.kind != own.asked.kind)]
    for kind, chosen in (("other", False), ("topic", True)):
        asked = [query.text for each in away if (each.kind == _FOREIGN) is chosen for query in each.queries]
        yield kind, chance.sample(asked, min(MOST, len(asked)))


def fitted(answered: Sequence[Answered], names: Sequence[str]) -> Limits:
    """The weights; both limits are 0. Typed questions count together as much as the others."""
    numbers = {
        kind: np.array(
            [[each.numbers[name] for name in names] for own in answered for each in own[kind] if each.numbers]
        ).reshape(-1, len(names))
        for kind in _FITTED
    }
    real, rest = numbers["typed"], np.concatenate([numbers[kind] for kind in _FITTED[1:]])
    weights = np.repeat([0.5 / max(1, len(real)), 0.5 / max(1, len(rest))], [len(real), len(rest)])
    found = _regression(np.concatenate([real, rest]), np.repeat([1.0, 0.0], [len(real), len(rest)]), weights)
    return Limits(dict(zip(names, found[:-1].tolist(), strict=True)), float(found[-1]), 0.0, 0.0)


def _regression(
    numbers: Float[np.ndarray, "questions numbers"],
    real: Float[np.ndarray, " questions"],
    weights: Float[np.ndarray, " questions"],
) -> Float[np.ndarray, " weights"]:
    """The weights of a logistic regression by Newton's method, slightly drawn to 0; the last one is the bias."""
    mean, spread = numbers.mean(0), numbers.std(0) + 1e-9
    table = np.c_[(numbers - mean) / spread, np.ones(len(numbers))]
    drawn = np.diag([1e-3] * numbers.shape[1] + [1e-4])
    found = np.zeros(table.shape[1])
    for _ in range(50):
        share = 1 / (1 + np.exp(-table @ found))
        slope = table.T @ (weights * (share - real)) + drawn @ found
        found -= np.linalg.solve((table * (weights * share * (1 - share))[:, None]).T @ table + drawn, slope)
    return np.append(found[:-1] / spread, found[-1] - (found[:-1] * mean / spread).sum())


def measure_certainty(answered: Mapping[str, Answered]) -> dict[str, Any]:
    """The limits from all projects, and what is called what where each project is left out, as a JSON object."""
    names = [*LIMITS.weights]
    left = {name: fitted([each for other, each in answered.items() if other != name], names) for name in answered}
    totals = np.array(
        [left[name].total(each.numbers) for name, own in answered.items() for each in own["typed"] if each.numbers]
    )
    asked = sum(len(own["typed"]) for own in answered.values())
    strong, weak = (_limit(totals, int(share * asked)) for share in (MISSED, LOST))
    limits = {name: Limits(each.weights, each.bias, weak, strong) for name, each in left.items()}
    whole = fitted([*answered.values()], names)
    return {
        "limits": asdict(Limits(whole.weights, whole.bias, weak, strong)),
        "left out": {kind: _shares(answered, limits, kind) for kind in next(iter(answered.values()))},
        "by project": {
            name: {kind: _shares({name: own}, limits, kind) for kind in own} for name, own in answered.items()
        },
    }


def _limit(totals: Float[np.ndarray, " questions"], below: int) -> float:
    """The limit that ``below`` of the totals are under, in the middle between two."""
    if not len(totals):
        return 0.0
    ordered = np.sort(totals)
    return round(float(ordered[max(0, below - 1) : below + 1].mean() if below else ordered[0] - 0.1), 3)


def _shares(answered: Mapping[str, Answered], limits: Mapping[str, Limits], kind: str) -> dict[str, Any]:
    """How many questions of a kind there are, and the share called weak or none, with its 95 % interval, and none."""
    levels = [
        limits[name].level(each.numbers, misspelt=each.misspelt) if each.numbers and not each.name else each.level
        for name, own in answered.items()
        for each in own[kind]
    ]
    caught, total = len(levels) - levels.count("strong"), max(1, len(levels))
    low, high = wilson(caught, len(levels))
    none = levels.count("none") / total
    return {"questions": len(levels), "weak or none": caught / total, "low": low, "high": high, "none": none}


def certainty_lines(record: Mapping[str, Any]) -> list[str]:
    """The limits and the shares, as text."""
    limits = record["limits"]
    weights = ", ".join(f"{name} {value:.2f}" for name, value in limits["weights"].items())
    lines = [
        f"weights: {weights}; bias {limits['bias']:.2f}; weak from {limits['weak']:.2f}, "
        f"strong from {limits['strong']:.2f}",
        "with each project left out: questions, share called weak or none (95 % interval), share called none",
    ]
    return lines + [
        f"  {kind:<10}{own['questions']:>6,}{own['weak or none']:>8.3f} ({own['low']:.3f} to {own['high']:.3f})"
        f"{own['none']:>8.3f}"
        for kind, own in record["left out"].items()
    ]
