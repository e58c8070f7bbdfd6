"""OpenJDK 17's source archive: the same bytes on every machine, read without unpacking.

A tag of github.com/openjdk/jdk17u as GitHub packs it; its checksum is the one that Homebrew's formula openjdk@17 pins
(docs/data.md). Of its files, those below ``src/MODULE/{share,unix,linux}/classes`` are read under their names in a
JDK's ``src.zip``. A ``src.zip`` also has what the JDK's build generates, such as ``java.nio.ByteBuffer``.
"""

import logging
import re
from pathlib import Path
from typing import Final

from data_prep.sources.download import Remote, download

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
