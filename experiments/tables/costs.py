"""The cost of the runs behind a page."""

from collections.abc import Iterable

from evaluation.results import Result, Tested

_HOUR = 3600


def cost(results: Iterable[Result]) -> str:
    """The hours of all runs, in a sentence; training counts once for weights that were tested again."""
    runs = {(each.dataset, each.command): each for each in results}.values()
    train = sum(each.seconds.train for each in runs if each.train_pairs_per_second)
    test = sum(each.seconds.evaluate + sum(map(_test_seconds, each.also.values())) for each in runs)
    return (
        f"Cost: {len(runs)} runs, {train / _HOUR:.1f} hours of training and {test / _HOUR:.1f} of ranking, added up as "
        "if one came after the other; two at a time, a thread each, they take about half of that on 2 cores."
    )


def _test_seconds(tested: Tested) -> float:
    return tested.queries * tested.pool_size / tested.score_pairs_per_second
