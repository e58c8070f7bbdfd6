"""How certain an answer is: whether the files have the question's words, and whether one place has them together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Level = Literal["strong", "weak", "none"]
"""strong: an answer; weak: perhaps none; none: no file has any of the question's words, or its name."""


@dataclass(frozen=True, slots=True)
class Certainty:
    """How certain an answer is."""

    level: Level
    absent: Sequence[str] = ()
    """Words of the question, as typed, that no file has."""
    nearest: Sequence[str] = ()
    """Names that exist, nearest to a name that does not."""

    @property
    def line(self) -> str:
        """One line that says it."""
        if self.level == "none":
            return "nothing found: no file has these words"
        without = f"; no file has {', '.join(self.absent)}" if self.absent else ""
        return f"{self.level} match{without}"

    @property
    def record(self) -> dict[str, Any]:
        """As the JSON interfaces return it."""
        return {"level": self.level, "absent": [*self.absent], "nearest": [*self.nearest], "text": self.line}
