"""The Java sources of a JDK: an installed one, else Debian's source package, else OpenJDK's source archive.

``--data.path=`` may name a ``src.zip``, a Debian package that contains one, a JDK's home, or a source archive.
With ``--data.release=17`` the archive comes first, since it has the same methods on every machine.
"""

import logging
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from data_prep.config import DataConfig
from data_prep.errors import UserError
from data_prep.files.access import named_path, raise_if_passing, read_regular
from data_prep.pipeline.pairs import JavaSources
from data_prep.records import SourceFile
from data_prep.sources.archives import is_zip, read_java_files
from data_prep.sources.download import DownloadError
from data_prep.sources.package_downloads import (
    HOW,
    NAME,
    RELEASE,
    SOURCE_PACKAGES,
    fetch_archive,
    fetch_package,
    is_archive,
    place_in_src_zip,
    release_in_name,
    unpack_package,
)

REFERENCE_RELEASE: Final = 17
"""Preferred if several are installed, so that results are on the same methods on most machines."""

_LONGEST_RELEASE: Final = 64 << 10  # bytes; usually about one KiB
_RELEASE_IN_NAME: Final = re.compile(
    r"(?:^|(?:jdk|java|temurin|corretto|zulu|graalvm|semeru|liberica)\D{0,9}?)(?P<release>\d+(?:[._]\d+)*)"
)
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class JdkSources:
    """A ``src.zip``, or OpenJDK's source archive, and its release, e.g. "17.0.21"; "" if unknown."""

    zip: Path
    release: str
    is_archive: bool = False

    @property
    def numbers(self) -> tuple[int, ...]:
        """The release as numbers: 1.8.0 is 8.0."""
        numbers = _numbers(self.release)
        return numbers[1:] if numbers[:1] == (1,) and len(numbers) > 1 else numbers

    def fits(self, release: str) -> bool:
        """Whether this is of ``release``: "" fits all, "17" each update of 17."""
        wanted = _numbers(release)
        return self.numbers[: len(wanted)] == wanted


class Jdk(JavaSources):
    """The Java sources of a JDK: an installed one, else Debian's package, else OpenJDK 17's source archive."""

    cache_name = "jdk"

    def __init__(self, config: DataConfig) -> None:
        super().__init__(config)
        self._found: JdkSources | None = None

    def inputs(self) -> list[Path]:
        """The ``src.zip`` or source archive, downloaded if none is installed.

        Raises:
            UserError: there is none, or none of the release, and the download failed.
        """
        return [self._sources().zip]

    def origin(self) -> str:
        """``jdk-`` and the release; for a source archive with the ``-ga`` of its tag."""
        found = self._sources()
        release = ".".join(map(str, found.numbers))
        return f"jdk-{release}{'-ga' * found.is_archive}" if release else "jdk"

    def java_files(self) -> Iterator[SourceFile]:
        """Every source file, sorted by path."""
        self.left_out.clear()
        sources, skipped = self._sources(), lambda path, reason: self.left_out.append((path, reason))
        return read_java_files(sources.zip, self.origin(), skipped, place_in_src_zip if sources.is_archive else str)

    def _sources(self) -> JdkSources:
        if self._found is None:
            kept, release = Path(self._config.root) / "raw" / "jdk", self._config.release
            if self._config.path:
                self._found = _named(named_path(self._config.path), kept)
                if not self._found.fits(release):
                    raise UserError(
                        f"--data.path={self._config.path} is of release {self._found.release or 'unknown'}, not of "
                        f"--data.release={release}: leave one of the two out"
                    )
            else:
                self._found = (
                    _of_release(release, kept, self._config.mirror) if release else _any(kept, self._config.mirror)
                )
        return self._found


def _any(kept: Path, mirror: str) -> JdkSources:
    """What is installed or was fetched before, else Debian's package, else the source archive."""
    if found := _installed(kept):
        return found
    if not (kept / NAME).is_file() and not mirror:
        try:
            return _of_home(fetch_package(kept))
        except UserError as error:
            return _archive(kept, mirror, str(error))
    return _archive(kept, mirror)


def _of_release(release: str, kept: Path, mirror: str) -> JdkSources:
    """The source archive if it is of ``release``, so that machines agree; else what is installed, or Debian's package.

    Raises:
        UserError: there is none.
    """
    problem = f"no JDK here is of --data.release={release} with a lib/src.zip; {HOW}"
    if JdkSources(kept / NAME, RELEASE).fits(release):
        try:
            return _archive(kept, mirror)
        except UserError as error:
            problem = str(error)
            _logger.warning("%s; other sources of the release have other methods", problem.removesuffix(f"; {HOW}"))
    if found := _installed(kept, release):
        return found
    packages = [name for name in SOURCE_PACKAGES if name == f"openjdk-{release}-source"]
    if not packages:
        raise UserError(problem)
    return _of_home(fetch_package(kept, packages))


def _installed(kept: Path, release: str = "") -> JdkSources | None:
    """The sources of a JDK, installed or fetched to ``kept`` before."""
    places = (homes(os.environ), _folders(kept))
    found = (choose(each for each in find_sources(place) if each.fits(release)) for place in places)
    return next(filter(None, found), None)


def _archive(kept: Path, mirror: str, problem: str = "") -> JdkSources:
    """The source archive, fetched if it is not in ``kept``; ``problem`` is why nothing before it could be had."""
    before = f"{problem.removesuffix(f'; {HOW}')}; " if problem else ""
    if before:
        _logger.info("%snext: the source archive of OpenJDK %s", before, RELEASE)
    try:
        return JdkSources(fetch_archive(kept, mirror), RELEASE, is_archive=True)
    except DownloadError as error:
        raise UserError(f"{before}{error}; {HOW}") from error


def choose(found: Iterable[JdkSources]) -> JdkSources | None:
    """The sources of the reference release, else the newest; of equal ones the first by path."""

    def key(sources: JdkSources) -> tuple[bool, tuple[int, ...]]:
        return sources.numbers[:1] == (REFERENCE_RELEASE,), sources.numbers

    return max(sorted(found, key=lambda sources: str(sources.zip)), key=key, default=None)


def homes(environment: Mapping[str, str]) -> list[Path]:
    """Usual locations of JDKs, which may not exist."""
    places = [Path(environment["JAVA_HOME"])] if environment.get("JAVA_HOME") else []
    places += _folders(Path("/usr/lib/jvm"))
    places += [place / "Contents" / "Home" for place in _folders(Path("/Library/Java/JavaVirtualMachines"))]
    if environment.get("HOME"):
        places += _folders(Path(environment["HOME"]) / ".sdkman" / "candidates" / "java")
    if java := shutil.which("java", path=environment.get("PATH")):
        places += list(Path(java).resolve().parents[1:3])  # <home>/bin/java, or <home>/jre/bin/java
    return places


def find_sources(places: Iterable[Path]) -> list[JdkSources]:
    """The existing ``src.zip`` files of homes, without dangling links; each file is returned once."""
    homes_of: dict[Path, list[Path]] = {}
    for home in places:
        for zip_file in (home / "lib" / "src.zip", home / "src.zip"):
            if is_zip(zip_file):
                homes_of.setdefault(zip_file.resolve(), []).append(home)
                break
    return [JdkSources(zip_file, _release_of(homes)) for zip_file, homes in homes_of.items()]


def _named(path: Path, kept: Path) -> JdkSources:
    """The sources that ``--data.path`` names."""
    if not path.exists():
        raise UserError(f"--data.path={path} does not exist; {HOW}")
    if path.suffix == ".deb":
        return _of_home(unpack_package(path, kept))
    if is_zip(path):
        return JdkSources(path, _release_of(path.resolve().parents[:2]))
    if is_archive(path):
        return JdkSources(path, release_in_name(path), is_archive=True)
    return _of_home(path)


def _of_home(home: Path) -> JdkSources:
    found = find_sources([home, home / "Contents" / "Home"]) if home.is_dir() else []
    if not found:
        raise UserError(f"{home} is no src.zip, .deb, source archive or JDK's home with a src.zip; {HOW}")
    return found[0]


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", release))


def _folders(place: Path) -> list[Path]:
    return sorted(each for each in place.glob("*") if each.is_dir())


def _release_of(homes: Iterable[Path]) -> str:
    """The release from the first ``release`` file, else from a home's name, like openjdk-17 or 17.0.9-tem, else ""."""
    places = list(homes)
    for home in places:
        try:
            data, _ = read_regular(home / "release", _LONGEST_RELEASE, follow=True)
        except OSError as error:
            raise_if_passing(error)
            continue
        if found := re.search(r'^JAVA_VERSION="?([0-9._]+)', data.decode(errors="replace"), re.MULTILINE):
            return found[1]
    names = (_RELEASE_IN_NAME.search(home.name) for home in places)
    return next((found["release"] for found in names if found), "")
