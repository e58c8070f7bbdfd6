"""Writes the folder that the test in an editor indexes: the sources of one small package a language.

``python sample.py FOLDER DOWNLOADS``, with the project on the path; pip, npm and apt-get fetch what is missing.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from data_prep.sources.debian_sources import fetched_archives
from data_prep.sources.package_downloads import Package, fetched_package
from data_prep.sources.source_tree import PackageTree

PACKAGES: Final = (
    Package("python", "pypi", "requests", "2.32.3", "70761cfe03c773ceb22aa2f671b4757976145175cdfca038c02654d061d6dcc6"),
    Package("javascript", "npm", "async", "3.2.6", "6bb45cfba08cd2eea39eb3ce6eaa94113070fe137ec0bd4a9f122be9a0250e6f"),
)
DEBIAN: Final = {"commons-io": "java", "golang-github-spf13-afero": "go"}
"""Source package of the release -> language."""
SUFFIXES: Final = {"python": ".py", "javascript": ".js", "java": ".java", "go": ".go"}


def archives(downloads: Path) -> Iterator[tuple[str, Path]]:
    """Language and archive of each package."""
    for package in PACKAGES:
        yield package.language, fetched_package(package, downloads)
    for archive in fetched_archives(downloads / "debian", {name: name for name in DEBIAN}).archives:
        yield DEBIAN[archive.package], archive.path


def write_sample(folder: Path, downloads: Path) -> None:
    """Write ``folder`` with a folder a language, which has the sources of its package and their licence."""
    for language, archive in archives(downloads):
        suffix = SUFFIXES[language]
        tree = PackageTree(archive, lambda path, suffix=suffix: path.endswith(suffix) or "LICENSE" in path)  # type: ignore[misc]
        for path, data in tree.read([entry.path for entry in tree.entries() if not entry.reason]):
            place = folder / language / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]), Path(sys.argv[2]))
