"""Downloads by the ordinary clients of package registries: pinned packages of pip and npm, and the JDK's sources.

No code of a package is run. Programs are run with English messages and no input, and without an exception if one is
missing or hangs. Where no sources of a JDK are installed, they are Debian's package of them, or OpenJDK 17's archive.
"""

import logging
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from data_prep.errors import UserError, reason_and_file
from data_prep.files.access import file_sha256, raise_if_passing
from data_prep.files.writing import atomic_folder, sole_holder
from data_prep.sources.archives import is_zip
from data_prep.sources.download import Remote, download

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


RELEASE: Final = "17.0.19"
TAG: Final = f"jdk-{RELEASE}-ga"
NAME: Final = f"{TAG}.tar.gz"
ARCHIVE: Final = Remote(
    f"https://github.com/openjdk/jdk17u/archive/refs/tags/{NAME}",
    sha256="b165f0dd120f4455904b76cf87dd9352fd23f88c2e9a33c2532fabacc3cca962",
)
_SOURCE: Final = re.compile(r"[^/]+/src/(?P<module>[^/]+)/(?:share|unix|linux)/classes/(?P<path>.+)")
_RELEASE: Final = re.compile(r"jdk-(\d+(?:\.\d+)*)")
_TRIES: Final = 4
SOURCE_PACKAGES: Final = ("openjdk-17-source", "openjdk-21-source", "openjdk-25-source")
"""The first one that the machine's distribution has is used."""

HOW: Final = (
    "install a JDK with its sources (Debian, Ubuntu: apt-get install openjdk-17-source) "
    "or give --data.path=, a src.zip, an openjdk-17-source .deb, a JDK's home or a source archive of OpenJDK"
)
_MAX_BYTES: Final = 1 << 30  # maximum size of a src.zip
_logger = logging.getLogger(__name__)


def fetch_archive(kept: Path, mirror: str = "") -> Path:
    """The archive in the folder ``kept``, downloaded if missing, from below the address ``mirror`` if it is given.

    Raises:
        DownloadError: it cannot be had, or has another checksum.
    """
    target = kept / NAME
    if not target.is_file():
        remote = Remote(f"{mirror.rstrip('/')}/{NAME}", sha256=ARCHIVE.sha256) if mirror else ARCHIVE
        _logger.info("fetching the sources of OpenJDK %s from %s", RELEASE, remote.url)
        download(remote, target, tries=_TRIES)
    return target


def is_archive(path: Path) -> bool:
    """Whether ``path`` is named like a tag's archive, jdk-17.0.19-ga.tar.gz or jdk17u-jdk-17.0.19-ga.tar.gz."""
    return path.name.endswith((".tar.gz", ".tgz")) and path.is_file()


def release_in_name(path: Path) -> str:
    """The release of a tag's archive by its name, "" if there is none."""
    found = _RELEASE.search(path.name)
    return found[1] if found else ""


def place_in_src_zip(name: str) -> str | None:
    """The name in a Linux JDK's ``src.zip`` of the archive's member ``name``; None if it is not part of it."""
    found = _SOURCE.fullmatch(name)
    return f"{found['module']}/{found['path']}" if found else None


def fetch_package(kept: Path, packages: Sequence[str] = SOURCE_PACKAGES) -> Path:
    """Download Debian's source package by apt-get and unpack it below the folder ``kept``, like a JDK's home.

    Args:
        kept: where it is unpacked.
        packages: the first that the machine's distribution has is used.

    Raises:
        UserError: that is not possible on this machine.
    """
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise UserError(f"no JDK on this machine has a lib/src.zip; {HOW}")
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept, prefix=".package.") as name:
        folder = Path(name)
        if os.geteuid() == 0:
            apt_get(folder, "update")  # a stale list names deleted files; if this fails, the list may still work
        problem = ""
        for package in packages:
            _logger.info("no JDK here has a lib/src.zip: fetching Debian's package %s", package)
            problem = apt_get(folder, "download", package)
            files = sorted(folder.glob(f"{package}_*.deb"))
            if files and not problem:
                return unpack_package(files[0], kept)
            if "locate package" not in problem and "candidate" not in problem:
                break
    raise UserError(f"no JDK here has a lib/src.zip, and apt-get download {package} says: {problem}; {HOW}")


def unpack_package(package: Path, kept: Path) -> Path:
    """Extract ``lib/src.zip`` from a Debian package, without root, to a home below ``kept``, with a ``release`` file.

    Raises:
        UserError: the file is not a Debian package or contains no ``src.zip``.
    """
    if not package.is_file():  # dpkg-deb would block on a pipe
        raise UserError(f"{package} is no file; {HOW}")
    if not shutil.which("dpkg-deb"):
        raise UserError(f"{package} is unpacked by dpkg-deb, which is not here; {HOW}")
    try:
        name, version = debian_name(package)
    except UserError as error:
        raise UserError(f"{error}; {HOW}") from error
    release = re.split(r"[^0-9.]", version.split(":")[-1])[0]  # 17.0.21+9-1~deb12u1 is of 17.0.21
    home = kept / re.sub(r"[^\w.+~-]", "_", f"{name}_{version}")
    if not is_zip(home / "src.zip"):
        with atomic_folder(home) as new:
            _copy_src_zip(package, new / "src.zip")
            (new / "release").write_text(f'JAVA_VERSION="{release}"\nPACKAGE="{name} {version}"\n', encoding="utf-8")
    return home


def debian_name(package: Path) -> tuple[str, str]:
    """Name and version of a Debian package.

    Raises:
        UserError: it is none.
    """
    told = run_program(["dpkg-deb", "--field", str(package.resolve()), "Package", "Version"])
    fields = dict(line.split(": ", 1) for line in told.stdout.splitlines() if ": " in line)
    if told.returncode or "Package" not in fields:
        raise UserError(f"{package} cannot be read as a Debian package: {complaint(told) or 'it has no name'}")
    return fields["Package"], fields.get("Version", "")


def apt_get(folder: Path, *arguments: str) -> str:
    """Run apt-get in ``folder``; returns the last line of its error, "" on success."""
    options = ["-q", "-o", "Acquire::Retries=2", "-o", "Acquire::http::Timeout=30"]
    return complaint(run_program(["apt-get", *options, *arguments], folder))


@contextmanager
def unpacking(package: Path) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    """The program that unpacks a Debian package, ended after the block, and the tar of its files that it writes."""
    command = ["dpkg-deb", "--fsys-tarfile", str(package.resolve())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as program:
        assert program.stdout is not None
        try:
            yield program, program.stdout
        finally:
            program.kill()


def _copy_src_zip(package: Path, target: Path) -> None:
    try:
        with unpacking(package) as (_, files):
            copied = _copy_member(files, target)
    except (tarfile.TarError, OSError, EOFError) as error:
        raise_if_passing(error)
        raise UserError(f"{package} cannot be unpacked: {reason_and_file(error)}") from error
    if not copied or not zipfile.is_zipfile(target):
        raise UserError(f"{package} contains no lib/src.zip; {HOW}")


def _copy_member(stream: IO[bytes], target: Path) -> bool:
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            if member.isreg() and member.name.endswith("/lib/src.zip") and member.size <= _MAX_BYTES:
                content = archive.extractfile(member)
                assert content is not None
                with target.open("wb") as file:
                    shutil.copyfileobj(content, file)
                return True
    return False
