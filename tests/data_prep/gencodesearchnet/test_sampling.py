"""The draws, against the plain form that makes a list for each pair; the released one by what it does to ages."""

import random
import tracemalloc
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import islice

import numpy as np
import pytest

from data_prep.gencodesearchnet.records import Example, example, line_of
from data_prep.gencodesearchnet.sets import (
    matching_negatives,
    ranking_blocks,
    released_typography,
)


def pairs(count: int, texts: int = 0, codes: int = 0) -> list[Example]:
    """Pairs, which are equal in part where there are fewer ``texts`` or ``codes``."""
    return [example(f"text {row % (texts or count)}", f"code {row % (codes or count)}") for row in range(count)]


def plain_negatives(records: Sequence[str], draws: random.Random) -> list[int]:
    chosen = []
    for own in records:
        pool = [position for position, record in enumerate(records) if record != own]
        chosen.append(draws.sample(pool, 1)[0])
    return chosen


def plain_rankings(keys: Sequence[object], distractors: int, draws: random.Random) -> list[list[int]]:
    rankings = []
    for row, own in enumerate(keys):
        pool = [position for position, key in enumerate(keys) if key != own]
        rankings.append([row, *draws.sample(pool, distractors)])
    return rankings


SETS = (
    pairs(150),
    pairs(150, codes=13),
    pairs(150, texts=10, codes=10),
    pairs(50, texts=7, codes=5),
    pairs(2),
    [*pairs(3), *pairs(3), *pairs(1)],
)


@pytest.mark.parametrize("examples", SETS)
def test_negatives_are_those_of_the_plain_form(examples: list[Example]) -> None:
    drawn = matching_negatives(examples)
    assert drawn.tolist() == plain_negatives([line_of(pair) for pair in examples], random.Random(42))
    assert all(examples[row] != examples[negative] for row, negative in enumerate(drawn))
    other = matching_negatives(examples, seed=7, exclude_equal_code=True)
    assert other.tolist() == plain_negatives([pair.code for pair in examples], random.Random(7))


def test_a_negative_may_be_right_unless_equal_codes_are_excluded() -> None:
    examples = pairs(150, codes=2)
    same = [examples[row].code == examples[negative].code for row, negative in enumerate(matching_negatives(examples))]
    assert 50 < sum(same) < 100
    drawn = matching_negatives(examples, exclude_equal_code=True)
    assert not any(examples[row].code == examples[negative].code for row, negative in enumerate(drawn))


def test_pairs_that_are_all_the_same_have_no_negative() -> None:
    with pytest.raises(ValueError, match="needs two pairs that differ, but the 4 pairs are all the same"):
        matching_negatives(pairs(4, texts=1, codes=1))
    with pytest.raises(ValueError, match="the 1 pairs are all the same"):
        matching_negatives(pairs(1))
    with pytest.raises(ValueError, match="all the same"):
        matching_negatives(pairs(4, codes=1), exclude_equal_code=True)
    assert matching_negatives([]).tolist() == []


@pytest.mark.parametrize(("count", "distractors"), [(100, 99), (150, 99), (1_500, 99), (30, 1), (30, 5), (30, 29)])
def test_rankings_are_those_of_the_plain_form(count: int, distractors: int) -> None:
    blocks = list(ranking_blocks(count, distractors, rows=64))
    assert [len(block) for block in blocks] == [64] * (count // 64) + [count % 64]
    rankings = np.concatenate(blocks)
    assert rankings.shape == (count, distractors + 1)
    assert rankings.tolist() == plain_rankings(range(count), distractors, random.Random(42))
    assert all(len(set(ranking)) == distractors + 1 for ranking in rankings.tolist())


@pytest.mark.parametrize("blocks", [ranking_blocks, partial(ranking_blocks, released=True)])
def test_too_few_pairs_are_told_at_once(blocks) -> None:
    with pytest.raises(ValueError, match="ranking among 100 codes needs as many pairs, but there are 38: leave this"):
        blocks(38)
    with pytest.raises(ValueError, match="expected one distractor or more, not 0"):
        blocks(38, 0)
    assert [block.shape for block in blocks(100)] == [(100, 100)]


def test_distractors_are_drawn_evenly() -> None:
    rankings = np.concatenate(list(ranking_blocks(300)))
    drawn = np.bincount(rankings[:, 1:].ravel(), minlength=300)
    assert abs(drawn - 99).max() < 5 * np.sqrt(99 * (1 - 99 / 299))


def test_rankings_of_a_large_set_take_little_memory() -> None:
    count = 30_000
    tracemalloc.start()
    try:
        for block in islice(ranking_blocks(count), 3):
            assert block.shape == (1024, 100)
        of_blocks = tracemalloc.get_traced_memory()[1]
        rows = sum(len(block) for block in ranking_blocks(count, 1))
        assert rows == count
        whole = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert max(of_blocks, whole) < 5_000_000  # all rankings at once: 24 MB


def plain_released(count: int, distractors: int, draws: random.Random) -> list[list[int]]:
    rankings = []
    codes = list(range(count))
    for row in range(count):
        pool = [code for position, code in enumerate(codes) if position != row]
        codes = [row, *draws.sample(pool, distractors)]
        rankings.append(codes)
    return rankings


def test_released_rankings_draw_from_the_last_block() -> None:
    rankings = np.concatenate(list(ranking_blocks(400, rows=64, released=True)))
    assert rankings.tolist() == plain_released(400, 99, random.Random(42))
    assert rankings[0].tolist() == next(ranking_blocks(400))[0].tolist()
    for row in range(1, 400):
        left = Counter(rankings[row - 1].tolist()) - Counter(rankings[row, 1:].tolist())
        assert left.total() == 1
        assert row >= 100 or set(left) == {rankings[row - 1, row]}
    assert (rankings[:, 1:] == rankings[:, :1]).any()  # drawn at the start: its own code is a pair's distractor


def test_released_distractors_are_the_last_pairs_codes() -> None:
    rankings = np.concatenate(list(ranking_blocks(6_000, released=True)))
    later = np.arange(6_000)[:, None] < rankings
    assert later[:2_000].any()
    assert not (later & ~np.isin(rankings, rankings[0])).any()  # a later one only if it was drawn at the start
    assert not later[2_000:].any()
    ages = (np.arange(6_000)[:, None] - rankings)[2_000:, 1:]
    assert ages.min() == 1
    assert abs(ages.mean() - 98) < 3
    assert abs((ages <= 100).mean() - 0.63) < 0.01
    canonical = np.concatenate(list(islice(ranking_blocks(6_000), 2)))
    assert abs(canonical[:, 1:].mean() - 2_999.5) < 30


def test_the_released_typography_tells_negatives_apart() -> None:
    assert released_typography("f(x) {") == "f ( x )   {"
    assert released_typography("") == ""
