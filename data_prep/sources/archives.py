"""Reads source files from a directory, zip, jar or tar, sorted by path, without unpacking to disk.

Archives are untrusted: an archive with a member that points outside, with a suspicious compression ratio, or that is
damaged or encrypted, is rejected with a one-line ``ValueError``. Links are never followed. Problems of a single file (a
link, an unreadable or too long file) are skipped and reported to ``skipped``.
"""

import bz2
import errno
import gzip
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Final

from data_prep.errors import UserError
from data_prep.files.access import ABSENT, MAX_RATIO, open_regular, raise_if_passing, read_regular, reading, reason
from data_prep.records import SourceFile

Skipped = Callable[[str, str], None]
"""Called with the path of a skipped file, and the reason."""

MAX_FILE_BYTES: Final = 16 << 20
"""Maximum size of a source file; the JDK's largest has 2.4 MB."""
MAX_TOTAL_BYTES: Final = 8 << 30
"""Maximum decompressed size of an archive."""
MAX_MEMBERS: Final = 1_000_000
"""Maximum number of members of an archive."""
_RATIO_FROM: Final = 4 << 20  # bytes; smaller outputs are never bombs
_MAX_HEADER: Final = 1 << 20  # bytes of one long name or pax header in a tar
_LONG_HEADERS: Final = (
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
)

Placed = Callable[[str], str | None]
"""The path to report for a file, by its path inside; None if the file is not wanted."""

_SKIPPED_LINK: Final = "a link, not followed"
_TOO_LONG: Final = f"longer than {MAX_FILE_BYTES >> 20} MiB"


def read_java_files(path: Path, origin: str, skipped: Skipped, placed: Placed = str) -> Iterator[SourceFile]:
    """Yield every ``*.java`` file under or in ``path`` that is ``placed``, sorted by that path.

    Raises:
        UserError: ``path`` is missing, not a directory or archive, rejected as hostile, damaged, or without Java.
    """
    found = False
    for file in _entries(path, skipped, lambda name: placed(name) if name.endswith(".java") else None):
        found = True
        yield SourceFile(origin, *file)
    if not found:
        raise UserError(f"{path} contains no readable .java file: expected Java sources")


def read_archive(path: Path, wanted: Callable[[str], bool], skipped: Skipped) -> Iterator[tuple[str, bytes]]:
    """Yield path inside and content of every wanted file of a directory, zip or tar, sorted by path.

    Raises:
        UserError: ``path`` is missing, not a directory or archive, rejected as hostile, or damaged.
    """
    return _entries(path, skipped, lambda name: name if wanted(name) else None)


def _entries(path: Path, skipped: Skipped, placed: Placed) -> Iterator[tuple[str, bytes]]:
    if not path.exists():
        raise UserError(f"{path} does not exist: expected a directory, zip, jar or tar of sources")
    if path.is_dir():
        return _of_directory(path, skipped, placed)
    try:
        with reading(path) as file:
            start = file.read(512)
    except OSError as error:
        raise_if_passing(error)
        raise UserError(
            f"{path} cannot be read ({reason(error)}): expected a directory, zip, jar or tar of Java sources"
        ) from error
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _refusing(path, _of_zip(path, skipped, placed))
    for magic in _UNPACKERS:
        if start.startswith(magic):
            return _refusing(path, _of_tar(path, _UNPACKERS[magic], skipped, placed))
    if start[257:262] == b"ustar":
        return _refusing(path, _of_tar(path, lambda file: file, skipped, placed))
    raise UserError(f"{path} is neither a directory nor a zip, jar or tar archive")


def _of_directory(folder: Path, skipped: Skipped, placed: Placed) -> Iterator[tuple[str, bytes]]:
    def unreadable(error: OSError) -> None:
        raise_if_passing(error)
        skipped(str(error.filename), error.strerror or "cannot be read")

    files = []
    for parent, _, names in os.walk(folder, onerror=unreadable, followlinks=False):
        files += [Path(parent, name) for name in names]
    places = ((placed(_readable(file.relative_to(folder).as_posix())), file) for file in files)
    for name, file in sorted((name, file) for name, file in places if name is not None):
        try:
            data, _ = read_regular(file, MAX_FILE_BYTES + 1)
        except OSError as error:
            raise_if_passing(error)
            skipped(name, _SKIPPED_LINK if error.errno == errno.ELOOP else reason(error))
            continue
        if len(data) > MAX_FILE_BYTES:
            skipped(name, _TOO_LONG)
        else:
            yield name, data


def _refusing(path: Path, entries: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """The entries, with errors of the archive readers converted to one line that names the archive."""
    try:
        yield from entries
    except _RefusedError as error:
        raise UserError(f"{path} is refused: {error}") from error
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError) as error:
        raise_if_passing(error)
        raise UserError(f"{path} is damaged: {' '.join(str(error).split())}; get it again") from error
    except NotImplementedError as error:
        raise UserError(f"{path} cannot be unpacked: {error}") from error


class _RefusedError(Exception):
    """Why an archive is rejected."""


def _check_path(name: str) -> None:
    path = PureWindowsPath(name)
    if path.root or path.drive or ".." in path.parts:
        raise _RefusedError(f"its member {name!r} points outside the archive")


def _check_counts(members: int, unpacked: int) -> None:
    if members > MAX_MEMBERS:
        raise _RefusedError(f"it has more than {MAX_MEMBERS:,} members")
    if unpacked > MAX_TOTAL_BYTES:
        raise _RefusedError(f"it unpacks to more than {MAX_TOTAL_BYTES:,} bytes")


def _check_ratio(what: str, unpacked: int, packed: int) -> None:
    if unpacked > max(_RATIO_FROM, MAX_RATIO * packed):
        raise _RefusedError(f"{what} unpacks to more than {MAX_RATIO} times its size")


def _of_zip(path: Path, skipped: Skipped, placed: Placed) -> Iterator[tuple[str, bytes]]:
    with open_regular(path) as packed, zipfile.ZipFile(packed) as archive:
        members = {}  # the last of equal names counts, as usual for zip
        for member in archive.infolist():
            _check_path(member.filename)
            name = placed(_readable(member.filename))
            if name is not None:
                members[name] = member
        _check_counts(len(archive.infolist()), sum(member.file_size for member in members.values()))
        for name, member in sorted(members.items()):
            if stat.S_ISLNK(member.external_attr >> 16):
                skipped(name, _SKIPPED_LINK)
                continue
            if member.flag_bits & 1:
                raise _RefusedError(f"its member {member.filename!r} is encrypted; unpack it first")
            _check_ratio(f"its member {member.filename!r}", member.file_size, member.compress_size)
            if member.file_size > MAX_FILE_BYTES:
                skipped(member.filename, _TOO_LONG)
            else:
                yield name, archive.read(member)


def _of_tar(path: Path, unpack: Callable[[Any], Any], skipped: Skipped, placed: Placed) -> Iterator[tuple[str, bytes]]:
    """Read the stream once, hold the sources compressed in memory, and yield them sorted."""
    held: dict[str, bytes] = {}
    with open_regular(path) as packed, unpack(packed) as raw:
        stream = _Bounded(raw, os.fstat(packed.fileno()).st_size)
        # block by block, so that the last block read is the one that ended the loop
        with tarfile.open(fileobj=stream, mode="r|", bufsize=tarfile.BLOCKSIZE, tarinfo=_TarInfo) as archive:  # type: ignore[call-overload]
            for number, member in enumerate(archive, 1):
                _check_path(member.name)
                _check_counts(number, stream.unpacked + member.size)
                name = placed(_readable(member.name))
                if name is not None and _is_source(member, skipped):
                    content = archive.extractfile(member)
                    assert content is not None
                    held[name] = zlib.compress(content.read(), 1)
            stream.check_end()
    for name in sorted(held):
        yield name, zlib.decompress(held[name])


def _is_source(member: tarfile.TarInfo, skipped: Skipped) -> bool:
    if member.isreg() and member.size <= MAX_FILE_BYTES:
        return True
    if not member.isdir():
        is_link = member.issym() or member.islnk()
        skipped(member.name, _SKIPPED_LINK if is_link else _TOO_LONG if member.isreg() else "not a regular file")
    return False


class _TarInfo(tarfile.TarInfo):
    """A header that rejects names or pax headers of absurd length."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "_TarInfo":
        header = super().frombuf(buf, encoding, errors)
        if header.type in _LONG_HEADERS and header.size > _MAX_HEADER:
            raise _RefusedError(f"a header in it has more than {_MAX_HEADER:,} bytes")
        return header


class _Bounded:
    """A decompressed stream that rejects decompression bombs."""

    def __init__(self, raw: Any, packed: int) -> None:
        self._raw, self._packed = raw, packed
        self._last = b""
        self.unpacked = 0  # bytes read so far

    def read(self, size: int) -> bytes:
        self._last = self._raw.read(size)
        self.unpacked += len(self._last)
        _check_counts(0, self.unpacked)
        _check_ratio("it", self.unpacked, self._packed)
        return self._last

    def check_end(self) -> None:
        """Check that the last block is the end mark; read the rest, so that checksums are verified."""
        if any(self._last) or not self._last:
            raise tarfile.ReadError("it ends early or a header in it is broken")
        while self.read(1 << 20):
            pass


_UNPACKERS: Final[dict[bytes, Callable[[Any], Any]]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}


def _readable(name: str) -> str:
    """The name as valid Unicode, without a leading ``./``."""
    return PurePosixPath(name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")).as_posix()


def is_zip(path: Path) -> bool:
    """Whether ``path`` is an existing zip file."""
    try:
        with open_regular(path) as file:
            return zipfile.is_zipfile(file)
    except ABSENT:
        return False
