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


def matching_negatives(
    examples: Sequence[Example], seed: int | random.Random = SEED, *, exclude_equal_code: bool = False
) -> Negatives:
    """The position of the pair whose code is the negative of each pair, drawn among the pairs that are not equal to it.

    Args:
        examples: a subset in the order of its file.
        seed: where the draws begin; a ``Random`` goes on where another set's draws ended.
        exclude_equal_code: draw only among pairs of another code. The task package does not, so that a negative can be
            right.

    Raises:
        UserError: a pair is equal to all others.
    """
    draws = _draws(seed)
    keys: list[Hashable] = [pair.code if exclude_equal_code else pair for pair in examples]
    gaps = _gaps(keys)
    chosen = np.empty(len(keys), np.int64)
    for row, key in enumerate(keys):
        if len(gaps[key]) == len(keys):
            raise UserError(f"a negative needs two pairs that differ, but the {len(keys):,} pairs are all the same")
        drawn = draws.sample(range(len(keys) - len(gaps[key])), 1)
        chosen[row] = _positions(drawn, gaps[key])[0]
    return chosen


def ranking_blocks(
    examples: Sequence[Example] | int,
    distractors: int = DISTRACTORS,
    seed: int | random.Random = SEED,
    *,
    exclude_equal_code: bool = False,
    rows: int = _ROWS,
) -> Iterator[Block]:
    """The candidates of each pair by position: its own first, then ``distractors`` others; ``rows`` pairs at a time.

    Args:
        examples: a subset in the order of its file; their number is enough unless equal codes are excluded.
        distractors: candidates beside the right one.
        seed: where the draws begin; a ``Random`` goes on where another set's draws ended.
        exclude_equal_code: draw only among other codes. The task package does not, so that a distractor can be right.
        rows: pairs of a block.

    Raises:
        UserError: there are too few pairs.
    """
    if isinstance(examples, int) and exclude_equal_code:
        raise UserError("equal codes are known by the pairs: give them, not their number")
    keys = [] if isinstance(examples, int) or not exclude_equal_code else [pair.code for pair in examples]
    count = examples if isinstance(examples, int) else len(examples)
    _check(count, distractors)
    return _ranked(count, keys, distractors, _draws(seed), rows)


def released_blocks(
    count: int, distractors: int = DISTRACTORS, seed: int | random.Random = SEED, *, rows: int = _ROWS
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
    return _released(count, distractors, _draws(seed), rows)


def released_typography(code: str) -> str:
    """A negative's code as the released matching scripts for CodeSearchNet write it: a space between all characters."""
    return " ".join(code)


def _ranked(count: int, keys: Sequence[str], distractors: int, draws: random.Random, rows: int) -> Iterator[Block]:
    gaps = _gaps(keys)
    for start in range(0, count, rows):
        block = np.empty((min(rows, count - start), distractors + 1), np.int64)
        for row, candidates in enumerate(block, start):
            others = count - (len(gaps[keys[row]]) if keys else 1)
            if others < distractors:
                raise UserError(f"pair {row + 1:,} has {others:,} pairs of another code: {distractors:,} are needed")
            candidates[0] = row
            drawn = draws.sample(range(others), distractors)
            candidates[1:] = _positions(drawn, gaps[keys[row]]) if keys else drawn
        if not keys:
            block[:, 1:] += block[:, 1:] >= block[:, :1]  # the list without a pair itself
        yield block


def _released(count: int, distractors: int, draws: random.Random, rows: int) -> Iterator[Block]:
    pool: Sequence[int] = range(count)
    for start in range(0, count, rows):
        block = np.empty((min(rows, count - start), distractors + 1), np.int64)
        for row, candidates in enumerate(block, start):
            rest = [*pool[:row], *pool[row + 1 :]]
            pool = [row, *draws.sample(rest, distractors)]
            candidates[:] = pool
        yield block


def _gaps(keys: Sequence[Hashable]) -> dict[Hashable, Int64[np.ndarray, " equal"]]:
    """For each key, the places in the list without its positions before which one was taken out."""
    positions: dict[Hashable, list[int]] = {}
    for position, key in enumerate(keys):
        positions.setdefault(key, []).append(position)
    return {key: np.array(found) - np.arange(len(found)) for key, found in positions.items()}


def _positions(drawn: Sequence[int], gaps: Int64[np.ndarray, " equal"]) -> Int64[np.ndarray, " drawn"]:
    """Positions in the whole list of what was drawn from the list with ``gaps``."""
    places = np.array(drawn, np.int64)
    return places + np.searchsorted(gaps, places, side="right")


def _draws(seed: int | random.Random) -> random.Random:
    return seed if isinstance(seed, random.Random) else random.Random(seed)


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
    write_lines(path, _matching_lines(examples, negatives))


def write_ranking(path: Path, examples: Sequence[Example], blocks: Iterable[Block]) -> None:
    """Write one line per candidate: each pair first, then its text with the code of each distractor."""
    write_lines(path, _ranking_lines(examples, blocks))


def _matching_lines(examples: Sequence[Example], negatives: Negatives) -> Iterator[str]:
    for pair, negative in zip(examples, negatives.tolist(), strict=True):
        yield line_of(pair)
        yield line_of(Example(pair.text, examples[negative].code), target=0)


def _ranking_lines(examples: Sequence[Example], blocks: Iterable[Block]) -> Iterator[str]:
    for own, *distractors in (candidates for block in blocks for candidates in block.tolist()):
        yield line_of(examples[own])
        for distractor in distractors:
            yield line_of(Example(examples[own].text, examples[distractor].code), target=0)
