"""Types are checked while the tests run: those with axes by jaxtyping, and in all other modules by beartype alone.

jaxtyping could check all functions, but binds the arguments of every call to look for axes: tests would take several
times as long. So it does for functions whose annotations have axes or are text; beartype alone checks the others.
"""

import ast
from collections.abc import Sequence
from functools import partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any, Final
from unittest.mock import patch

from beartype import BeartypeConf, beartype
from beartype.claw import beartype_packages
from jaxtyping import _import_hook, install_import_hook, jaxtyped

REPOSITORY = Path(__file__).resolve().parent.parent
_BY_FUNCTION: Final = "byfunction"
"""The name of what checks a function, and of the bytecode that has it."""


def check_types(packages: Sequence[str]) -> None:
    """Check the arguments and results of all functions in ``packages``, which no one has imported yet."""
    files = (file for package in packages for file in (REPOSITORY / package.replace(".", "/")).rglob("*.py"))
    slow = [".".join(file.relative_to(REPOSITORY).with_suffix("").parts) for file in files if _needs_jaxtyping(file)]
    beartype_packages(packages, conf=BeartypeConf(claw_is_pep526=False))
    _leave_libraries_alone()
    _import_hook.Typechecker.lookup[_BY_FUNCTION] = _checked
    _import_hook.JaxtypingTransformer.visit_FunctionDef = _visited
    install_import_hook(slow, "beartype.beartype")


def _leave_libraries_alone() -> None:
    """jaxtyping renames bytecode while a module runs: all libraries that it imports would be compiled once more.

    Here it does while it reads the module's own.
    """

    def code(loader: _import_hook._JaxtypingLoader, name: str) -> CodeType | None:
        named = partial(_import_hook._optimized_cache_from_source, f"{_BY_FUNCTION}{loader._typechecker.get_hash()}")
        with patch("importlib._bootstrap_external.cache_from_source", named):
            return SourceFileLoader.get_code(loader, name)

    _import_hook._JaxtypingLoader.exec_module = SourceFileLoader.exec_module
    _import_hook._JaxtypingLoader.get_code = code


def _visited(transformer: _import_hook.JaxtypingTransformer, node: ast.FunctionDef) -> ast.FunctionDef:
    """A function with what checks its types."""
    checker = ast.parse(f"jaxtyping._import_hook.Typechecker.lookup['{_BY_FUNCTION}']", mode="eval").body
    node.decorator_list.append(ast.copy_location(checker, node))
    transformer._parents.append(node)
    transformer.generic_visit(node)
    transformer._parents.pop()
    return node


def _checked(function: Any) -> Any:
    """A function with its types checked: by jaxtyping if one of them has axes, or is text, which it may evaluate."""
    if any(map(_has_axes_or_text, function.__annotations__.values())):
        return jaxtyped(function, typechecker=beartype)
    return beartype(function)


def _has_axes_or_text(hint: object) -> bool:
    shown = hint if isinstance(hint, str) else repr(hint).removeprefix("<class '").removesuffix("'>")
    return isinstance(hint, str) or "jaxtyping" in shown or "'" in shown


def _needs_jaxtyping(file: Path) -> bool:
    """Whether a module names axes, or has what beartype alone does not take: coroutines, types for mypy only."""
    text = file.read_text(encoding="utf-8")
    names = ("jaxtyping", "store.arrays", "TYPE_CHECKING", "async def")
    return any(name in text for name in names) or _has_text(ast.parse(text))


def _has_text(tree: ast.Module) -> bool:
    """Whether an annotation is text because what it says, such as ``"tqdm[str]"``, cannot be evaluated."""
    nodes = (getattr(node, name, None) for node in ast.walk(tree) for name in ("annotation", "returns"))
    inner = (each for node in nodes if isinstance(node, ast.AST) for each in ast.walk(node))
    return any(isinstance(each, ast.Constant) and "[" in str(each.value) for each in inner)
