"""A syntax tree of a language that no light grammar reads, with as much of tree-sitter's interface as is used here."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Final

import tree_sitter

__all__ = ["Node", "OwnNode", "OwnTree", "Source", "Tree", "TreeCursor", "captures_of_broken"]


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


class OwnTree:
    """A tree; its parts are those of ``tree_sitter.Tree``."""

    def __init__(self, root: OwnNode) -> None:
        """``root``: the node of the whole text."""
        self.root_node = root

    def nodes(self) -> Iterator[OwnNode]:
        """All nodes, parents before children."""
        todo = [self.root_node]
        while todo:
            yield (node := todo.pop())
            if node.children:
                todo += node.children[::-1]

    def walk(self) -> "OwnCursor":
        """A cursor at the root."""
        return OwnCursor(self.root_node)


class OwnCursor:
    """A place in a tree; its parts are those of ``tree_sitter.TreeCursor``."""

    def __init__(self, node: OwnNode) -> None:
        """``node``: where it begins."""
        self.node = node
        self._above: list[tuple[OwnNode, Iterator[OwnNode]]] = []

    def goto_first_child(self) -> bool:
        """Go down; False: there is no child."""
        below = iter(self.node.children)
        child = next(below, None)
        if child is None:
            return False
        self._above.append((self.node, below))
        self.node = child
        return True

    def goto_next_sibling(self) -> bool:
        """Go on; False: it is the last child."""
        following = next(self._above[-1][1], None) if self._above else None
        self.node = following or self.node
        return following is not None

    def goto_parent(self) -> bool:
        """Go up; False: it is the root."""
        if not self._above:
            return False
        self.node = self._above.pop()[0]
        return True


if TYPE_CHECKING:
    from tree_sitter import Node, Tree, TreeCursor
else:
    Node = tree_sitter.Node | OwnNode
    Tree = tree_sitter.Tree | OwnTree
    TreeCursor = tree_sitter.TreeCursor | OwnCursor


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
    if isinstance(tree, OwnTree):  # which costs less than a cursor
        for each in tree.nodes():
            if mark := mark_of(each):
                captures.setdefault(mark, []).append(each)
        return captures
    cursor = tree.walk()
    inside = True
    while inside:
        node = cursor.node
        assert node is not None
        if whole and not node.has_error and node.descendant_count > _MANY:
            found, inside = whole(node), False
        else:
            mark = mark_of(node)
            found, inside = {mark: (node,)} if mark else {}, cursor.goto_first_child()
        for name, nodes in found.items():
            captures.setdefault(name, []).extend(nodes)
        inside = inside or _goto_next(cursor)
    return captures


def _goto_next(cursor: TreeCursor) -> bool:
    """Go on behind a node and what is in it; False: it was the last."""
    while not cursor.goto_next_sibling():
        if not cursor.goto_parent():
            return False
    return True
