"""Caches for what is computed from texts that may be of any length: only the results for short ones are kept."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

Result = TypeVar("Result")


def kept_if_short(longest: int, most: int) -> Callable[[Callable[[str], Result]], Callable[[str], Result]]:
    """A decorator that keeps ``most`` results of a function, for texts of at most ``longest`` characters."""

    def decorate(function: Callable[[str], Result]) -> Callable[[str], Result]:
        kept = lru_cache(maxsize=most)(function)

        @wraps(function)
        def call(text: str) -> Result:
            return kept(text) if len(text) <= longest else function(text)

        return call

    return decorate
