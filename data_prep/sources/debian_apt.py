"""Downloads Debian's source archives by apt-get with separate package lists, without root or system changes.

``apt-get source`` needs ``deb-src`` entries, which most machines lack, and ``apt-get update`` needs root. Here apt
stores its lists in a separate folder, with the machine's own entries converted to ``deb-src``.
"""

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from data_prep.files.reading import read_whole
from data_prep.sources.external_programs import run_program

HOW: Final = (
    "on Debian or Ubuntu give apt an entry with sources, a file in /etc/apt/sources.list.d/ with a copy of its `deb` "
    "line that begins with `deb-src`, or give --data.path=, a folder of *.orig.tar.* archives"
)
_URI: Final = re.compile(r"^'(?P<uri>\S+)' (?P<name>\S+) (?P<bytes>\d+) SHA256:(?P<sha256>[0-9a-f]{64})$", re.MULTILINE)
_DISABLED: Final = re.compile(r"^Enabled:\s*(?:no|false)\s*$", re.MULTILINE | re.IGNORECASE)
_ONE_LINE: Final = re.compile(r"^\s*deb(?:-src)?\s+(?P<rest>(?:\[[^\]]*\]\s+)?\S+\s+\S+\s.*\bmain\b.*)$")


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
        return self._complaint(self._apt("apt-get", "update"))

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
            raise UserError(f"apt-get source --print-uris says: {self._complaint(done)}; {HOW}")
        return found

    def download(self, packages: Sequence[str], folder: Path) -> str:
        """Download the archives of ``packages`` into ``folder``; returns apt-get's error, "" on success."""
        done = self._apt(
            "apt-get", "source", "--only-source", "--tar-only", "--download-only", *packages, folder=folder
        )
        return self._complaint(done)

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

    @staticmethod
    def _complaint(done: subprocess.CompletedProcess[str]) -> str:
        lines = [line.strip() for line in done.stderr.splitlines() if line.startswith(("E:", "Err"))]
        return "" if not done.returncode else next(iter(lines), f"exit {done.returncode}")


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
    text = read_whole(file).decode(errors="replace")
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))
