"""Regular expressions that are compiled when they are first used: a process imports many, and most need few of them."""

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    compiled_later = re.compile
else:

    class compiled_later:  # noqa: N801 - it stands for re.compile
        """Has what a pattern has; functions of ``re`` do not take it, and no match has it as its ``re``."""

        def __init__(self, *given: Any) -> None:
            self._given = given

        def __getattr__(self, name: str) -> Any:
            found = getattr(re.compile(*self._given), name)
            setattr(self, name, found)  # by which it is found from now on
            return found
