"""A method by javalang: its tokens and syntax tree as the Java-GitHub data set has them, and its statement trees.

The form of the data set: javalang's tokens without comments and annotations, with strings and characters as ``STR_``,
numbers as ``NUM_`` and booleans as ``BOOL_``. Published methods can be parsed in this form. javalang supports Java 8.

The statement trees are FcarCS's structural field, ``statements`` (the paper's staTree): the syntax tree of a method
split into trees, each one word. They are those of its released tree cutter, except that the modifiers of a declaration
are sorted, since their order there differed between runs.

- A method yields its header, then each statement of its body.
- A branch, loop or switch yields its type with only its first child (its condition, control or selector), then its
  other children, with ``End`` after each.
- A block or a node that owns one (try, synchronized) yields its type only, then its children.
- Any other statement is one tree. Branches, loops and switches directly below a node of a tree are omitted from it.

A label precedes the condition among a node's children, so it takes the condition's place in the tree.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Final

from javalang import tokenizer
from javalang.ast import Node
from javalang.parser import JavaSyntaxError, Parser
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

from data_prep.errors import UserError

PLACEHOLDERS: Final = ("STR_", "NUM_", "BOOL_")
"""Placeholders of literals; ``null`` remains."""

_ATTEMPTS: Final = 4
"""Maximum backtracking attempts of javalang per token; less than one in the published methods."""

END: Final = "End"
"""The tree that closes a part of a branch, loop or switch."""

_LOGIC: Final = (IfStatement, ForStatement, WhileStatement, DoStatement, SwitchStatement)
_METHODS: Final = (MethodDeclaration, ConstructorDeclaration)


@dataclass(frozen=True, slots=True)
class PublishedMethod:
    """One method, parsed."""

    tokens: tuple[str, ...]  # its text, token by token; joined by spaces, a raw method of the data set
    tree: Node  # a MethodDeclaration or ConstructorDeclaration; a node's position is the index of its token


def parse_published(source: str) -> PublishedMethod:
    """Parse the text of one method or constructor, with or without a body.

    Raises:
        UserError: the text is not one method of Java 8, or is nested deeper than javalang can follow.
    """
    try:
        tokens = _placeheld(list(tokenizer.tokenize(source)))
        parser = Parser(tokens)
        _limit_attempts(parser, _ATTEMPTS * len(tokens))
        tree = parser.parse_member_declaration()
        rest = parser.tokens.look()
    except Exception as error:  # javalang fails in many ways on broken text, such as attributes of None
        raise UserError(f"expected the text of one Java method, but {_trouble(error)}") from None
    if not isinstance(tree, _METHODS):
        raise UserError(f"expected the text of one Java method, but it is of kind {type(tree).__name__}")
    if not isinstance(rest, tokenizer.EndOfInput):
        raise UserError(f"expected the text of one Java method, but it goes on after its end with {rest.value!r}")
    return PublishedMethod(tuple(token.value for token in tokens), tree)


def _limit_attempts(parser: Parser, most: int) -> None:
    """Limit backtracking, which on broken text doubles with each level of nesting."""
    begin = parser.tokens.push_marker
    attempts = count()

    def counted() -> None:
        if next(attempts) >= most:
            raise RecursionError
        begin()

    parser.tokens.push_marker = counted


def _placeheld(tokens: list[tokenizer.JavaToken]) -> list[tokenizer.JavaToken]:
    """The tokens as published: without annotations, with placeholders for literals and the index as position."""
    kept: list[tokenizer.JavaToken] = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        if isinstance(token, tokenizer.Annotation):
            place = _after_annotation(tokens, place)
            continue
        if isinstance(token, tokenizer.Literal) and not isinstance(token, tokenizer.Null):
            kept.append(tokenizer.Identifier(_placeholder(token), len(kept)))
        else:
            kept.append(type(token)(token.value, len(kept)))
        place += 1
    return kept


def _placeholder(literal: tokenizer.Literal) -> str:
    text, number, truth = PLACEHOLDERS
    if isinstance(literal, tokenizer.String | tokenizer.Character):
        return text
    return truth if isinstance(literal, tokenizer.Boolean) else number


def _after_annotation(tokens: list[tokenizer.JavaToken], place: int) -> int:
    """The index after the annotation whose ``@`` is at ``place``.

    Raises:
        IndexError: its parentheses never close.
    """
    place += 2
    while place < len(tokens) and tokens[place].value == ".":
        place += 2
    if place >= len(tokens) or tokens[place].value != "(":
        return place
    depth = 1
    while depth:
        place += 1
        depth += {"(": 1, ")": -1}.get(tokens[place].value, 0)
    return place + 1


def _trouble(error: Exception) -> str:
    """A one-line description of a parse error."""
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    if isinstance(error, tokenizer.LexerError):
        return f"it is no Java: {' '.join(str(error).split())[:120]}"
    if isinstance(error, JavaSyntaxError) and error.at is not None and error.at.value is not None:
        where = f" (token {error.at.position + 1})" if isinstance(error.at.position, int) else ""
        return f"it does not parse at {error.at.value!r}{where}: {error.description}"
    return "it ends too early or does not parse"


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
