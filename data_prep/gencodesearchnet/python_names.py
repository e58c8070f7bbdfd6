"""AdvTest's names for a Python function: ``Func``, and ``arg_0``, ``arg_1`` and so on for arguments and variables.

Its test replaced the names that tell what a function does (Lu et al. 2021). Arguments and local variables, those of
nested functions and comprehensions too, are numbered together as they first appear; a name has one number wherever it
is a variable. Attributes, builtins, globals, imported names, strings and comments stay.

Departures from AdvTest: the replacement follows Python's scopes, so that the function still computes the same; and a
variable that an f-string reads keeps its name, since strings stay. (An f-string that calls the function itself still
has its old name.)
"""

import ast
import io
import token
import tokenize
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Final

from data_prep.errors import UserError
from data_prep.gencodesearchnet.python_visitor import NameVisitor, Place, place_of

FUNCTION: Final = "Func"
_LAYOUT: Final = frozenset((token.NEWLINE, token.NL, token.INDENT, token.DEDENT, token.ENDMARKER))


@dataclass(frozen=True, slots=True)
class _Occurrences:
    """Positions of names in one function."""

    function: tuple[Place, ...]  # its own name
    variables: dict[Place, str]  # arguments and local variables
    keywords: dict[Place, str]  # names of arguments in calls
    kept: frozenset[str]  # names that stay somewhere: globals, builtins, imported ones, those that f-strings read


def parses(source: str) -> bool:
    """Whether ``source`` is Python's syntax."""
    try:
        _tree(source)
    except UserError:
        return False
    return True


def normalise(source: str, *, keywords: bool = False) -> str:
    """``source``, one function, with its names replaced.

    Args:
        source: the function; its lines may end in any way.
        keywords: replace a call's keyword as well where it reads like a replaced name. AdvTest's own rows do so; the
            call may then no longer fit the function that it calls.

    Raises:
        UserError: it does not parse, or is not one function.
    """
    lines = _lines(source)
    tree, tokens = _tree(lines), _tokens(lines)
    function = _only_function(tree)
    try:
        found = _occurrences(function, lines, tokens)
    except RecursionError as error:
        raise UserError("expected a Python function that is not nested without end") from error
    return _replaced(lines, tokens, _new_names(found, tokens, keywords=keywords))


def code_tokens(source: str) -> list[str]:
    """The tokens of a function: comments and strings whole, without its documentation and without line ends.

    Raises:
        UserError: ``source`` does not parse, or is not one function.
    """
    lines = _lines(source)
    first = _only_function(_tree(lines)).body[0]
    start = end = (0, 0)
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        start = place_of(lines.split("\n"), first.lineno, first.col_offset)
        end = place_of(lines.split("\n"), first.end_lineno or 0, first.end_col_offset or 0)
    kept = (piece for piece in _tokens(lines) if piece.type not in _LAYOUT and not start <= piece.start < end)
    return [piece.string for piece in kept]


def _occurrences(
    function: ast.FunctionDef | ast.AsyncFunctionDef, source: str, tokens: list[tokenize.TokenInfo]
) -> _Occurrences:
    """Find the names of ``function``, parsed from ``source``, which has ``tokens``."""
    names = NameVisitor(source, tokens)
    names.visit(function)
    own, variables, kept = [names.named(function, function.name)], dict[Place, str](), set(names.kept)
    for scope, name, place in names.uses:
        owner = scope.owner(name)
        if owner is None or owner.kind == "class":
            kept.add(name)
        elif owner.kind == "module":
            own += [place] if scope.kind != "module" else []  # in a decorator it is another function
        elif name not in names.kept:
            variables[place] = name
    return _Occurrences(tuple(own), variables, names.keywords, frozenset(kept))


def _new_names(found: _Occurrences, tokens: list[tokenize.TokenInfo], *, keywords: bool) -> dict[Place, str]:
    """Place of each name to replace -> its new name."""
    free = (number for number in count() if f"arg_{number}" not in found.kept)
    names: dict[str, str] = {}
    new = dict.fromkeys(found.function, FUNCTION)
    for place in sorted(found.variables):
        name = found.variables[place]
        if name not in names:
            names[name] = f"arg_{next(free)}"
        new[place] = names[name]
    if keywords:
        new |= {place: names[name] for place, name in found.keywords.items() if name in names}
    starts = {piece.start for piece in tokens if piece.type == token.NAME}
    assert starts.issuperset(new), "every name that is replaced is a token"
    return new


def _replaced(source: str, tokens: list[tokenize.TokenInfo], new: Mapping[Place, str]) -> str:
    lines = source.split("\n")
    for piece in reversed(tokens):
        if piece.type == token.NAME and piece.start in new:
            row, column = piece.start
            line = lines[row - 1]
            lines[row - 1] = line[:column] + new[piece.start] + line[column + len(piece.string) :]
    return "\n".join(lines)


def _lines(source: str) -> str:
    return source.replace("\r\n", "\n").replace("\r", "\n")


def _tree(source: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an escape like \d is no fault of ours
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UserError(f"expected Python code that parses ({error})") from error


def _tokens(source: str) -> list[tokenize.TokenInfo]:
    try:
        return list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError) as error:
        raise UserError(f"expected Python code that parses ({error})") from error


def _only_function(tree: ast.Module) -> ast.FunctionDef | ast.AsyncFunctionDef:
    match tree.body:
        case [ast.FunctionDef() | ast.AsyncFunctionDef() as function]:
            return function
    kinds = ", ".join(type(statement).__name__ for statement in tree.body[:3])
    raise UserError(f"expected one Python function, not {len(tree.body)} statements ({kinds})")
