"""A syntax tree of a language that no light grammar reads, with as much of tree-sitter's interface as is used here."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

import tree_sitter

__all__ = ["Node", "OwnNode", "OwnTree", "Source", "Tree", "captures_of_broken"]


class Source:
    """A text and where its lines begin."""

    def __init__(self, data: bytes) -> None:
        """``data``: with line feeds as line ends."""
        self.data = data

    @cached_property
    def line_starts(self) -> Sequence[int]:
        """Offsets in bytes."""
        return [0, *accumulate(len(line) + 1 for line in self.data.split(b"\n")[:-1])]


class OwnNode:
    """A node; its parts are those of ``tree_sitter.Node``."""

    __slots__ = (
        "_fields", "_source", "children", "end_byte", "has_error", "is_named", "parent", "start_byte", "type"
    )  # fmt: skip

    def __init__(
        self,
        source: Source,
        kind: str,
        place: tuple[int, int],
        children: "Sequence[OwnNode]" = (),
        fields: "Mapping[str, OwnNode] | None" = None,
        *,
        named: bool = True,
    ) -> None:
        """``place``: start and end in bytes; an empty one of kind ERROR is what is missing."""
        self._source, self._fields = source, fields
        self.type, self.is_named = kind, named
        self.start_byte, self.end_byte = place
        self.children = children
        self.parent: OwnNode | None = None
        self.has_error = kind == "ERROR"
        for child in children:
            child.parent = self
            if child.has_error:
                self.has_error = True

    @property
    def id(self) -> int:
        """What no other node of the tree has."""
        return id(self)

    @property
    def is_missing(self) -> bool:
        """Whether it is nothing, in place of what belongs there."""
        return self.type == "ERROR" and self.start_byte == self.end_byte

    @property
    def is_error(self) -> bool:
        """Whether it is text that does not belong there."""
        return self.type == "ERROR" and not self.is_missing

    @property
    def text(self) -> bytes:
        """Its part of the source."""
        return self._source.data[self.start_byte : self.end_byte]

    @property
    def start_point(self) -> tuple[int, int]:
        """Line and byte in the line where it begins, from 0."""
        return self._point(self.start_byte)

    @property
    def end_point(self) -> tuple[int, int]:
        """The same where it ends."""
        return self._point(self.end_byte)

    @property
    def child_count(self) -> int:
        """How many children it has."""
        return len(self.children)

    @property
    def named_children(self) -> "list[OwnNode]":
        """Those children that are no keywords and operators."""
        return [child for child in self.children if child.is_named]

    @property
    def named_child_count(self) -> int:
        """How many these are."""
        return len(self.named_children) if self.children else 0

    def child_by_field_name(self, name: str) -> "OwnNode | None":
        """The child of a field."""
        return self._fields.get(name) if self._fields else None

    def _point(self, place: int) -> tuple[int, int]:
        line = bisect_right(self._source.line_starts, place) - 1
        return line, place - self._source.line_starts[line]


class OwnTree(NamedTuple):
    """A tree, by its root; its part is that of ``tree_sitter.Tree``."""

    root_node: OwnNode


if TYPE_CHECKING:
    from tree_sitter import Node, Tree
else:
    Node = tree_sitter.Node | OwnNode
    Tree = tree_sitter.Tree | OwnTree


_MANY: Final = 12
"""Nodes in one that parses from which a query finds captures faster than a walk."""


def captures_of_broken(
    tree: Tree, mark_of: Callable[[Node], str], whole: Callable[[Node], Mapping[str, Sequence[Node]]] | None = None
) -> dict[str, list[Node]]:
    """The captures of a query without it, which is quadratic in the children of an error.

    Args:
        tree: of a text.
        mark_of: tells the name by which a node is captured; "": it is not.
        whole: the captures of the query in a node that parses, which are found faster.
    """
    captures: dict[str, list[Node]] = {}
    todo = [tree.root_node]
    while todo:
        node = todo.pop()
        if whole and not node.has_error and node.descendant_count > _MANY:
            for name, nodes in whole(node).items():
                captures.setdefault(name, []).extend(nodes)
            continue
        if mark := mark_of(node):
            captures.setdefault(mark, []).append(node)
        if node.child_count:
            todo += reversed(node.children)
    return captures
