"""Sets of the benchmark: pairs to fine-tune on, and the codes that a text of a test is compared with.

Those codes are one negative per pair in matching, 99 distractors in ranking. The draws are those of the task package
(``random.seed(42)``, then ``random.sample`` from a list that is made anew for each pair), without its lists: what
``sample`` draws depends on a list's length only. The files of both tasks are in its format.

The fine-tuning set is in Python only: AdvTest's training file or, if it is not available, the similar code-docstring
corpus (Barone and Sennrich 2017), Python functions from GitHub with their documentation. Of that corpus the validation
and test files of both its splits are used, each pair once, filtered by AdvTest's rules. Its two splits overlap, so
neither is used: validation pairs are those of whole projects, without copies of training code. The published file names
no projects; there equal codes stay together.
"""

import random
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np
from jaxtyping import Int64

from data_prep.errors import UserError
from data_prep.gencodesearchnet.advtest import advtest_drops
from data_prep.gencodesearchnet.records import (
    SEPARATOR,
    Example,
    Row,
    line_of,
    made_of,
    read_raw,
    source_rows,
    write_lines,
)
from data_prep.gencodesearchnet.subsets import (
    EQUAL,
    INSIDE,
    Entry,
    Place,
    Subset,
    find_place,
    origin_of,
    pair,
    published,
)
from data_prep.pipeline.splits import place_of

SEED: Final = 42
DISTRACTORS: Final = 99
_ROWS: Final = 1024
"""Rows of a block: with 100 candidates, 0.8 MB."""

Negatives = Int64[np.ndarray, " pairs"]
Block = Int64[np.ndarray, "block candidates"]


def matching_negatives(examples: Sequence[Example], seed: int = SEED, *, exclude_equal_code: bool = False) -> Negatives:
    """The position of the pair whose code is the negative of each pair, drawn among the pairs that are not equal to it.

    Args:
        examples: a subset in the order of its file.
        seed: of the draws.
        exclude_equal_code: draw only among pairs of another code. The task package does not, so that a negative can be
            right.

    Raises:
        UserError: a pair is equal to all others.
    """
    draws = random.Random(seed)
    keys: list[Hashable] = [pair.code if exclude_equal_code else pair for pair in examples]
    gaps = _gaps(keys)
    chosen = np.empty(len(keys), np.int64)
    for row, key in enumerate(keys):
        others = len(keys) - len(gaps[key])
        if not others:
            raise UserError(f"a negative needs two pairs that differ, but the {len(keys):,} pairs are all the same")
        (place,) = draws.sample(range(others), 1)
        chosen[row] = place + np.searchsorted(gaps[key], place, side="right")
    return chosen


def _gaps(keys: Sequence[Hashable]) -> dict[Hashable, Int64[np.ndarray, " equal"]]:
    """For each key, the places in the list without its positions before which one was taken out."""
    positions: dict[Hashable, list[int]] = {}
    for position, key in enumerate(keys):
        positions.setdefault(key, []).append(position)
    return {key: np.array(found) - np.arange(len(found)) for key, found in positions.items()}


def ranking_blocks(
    count: int, distractors: int = DISTRACTORS, seed: int = SEED, *, rows: int = _ROWS, released: bool = False
) -> Iterator[Block]:
    """The candidates of each of ``count`` pairs by position: its own first, then ``distractors`` others.

    A distractor can be right: the task package does not exclude equal codes. A block has ``rows`` pairs.

    With ``released``, as the released ranking scripts draw them, which lose the pool after the first pair. From then on
    the pool is what was compared last: the previous pair's code and its distractors, without what stands at the place
    that is the pair's own number, if that is in it. Distractors are so the codes of about the last hundred pairs, and
    never of one that comes later, other than those drawn for the first pair: a pair whose code is one of these may find
    it twice among its candidates.

    Raises:
        UserError: there are too few pairs.
    """
    if distractors < 1:
        raise UserError(f"expected one distractor or more, not {distractors}")
    if count <= distractors:
        raise UserError(
            f"ranking among {distractors + 1:,} codes needs as many pairs, but there are {count:,}: leave this subset "
            "out or take fewer distractors"
        )
    return (_released if released else _ranked)(count, distractors, random.Random(seed), rows)


def _ranked(count: int, distractors: int, draws: random.Random, rows: int) -> Iterator[Block]:
    for start in range(0, count, rows):
        own = np.arange(start, min(start + rows, count))[:, None]
        drawn = np.array([np.array(draws.sample(range(count - 1), distractors)) for _ in own])
        yield np.concatenate([own, drawn + (drawn >= own)], axis=1)  # from the list without the pair itself


def _released(count: int, distractors: int, draws: random.Random, rows: int) -> Iterator[Block]:
    pool: Sequence[int] = range(count)
    for start in range(0, count, rows):
        block = np.empty((min(rows, count - start), distractors + 1), np.int64)
        for row, candidates in enumerate(block, start):
            rest = [*pool[:row], *pool[row + 1 :]]
            pool = [row, *draws.sample(rest, distractors)]
            candidates[:] = pool
        yield block


def released_typography(code: str) -> str:
    """A negative's code as the released matching scripts for CodeSearchNet write it: a space between all characters."""
    return " ".join(code)


def write_matching(path: Path, examples: Sequence[Example], negatives: Negatives) -> None:
    """Write two lines per pair: the pair, then its text with the code of its negative."""
    write_ranking(path, examples, [np.stack([np.arange(len(examples)), negatives], axis=1)])


def write_ranking(path: Path, examples: Sequence[Example], blocks: Iterable[Block]) -> None:
    """Write one line per candidate: each pair first, then its text with the code of each distractor."""
    write_lines(path, _lines(examples, blocks))


def _lines(examples: Sequence[Example], blocks: Iterable[Block]) -> Iterator[str]:
    for own, *distractors in (candidates for block in blocks for candidates in block.tolist()):
        yield line_of(examples[own])
        for distractor in distractors:
            yield line_of(Example(examples[own].text, examples[distractor].code), target=0)


_CORPUS: Final = Place(
    tuple(f"code_docstring/{name}.jsonl.gz" for name in ("valid", "test", "repo_split_valid", "repo_split_test")),
    "pairs",
    "the code-docstring corpus, not AdvTest's training set",
)
FINE_TUNING: Final = Entry("train_adv", "Python", 251_820, (), (*published("train_adv"), _CORPUS))
TESTED: Final = "code of a test subset"
TRAINED: Final = "validation code that is in training"

_OF_GROUPS: Final = 10
"""A group may have at most one in this many of the wanted validation pairs."""
_LOOKS: Final = re.compile(r"[\s()]+")
"""What of a code may differ between copies: the corpus has other brackets and lines than CodeSearchNet."""


@dataclass(frozen=True, slots=True)
class FineTuning:
    """Pairs to train on, and pairs of other groups to tune a threshold or an epoch on."""

    train: Subset
    valid: Subset


@dataclass(frozen=True, slots=True)
class _Grouped:
    pair: Example
    group: str  # what stays on one side


def find_fine_tuning(
    path: Path, tests: Sequence[Subset] = (), *, valid_share: float = 0.1, seed: int = 42
) -> FineTuning:
    """The fine-tuning set in the folder ``path``, without pairs whose code is in one of ``tests``.

    Raises:
        UserError: it is missing or damaged, or one of the sets is empty.
    """
    place = find_place(path, FINE_TUNING)
    if place is None:
        names = ", ".join(" and ".join(place.files) for place in FINE_TUNING.places)
        raise UserError(f"{path} has no pairs to fine-tune on: expected {names}")
    dropped: Counter[str] = Counter()
    found = _corpus(path, place, dropped) if place is _CORPUS else _raw(path, place, dropped)
    seen = {_look(code) for test in tests for code in test.codes}
    kept = [each for each in found if _look(each.pair.code) not in seen]
    dropped[TESTED] += len(found) - len(kept)
    train, valid = _sides(kept, _valid_groups(kept, valid_share, seed), dropped)
    if not train or not valid:
        groups = len({each.group for each in kept})
        raise UserError(f"{path}: {len(kept):,} pairs in {groups:,} groups are too few to set some apart: give more")
    origin = origin_of(FINE_TUNING, place, len(train) + len(valid))
    return FineTuning(_subset(train, origin, dropped), _subset(valid, origin, dropped))


def _subset(pairs: Sequence[Example], origin: str, dropped: Counter[str]) -> Subset:
    texts, codes = tuple(each.text for each in pairs), tuple(each.code for each in pairs)
    return Subset(FINE_TUNING.name, FINE_TUNING.language, texts, codes, origin, dropped)


def _raw(path: Path, place: Place, dropped: Counter[str]) -> list[_Grouped]:
    raw = read_raw(path / place.files[0])
    dropped.update(raw.dropped)
    return [_Grouped(each, each.code) for each in raw.examples]


def _corpus(path: Path, place: Place, dropped: Counter[str]) -> list[_Grouped]:
    """The corpus's pairs that AdvTest would keep, each with its project."""
    kept: dict[Example, _Grouped] = {}
    rows = chain.from_iterable(source_rows(path / file, dropped) for file in place.files)
    for row, found in made_of(rows, pair, dropped):
        if reason := _reason_to_drop(row, found, kept):
            dropped[reason] += 1
        else:
            project = "/".join(row.text("source").split("/")[:3])  # of "github/owner/name/file.py 12"
            kept[found] = _Grouped(found, project)
    return list(kept.values())


def _reason_to_drop(row: Row, found: Example, kept: dict[Example, _Grouped]) -> str | None:
    if found in kept:
        return EQUAL
    if found.input.count(SEPARATOR) > 1:
        return INSIDE
    return advtest_drops(row.text("query"), len(row.text("query").split()), row.text("code"))


def _valid_groups(pairs: Sequence[_Grouped], share: float, seed: int) -> set[str]:
    """Groups in hash order until they have enough pairs; large ones are skipped, so that none dominates the set."""
    sizes = Counter(each.group for each in pairs)
    missing = wanted = share * len(pairs)
    chosen: set[str] = set()
    for group in sorted(sizes, key=lambda group: place_of((group,), seed)):
        if missing > 0 and sizes[group] <= max(wanted / _OF_GROUPS, 1):
            chosen.add(group)
            missing -= sizes[group]
    return chosen


def _sides(pairs: Sequence[_Grouped], groups: set[str], dropped: Counter[str]) -> tuple[list[Example], list[Example]]:
    train = [each.pair for each in pairs if each.group not in groups]
    seen = {_look(pair.code) for pair in train}
    apart = [each.pair for each in pairs if each.group in groups]
    valid = [pair for pair in apart if _look(pair.code) not in seen]
    dropped[TRAINED] += len(apart) - len(valid)
    return train, valid


def _look(code: str) -> str:
    return _LOOKS.sub("", code)
