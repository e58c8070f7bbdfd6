"""Tokens and syntax tree of a method in the form of the published Java-GitHub data set, by javalang.

The form: javalang's tokens without comments and annotations, with strings and characters as ``STR_``, numbers as
``NUM_`` and booleans as ``BOOL_``. Published methods can be parsed in this form. javalang supports Java 8.
"""

from dataclasses import dataclass
from itertools import count
from typing import Final

from javalang.ast import Node
from javalang.parser import JavaSyntaxError, Parser
from javalang.tokenizer import (
    Annotation,
    Boolean,
    Character,
    EndOfInput,
    Identifier,
    JavaToken,
    LexerError,
    Literal,
    Null,
    String,
    tokenize,
)
from javalang.tree import ConstructorDeclaration, MethodDeclaration

from data_prep.errors import UserError

PLACEHOLDERS: Final = ("STR_", "NUM_", "BOOL_")
"""Placeholders of literals; ``null`` remains."""

_ATTEMPTS: Final = 4
"""Maximum backtracking attempts of javalang per token; less than one in the published methods."""


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
        tokens = _placeheld(list(tokenize(source)))
        parser = Parser(tokens)
        _limit_attempts(parser, _ATTEMPTS * len(tokens))
        tree = parser.parse_member_declaration()
        rest = parser.tokens.look()
    except Exception as error:  # javalang fails in many ways on broken text, such as attributes of None
        raise UserError(f"expected the text of one Java method, but {_trouble(error)}") from None
    if not isinstance(tree, MethodDeclaration | ConstructorDeclaration):
        raise UserError(f"expected the text of one Java method, but it is of kind {type(tree).__name__}")
    if not isinstance(rest, EndOfInput):
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


def _placeheld(tokens: list[JavaToken]) -> list[JavaToken]:
    """The tokens as published: without annotations, with placeholders for literals and the index as position."""
    kept: list[JavaToken] = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        if isinstance(token, Annotation):
            place = _after_annotation(tokens, place)
            continue
        if isinstance(token, Literal) and not isinstance(token, Null):
            kept.append(Identifier(_placeholder(token), len(kept)))
        else:
            kept.append(type(token)(token.value, len(kept)))
        place += 1
    return kept


def _placeholder(literal: Literal) -> str:
    text, number, truth = PLACEHOLDERS
    if isinstance(literal, String | Character):
        return text
    return truth if isinstance(literal, Boolean) else number


def _after_annotation(tokens: list[JavaToken], place: int) -> int:
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
    if isinstance(error, LexerError):
        return f"it is no Java: {' '.join(str(error).split())[:120]}"
    if isinstance(error, JavaSyntaxError) and error.at is not None and error.at.value is not None:
        where = f" (token {error.at.position + 1})" if isinstance(error.at.position, int) else ""
        return f"it does not parse at {error.at.value!r}{where}: {error.description}"
    return "it ends too early or does not parse"
