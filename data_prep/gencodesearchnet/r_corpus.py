"""Raw comment-code pairs of many R packages, the input of StatCodeSearch's first stage.

A source is a folder of R files, a Debian package, a tar of R's sources, or the name of one of Debian's packages,
``r-cran-lme4``, which apt-get downloads. Each pair has its package, version, licence and file.
"""

import gzip
import json
import logging
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from data_prep.files.folder_lock import sole_writer
from data_prep.files.named_paths import named_path
from data_prep.gencodesearchnet.r_packages import RPackage, read_package
from data_prep.gencodesearchnet.r_pairs import Mode, RPair, r_pairs
from data_prep.sources.package_downloads import run_program

PAIRS: Final = "pairs.jsonl.gz"
ABOUT: Final = "packages.json"
_NAME: Final = re.compile(r"r-(?:cran|bioc|other|omegahat)-[a-z0-9][a-z0-9.+-]*")
_logger = logging.getLogger(__name__)


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


def build_r_pairs(sources: Sequence[str], out: Path, mode: Mode, say: Callable[[str], None]) -> list[PackageCounts]:
    """Write the pairs of all sources to ``out``: ``pairs.jsonl.gz``, and ``packages.json`` with their counts.

    Packages that apt-get downloads are saved in ``out/packages``.

    Raises:
        UserError: a source is not available or rejected, or has the same package as another one; none has an R file;
            or another process is writing ``out``.
    """
    with sole_writer(out):
        return _built(sources, out, mode, say)


def _built(sources: Sequence[str], out: Path, mode: Mode, say: Callable[[str], None]) -> list[PackageCounts]:
    lines: list[str] = []
    counts: list[PackageCounts] = []
    for path in _paths(sources, out / "packages"):
        package = read_package(path)
        if package.name in {each.package for each in counts}:
            raise UserError(f"{path} is package {package.name} again: give each package once")
        pairs = package_pairs(package, mode)
        counts.append(_counts(package, pairs))
        lines += [json.dumps(asdict(pair), ensure_ascii=False) for pair in pairs]
    if not any(each.files for each in counts):
        raise UserError(f"{', '.join(sources)}: expected R files (.R, .r, .R.gz, .r.gz), but none is there to be read")
    for each in counts:
        say(_told(each))
    say(_told_of_all(counts))
    out.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line}\n" for line in lines)
    write_atomically(out / PAIRS, gzip.compress(text.encode(), mtime=0))
    about = {"mode": mode, "sources": list(sources), "packages": [asdict(each) for each in counts]}
    write_atomically(out / ABOUT, json.dumps(about, indent=1) + "\n")
    return counts


def package_pairs(package: RPackage, mode: Mode) -> list[RPair]:
    """The pairs of a package's files, in the order of their paths."""
    about = {"package": package.name, "version": package.version, "licence": package.licence}
    return [
        replace(pair, **about, file=path)
        for path, data in package.files.items()
        for pair in r_pairs(f"{package.name}/{path}", data, mode)
    ]


def fetch_packages(names: Sequence[str], folder: Path) -> list[Path]:
    """Download missing Debian packages into ``folder`` by apt-get, without root.

    Raises:
        UserError: a name is not that of an R package, or the download failed.
    """
    for name in names:
        if not _NAME.fullmatch(name):
            raise UserError(f"{name!r} is neither a path nor a Debian package of R such as r-cran-lme4")
    folder.mkdir(parents=True, exist_ok=True)
    missing = [name for name in dict.fromkeys(names) if not _there(folder, name)]
    if missing:
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
            _apt_get(Path(arriving), "update")  # a stale list names deleted files; if this fails, it may still work
        for name in names:
            _logger.info("downloading %s", name)
            complaint = _apt_get(Path(arriving), "download", name)
            found = _there(Path(arriving), name)
            if complaint or found is None:
                raise UserError(f"apt-get download {name} says: {complaint or 'nothing, and no file came'}")
            found.replace(folder / found.name)


def _apt_get(folder: Path, *arguments: str) -> str:
    """Run apt-get in ``folder``; returns its first error, "" on success."""
    options = ["-q", "-o", "Acquire::Retries=2", "-o", "Acquire::http::Timeout=30"]
    done = run_program(["apt-get", *options, *arguments], folder)
    errors = [line.strip() for line in done.stderr.splitlines() if line.startswith("E:")]
    return next(iter(errors), f"exit {done.returncode}") if done.returncode else ""


def _paths(sources: Sequence[str], downloads: Path) -> list[Path]:
    """The sources as paths, in their order."""
    if not sources:
        raise UserError("no source of R files is given: a folder, a .deb, a tar, or a name such as r-cran-lme4")
    there = {source: path for source in sources if (path := named_path(source)).exists()}
    names = [source for source in sources if source not in there]
    if lacking := next((name for name in names if not _NAME.fullmatch(name)), None):
        raise UserError(f"{lacking} does not exist: expected a folder, .deb or tar with R files")
    fetched = dict(zip(names, fetch_packages(names, downloads), strict=True)) if names else {}
    return [(there | fetched)[source] for source in sources]


def _counts(package: RPackage, pairs: Sequence[RPair]) -> PackageCounts:
    with_pairs = len({pair.file for pair in pairs})
    named: dict[str, Any] = {"package": package.name, "version": package.version, "licence": package.licence}
    return PackageCounts(
        **named, files=len(package.files), files_with_pairs=with_pairs, pairs=len(pairs), left_out=len(package.left_out)
    )


def _told(each: PackageCounts) -> str:
    left_out = f", {each.left_out:,} left out" if each.left_out else ""
    return (
        f"{each.package} {each.version or '(no version)'}, {each.licence or 'licence unknown'}: "
        f"{each.pairs:,} pairs of {each.files_with_pairs:,} of {each.files:,} R files{left_out}"
    )


def _told_of_all(counts: Sequence[PackageCounts]) -> str:
    licences = Counter[str]()
    for each in counts:
        licences[each.licence or "unknown"] += each.pairs
    shares = ", ".join(f"{name} {pairs:,}" for name, pairs in licences.most_common())
    return f"{sum(each.pairs for each in counts):,} pairs of {len(counts):,} packages; by licence: {shares}"
