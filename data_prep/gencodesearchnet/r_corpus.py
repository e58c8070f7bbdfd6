"""Raw comment-code pairs of many R packages, the input of StatCodeSearch's first stage.

A source is a folder of R files, a Debian package, a tar of R's sources, or the name of one of Debian's packages,
``r-cran-lme4``, which apt-get downloads. Each pair has its package, version, licence and file.

Packages are untrusted: one that is hostile or damaged is rejected with a one-line ``UserError``, by the rules of
:mod:`data_prep.sources.archives`. Links are never followed.
"""

import gzip
import json
import logging
import os
import re
import shutil
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Final

from data_prep.errors import UserError
from data_prep.files.access import MAX_RATIO, named_path, open_regular
from data_prep.files.writing import sole_writer, write_atomically
from data_prep.gencodesearchnet.r_pairs import Mode, RPair, r_pairs
from data_prep.sources.archives import MAX_FILE_BYTES, read_archive
from data_prep.sources.package_downloads import apt_get, debian_name, unpacking

PAIRS: Final = "pairs.jsonl.gz"
ABOUT: Final = "packages.json"
MAX_KEPT_BYTES: Final = 256 << 20
"""Maximum total size of an archive's R files, which are held in memory."""
_RATIO_FROM: Final = 4 << 20  # bytes; smaller outputs are never bombs
_DEBIAN_MAGIC: Final = b"!<arch>\n"
_DEBIAN_NAME: Final = re.compile(r"r-(?:cran|bioc|other|omegahat)-[a-z0-9][a-z0-9.+-]*")
_TAR_NAME: Final = re.compile(r"(?P<name>[\w.+-]+?)_(?P<version>[^_/]+?)(?:\.orig)?\.(?:tar(?:\.\w+)?|tgz)")
_R_FILES: Final = (".R", ".r", ".R.gz", ".r.gz")  # Debian packs what is long in usr/share/doc
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RPackage:
    """A package's R files."""

    name: str
    version: str  # "" where it is not known
    licence: str  # "" where it is not known
    files: dict[str, bytes]  # path inside -> content, sorted by path
    left_out: dict[str, str] = field(default_factory=dict)  # path -> why it is not read


@dataclass(frozen=True, slots=True)
class PackageCounts:
    """Counts of a package."""

    package: str
    version: str
    licence: str
    files: int  # R files that were read
    files_with_pairs: int
    pairs: int
    left_out: int  # R files that were not read

    def __str__(self) -> str:
        left_out = f", {self.left_out:,} left out" if self.left_out else ""
        return (
            f"{self.package} {self.version or '(no version)'}, {self.licence or 'licence unknown'}: "
            f"{self.pairs:,} pairs of {self.files_with_pairs:,} of {self.files:,} R files{left_out}"
        )


def build_r_pairs(sources: Sequence[str], out: Path, mode: Mode, say: Callable[[str], None]) -> list[PackageCounts]:
    """Write the pairs of all sources to ``out``: ``pairs.jsonl.gz``, and ``packages.json`` with their counts.

    Packages that apt-get downloads are saved in ``out/packages``.

    Raises:
        UserError: a source is not available or rejected, or has the same package as another one; none has an R file;
            or another process is writing ``out``.
    """
    lines: list[str] = []
    counts: dict[str, PackageCounts] = {}
    with sole_writer(out):
        for path in _paths(sources, out / "packages"):
            package = read_package(path)
            if package.name in counts:
                raise UserError(f"{path} is package {package.name} again: give each package once")
            pairs = package_pairs(package, mode)
            counts[package.name] = _counts(package, pairs)
            lines += [json.dumps(asdict(pair), ensure_ascii=False) + "\n" for pair in pairs]
        if not any(each.files for each in counts.values()):
            raise UserError(f"{', '.join(sources)}: expected R files ({', '.join(_R_FILES)}), but none can be read")
        found = [*counts.values()]
        for told in (*map(str, found), _told_of_all(found)):
            say(told)
        out.mkdir(parents=True, exist_ok=True)
        write_atomically(out / PAIRS, gzip.compress("".join(lines).encode(), mtime=0))
        about = {"mode": mode, "sources": list(sources), "packages": [asdict(each) for each in found]}
        write_atomically(out / ABOUT, json.dumps(about, indent=1) + "\n")
        return found


def package_pairs(package: RPackage, mode: Mode) -> list[RPair]:
    """The pairs of a package's files, in the order of their paths."""
    return [
        replace(pair, package=package.name, version=package.version, licence=package.licence, file=path)
        for path, data in package.files.items()
        for pair in r_pairs(f"{package.name}/{path}", data, mode)
    ]


def _counts(package: RPackage, pairs: Sequence[RPair]) -> PackageCounts:
    with_pairs, left_out = len({pair.file for pair in pairs}), len(package.left_out)
    named = (package.name, package.version, package.licence)
    return PackageCounts(*named, len(package.files), with_pairs, len(pairs), left_out)


def _told_of_all(counts: Sequence[PackageCounts]) -> str:
    licences = Counter[str]()
    for each in counts:
        licences[each.licence or "unknown"] += each.pairs
    shares = ", ".join(f"{name} {pairs:,}" for name, pairs in licences.most_common())
    return f"{licences.total():,} pairs of {len(counts):,} packages; by licence: {shares}"


def _paths(sources: Sequence[str], downloads: Path) -> list[Path]:
    """The sources as paths, in their order; those that are no paths are downloaded."""
    if not sources:
        raise UserError("no source of R files is given: a folder, a .deb, a tar, or a name such as r-cran-lme4")
    paths = {source: named_path(source) for source in sources}
    names = [source for source, path in paths.items() if not path.exists()]
    if lacking := next((name for name in names if not _DEBIAN_NAME.fullmatch(name)), None):
        raise UserError(f"{lacking} does not exist: expected a folder, .deb or tar with R files")
    if names:
        paths |= zip(names, fetch_packages(names, downloads), strict=True)
    return [paths[source] for source in sources]


def fetch_packages(names: Sequence[str], folder: Path) -> list[Path]:
    """Download missing Debian packages into ``folder`` by apt-get, without root.

    Raises:
        UserError: the download failed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if missing := [name for name in dict.fromkeys(names) if not _there(folder, name)]:
        _download(missing, folder)
    return [path for name in names if (path := _there(folder, name))]


def _there(folder: Path, name: str) -> Path | None:
    return max(folder.glob(f"{name}_*.deb"), default=None)


def _download(names: Sequence[str], folder: Path) -> None:
    """Download to a temporary folder first, so that ``folder`` contains only complete files."""
    if not shutil.which("apt-get"):
        raise UserError(f"there is no apt-get here to download {', '.join(names)}: give folders, .deb or tar files")
    with tempfile.TemporaryDirectory(dir=folder, prefix=".arriving.") as arriving:
        if os.geteuid() == 0:
            apt_get(folder, "update")  # a stale list names deleted files; if this fails, it may still work
        for name in names:
            _logger.info("downloading %s", name)
            problem, found = apt_get(Path(arriving), "download", name), _there(Path(arriving), name)
            if problem or found is None:
                raise UserError(f"apt-get download {name} says: {problem or 'nothing, and there is no file'}")
            found.replace(folder / found.name)


def read_package(path: Path) -> RPackage:
    """The R files under or in ``path``.

    Raises:
        UserError: it is missing, not a package, rejected as hostile, or damaged.
    """
    if not path.is_dir() and not path.is_file():  # dpkg-deb would block on a pipe
        what = "is no file" if path.exists() else "does not exist"
        raise UserError(f"{path} {what}: expected a folder, .deb or tar with R files")
    if path.is_dir():
        return _package(_readable(path.resolve().name), "", path)
    with open_regular(path) as file:
        is_debian = file.read(len(_DEBIAN_MAGIC)) == _DEBIAN_MAGIC
    name, version = debian_name(path) if is_debian else _tar_name(path)
    with _debian_tar(path) if is_debian else nullcontext(path) as archive:
        try:
            return _package(name, version, archive)
        except UserError as error:
            raise UserError(str(error).replace(str(archive), str(path))) from error


def _package(name: str, version: str, path: Path) -> RPackage:
    """The wanted files of a folder or archive."""
    found: dict[str, bytes] = {}
    left_out: dict[str, str] = {}
    kept = 0
    for inside, content in read_archive(path, _is_wanted, left_out.__setitem__):
        text = _text(inside, content)
        if text is None:
            left_out[inside] = f"no gzip file of up to {MAX_FILE_BYTES >> 20} MiB"
            continue
        kept += len(text)
        if kept > MAX_KEPT_BYTES:
            raise UserError(f"{path} is refused: its R files have more than {MAX_KEPT_BYTES:,} bytes")
        found[inside] = text
    files = {inside: found[inside] for inside in sorted(found) if inside.endswith(_R_FILES)}
    about = {inside: found[inside].decode("utf-8", "replace") for inside in sorted({*found} - {*files})}
    return RPackage(name, version, _licence(about), files, dict(sorted(left_out.items())))


def _is_wanted(path: str) -> bool:
    is_copyright = path.startswith("usr/share/doc/") and path.endswith("/copyright")
    return path.endswith(_R_FILES) or is_copyright or PurePosixPath(path).name == "DESCRIPTION"


def _text(name: str, content: bytes) -> bytes | None:
    """The content of a file, decompressed if Debian compressed it; None if damaged or too long."""
    if not name.endswith(".gz"):
        return content
    try:
        unpacked = zlib.decompressobj(wbits=31).decompress(content, MAX_FILE_BYTES + 1)
    except zlib.error:
        return None
    return unpacked if len(unpacked) <= MAX_FILE_BYTES else None


def _licence(texts: dict[str, str]) -> str:
    """What Debian's copyright file says, else R's DESCRIPTION that lies highest."""
    by_debian = [licence_of(text) for path, text in texts.items() if path.endswith("/copyright")]
    highest = min(
        (path for path in texts if path.endswith("DESCRIPTION")), key=lambda path: path.count("/"), default=""
    )
    by_r = re.search(r"^License:[ \t]*(.+)", texts.get(highest, ""), re.MULTILINE)
    return next(filter(None, by_debian), by_r[1].strip() if by_r else "")


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


def _tar_name(path: Path) -> tuple[str, str]:
    found = _TAR_NAME.fullmatch(path.name)
    return (found["name"], found["version"]) if found else (_readable(path.name), "")


def _readable(name: str) -> str:
    """The name as valid Unicode, whatever its bytes were."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@contextmanager
def _debian_tar(path: Path) -> Iterator[Path]:
    """The tar of a Debian package's files, which dpkg-deb unpacks to a temporary file."""
    largest = max(_RATIO_FROM, MAX_RATIO * path.stat().st_size)
    with tempfile.NamedTemporaryFile(prefix=f"{path.name}.", suffix=".tar") as file:
        with unpacking(path) as (program, tar):
            while chunk := tar.read(1 << 20):
                file.write(chunk)
                if file.tell() > largest:
                    raise UserError(f"{path} is refused: it unpacks to more than {MAX_RATIO} times its size")
            if program.wait():
                raise UserError(f"{path} is damaged: dpkg-deb cannot unpack it")
        file.flush()
        yield Path(file.name)
