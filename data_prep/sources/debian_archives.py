"""The source archives of Debian's Java packages in a folder: downloaded once, verified, and described in a record."""

import json
import logging
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from tqdm import tqdm

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from data_prep.files.folder_lock import sole_holder
from data_prep.files.json_text import parse_json
from data_prep.files.reading import ABSENT, read_whole
from data_prep.sources.debian_apt import HOW, Archive, SourceLists
from data_prep.store.manifest import file_sha256

RECORD: Final = "packages.json"
MOST_LEFT_OUT: Final = 0.2
"""Maximum fraction of the packages that may be missing or unreadable."""

_CHUNK_BYTES: Final = 16 << 20
_CHUNK_PACKAGES: Final = 12
_IN_VAIN: Final = 3  # chunks without a complete file before giving up
_LINE: Final = re.compile(r"(?P<project>[\w.+-]+) (?P<package>[a-z0-9][a-z0-9+.-]+)")
_NAME: Final = re.compile(
    r"(?P<package>[a-z0-9][a-z0-9+.-]+)_(?P<version>[^_/]+?)(?:\.orig(?:-(?P<part>[\w-]+))?)?\.tar\.(?:xz|gz|bz2)"
)
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SourceArchive:
    """An upstream archive of a package."""

    project: str
    package: str
    version: str  # upstream
    part: str  # for packages of several archives; "" for the main one
    path: Path


@dataclass(frozen=True, slots=True)
class FoundSources:
    """The archives in a folder, with information on their packages."""

    archives: list[SourceArchive]
    left_out: dict[str, str]  # listed package -> why it is missing
    release: str = ""  # of Debian; "" if unknown
    fetched: str = ""  # date


def read_list(path: Path) -> dict[str, str]:
    """The packages of a list: package -> project.

    Raises:
        UserError: a line is not a project and a package, or a package is listed twice.
    """
    projects: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line and not line.startswith("#"):
            found = _LINE.fullmatch(line)
            if found is None or found["package"] in projects:
                raise UserError(f"{path}:{number}: expected a project and a package that is not named yet: {line!r}")
            projects[found["package"]] = found["project"]
    return projects


def archives_in(folder: Path, projects: Mapping[str, str]) -> FoundSources:
    """The archives in ``folder``; a package that ``projects`` does not list is a separate project.

    Raises:
        UserError: there are none.
    """
    names = sorted(path.name for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []
    archives = [_described(folder / name, projects) for name in names if _is_upstream(name)]
    if not archives:
        raise UserError(f"--data.path={folder} contains no NAME_VERSION.orig.tar.xz, .gz or .bz2 of a Debian package")
    there = {archive.package for archive in archives}
    return FoundSources(archives, {name: "not in the folder" for name in projects if name not in there})


def fetched_archives(folder: Path, projects: Mapping[str, str]) -> FoundSources:
    """The archives of the listed packages; missing ones are downloaded to ``folder`` by apt-get.

    Raises:
        UserError: the download failed, or more than MOST_LEFT_OUT of them are not available.
    """
    record = _read_record(folder, projects)
    if record is None:
        folder.mkdir(parents=True, exist_ok=True)
        with sole_holder(folder / ".lock", lambda: _logger.info("waiting for another process that fetches the same")):
            record = _read_record(folder, projects)
            if record is None:
                record = _fetch(folder, projects)
                write_atomically(folder / RECORD, json.dumps(record, indent=1) + "\n")
    archives = [_described(folder / each["name"], projects) for each in record["archives"]]
    return FoundSources(archives, record["left_out"], record["release"], record["fetched"])


def _is_upstream(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and ".debian.tar." not in name


def _described(path: Path, projects: Mapping[str, str]) -> SourceArchive:
    found = _NAME.fullmatch(path.name)
    assert found is not None
    package = found["package"]
    return SourceArchive(projects.get(package, package), package, found["version"], found["part"] or "", path)


def _read_record(folder: Path, projects: Mapping[str, str]) -> dict[str, Any] | None:
    """The record of an earlier download; None if it was of another list, or an archive is missing."""
    try:
        record: dict[str, Any] = parse_json(read_whole(folder / RECORD))
        same = record["packages"] == sorted(projects)
        whole = all((folder / each["name"]).stat().st_size == each["bytes"] for each in record["archives"])
    except (*ABSENT, ValueError, KeyError, TypeError):
        return None
    return record if same and whole else None


def _fetch(folder: Path, projects: Mapping[str, str]) -> dict[str, Any]:
    """Download missing archives, and return the record of all."""
    lists = SourceLists(folder / "apt")
    trouble = lists.update()
    known = lists.known(projects)
    left_out = {name: "unknown in this release" for name in projects if name not in known}
    if not known:
        raise UserError(
            f"apt-get knows none of {len(projects):,} Java source packages ({trouble or 'no deb-src'}); {HOW}"
        )
    _check_share(left_out, projects, "a release that has them is Debian 12 (bookworm)")
    release = lists.release()
    upstream = [archive for archive in lists.archives(sorted(known)) if _is_upstream(archive.name)]
    left_out |= _Download(lists, folder, upstream).run()
    for package in known - {archive.package for archive in upstream}:
        left_out[package] = "without an archive that can be read"
    _check_share(left_out, projects, f"run again to go on; {next(iter(left_out.values()), '')}")
    if left_out:
        _logger.warning(
            "%d of %d packages are left out (%s); remove %s to try again",
            len(left_out), len(projects), ", ".join(sorted(left_out)[:5]), folder / RECORD,
        )  # fmt: skip
    kept = [asdict(archive) for archive in upstream if archive.package not in left_out]
    now = datetime.now(UTC).date().isoformat()
    return {"release": release, "fetched": now, "packages": sorted(projects), "archives": kept, "left_out": left_out}


def _check_share(left_out: Mapping[str, str], projects: Mapping[str, str], what_to_do: str) -> None:
    if len(left_out) > MOST_LEFT_OUT * len(projects):
        some = ", ".join(sorted(left_out)[:5])
        raise UserError(
            f"{len(left_out):,} of {len(projects):,} Java source packages are not available ({some} ...): "
            f"{what_to_do}; {HOW}"
        )


class _Download:
    """Download of archives into a folder; only complete ones are moved there."""

    def __init__(self, lists: SourceLists, folder: Path, archives: list[Archive]) -> None:
        self._lists, self._folder = lists, folder
        self._arriving = folder / "arriving"
        self._arriving.mkdir(exist_ok=True)
        self._all = archives
        self._missing = {archive.name: archive for archive in archives}

    def run(self) -> dict[str, str]:
        """Download in chunks, then retry failures one by one; returns package -> error of those that failed."""
        with tqdm(
            total=sum(each.bytes for each in self._all), unit="B", unit_scale=True, desc="sources", disable=None
        ) as bar:
            self._settle(bar, [self._folder, self._arriving])
            self._check_room()
            in_vain, problem = 0, ""
            for chunk in _chunks(list(self._missing.values())):
                problem = self._lists.download(chunk, self._arriving) or problem
                in_vain = 0 if self._settle(bar, [self._arriving]) else in_vain + 1
                if in_vain == _IN_VAIN:
                    raise UserError(f"Debian's sources cannot be fetched: {problem}; run again to go on, or {HOW}")
            failed = {}
            for package in sorted({archive.package for archive in self._missing.values()}):
                problem = self._lists.download([package], self._arriving)
                self._settle(bar, [self._arriving])
                if any(archive.package == package for archive in self._missing.values()):
                    failed[package] = problem or "arrives with another checksum than the release's"
        shutil.rmtree(self._arriving)
        return failed

    def _settle(self, bar: Any, places: list[Path]) -> int:
        """Move complete files into place and off the list of missing ones; returns their number."""
        whole = 0
        for archive in list(self._missing.values()):
            for path in (place / archive.name for place in places):
                if not path.is_file() or path.stat().st_size < archive.bytes:
                    continue  # missing, or a partial file that apt-get resumes
                if file_sha256(path) != archive.sha256:
                    path.unlink()
                    continue
                path.replace(self._folder / archive.name)
                del self._missing[archive.name]
                bar.update(archive.bytes)
                whole += 1
                break
        return whole

    def _check_room(self) -> None:
        needed, free = sum(each.bytes for each in self._missing.values()), shutil.disk_usage(self._folder).free
        if needed > free:
            raise UserError(f"Debian's sources need {needed:,} bytes in {self._folder}, {free:,} are free")


def _chunks(archives: list[Archive]) -> Iterator[list[str]]:
    """Packages per call of apt-get: enough to be efficient, few enough for the progress bar to move."""
    sizes: dict[str, int] = {}
    for archive in archives:
        sizes[archive.package] = sizes.get(archive.package, 0) + archive.bytes
    chunk: list[str] = []
    size = 0
    for package, number in sizes.items():
        chunk.append(package)
        size += number
        if size >= _CHUNK_BYTES or len(chunk) >= _CHUNK_PACKAGES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
