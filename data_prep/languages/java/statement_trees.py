"""FcarCS's structural field, ``statements``: the syntax tree of a method split into statement trees, each one word.

Paper: FcarCS (staTree). The trees are those of its released tree cutter, except that the modifiers of a declaration are
sorted, since their order there differed between runs.

- A method yields its header, then each statement of its body.
- A branch, loop or switch yields its type with only its first child (its condition, control or selector), then its
  other children, with ``End`` after each.
- A block or a node that owns one (try, synchronized) yields its type only, then its children.
- Any other statement is one tree. Branches, loops and switches directly below a node of a tree are omitted from it.

A label precedes the condition among a node's children, so it takes the condition's place in the tree.
"""

from collections.abc import Iterable
from typing import Final

from javalang.ast import Node
from javalang.tree import (
    BlockStatement,
    ConstructorDeclaration,
    DoStatement,
    ForStatement,
    IfStatement,
    MethodDeclaration,
    SwitchStatement,
    WhileStatement,
)

from data_prep.languages.java.jcg_syntax import PublishedMethod

END: Final = "End"
"""The tree that closes a part of a branch, loop or switch."""

_LOGIC: Final = (IfStatement, ForStatement, WhileStatement, DoStatement, SwitchStatement)
_METHODS: Final = (MethodDeclaration, ConstructorDeclaration)


def statement_trees(method: PublishedMethod) -> tuple[str, ...]:
    """The statement trees of a method in order, as text: ``ReturnStatement(MemberReference(taskClsName))``."""
    trees: list[str] = []
    todo: list[tuple[object, bool]] = [(method.tree, True)]
    while todo:
        item, is_cut = todo.pop()
        if is_cut:
            todo += reversed(_parts(item))
        else:
            trees.append(tree_text(item))
    return tuple(trees)


def _parts(node: Node) -> list[tuple[object, bool]]:
    """The parts of a method, branch, loop, switch or owner of a block, and whether each part is split further."""
    if isinstance(node, _METHODS):
        parts = [(each, isinstance(each, _LOGIC) or hasattr(each, "block")) for each in node.body or ()]
        return [(node, False), *parts]
    if isinstance(node, _LOGIC):
        parts = [(child, isinstance(child, (*_LOGIC, BlockStatement))) for child in _children(node)[1:]]
        return [(node, False), *(each for part in parts for each in (part, (END, False)))]
    return [(type(node).__name__, False), *((child, isinstance(child, _LOGIC)) for child in _children(node))]


def tree_text(root: object) -> str:
    """A tree as text: a node's token, then each child in parentheses, without spaces.

    The token is a node's type, a string itself, ``Modifier`` for a set, and empty for anything else.
    """
    pieces: list[str] = []
    todo = [root]
    while todo:
        item = todo.pop()
        if item is None:  # the mark of a node's end: children are never None
            pieces.append(")")
            continue
        pieces += ("(", _token(item))
        todo.append(None)
        todo += reversed(_kept(item))
    return "".join(pieces)[1:-1]


def _token(item: object) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, set):
        return "Modifier"
    return type(item).__name__ if isinstance(item, Node) else ""


def _kept(item: object) -> list[object]:
    """The children of a node inside a tree."""
    if isinstance(item, _METHODS):
        return list(_present(getattr(item, name) for name in item.attrs if name != "body"))
    children = _children(item)
    if isinstance(item, _LOGIC):
        return children[:1]
    return [child for child in children if not isinstance(child, _LOGIC)]


def _children(item: object) -> list[object]:
    """The attributes of a node, lists flattened, or the words of a set, without empty ones."""
    if isinstance(item, set):
        return sorted(item)
    return list(_present(item.children)) if isinstance(item, Node) else []


def _present(items: Iterable[object]) -> Iterable[object]:
    todo = list(reversed(list(items)))
    while todo:
        item = todo.pop()
        if isinstance(item, list):
            todo += reversed(item)
        elif item:
            yield item
