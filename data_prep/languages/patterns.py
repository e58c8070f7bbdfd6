"""Regular expressions that are compiled when they are first used: a process imports many, and most need few of them."""

import re
from typing import Any, AnyStr, cast


class _Later:
    """Has the methods of a pattern, which it is until then."""

    def __init__(self, *given: Any) -> None:
        self._given = given

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)  # by which it is found from now on
        return found


def compiled_later(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What has the methods and attributes of a pattern; functions of ``re`` do not take it."""
    return cast("re.Pattern[AnyStr]", _Later(pattern, flags))
