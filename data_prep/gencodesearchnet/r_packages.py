"""Reads a package's R files and licence from a folder, a Debian package or a tar, without unpacking to disk.

Packages are untrusted: one with a member that points outside, with a suspicious compression ratio, or that is damaged
is rejected with a one-line ``ValueError``. Links are never followed.
"""

import lzma
import os
import re
import subprocess
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Final

from data_prep.errors import UserError
from data_prep.files.reading import open_regular, raise_if_passing, read_regular
from data_prep.sources.archives import MAX_FILE_BYTES, MAX_MEMBERS, MAX_RATIO
from data_prep.sources.external_programs import run_program

MAX_KEPT_BYTES: Final = 256 << 20
"""Maximum total size of an archive's R files, which are held in memory."""
_RATIO_FROM: Final = 4 << 20  # bytes; smaller outputs are never bombs
_LONGEST_HEADER: Final = 1 << 20  # bytes of one long name or pax header
_AFTER_END: Final = 64 << 20  # most bytes that may follow a tar's end mark
_DEBIAN_MAGIC: Final = b"!<arch>\n"
_TAR_NAME: Final = re.compile(r"(?P<name>[\w.+-]+?)_(?P<version>[^_/]+?)(?:\.orig)?\.(?:tar(?:\.\w+)?|tgz)")


@dataclass(frozen=True, slots=True)
class RPackage:
    """A package's R files."""

    name: str
    version: str  # "" where it is not known
    licence: str  # "" where it is not known
    files: dict[str, bytes]  # path inside -> content, sorted by path
    left_out: dict[str, str] = field(default_factory=dict)  # path -> why it is not read


def read_package(path: Path) -> RPackage:
    """The R files under or in ``path``.

    Raises:
        UserError: it is missing, not a package, rejected as hostile, or damaged.
    """
    if path.is_dir():
        return _of_folder(path)
    if not path.is_file():  # dpkg-deb would block on a pipe
        what = "is no file" if path.exists() else "does not exist"
        raise UserError(f"{path} {what}: expected a folder, .deb or tar with R files")
    with open_regular(path) as file:
        is_debian = file.read(len(_DEBIAN_MAGIC)) == _DEBIAN_MAGIC
    name, version = _debian_name(path) if is_debian else _tar_name(path)
    left_out: dict[str, str] = {}
    try:
        with _debian_tar(path) if is_debian else open_regular(path) as stream:
            found = dict(_members(stream, path.stat().st_size, left_out))
    except _RefusedError as error:
        raise UserError(f"{path} is refused: {error}") from error
    except (tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError) as error:
        raise_if_passing(error)
        raise UserError(f"{path} is damaged or no package: {' '.join(str(error).split())}") from error
    return _package(name, version, found, left_out)


def licence_of(copyright_file: str) -> str:
    """The licences that Debian's copyright file names, those of its packaging left out; "" where it names none."""
    named: dict[str, None] = {}
    for stanza in re.split(r"\n[ \t]*\n", copyright_file):
        files = re.search(r"^Files:[ \t]*(.*)", stanza, re.MULTILINE)
        licence = re.search(r"^License:[ \t]*(.+)", stanza, re.MULTILINE)
        if files and licence and not files[1].startswith("debian/"):
            named[licence[1].strip()] = None
    if not named:  # written before Debian's format, with a line that tells
        first = re.search(r"^Licen[sc]e:[ \t]*(.+)", copyright_file, re.MULTILINE)
        return first[1].strip() if first else ""
    return "; ".join(named)


class _RefusedError(Exception):
    """Why a package is rejected."""


def _package(name: str, version: str, found: dict[str, bytes], left_out: dict[str, str]) -> RPackage:
    files = {path: found[path] for path in sorted(found) if _is_r(path)}
    return RPackage(name, version, _licence(found), files, dict(sorted(left_out.items())))


def _licence(found: dict[str, bytes]) -> str:
    """What Debian's copyright file says, else R's DESCRIPTION that lies highest."""
    texts = {path: content.decode("utf-8", "replace") for path, content in found.items() if not _is_r(path)}
    said = (licence_of(text) for path, text in sorted(texts.items()) if path.endswith("/copyright"))
    by_debian = next(filter(None, said), "")
    highest = sorted((path for path in texts if path.endswith("DESCRIPTION")), key=lambda path: (path.count("/"), path))
    by_r = re.search(r"^License:[ \t]*(.+)", texts[highest[0]], re.MULTILINE) if highest else None
    return by_debian or (by_r[1].strip() if by_r else "")


def _is_r(path: str) -> bool:
    return path.endswith((".R", ".r", ".R.gz", ".r.gz"))  # Debian packs what is long in usr/share/doc


def _is_wanted(path: str) -> bool:
    is_copyright = path.startswith("usr/share/doc/") and path.endswith("/copyright")
    return _is_r(path) or is_copyright or PurePosixPath(path).name == "DESCRIPTION"


def _of_folder(folder: Path) -> RPackage:
    found, left_out = {}, {}
    for parent, _, names in os.walk(folder, followlinks=False):
        for path in (Path(parent, name) for name in names):
            inside = _readable(path.relative_to(folder).as_posix())
            if not _is_wanted(inside):
                continue
            text = _text_of(inside, path)
            if text is None:
                left_out[inside] = _why_not(path.is_symlink())
            else:
                found[inside] = text
    return _package(_readable(folder.resolve().name), "", found, left_out)


def _text_of(name: str, path: Path) -> bytes | None:
    try:
        data, _ = read_regular(path, MAX_FILE_BYTES + 1)
    except OSError as error:
        raise_if_passing(error)
        return None
    return _text(name, data) if len(data) <= MAX_FILE_BYTES else None


def _why_not(is_link: bool) -> str:
    return "a link, not followed" if is_link else f"no file of up to {MAX_FILE_BYTES >> 20} MiB that can be read"


def _tar_name(path: Path) -> tuple[str, str]:
    found = _TAR_NAME.fullmatch(path.name)
    return (found["name"], found["version"]) if found else (_readable(path.name), "")


def _debian_name(path: Path) -> tuple[str, str]:
    told = run_program(["dpkg-deb", "--field", str(path.resolve()), "Package", "Version"])
    fields = dict(line.split(": ", 1) for line in told.stdout.splitlines() if ": " in line)
    if told.returncode or "Package" not in fields:
        reason = " ".join(told.stderr.split()) or "it has no name"
        raise UserError(f"{path} cannot be read as a Debian package: {reason}")
    return fields["Package"], fields.get("Version", "")


@contextmanager
def _debian_tar(path: Path) -> Iterator[IO[bytes]]:
    """The tar of a Debian package's files, while dpkg-deb unpacks it."""
    command = ["dpkg-deb", "--fsys-tarfile", str(path.resolve())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as unpacking:
        assert unpacking.stdout is not None
        try:
            yield unpacking.stdout
            if len(unpacking.stdout.read(_AFTER_END)) == _AFTER_END:
                raise _RefusedError("what follows its last file does not end")
            if unpacking.wait():
                raise tarfile.ReadError("dpkg-deb cannot unpack it")
        finally:
            unpacking.kill()


def _members(stream: IO[bytes], packed: int, left_out: dict[str, str]) -> Iterator[tuple[str, bytes]]:
    """The wanted files; what a header announces is checked before it is read."""
    kept = 0
    with tarfile.open(fileobj=stream, mode="r|*", tarinfo=_TarInfo) as archive:
        for member in _bounded(archive, packed):
            name = _readable(member.name)
            if not _is_wanted(name) or member.isdir():
                continue
            content = archive.extractfile(member) if member.isreg() and member.size <= MAX_FILE_BYTES else None
            text = _text(name, content.read()) if content else None
            if text is None:
                left_out[name] = _why_not(member.issym() or member.islnk())
                continue
            kept += len(text)
            if kept > MAX_KEPT_BYTES:
                raise _RefusedError(f"its R files have more than {MAX_KEPT_BYTES:,} bytes")
            yield name, text


def _bounded(members: Iterable[tarfile.TarInfo], packed: int) -> Iterator[tarfile.TarInfo]:
    """The members, checked against the limits of a package."""
    unpacked = 0
    for number, member in enumerate(members, 1):
        parts = PurePosixPath(member.name.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts:
            raise _RefusedError(f"its member {member.name!r} points outside")
        unpacked += member.size
        if number > MAX_MEMBERS:
            raise _RefusedError(f"it has more than {MAX_MEMBERS:,} members")
        if unpacked > max(_RATIO_FROM, MAX_RATIO * packed):
            raise _RefusedError(f"it unpacks to more than {MAX_RATIO} times its size")
        yield member


def _text(name: str, content: bytes) -> bytes | None:
    """The content of a file, decompressed if Debian compressed it; None if damaged or too long."""
    if not name.endswith(".gz"):
        return content
    try:
        unpacked = zlib.decompressobj(wbits=31).decompress(content, MAX_FILE_BYTES + 1)
    except zlib.error:
        return None
    return unpacked if len(unpacked) <= MAX_FILE_BYTES else None


class _TarInfo(tarfile.TarInfo):
    """A header that is refused where it announces a name or pax header of absurd length."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "_TarInfo":
        header = super().frombuf(buf, encoding, errors)
        if not header.type.isdigit() and header.size > _LONGEST_HEADER:
            raise _RefusedError(f"a header in it has more than {_LONGEST_HEADER:,} bytes")
        return header


def _readable(name: str) -> str:
    """The name as valid Unicode, whatever its bytes were, without a leading ``./``."""
    return PurePosixPath(name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")).as_posix()
