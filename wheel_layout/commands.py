"""How the top-level packages of a checkout become sub-packages of ``neural_code_search`` in a wheel."""

import shutil
import tomllib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from setuptools import find_packages
from setuptools.command.build_py import build_py
from setuptools.command.editable_wheel import editable_wheel
from setuptools.errors import SetupError

from wheel_layout.rooted import rooted

ROOT: Final = "neural_code_search"
"""The one top-level package of the wheel."""
CHECKOUT: Final = Path(__file__).resolve().parents[1]
_IN_CHECKOUT: Final = (b"bash run.sh", b'"bash", "run.sh"')
_INSTALLED: Final = (b"galm", b'"galm"')
"""How messages refer to the program."""


def rooms() -> Sequence[str]:
    """The top-level packages of the checkout, except the root package itself."""
    settings = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    return [room for room in settings["tool"]["importlinter"]["root_packages"] if room != ROOT]


def package_folders() -> dict[str, str]:
    """Name in the wheel -> folder in the checkout."""
    return {f"{ROOT}.{room}": room for room in rooms()}


def packages() -> list[str]:
    """Names of all packages in the wheel."""
    inside = [pattern for room in rooms() for pattern in (room, f"{room}.*")]
    own = find_packages(str(CHECKOUT), include=[ROOT, f"{ROOT}.*"])
    return own + [f"{ROOT}.{name}" for name in find_packages(str(CHECKOUT), include=inside)]


class BuildPy(build_py):
    """Copies modules as setuptools does, and rewrites the names of packages and of the program in them."""

    def run(self) -> None:
        """Build into an empty folder, so that no removed module is left there."""
        shutil.rmtree(Path(self.build_lib) / ROOT, ignore_errors=True)
        super().run()

    def build_module(self, module: str, module_file: str, package: str) -> tuple[str, bool]:
        """Copy one module, rewritten."""
        written, copied = super().build_module(module, module_file, package)
        source = Path(module_file).read_bytes()
        for ours, theirs in zip(_IN_CHECKOUT, _INSTALLED, strict=True):
            source = source.replace(ours, theirs)
        try:
            Path(written).write_bytes(rooted(source, ROOT, self._modules))
        except ValueError as error:
            raise SetupError(f"{module_file}, {error}") from error
        return written, copied

    @cached_property
    def _modules(self) -> frozenset[str]:
        """Names, in the checkout, of the packages and modules that move below the root package."""
        names = [*self.packages, *(f"{package}.{module}" for package, module, _ in self.find_all_modules())]
        below, moved = [name.removeprefix(f"{ROOT}.") for name in names], rooms()
        return frozenset(name for name in below if name.partition(".")[0] in moved)


class EditableWheel(editable_wheel):
    """Not supported: the modules of a checkout do not import each other by their names in a wheel."""

    def run(self) -> None:
        """Refuse, with what to do instead.

        Raises:
            SetupError: always.
        """
        raise SetupError("a checkout cannot be installed as editable: run it by run.sh, or put it on PYTHONPATH")
