"""Test splits that were prepared twice and count as one in the tables: which, and why."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, TypeVar

from evaluation.queries import QueryFacts
from evaluation.results import Result, Tested

SAME_SPLITS: Final[Mapping[str, str]] = {
    "15d9416a9acb09e950029f35e8772ebe7628352ceeb9ffb3198331ff0fb8e0a6": (
        "5ef8ac2c898e0004753b319d35b7625a2e0d1fa039a5f78cb9025d693b217775"
    ),
}
"""Fingerprint of a test split -> that which it counts as.

The JDK's, as a later reader of Java prepared it: the same 5,171 queries, names, tokens and trees in the same order. One
method of these has another list of calls, and 4 of 38,290 training pairs differ.
"""
WHY: Final = (
    "The JDK was prepared twice from the same sources. All 5,171 test queries, names, tokens and trees are the same, "
    "in the same order. One of these methods has another list of calls, and 4 of 38,290 training pairs differ. Both "
    "count as one test set."
)
"""The same for readers of the pages."""

_Tested = TypeVar("_Tested", bound=Tested)


def joined(results: Iterable[tuple[str, Result]]) -> list[tuple[str, Result]]:
    """Results with their labels, as tested on one split where the two count as one."""
    return [
        (label, replace(_joined(each), also={name: _joined(tested) for name, tested in each.also.items()}))
        for label, each in results
    ]


def _joined(tested: _Tested) -> _Tested:
    known = tested.data.fingerprint
    return replace(tested, data=replace(tested.data, fingerprint=SAME_SPLITS.get(known, known)))


def joined_facts(facts: Iterable[QueryFacts]) -> list[QueryFacts]:
    """The same of the facts of queries, which do not look at calls alone: all of them are equal on both."""
    return [replace(each, fingerprint=SAME_SPLITS.get(each.fingerprint, each.fingerprint)) for each in facts]


def are_joined(results: Iterable[tuple[str, Result]]) -> bool:
    """Whether some results, as saved, are of a split that counts as another."""
    return any(each.data.fingerprint in SAME_SPLITS for _, each in results)
