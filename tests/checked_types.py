"""Types are checked while the tests run: those with axes by jaxtyping, and in all other modules by beartype alone.

jaxtyping could check all modules, but binds the arguments of every call to look for axes: tests that read sources would
take several times as long.
"""

import ast
from collections.abc import Sequence
from functools import partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from unittest.mock import patch

from beartype import BeartypeConf
from beartype.claw import beartype_packages
from jaxtyping import _import_hook, install_import_hook

REPOSITORY = Path(__file__).resolve().parent.parent


def check_types(packages: Sequence[str]) -> None:
    """Check the arguments and results of all functions in ``packages``, which no one has imported yet."""
    files = (file for package in packages for file in (REPOSITORY / package.replace(".", "/")).rglob("*.py"))
    slow = [".".join(file.relative_to(REPOSITORY).with_suffix("").parts) for file in files if _needs_jaxtyping(file)]
    beartype_packages(packages, conf=BeartypeConf(claw_is_pep526=False))
    _leave_libraries_alone()
    install_import_hook(slow, "beartype.beartype")


def _leave_libraries_alone() -> None:
    """jaxtyping renames bytecode while a module runs: all libraries that it imports would be compiled once more.

    Here it does while it reads the module's own.
    """

    def code(loader: _import_hook._JaxtypingLoader, name: str) -> CodeType | None:
        named = partial(_import_hook._optimized_cache_from_source, loader._typechecker.get_hash())
        with patch("importlib._bootstrap_external.cache_from_source", named):
            return SourceFileLoader.get_code(loader, name)

    _import_hook._JaxtypingLoader.exec_module = SourceFileLoader.exec_module
    _import_hook._JaxtypingLoader.get_code = code


def _needs_jaxtyping(file: Path) -> bool:
    """Whether a module names axes, or has what beartype alone does not take: coroutines, types for mypy only."""
    text = file.read_text(encoding="utf-8")
    names = ("jaxtyping", "array_types", "TYPE_CHECKING", "async def")
    return any(name in text for name in names) or _has_text(ast.parse(text))


def _has_text(tree: ast.Module) -> bool:
    """Whether an annotation is text because what it says, such as ``"tqdm[str]"``, cannot be evaluated."""
    nodes = (getattr(node, name, None) for node in ast.walk(tree) for name in ("annotation", "returns"))
    inner = (each for node in nodes if isinstance(node, ast.AST) for each in ast.walk(node))
    return any(isinstance(each, ast.Constant) and "[" in str(each.value) for each in inner)
