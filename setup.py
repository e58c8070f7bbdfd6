"""What pyproject.toml cannot say: the rooms of this checkout become sub-packages of ``neural_code_search`` in a wheel.

So a wheel has one top-level package, and a user's own ``search.py`` and ours do not hide each other: in its modules,
``from galm.model`` becomes ``from neural_code_search.galm.model``. An editable installation has the checkout's names.
"""

import re
import shutil
import tomllib
from pathlib import Path
from typing import Final

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py
from setuptools.command.editable_wheel import editable_wheel

ROOT: Final = "neural_code_search"
CHECKOUT: Final = Path(__file__).resolve().parent
_SETTINGS: Final = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
ROOMS: Final = [room for room in _SETTINGS["root_packages"] if room != ROOT]
_PACKAGES: Final = find_packages(str(CHECKOUT), include=[each for room in ROOMS for each in (room, f"{room}.*")])
_NAMED: Final = re.compile(
    rf"""^(?P<import>[ ]*(?:from|import)[ ]+)(?P<name>(?:{"|".join(ROOMS)})(?:\.\w+)*)(?=[ ](?:import|as)[ ])
    |(?P<quote>["'])(?P<text>(?:{"|".join(ROOMS)})(?:\.\w+)+)(?=(?::\w+)?["'])""".encode(),
    re.MULTILINE | re.VERBOSE,
)
"""Where a module is named: ``from name import``, ``import name as``, and a text "module" or "module:name"."""
_PROGRAM: Final = ((b"bash run.sh", b"galm"), (b'"bash", "run.sh"', b'"galm"'))
"""How messages refer to the program, in a checkout and in a wheel."""


def below_root(source: bytes) -> bytes:
    """The source of a module, with the names that its modules and the program have in a wheel."""
    for ours, theirs in _PROGRAM:
        source = source.replace(ours, theirs)
    return _NAMED.sub(_renamed, source)


def _renamed(found: re.Match[bytes]) -> bytes:
    before, name = found["import"] or found["quote"], found["name"] or found["text"]
    path = CHECKOUT / name.decode().replace(".", "/")
    there = path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()
    return before + (f"{ROOT}.".encode() if there else b"") + name


class BuildPy(build_py):
    """Copies modules as setuptools does, and renames what they name."""

    def run(self) -> None:
        """Build into an empty folder, so that no removed module is left there."""
        shutil.rmtree(Path(self.build_lib) / ROOT, ignore_errors=True)
        super().run()

    def build_module(self, module: str, module_file: str, package: str) -> tuple[str, bool]:
        """Copy one module, with new names."""
        written, copied = super().build_module(module, module_file, package)
        Path(written).write_bytes(below_root(Path(module_file).read_bytes()))
        return written, copied


class EditableWheel(editable_wheel):
    """An editable installation: the packages and the command as they are in the checkout."""

    def finalize_options(self) -> None:
        """Name them as in the checkout."""
        self.distribution.packages = [ROOT, *_PACKAGES]
        self.distribution.package_dir = {}
        self.distribution.entry_points = {"console_scripts": ["galm = cli.console_script:run"]}
        super().finalize_options()
        self.dist_info_dir = None  # it is of a wheel


if __name__ == "__main__":
    setup(
        packages=[ROOT, *(f"{ROOT}.{package}" for package in _PACKAGES)],
        package_dir={f"{ROOT}.{room}": room for room in ROOMS},
        cmdclass={"build_py": BuildPy, "editable_wheel": EditableWheel},
    )
