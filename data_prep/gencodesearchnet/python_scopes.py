"""Python's scoping rules: the scope that binds a name."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

Place = tuple[int, int]
"""Line, from 1, and character in it, from 0."""


def place_of(lines: Sequence[str], line: int, column: int) -> Place:
    """The place that a syntax tree, which counts bytes, calls ``line`` and ``column``."""
    return line, len(lines[line - 1].encode()[:column].decode())


@dataclass(slots=True)
class Scope:
    """A function, class or comprehension with the names that it binds."""

    kind: Literal["module", "function", "class", "comprehension"]
    outer: "Scope | None" = None
    bound: set[str] = field(default_factory=set)
    not_here: dict[str, str] = field(default_factory=dict)  # name -> "global" or "nonlocal"

    def owner(self, name: str) -> "Scope | None":
        """The scope whose variable ``name`` is; None for a global or a builtin."""
        scope: Scope | None = self
        while scope is not None:
            if scope.not_here.get(name) == "global":
                module = scope._module()
                return module if name in module.bound else None
            seen = scope is self or scope.kind != "class"  # functions in a class do not see its names
            if seen and name in scope.bound and name not in scope.not_here:
                return scope
            scope = scope.outer
        return None

    def _module(self) -> "Scope":
        return self if self.outer is None else self.outer._module()
