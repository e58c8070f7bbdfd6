"""Sampling of the codes that a text is compared with: one negative per pair in matching, 99 distractors in ranking.

The draws are those of the task package (``random.seed(42)``, then ``random.sample`` from a list that is made anew for
each pair), without its lists: what ``sample`` draws depends on a list's length only. The files of both tasks are in its
format.
"""

import random
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from jaxtyping import Int64

from data_prep.errors import UserError
from data_prep.gencodesearchnet.records import Example, line_of, write_lines

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
    count: int, distractors: int = DISTRACTORS, seed: int = SEED, *, rows: int = _ROWS
) -> Iterator[Block]:
    """The candidates of each of ``count`` pairs by position: its own first, then ``distractors`` others.

    A distractor can be right: the task package does not exclude equal codes. A block has ``rows`` pairs.

    Raises:
        UserError: there are too few pairs.
    """
    _check(count, distractors)
    return _ranked(count, distractors, random.Random(seed), rows)


def _ranked(count: int, distractors: int, draws: random.Random, rows: int) -> Iterator[Block]:
    for start in range(0, count, rows):
        own = np.arange(start, min(start + rows, count))[:, None]
        drawn = np.array([np.array(draws.sample(range(count - 1), distractors)) for _ in own])
        yield np.concatenate([own, drawn + (drawn >= own)], axis=1)  # from the list without the pair itself


def released_blocks(
    count: int, distractors: int = DISTRACTORS, seed: int = SEED, *, rows: int = _ROWS
) -> Iterator[Block]:
    """The candidates as the released ranking scripts draw them, which lose the pool after the first pair.

    From then on the pool is what was compared last: the previous pair's code and its distractors, without what stands
    at the place that is the pair's own number, if that is in it. Distractors are so the codes of about the last hundred
    pairs, and never of one that comes later, other than those drawn for the first pair: a pair whose code is one of
    these may find it twice among its candidates.

    Raises:
        UserError: there are too few pairs.
    """
    _check(count, distractors)
    return _released(count, distractors, random.Random(seed), rows)


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


def _check(count: int, distractors: int) -> None:
    if distractors < 1:
        raise UserError(f"expected one distractor or more, not {distractors}")
    if count <= distractors:
        raise UserError(
            f"ranking among {distractors + 1:,} codes needs as many pairs, but there are {count:,}: leave this subset "
            "out or take fewer distractors"
        )


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
