"""The upstream source archives of Debian packages in a folder: downloaded once, verified, and described in a record.

They are downloaded by apt-get, without root or system changes. ``apt-get source`` needs ``deb-src`` entries, which most
machines lack, and ``apt-get update`` needs root. Here apt stores its lists in a separate folder, with the machine's own
entries converted to ``deb-src``.
"""

import json
import logging
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from tqdm import tqdm

from data_prep.errors import UserError
from data_prep.files.access import ABSENT, file_sha256, read_whole
from data_prep.files.json_text import parse_json
from data_prep.files.writing import sole_holder, write_atomically
from data_prep.sources.package_downloads import complaint, run_program

HOW: Final = (
    "on Debian or Ubuntu give apt an entry with sources, a file in /etc/apt/sources.list.d/ with a copy of its `deb` "
    "line that begins with `deb-src`, or give --data.path=, a folder of *.orig.tar.* archives"
)
_URI: Final = re.compile(r"^'(?P<uri>\S+)' (?P<name>\S+) (?P<bytes>\d+) SHA256:(?P<sha256>[0-9a-f]{64})$", re.MULTILINE)
_DISABLED: Final = re.compile(r"^Enabled:\s*(?:no|false)\s*$", re.MULTILINE | re.IGNORECASE)
_ONE_LINE: Final = re.compile(r"^\s*deb(?:-src)?\s+(?P<rest>(?:\[[^\]]*\]\s+)?\S+\s+\S+\s.*\bmain\b.*)$")
RECORD: Final = "packages.json"
MOST_LEFT_OUT: Final = 0.2
"""Maximum fraction of the packages that may be missing or unreadable."""
_IN_VAIN: Final = 3  # packages in a row that fail before giving up
_LINE: Final = re.compile(r"(?P<project>[\w.+-]+) (?P<package>[a-z0-9][a-z0-9+.-]+)")
_NAME: Final = re.compile(
    r"(?P<package>[a-z0-9][a-z0-9+.-]+)_(?P<version>[^_/]+?)(?:\.orig(?:-(?P<part>[\w-]+))?)?\.tar\.(?:xz|gz|bz2)"
)
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Archive:
    """A file of a source package, as in the release's signed list."""

    package: str
    name: str
    bytes: int
    sha256: str


class SourceLists:
    """apt-get with the sources of the machine's entries, and its lists in ``folder``."""

    def __init__(self, folder: Path, entries: Path = Path("/etc/apt")) -> None:
        """Write the entries.

        Raises:
            UserError: there is no apt-get, or no entry to convert.
        """
        if not shutil.which("apt-get"):
            raise UserError(f"there is no apt-get here to fetch Debian's Java sources; {HOW}")
        self._folder = folder.resolve()
        for place in ("parts", "lists/partial", "cache/archives/partial"):
            (self._folder / place).mkdir(parents=True, exist_ok=True)
        texts = source_entries(entries)
        if not texts:
            raise UserError(f"{entries} names no Debian repository; {HOW}")
        for suffix, text in texts.items():
            write_atomically(self._folder / "parts" / f"debian.{suffix}", text)

    def update(self) -> str:
        """Download the lists; returns apt-get's error, "" on success."""
        return complaint(self._apt("apt-get", "update"))

    def release(self) -> str:
        """The release's name, e.g. "bookworm"; "" if apt does not report it."""
        done = self._apt("apt-get", "indextargets", "--format", "$(CODENAME)", "Created-By: Sources")
        return min(done.stdout.split(), key=len, default="")  # not bookworm-updates

    def known(self, packages: Iterable[str]) -> set[str]:
        """The ``packages`` whose sources the release has."""
        done = self._apt("apt-cache", "showsrc", "--only-source", *packages)
        return set(re.findall(r"^Package: (\S+)$", done.stdout, re.MULTILINE))

    def archives(self, packages: Sequence[str]) -> list[Archive]:
        """The upstream archives of packages that are all known.

        Raises:
            UserError: apt-get does not list them.
        """
        done = self._apt("apt-get", "source", "--only-source", "--tar-only", "--print-uris", *packages)
        found = [
            Archive(line["name"].partition("_")[0], line["name"], int(line["bytes"]), line["sha256"])
            for line in _URI.finditer(done.stdout)
        ]
        if done.returncode or not found:
            raise UserError(f"apt-get source --print-uris says: {complaint(done)}; {HOW}")
        return found

    def download(self, package: str, folder: Path) -> str:
        """Download the archives of ``package`` into ``folder``; returns apt-get's error, "" on success."""
        options = ("--only-source", "--tar-only", "--download-only")
        return complaint(self._apt("apt-get", "source", *options, package, folder=folder))

    def _apt(self, program: str, *arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        settings = {
            "Dir::State": self._folder,
            "Dir::State::Lists": self._folder / "lists",
            "Dir::Cache": self._folder / "cache",
            "Dir::Etc::SourceList": "/dev/null",
            "Dir::Etc::SourceParts": self._folder / "parts",
            "Acquire::Languages": "none",
            "Acquire::Retries": 2,
            "Acquire::http::Timeout": 30,
            "APT::Update::Post-Invoke-Success::": "",
        }
        options = [part for key, value in settings.items() for part in ("-o", f"{key}={value}")]
        return run_program([program, "-q", *options, *arguments], folder or self._folder)


def source_entries(place: Path) -> dict[str, str]:
    """The entries below ``place`` (/etc/apt) as ``deb-src``: file suffix -> text, in both of apt's formats."""
    stanzas, lines = [], []
    for file in filter(Path.is_file, sorted((place / "sources.list.d").glob("*.sources"))):
        for stanza in re.split(r"\n\s*\n", _without_comments(file)):
            fields = {line.partition(":")[0].lower() for line in stanza.splitlines()}
            of_main = re.search(r"^Components:.*\bmain\b", stanza, re.MULTILINE | re.IGNORECASE)
            if {"types", "uris"} <= fields and of_main and not _DISABLED.search(stanza):
                stanzas.append(re.sub(r"(?mi)^Types:.*$", "Types: deb-src", stanza).strip())
    named = (place / "sources.list", *sorted((place / "sources.list.d").glob("*.list")))
    for file in filter(Path.is_file, named):
        lines += [
            f"deb-src {found['rest']}" for found in map(_ONE_LINE.match, _without_comments(file).splitlines()) if found
        ]
    texts = {"sources": "\n\n".join(stanzas), "list": "\n".join(dict.fromkeys(lines))}
    return {suffix: text + "\n" for suffix, text in texts.items() if text}


def _without_comments(file: Path) -> str:
    lines = read_whole(file).decode(errors="replace").splitlines()
    return "\n".join(line for line in lines if not line.startswith("#"))


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
    upstream = [archive for archive in lists.archives(sorted(known)) if _is_upstream(archive.name)]
    left_out |= _download(lists, folder, upstream)
    for package in known - {archive.package for archive in upstream}:
        left_out[package] = "without an archive that can be read"
    _check_share(left_out, projects, f"run again to go on; {next(iter(left_out.values()), '')}")
    if left_out:
        _logger.warning("left out %s; remove %s to try again", ", ".join(sorted(left_out)), folder / RECORD)
    kept = [asdict(archive) for archive in upstream if archive.package not in left_out]
    about = {"release": lists.release(), "fetched": datetime.now(UTC).date().isoformat()}
    return about | {"packages": sorted(projects), "archives": kept, "left_out": left_out}


def _check_share(left_out: Mapping[str, str], projects: Mapping[str, str], what_to_do: str) -> None:
    if len(left_out) > MOST_LEFT_OUT * len(projects):
        some = f"({', '.join(sorted(left_out)[:5])} ...)"
        lacking = f"{len(left_out):,} of {len(projects):,} Java source packages are not available {some}"
        raise UserError(f"{lacking}: {what_to_do}; {HOW}")


def _download(lists: SourceLists, folder: Path, archives: Sequence[Archive]) -> dict[str, str]:
    """Download the archives that are missing, one package after the other; returns package -> error of the failed."""
    arriving = folder / "arriving"
    arriving.mkdir(exist_ok=True)
    missing = [each for each in archives if not (_arrived(each, folder, folder) or _arrived(each, arriving, folder))]
    needed, free = sum(each.bytes for each in missing), shutil.disk_usage(folder).free
    if needed > free:
        raise UserError(f"Debian's sources need {needed:,} bytes in {folder}, {free:,} are free")
    failed: dict[str, str] = {}
    in_vain = 0
    for package in tqdm(dict.fromkeys(each.package for each in missing), desc="sources", disable=None):
        problem = lists.download(package, arriving)
        rest = [each for each in missing if each.package == package and not _arrived(each, arriving, folder)]
        in_vain = in_vain + 1 if rest else 0
        if rest:
            failed[package] = problem or "arrives with another checksum than the release's"
        if in_vain == _IN_VAIN:
            raise UserError(f"Debian's sources cannot be fetched: {failed[package]}; run again to go on, or {HOW}")
    shutil.rmtree(arriving)
    return failed


def _arrived(archive: Archive, place: Path, folder: Path) -> bool:
    """Whether the archive in ``place`` is complete, which is then moved to ``folder``."""
    path = place / archive.name
    if not path.is_file() or path.stat().st_size < archive.bytes:
        return False  # missing, or a partial file that apt-get resumes
    if file_sha256(path) != archive.sha256:
        path.unlink()
        return False
    path.replace(folder / archive.name)
    return True
