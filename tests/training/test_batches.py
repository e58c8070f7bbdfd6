import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_prep.records import WORD_FIELDS
from data_prep.store.arrays import Ragged
from data_prep.store.split import TokenizedPairs
from training.task import batch_count, epoch_batches, negatives_mask


def pairs_of(lengths):
    rows = [[1] * length for length in lengths]
    return TokenizedPairs({field: Ragged.of(rows) for field in WORD_FIELDS})


@given(st.lists(st.integers(0, 30), min_size=2, max_size=300), st.integers(2, 40), st.integers(0, 5), st.integers(1, 9))
@settings(max_examples=150, deadline=None)
def test_every_pair_stands_in_one_batch_of_two_or_more(lengths, size, epoch, neighbours):
    batches = epoch_batches(pairs_of(lengths), size, seed=3, epoch=epoch, neighbours=neighbours)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    assert all(2 <= len(batch) <= size + 1 for batch in batches)
    assert len(batches) == batch_count(len(lengths), size)


def test_the_order_depends_on_seed_and_epoch_alone(setting):
    def order(seed, epoch):
        return np.concatenate(epoch_batches(setting.train, 8, seed, epoch)).tolist()

    assert order(0, 0) == order(0, 0)
    assert len({tuple(order(*place)) for place in ((0, 0), (0, 1), (1, 0), (1, 1))}) == 4


@pytest.mark.parametrize("by_code", [False, True])
def test_pairs_of_a_batch_are_of_similar_length(setting, by_code):
    def padding(batches):
        lengths = setting.train.code_lengths if by_code else setting.train.query_lengths
        return sum(len(rows) * lengths[rows].max() for rows in batches) / lengths.sum()

    shuffled = np.random.default_rng(0).permutation(len(setting.train)).reshape(-1, 8)
    assert padding(epoch_batches(setting.train, 8, 0, 0, by_code=by_code)) < 1.1 < 1.5 < padding(shuffled)


def test_neighbours_stay_together_and_are_not_the_same_in_every_epoch():
    pairs = pairs_of([3] * 240)
    together = [
        {
            (row, row + 1)
            for batch in epoch_batches(pairs, 24, 0, epoch, neighbours=8)
            for row in batch
            if row + 1 in batch
        }
        for epoch in range(4)
    ]
    alone = epoch_batches(pairs, 24, 0, 0)
    assert all(len(each) >= 240 * 7 / 8 - 8 for each in together)
    assert len(set.union(*together)) > max(map(len, together))
    assert sum(row + 1 in batch for batch in alone for row in batch) < 60


def test_one_pair_has_no_negative():
    with pytest.raises(ValueError, match=r"2 pairs or more.* got 1"):
        epoch_batches(pairs_of([3]), 8, 0, 0)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12))
def test_duplicates_are_no_negatives_of_each_other(keys):
    queries, codes = np.array(keys).T
    mask = negatives_mask(queries, codes, queries, codes)
    for i, (query, code) in enumerate(keys):
        for j, (other_query, other_code) in enumerate(keys):
            assert mask[i, j] == (i != j and query != other_query and code != other_code)
