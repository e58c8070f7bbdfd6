"""AdvTest's Python functions (Lu et al. 2021): which it keeps, and the names that it gives them.

Its test replaced the names that tell what a function does: by ``Func``, and by ``arg_0``, ``arg_1`` and so on for
arguments and variables. These, those of nested functions and comprehensions too, are numbered together as they first
appear; a name has one number wherever it is a variable. Attributes, builtins, globals, imported names, strings and
comments stay.

Departures from AdvTest: the replacement follows Python's scopes, so that the function still computes the same; and a
variable that an f-string reads keeps its name, since strings stay. (An f-string that calls the function itself still
has its old name.)
"""

import ast
import io
import re
import token
import tokenize
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final, Literal
from unicodedata import normalize

from data_prep.errors import UserError

Place = tuple[int, int]
"""Line, from 1, and character in it, from 0."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Placed = ast.expr | ast.stmt | ast.arg | ast.keyword | ast.ExceptHandler | ast.pattern
_Kind = Literal["module", "function", "class", "comprehension"]
_LAYOUT: Final = frozenset((token.NEWLINE, token.NL, token.INDENT, token.DEDENT, token.ENDMARKER))
_SPECIAL: Final = re.compile(r"<img\b|https?://", re.IGNORECASE)


def advtest_drops(documentation: str, words: int, source: str) -> str | None:
    """Why AdvTest would drop a function whose documentation has ``words``: the first reason that applies, or None."""
    reasons = {
        "documentation under 3 words": words < 3,
        "documentation over 256 words": words > 256,
        "documentation with an image or a link": _SPECIAL.search(documentation) is not None,
        "non-English documentation": any(sign.isalpha() and not sign.isascii() for sign in documentation),
    }
    if reason := next((reason for reason, holds in reasons.items() if holds), None):
        return reason
    try:
        _tree(source)
    except UserError:
        return "code that does not parse"
    return None


def renamed(source: str, *, keywords: bool = False) -> str:
    """``source``, one function, with its names replaced.

    Args:
        source: the function; its lines may end in any way.
        keywords: replace a call's keyword as well where it reads like a replaced name. AdvTest's own rows do so; the
            call may then no longer fit the function that it calls.

    Raises:
        UserError: it does not parse, or is not one function.
    """
    source = _lines(source)
    function, tokens, lines = _only_function(source), _tokens(source), source.split("\n")
    names = _Names(lines, tokens)
    try:
        names.visit(function)
    except RecursionError as error:
        raise UserError("expected a Python function that is not nested without end") from error
    new = _new_names(names, names.named(function, function.name), keywords=keywords)
    for piece in reversed(tokens):
        if piece.type == token.NAME and piece.start in new:
            row, column = piece.start
            line = lines[row - 1]
            lines[row - 1] = line[:column] + new[piece.start] + line[column + len(piece.string) :]
    return "\n".join(lines)


def code_tokens(source: str) -> list[str]:
    """The tokens of a function: comments and strings whole, without its documentation and without line ends.

    Raises:
        UserError: ``source`` does not parse, or is not one function.
    """
    source = _lines(source)
    first, lines = _only_function(source).body[0], source.split("\n")
    start = end = (0, 0)
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        start, end = _span(first, lines)
    pieces = _whole_strings(_tokens(source), lines)
    return [text for kind, place, text in pieces if kind not in _LAYOUT and not start <= place < end]


def _lines(source: str) -> str:
    return source.replace("\r\n", "\n").replace("\r", "\n")


def _tree(source: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an escape like \d is no fault of ours
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UserError(f"expected Python code that parses ({error})") from error


def _only_function(source: str) -> _Function:
    body = _tree(source).body
    if len(body) == 1 and isinstance(body[0], _Function):
        return body[0]
    kinds = ", ".join(type(statement).__name__ for statement in body[:3])
    raise UserError(f"expected one Python function, not {len(body)} statements ({kinds})")


def _tokens(source: str) -> list[tokenize.TokenInfo]:
    try:
        return list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError) as error:
        raise UserError(f"expected Python code that parses ({error})") from error


def _whole_strings(tokens: Iterable[tokenize.TokenInfo], lines: Sequence[str]) -> Iterator[tuple[int, Place, str]]:
    """Kind, place and text of each token; since Python 3.12 an f-string is several, which here are one."""
    begins, ends = getattr(token, "FSTRING_START", None), getattr(token, "FSTRING_END", None)
    open_strings: list[Place] = []
    for piece in tokens:
        if piece.type == begins:
            open_strings.append(piece.start)
        elif not open_strings:
            yield piece.type, piece.start, piece.string
        elif piece.type == ends and len(open_strings) == 1:
            (row, column), (last, end) = open_strings.pop(), piece.end
            text = "\n".join([*lines[row - 1 : last - 1], lines[last - 1][:end]])
            yield token.STRING, (row, column), text[column:]
        elif piece.type == ends:
            open_strings.pop()


def _new_names(found: "_Names", function: Place, *, keywords: bool) -> dict[Place, str]:
    """Place of each name to replace -> its new name; ``function`` is the place of the function's own."""
    new, variables, taken = {function: "Func"}, dict[Place, str](), set(found.kept)
    for scope, name, place in found.uses:
        owner = scope.owner(name)
        if owner is None or owner.kind == "class":
            taken.add(name)
        elif owner.kind == "module":
            new |= {place: "Func"} if scope.kind != "module" else {}  # in a decorator it is another function
        elif name not in found.kept:
            variables[place] = name
    free = (f"arg_{number}" for number in count() if f"arg_{number}" not in taken)
    ordered = dict.fromkeys(variables[place] for place in sorted(variables))
    names = dict(zip(ordered, free, strict=False))
    variables |= found.keywords if keywords else {}
    return new | {place: names[name] for place, name in variables.items() if name in names}


def _span(node: _Placed, lines: Sequence[str]) -> tuple[Place, Place]:
    """Where ``node`` begins and ends; the syntax tree counts bytes."""

    def place(line: int, column: int) -> Place:
        return line, len(lines[line - 1].encode()[:column].decode())

    return place(node.lineno, node.col_offset), place(node.end_lineno or 0, node.end_col_offset or 0)


@dataclass(slots=True)
class _Scope:
    """A function, class or comprehension with the names that it binds; functions in a class do not see its names."""

    kind: _Kind
    outer: "_Scope | None" = None
    bound: set[str] = field(default_factory=set)
    not_here: dict[str, str] = field(default_factory=dict)  # name -> "global" or "nonlocal"

    def owner(self, name: str, *, is_global: bool = False, inside: bool = False) -> "_Scope | None":
        """The scope whose variable ``name`` is, to what stands ``inside`` of this one; None: a global or a builtin."""
        is_global |= self.not_here.get(name) == "global"
        seen = self.kind == "module" if is_global else not (inside and self.kind == "class")
        if seen and name in self.bound and name not in self.not_here:
            return self
        return self.outer.owner(name, is_global=is_global, inside=True) if self.outer else None


class _Names(ast.NodeVisitor):
    """Collects the uses of names, each with its scope: what they mean shows only when all bindings are known."""

    def __init__(self, lines: Sequence[str], tokens: Iterable[tokenize.TokenInfo]) -> None:
        self.lines = lines
        self.names = [(normalize("NFKC", piece.string), piece.start) for piece in tokens if piece.type == token.NAME]
        self.scope = _Scope("module")
        self.uses: list[tuple[_Scope, str, Place]] = []
        self.keywords: dict[Place, str] = {}  # names of arguments in calls
        self.kept: set[str] = set()  # names that are imported, or that f-strings read

    def named(self, node: _Placed, name: str, which: int = 0) -> Place:
        """The place of a token ``name`` in ``node``, which the syntax tree lacks; by default the first."""
        start, end = _span(node, self.lines)
        return [place for written, place in self.names if start <= place < end and written == name][which]

    def visit_Name(self, node: ast.Name) -> None:
        self._use(node.id, self._start(node), binds=not isinstance(node.ctx, ast.Load))

    def visit_FunctionDef(self, node: _Function) -> None:
        self._use(node.name, self.named(node, node.name))
        self._all([*node.decorator_list, *([node.returns] if node.returns else [])])
        self._function(node.args, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._function(node.args, [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._use(node.name, self.named(node, node.name))
        self._all([*node.decorator_list, *node.bases, *node.keywords])
        self._inside("class", node.body)

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self.visit(node.generators[0].iter)  # the only part that the scope around sees
        later = [part.iter for part in node.generators[1:]]
        tests = [test for part in node.generators for test in part.ifs]
        self._inside("comprehension", [*(part.target for part in node.generators), *later, *tests, *made])

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp  # noqa: N815

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        scope = self.scope
        while scope.kind == "comprehension" and scope.outer is not None:  # its variable is that of the function around
            scope = scope.outer
        scope.bound.add(node.target.id)
        self._use(node.target.id, self._start(node.target), binds=False)
        self.visit(node.value)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name is not None:
            head = [
                place for written, place in self.names if written == node.name and place < self._start(node.body[0])
            ]
            self._use(node.name, head[-1])
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.scope.not_here |= dict.fromkeys(node.names, type(node).__name__.lower())
        for name in node.names:
            self._use(name, self.named(node, name), binds=False)

    visit_Nonlocal = visit_Global  # noqa: N815

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        names = {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        self.scope.bound |= names
        self.kept |= names

    visit_ImportFrom = visit_Import  # noqa: N815

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self.kept.update(part.id for part in ast.walk(node) if isinstance(part, ast.Name))
        self.kept.update(part.arg for part in ast.walk(node) if isinstance(part, ast.arg))

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg is not None:
            self.keywords[self._start(node)] = node.arg
        self.visit(node.value)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar | ast.MatchMapping) -> None:
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        if name is not None:
            self._use(name, self.named(node, name, -1))
        self.generic_visit(node)

    visit_MatchStar = visit_MatchMapping = visit_MatchAs  # noqa: N815

    def _function(self, given: ast.arguments, body: Iterable[ast.AST]) -> None:
        parts = [*ast.iter_child_nodes(given)]
        arguments = [part for part in parts if isinstance(part, ast.arg)]
        self._all(part.annotation for part in arguments if part.annotation)
        self._all(part for part in parts if not isinstance(part, ast.arg))  # defaults
        self._inside("function", body, [(part.arg, self._start(part)) for part in arguments])

    def _inside(self, kind: _Kind, nodes: Iterable[ast.AST], bound: Iterable[tuple[str, Place]] = ()) -> None:
        outer = self.scope
        self.scope = _Scope(kind, outer)
        for name, place in bound:
            self._use(name, place)
        self._all(nodes)
        self.scope = outer

    def _all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def _use(self, name: str, place: Place, *, binds: bool = True) -> None:
        self.scope.bound |= {name} if binds else set()
        self.uses.append((self.scope, name, place))

    def _start(self, node: _Placed) -> Place:
        return _span(node, self.lines)[0]
