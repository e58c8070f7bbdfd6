"""What is declared without a body: prototypes, members of interfaces; and the several names of one declaration."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from data_prep.languages.language import Declaration, Language, body_of, named, node_text

if TYPE_CHECKING:
    from tree_sitter import Node


def signatures_of(
    kinds: frozenset[str],
    around: frozenset[str],
    declared: "Callable[[Node], Declaration | None]" = named,
    *,
    body: "Callable[[Node], Node | None]" = body_of,
) -> "Callable[[Node], Iterator[Declaration]]":
    """A function of a file's root that gives what is declared without a body.

    Args:
        kinds: of the nodes of such declarations.
        around: kinds of nodes that they may be in, one inside of the other, such as a class and its body.
        declared: what a node declares; None: nothing of interest.
        body: that of a node; None: it has none.
    """

    def found(root: "Node") -> "Iterator[Declaration]":
        todo = [root]
        while todo:
            node = todo.pop()
            if node.type in kinds:
                declaration = declared(node) if body(node) is None else None
                if declaration is not None and declaration.name:
                    yield replace(declaration, kind="abstract")
            elif node is root or node.type in around:
                todo += reversed(node.named_children)

    return found


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


def types_around(language: Language, node: "Node") -> str:
    """The types that a declaration is in, dotted; "" if it is in none."""
    names, around = list[str](), node.parent
    while around is not None:
        if around.type in language.types and language.is_one(around, "type"):
            names.append(language.scope_name(around))
        around = around.parent
    return ".".join(filter(None, names[::-1]))
