"""Downloads pinned packages by the ordinary clients of their registries, pip and npm, without running their code.

Such programs are run with English messages and no input, and without an exception if one is missing or hangs.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.files.access import file_sha256
from data_prep.files.writing import sole_holder

REGISTRIES: Final = ("pypi", "npm", "debian")
_PLATFORMS: Final = ("manylinux_2_28_x86_64", "manylinux2014_x86_64", "any")
"""Wheels of one platform, so that the same files come on every machine."""
_NPM_RETRIES: Final = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000")
"""One, after a second: by default a missing network costs a minute a package."""
_SECONDS: Final = 900  # timeout of a program


class NotFetchedError(UserError):
    """A registry's client has no archive."""


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
            raise NotFetchedError(f"{what} cannot be fetched: {complaint(done) or 'no archive came'}")
        if (sha256 := file_sha256(files[0])) != package.sha256:
            raise UserError(f"{what} has sha256 {sha256} instead of {package.sha256}")
        files[0].replace(target)


def _command(package: Package, folder: str) -> list[str]:
    exact = f"{package.name}=={package.version}" if package.registry == "pypi" else f"{package.name}@{package.version}"
    if package.registry == "npm":
        return [shutil.which("npm") or "npm", "pack", "--ignore-scripts", "--silent", *_NPM_RETRIES, exact]
    platforms = (f"--platform={platform}" for platform in _PLATFORMS)
    options = (
        "--retries=1",
        "--no-deps",
        "--only-binary=:all:",
        *platforms,
        "--python-version=3.11",
        "--implementation=cp",
    )
    return [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", *options, f"--dest={folder}", exact]


def run_program(command: Sequence[str], folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run ``command`` in ``folder``; if it cannot be run, the exit code is 1 and stderr is the reason."""
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


def complaint(done: subprocess.CompletedProcess[str]) -> str:
    """The line in which a program says why it failed; "" if it did not fail."""
    lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    errors = (line for line in lines if re.match(r"E:|Err\b|.*(?:ERROR|ERR!|error)", line))
    return next(errors, lines[-1] if lines else f"exit {done.returncode}") if done.returncode else ""
