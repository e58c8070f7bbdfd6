"""Words of a question that stand in a text in their order, and at the distance that they have in the question.

Where the question has a number, or words that are not there, a program has put values in: the text may have up to
PUT_IN words in place of these.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from data_prep.array_types import Bool, Float, Int64
from data_prep.store.ragged_lists import edges
from search.retrieval.exact import given, search_loops

PUT_IN: Final = 8
"""Words that may stand at a placeholder."""
_APART: Final = 6
"""Places of a question between two words that follow each other in a passage, at most."""
_BEFORE: Final = 4
"""Words before a word that it may follow."""


_LIMITS: Final = np.array([_BEFORE, _APART, PUT_IN], np.int64)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question that says something."""

    place: int  # in the question, without words that no file has
    values: int  # how many words before it are numbers, or in no file
    weight: float
    keys: Int64[np.ndarray, " places"]  # ascending; of a file and a place in it


@dataclass(slots=True)
class Chains:
    """The best passage that ends at each place of a word."""

    weights: Float[np.ndarray, " places"]
    lengths: Int64[np.ndarray, " places"]
    firsts: Int64[np.ndarray, " places"]

    def improve(
        self, before: "Chains", places: Int64[np.ndarray, " places"], weight: float, there: Bool[np.ndarray, " places"]
    ) -> None:
        """Add one word to the passages that end at some places, where they are ``there``, if that is better."""
        own = np.flatnonzero(there)
        if not len(own):
            return
        weights = before.weights[places[own]] + weight
        better = weights > self.weights[own]
        own = own[better]
        self.weights[own] = weights[better]
        self.lengths[own] = before.lengths[places[own]] + 1
        self.firsts[own] = before.firsts[places[own]]


def linked(words: Sequence[Word], gap: float) -> tuple[Int64[np.ndarray, " places"], Chains]:
    """The places of all words, one word after the other, and the best passage that ends at each.

    Args:
        words: of the question, at least one.
        gap: what a placeholder takes away.
    """
    keys = np.concatenate([word.keys for word in words])
    if (library := search_loops()) is None:
        found: list[Chains] = []
        for number in range(len(words)):
            found.append(ending(words, number, found, gap))
        parts = ([each.weights for each in found], [each.lengths for each in found], [each.firsts for each in found])
        return keys, Chains(*map(np.concatenate, parts))
    starts = edges(np.array([len(word.keys) for word in words], np.int64))
    asked = np.array([(word.place, word.values) for word in words], np.int64).T.copy()
    weights = np.array([*(word.weight for word in words), gap])
    chains = Chains(np.empty(len(keys)), np.empty(len(keys), np.int64), np.empty(len(keys), np.int64))
    found_in = chains.weights, chains.lengths, chains.firsts
    arrays = given(keys, starts, asked[0], asked[1], weights, weights[-1:], _LIMITS, *found_in)
    library.link_words(*arrays, ctypes.c_int64(len(words)))
    return keys, chains


def ending(words: Sequence[Word], number: int, before: Sequence[Chains], gap: float) -> Chains:
    """The best passages that end with a word, by those that end with the words before it.

    Args:
        words: of the question.
        number: of the word.
        before: the passages that end with each word before it.
        gap: what a placeholder takes away.
    """
    word = words[number]
    keys = word.keys
    best = Chains(np.full(len(keys), word.weight), np.ones(len(keys), np.int64), keys.copy())
    for other in range(max(0, number - _BEFORE), number):
        apart, last = word.place - words[other].place, words[other].keys
        if apart > _APART or not len(last) or not len(keys):
            continue
        exact = np.minimum(np.searchsorted(last, keys - apart), len(last) - 1)
        best.improve(before[other], exact, word.weight, last[exact] == keys - apart)
        value = other < number - 1 or word.values > words[other].values
        most = apart + PUT_IN if value else 2 if apart == 1 else 0  # one word: the prefix of the next line's text
        if not most:
            continue
        near = np.searchsorted(last, keys) - 1
        best.improve(before[other], near, word.weight - gap, (near >= 0) & (keys - last[near] <= most))
    return best
