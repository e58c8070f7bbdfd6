"""Source code of a checkout -> the same below one root package: ``from galm.model`` as ``from root.galm.model``.

Imports are rewritten, and so are strings that are the whole name of a module, "package.module" or
"package.module:name", since registries refer to modules by name. All else, such as comments and line numbers, is
unchanged to the byte.
"""

import ast
import re
from collections.abc import Collection, Iterator
from typing import Final

_NAMED: Final = re.compile(r"(?P<module>\w+(?:\.\w+)+)(?::\w+)?")
_FROM: Final = re.compile(rb"from(?:\s|\\\n)+")
_QUOTE: Final = re.compile(rb"[rRuU]?(?:\"\"\"|'''|\"|')")


def rooted(source: bytes, root: str, modules: Collection[str]) -> bytes:
    """``source`` with ``root`` prepended to the name of each of ``modules``.

    Args:
        source: a Python file, in UTF-8.
        root: name of the root package.
        modules: dotted names of all modules and packages that move below it.

    Raises:
        ValueError: a name cannot be rewritten where it is; the message has the line.
    """
    tree = ast.parse(source)
    starts = [0]
    for line in source.splitlines(keepends=True):  # of bytes: splits at the line ends that ast counts
        starts.append(starts[-1] + len(line))
    places = sorted({_place(source, starts, node, name) for node, name in _named(tree, modules)}, reverse=True)
    for place in places:
        source = source[:place] + f"{root}.".encode() + source[place:]
    return source


def _named(tree: ast.AST, modules: Collection[str]) -> Iterator[tuple[ast.stmt | ast.expr | ast.alias, str]]:
    """Nodes that name a module, with the name."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), level=0) if module in modules:
                yield node, module
            case ast.Import(names=names):
                for alias in names:
                    if alias.name in modules:
                        _check_bound(alias)
                        yield alias, alias.name
            case ast.Constant(value=str(text)) if (found := _NAMED.fullmatch(text)) and found["module"] in modules:
                yield node, text


def _check_bound(alias: ast.alias) -> None:
    """Refuse ``import package.module``, which would bind the name of the root package."""
    if alias.asname is None:
        raise ValueError(
            f"line {alias.lineno}: import {alias.name} cannot be put below a root: write `from ... import ...`"
        )


def _place(source: bytes, starts: list[int], node: ast.stmt | ast.expr | ast.alias, name: str) -> int:
    """Where ``name``, which ``node`` consists of or imports from, begins."""
    place = starts[node.lineno - 1] + node.col_offset
    before = {ast.ImportFrom: _FROM, ast.Constant: _QUOTE}.get(type(node))
    if before is not None and (found := before.match(source, place)):
        place = found.end()
    if not source.startswith(name.encode(), place):
        raise ValueError(f"line {node.lineno}: {name!r} is not written in one piece")
    return place
