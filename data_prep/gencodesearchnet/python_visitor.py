"""Every use of a name in a Python function, with its place and its scope, by Python's scoping rules."""

import ast
import token
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal
from unicodedata import normalize

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Placed = ast.expr | ast.stmt | ast.arg | ast.keyword | ast.ExceptHandler | ast.pattern
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


class NameVisitor(ast.NodeVisitor):
    """Collects the uses of names, each with its scope: what they mean shows only when all bindings are known."""

    def __init__(self, source: str, tokens: Iterable[tokenize.TokenInfo]) -> None:
        self.lines = source.split("\n")
        self.names = [(normalize("NFKC", piece.string), piece.start) for piece in tokens if piece.type == token.NAME]
        self.scope = Scope("module")
        self.uses: list[tuple[Scope, str, Place]] = []
        self.keywords: dict[Place, str] = {}
        self.kept: set[str] = set()

    def named(self, node: _Placed, name: str) -> Place:
        """The position of the first token ``name`` in ``node``, which the syntax tree lacks."""
        return self._written(node, name)[0]

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._read(node.id, self._start(node))
        else:
            self._bind(node.id, self._start(node))

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._bind(node.name, self.named(node, node.name))
        self._all(node.decorator_list)
        self._all([node.returns] if node.returns else [])
        self._function(node, node.body)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._function(node, [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._bind(node.name, self.named(node, node.name))
        self._all([*node.decorator_list, *node.bases, *node.keywords])
        self._inside("class", node.body)

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> None:
        self._comprehension(node.generators, [node.elt])

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self.visit_ListComp(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self.visit_ListComp(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node.generators, [node.key, node.value])

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        scope = self.scope
        while scope.kind == "comprehension" and scope.outer is not None:  # its variable is that of the function around
            scope = scope.outer
        scope.bound.add(node.target.id)
        self._read(node.target.id, self._start(node.target))
        self.visit(node.value)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name is not None:
            before = [place for place in self._written(node, node.name) if place < self._start(node.body[0])]
            self._bind(node.name, before[-1])
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self._declare(node, "global")

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self._declare(node, "nonlocal")

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        names = {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        self.scope.bound |= names
        self.kept |= names

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.visit_Import(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        inside = list(ast.walk(node))
        self.kept.update(part.id for part in inside if isinstance(part, ast.Name))
        self.kept.update(part.arg for part in inside if isinstance(part, ast.arg))

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg is not None:
            self.keywords[self._start(node)] = node.arg
        self.visit(node.value)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        if node.name is not None:
            self._bind(node.name, self._written(node, node.name)[-1])
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self.visit_MatchAs(node)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest is not None:
            self._bind(node.rest, self._written(node, node.rest)[-1])
        self.generic_visit(node)

    def _declare(self, node: ast.Global | ast.Nonlocal, kind: str) -> None:
        self.scope.not_here |= dict.fromkeys(node.names, kind)
        for name in node.names:
            self._read(name, self.named(node, name))

    def _function(self, node: _Function, body: Iterable[ast.AST]) -> None:
        arguments = [part for part in ast.iter_child_nodes(node.args) if isinstance(part, ast.arg)]
        self._all(part.annotation for part in arguments if part.annotation)
        self._all(part for part in ast.iter_child_nodes(node.args) if not isinstance(part, ast.arg))  # defaults
        outer = self.scope
        self.scope = Scope("function", outer)
        for part in arguments:
            self._bind(part.arg, self._start(part))
        self._all(body)
        self.scope = outer

    def _comprehension(self, generators: list[ast.comprehension], made: list[ast.expr]) -> None:
        self.visit(generators[0].iter)  # the only part that the scope around sees
        later = [part.iter for part in generators[1:]]
        tests = [test for part in generators for test in part.ifs]
        self._inside("comprehension", [*(part.target for part in generators), *later, *tests, *made])

    def _inside(self, kind: Literal["class", "comprehension"], nodes: Iterable[ast.AST]) -> None:
        outer = self.scope
        self.scope = Scope(kind, outer)
        self._all(nodes)
        self.scope = outer

    def _all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def _bind(self, name: str, place: Place) -> None:
        self.scope.bound.add(name)
        self._read(name, place)

    def _read(self, name: str, place: Place) -> None:
        self.uses.append((self.scope, name, place))

    def _written(self, node: _Placed, name: str) -> list[Place]:
        start, end = self._start(node), place_of(self.lines, node.end_lineno or 0, node.end_col_offset or 0)
        return [place for written, place in self.names if start <= place < end and written == name]

    def _start(self, node: _Placed) -> Place:
        return place_of(self.lines, node.lineno, node.col_offset)
