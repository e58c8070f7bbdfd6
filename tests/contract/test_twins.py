"""No body of a function stands twice: what two places need is one function."""

import ast
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]
LONG = 6
"""Lines from which a body counts."""


class NamesSetAside(ast.NodeTransformer):
    """Replaces names of variables by their order, and drops annotations; what is called and read of them stays."""

    def __init__(self) -> None:
        self.order: dict[str, str] = {}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.order.setdefault(node.id, f"name{len(self.order)}"), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(self.order.setdefault(node.arg, f"name{len(self.order)}"))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(0)
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant("text") if isinstance(node.value, str) else node


def bodies(source: str) -> list[tuple[str, int, str]]:
    """Name, line and normal form of the body, without its docstring, of each long function or method."""
    found, scopes = [], [ast.parse(source)]
    for scope in scopes:
        scopes += [node for node in scope.body if isinstance(node, ast.ClassDef)]
        for node in scope.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) is not None else node.body
                if body and body[-1].end_lineno - body[0].lineno + 1 >= LONG:
                    plain = NamesSetAside().visit(ast.Module(body, []))
                    found.append((node.name, node.lineno, ast.dump(plain)))
    return found


def test_other_names_make_no_other_body():
    lines = ("def f(a):", "'One.'", "b = 1", "for c in a:", "    b += c.size", "if b > 3:", "    b = 3", "return b")
    first = "\n    ".join(lines)
    second = first.replace("One", "Two").replace("(a)", "(x)").replace("in a", "in x").replace("b", "total")
    third = second.replace("size", "length")
    (one,), (two,), (three,) = (bodies(each) for each in (first, second, third))
    assert one[2] == two[2]
    assert two[2] != three[2]


def test_no_body_stands_twice():
    places = defaultdict(list)
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            for name, line, body in bodies(path.read_text(encoding="utf-8")):
                places[body].append(f"{path.relative_to(ROOT)}:{line} {name}")
    assert len(places) > 500, "hardly a function was found"
    assert [each for each in places.values() if len(each) > 1] == []
