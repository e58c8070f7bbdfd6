"""The sha256 of what a split holds depends on its words and their order, and on nothing else."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from java import pair

from data_prep.store.prepared_data import words_sha256
from data_prep.store.split import Split, joined


@pytest.fixture
def pairs():
    return [pair(query=("gets", "it"), name=("get",)), pair(query=("sets", "it"), name=("set", "it"))]


def test_it_is_the_sha256_of_the_words_by_rows_and_fields(pairs):
    lines = (
        "\t".join(" ".join(each.words(field)) for field in ("query", "name", "tokens", "api", "ast")) for each in pairs
    )
    expected = hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()
    assert words_sha256(Split.of("test", pairs)) == expected


def test_statement_trees_are_no_part_of_it(pairs):
    fields = {**pairs[0].method.fields, "statements": ("End", "BlockStatement")}
    with_trees = [replace(pairs[0], method=replace(pairs[0].method, fields=fields)), pairs[1]]
    assert Split.of("test", with_trees).word_list("statements", 0) == ["End", "BlockStatement"]
    assert words_sha256(Split.of("test", with_trees)) == words_sha256(Split.of("test", pairs))


def test_neither_lexicon_nor_split_count_but_rows_and_their_order_do(pairs):
    split = Split.of("test", pairs)
    other = joined(Split.of("valid", pairs), Split.of("more", [pair(query=("aardvark",))])).take(np.array([0, 1]))
    assert list(other.lexicon) != list(split.lexicon)
    assert words_sha256(other) == words_sha256(split)
    assert words_sha256(split.take(np.array([1, 0]))) != words_sha256(split)
    assert words_sha256(split.take(np.array([0]))) != words_sha256(split)
