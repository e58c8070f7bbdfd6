"""Whether the program runs from a checkout, with top-level packages, or from a wheel, with all in one package.

And a hash of the code that prepares a data set: prepared data are stale if and only if any of that code changed.
"""

import ast
import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Final

OUTER: Final = __name__.rpartition("data_prep.")[0]
"""Name of the enclosing package, with a trailing dot; empty in a checkout."""
INSTALLED: Final = OUTER != ""
IMPORT_ROOT: Final = Path(__file__).resolve().parents[__name__.count(".")]
"""The folder on the import path: the checkout, or the folder of installed packages."""
DISTRIBUTION: Final = "neural-code-search"
"""The name by which it is installed."""


def program_version() -> str:
    """The version of the program, also in a checkout that is not installed."""
    if not INSTALLED:
        import tomllib

        return str(tomllib.loads((IMPORT_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "unknown"


def workspace() -> Path:
    """The folder that contains ``data``, ``runs`` and results: the checkout or, for a wheel, the current folder."""
    if not INSTALLED:
        return IMPORT_ROOT
    try:
        return Path.cwd()
    except FileNotFoundError:  # it was deleted, which every command reports first
        return Path()


_PACKAGE: Final = f"{OUTER}data_prep"
_NAMED: Final = re.compile(rf"{re.escape(_PACKAGE)}(?:\.\w+)+(?=:\w+$)")
"""The module of a "package.module:name" string."""
_PARSERS: Final = ("javalang", "tree-sitter", "tree-sitter-java")
_STORE: Final = "data_prep.store.written_data"
"""The module that writes pairs, for all data sets."""
_WITHOUT_PART: Final = frozenset(
    (
        "data_prep.bounds",
        "data_prep.config",
        "data_prep.files.folder_lock",
        "data_prep.files.named_paths",
        "data_prep.installation",
        "data_prep.sources.download",
    )
)
"""Modules that do not affect the prepared data, or whose effect is reflected in the settings and inputs."""


def program_sha256(module: str) -> str:
    """The sha256 over the source of ``module``, its imports from this package, the store, and the parsers' versions.

    It is the same in a checkout and in a wheel built from it, where messages have another name of the program.

    Args:
        module: the dotted name of the module of the data set's class.
    """
    from importlib.metadata import version  # slow to import

    digest = hashlib.sha256(" ".join(version(parser) for parser in _PARSERS).encode())
    for name in modules_behind((module, _STORE)):
        source = name.encode() + b"\n" + _file_of(name).read_bytes().replace(b"bash run.sh", b"galm")
        digest.update(source.replace(OUTER.encode(), b"") if OUTER else source)
    return digest.hexdigest()


def modules_behind(modules: Iterable[str]) -> list[str]:
    """``modules`` and their transitive imports from this package, except ``_WITHOUT_PART``, sorted."""
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in found and module not in _WITHOUT_PART:
            found.add(module)
            waiting += filter(_is_module, _named_in(_file_of(module).read_bytes()))
    return sorted(found)


@lru_cache(maxsize=256)
def _named_in(source: bytes) -> tuple[str, ...]:
    """The names that a ``source`` imports, or has in a string; those of this package's modules among them."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                found += [each.name for each in names]
            case ast.ImportFrom(module=str(module), names=names, level=0) if _is_inside(module):
                found += [module, *(f"{module}.{each.name}" for each in names)]
            case ast.Constant(value=str(text)) if named := _NAMED.match(text):
                found.append(named[0])
    return tuple(found)


def _is_inside(name: str) -> bool:
    return f"{name}.".startswith(f"{_PACKAGE}.")


def _is_module(name: str) -> bool:
    return _is_inside(name) and _file_of(name).is_file()


def _file_of(module: str) -> Path:
    return IMPORT_ROOT.joinpath(*module.split(".")).with_suffix(".py")
