"""Reads a package's R files and licence from a folder, a Debian package or a tar.

Packages are untrusted: one that is hostile or damaged is rejected with a one-line ``UserError``, by the rules of
:mod:`data_prep.sources.archives`. Links are never followed.
"""

import re
import subprocess
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Final

from data_prep.errors import UserError
from data_prep.files.reading import MAX_RATIO, open_regular
from data_prep.sources.archives import MAX_FILE_BYTES, read_archive
from data_prep.sources.package_downloads import run_program

MAX_KEPT_BYTES: Final = 256 << 20
"""Maximum total size of an archive's R files, which are held in memory."""
_RATIO_FROM: Final = 4 << 20  # bytes; smaller outputs are never bombs
_DEBIAN_MAGIC: Final = b"!<arch>\n"
_TAR_NAME: Final = re.compile(r"(?P<name>[\w.+-]+?)_(?P<version>[^_/]+?)(?:\.orig)?\.(?:tar(?:\.\w+)?|tgz)")
_UNPACKED: Final = f"no gzip file of up to {MAX_FILE_BYTES >> 20} MiB"


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
    if not path.is_dir() and not path.is_file():  # dpkg-deb would block on a pipe
        what = "is no file" if path.exists() else "does not exist"
        raise UserError(f"{path} {what}: expected a folder, .deb or tar with R files")
    left_out: dict[str, str] = {}
    if path.is_dir():
        return _package(_readable(path.resolve().name), "", dict(_texts(path, left_out)), left_out)
    with open_regular(path) as file:
        is_debian = file.read(len(_DEBIAN_MAGIC)) == _DEBIAN_MAGIC
    name, version = _debian_name(path) if is_debian else _tar_name(path)
    with _debian_tar(path) if is_debian else nullcontext(path) as archive:
        try:
            return _package(name, version, dict(_texts(archive, left_out)), left_out)
        except UserError as error:
            raise UserError(str(error).replace(str(archive), str(path))) from error


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


def _texts(path: Path, left_out: dict[str, str]) -> Iterator[tuple[str, bytes]]:
    """The wanted files of a folder or archive."""
    kept = 0
    for name, content in read_archive(path, _is_wanted, left_out.__setitem__):
        text = _text(name, content)
        if text is None:
            left_out[name] = _UNPACKED
            continue
        kept += len(text)
        if kept > MAX_KEPT_BYTES:
            raise UserError(f"{path} is refused: its R files have more than {MAX_KEPT_BYTES:,} bytes")
        yield name, text


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
def _debian_tar(path: Path) -> Iterator[Path]:
    """The tar of a Debian package's files, which dpkg-deb unpacks to a temporary file."""
    command = ["dpkg-deb", "--fsys-tarfile", str(path.resolve())]
    with tempfile.NamedTemporaryFile(prefix=f"{path.name}.", suffix=".tar") as file:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as unpacking:
            assert unpacking.stdout is not None
            try:
                _copy(unpacking.stdout, file, path)
                if unpacking.wait():
                    raise UserError(f"{path} is damaged: dpkg-deb cannot unpack it")
            finally:
                unpacking.kill()
        yield Path(file.name)


def _copy(stream: IO[bytes], file: IO[bytes], package: Path) -> None:
    largest = max(_RATIO_FROM, MAX_RATIO * package.stat().st_size)
    for chunk in iter(lambda: stream.read(1 << 20), b""):
        file.write(chunk)
        if file.tell() > largest:
            raise UserError(f"{package} is refused: it unpacks to more than {MAX_RATIO} times its size")
    file.flush()


def _text(name: str, content: bytes) -> bytes | None:
    """The content of a file, decompressed if Debian compressed it; None if damaged or too long."""
    if not name.endswith(".gz"):
        return content
    try:
        unpacked = zlib.decompressobj(wbits=31).decompress(content, MAX_FILE_BYTES + 1)
    except zlib.error:
        return None
    return unpacked if len(unpacked) <= MAX_FILE_BYTES else None


def _readable(name: str) -> str:
    """The name as valid Unicode, whatever its bytes were."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
