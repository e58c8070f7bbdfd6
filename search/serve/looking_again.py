"""Another look at a folder before it is said that little is found: a file may have been written after the last look."""

import time
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, runtime_checkable

from data_prep.errors import UserError

if TYPE_CHECKING:
    from search.serve.fresh_index import FreshIndex


@runtime_checkable
class _Tools(Protocol):
    _index: "FreshIndex"


Own = TypeVar("Own", bound=_Tools)
Given = ParamSpec("Given")


def is_sure(told: Mapping[str, Any]) -> bool:
    """Whether an answer, as JSON tells it, would hardly be another one with a few more files."""
    if "certainty" in told:
        return bool(told["certainty"]["level"] == "strong")
    return bool(told.get("results", True) or told.get("frames_in_index"))


def looking_again(
    tool: Callable[Concatenate[Own, Given], dict[str, Any]],
) -> Callable[Concatenate[Own, Given], dict[str, Any]]:
    """A tool that is asked again after another look, if it finds little or refuses, and the last look is older."""

    @wraps(tool)
    def asked(self: Own, /, *words: Given.args, **named: Given.kwargs) -> dict[str, Any]:
        arrived = time.monotonic()
        try:
            if is_sure(told := tool(self, *words, **named)):
                return told
        except UserError:
            if not self._index.look_again(arrived):
                raise
            return tool(self, *words, **named)
        return tool(self, *words, **named) if self._index.look_again(arrived) else told

    return asked
