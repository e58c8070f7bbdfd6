"""Parts of a syntax tree: what is at a place in a node, above it, and its text. None, no node, has none of them."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

    Place = str | Callable[[Node], Node | None]


def node_text(node: "Node | None") -> str:
    """The source text of a node, "" for None."""
    return (node.text or b"").decode(errors="replace") if node is not None else ""


def kind_of(node: "Node | None") -> str:
    """The kind of a node, "" for None."""
    return node.type if node is not None else ""


def name_of(node: "Node | None") -> str:
    """The text of a node's field ``name``, "" for None."""
    return node_text(part_of(node, "name"))


def part_of(node: "Node | None", *places: "Place") -> "Node | None":
    """What is at places, each in that before it: a field, a number among named children, a function; "": itself."""
    for place in places:
        if node is None:
            break
        if not isinstance(place, str):
            node = place(node)
        elif place.lstrip("-").isdecimal():
            children, number = node.named_children, int(place)
            node = children[number] if -len(children) <= number < len(children) else None
        elif place:
            node = node.child_by_field_name(place)
    return node


def inside(node: "Node | None") -> "list[Node]":
    """The named children of a node."""
    return node.named_children if node is not None else []


def above(node: "Node | None", *kinds: str | frozenset[str]) -> "Node | None":
    """The last of the nodes around one that are each of one of some kinds, its parent first; else None."""
    for each in kinds:
        node = node.parent if node is not None else None
        if kind_of(node) not in (each.split() if isinstance(each, str) else each):
            return None
    return node


def is_empty(body: "Node") -> bool:
    """Whether a body has nothing but comments."""
    return all(each.type == "comment" for each in body.named_children)


def names_in(pattern: "Node | None", names: frozenset[str], around: frozenset[str]) -> Iterator[str]:
    """The names that a pattern gives a value to, such as ``a, (b, *c)``, in order.

    Args:
        pattern: the node; None: nothing.
        names: kinds of nodes that are names.
        around: kinds of nodes that these may be in, one inside of the other.
    """
    todo = [pattern] if pattern is not None else []
    while todo:
        node = todo.pop()
        if node.type in names:
            yield node_text(node)
        elif node.type in around:
            todo += reversed(node.named_children)


def statements(root: "Node", around: frozenset[str]) -> Iterator["Node"]:
    """The children of a node; in place of those of kinds ``around``, theirs or those of their bodies, behind others."""
    todo = [root]
    while todo:
        for each in todo.pop().named_children:
            if each.type in around:
                todo.append(part_of(each, "body") or each)
            else:
                yield each


def is_docstring(node: "Node") -> bool:
    """Whether a node is a statement that consists of a string."""
    return node.type == "expression_statement" and [child.type for child in node.named_children] == ["string"]
