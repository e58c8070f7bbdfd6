"""CodeSearchNet's Java part with its official splits (Husain et al. 2019, arXiv:1909.09436).

``java.zip`` contains ``java/final/jsonl/{train,valid,test}/java_{split}_{n}.jsonl.gz``: one method per line, with its
docstring already without comment marks. Each is wrapped in a class, below its comment, and read like any Java file.
"""

import os
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from data_prep.config import DataConfig
from data_prep.files.json_lines import numbered_lines
from data_prep.files.json_text import parse_json
from data_prep.files.named_paths import named_path
from data_prep.files.reading import open_regular
from data_prep.pairs.from_java import pairs_of_java
from data_prep.pairs.made import MadePairs
from data_prep.records import SPLITS, Excerpt, JavaFile, SplitName
from data_prep.sources.download import DownloadError, Remote, download

JAVA_ZIP: Final = Remote(
    "https://s3.amazonaws.com/code-search-net/CodeSearchNet/v2/java.zip",
    size=1_060_569_153,
    sha256="05f9204b1808413fab30f0e69229e298f6de4ad468279d53a2aa5797e3a78c17",
)
"""Size and checksum are those of the ``datasets`` library's loader (code_search_net/dataset_infos.json)."""

FIELDS: Final = ("repo", "path", "func_name", "code", "docstring")
"""The fields that are read; all are strings."""

_NAME: Final = re.compile(r"(?:^|[/_])(?P<split>train|valid|test)(?:_(?P<number>\d+))?\.jsonl\.gz$")
_LINE: Final = re.compile(r"#L(\d+)")


class Csn:
    """CodeSearchNet Java, official splits: 454,451, 15,328 and 26,909 methods before our filters; 1 GB to fetch."""

    cache_name = "csn"

    def __init__(self, config: DataConfig) -> None:
        self._config = config
        self._given = config.path
        self._place = named_path(config.path) if config.path else Path(config.root) / "raw" / "csn"
        self.left_out: list[tuple[str, str]] = []  # line, error

    def inputs(self) -> list[Path]:
        """``java.zip``, or the JSON Lines files that it was unpacked to; downloaded if there is neither.

        Raises:
            ValueError: neither exists and the download failed.
        """
        if found := _found(self._place):
            return found
        if self._given:
            raise ValueError(f"--data.path={self._given} has neither java.zip nor a java_*.jsonl.gz of CodeSearchNet")
        target = self._place / "java.zip"
        try:
            download(JAVA_ZIP, target, tries=4)
        except DownloadError as error:
            raise ValueError(
                f"CodeSearchNet cannot be fetched: {error}; put java.zip, or its folder java/final/jsonl, into "
                f"{self._place} or give --data.path=; data set jdk needs no download"
            ) from error
        return [target]

    def origin(self) -> str:
        """The name and version of the data."""
        return "codesearchnet-java-v2"

    def java_files(self) -> Iterator[JavaFile]:
        """Each method wrapped in a separate class, training first.

        Raises:
            ValueError: a file is damaged or has other fields than CodeSearchNet's.
        """
        self.left_out.clear()
        for name, lines in _line_files(self.inputs()):
            for number, line in lines:
                try:
                    row = parse_json(line)
                except ValueError as error:  # no JSON or no UTF-8
                    self.left_out.append((f"{name}:{number}", f"no JSON: {error}"))
                    continue
                split = _split_of(name, row)
                if split is None:
                    self.left_out.append((f"{name}:{number}", "in none of the splits train, valid, test"))
                else:
                    yield wrap(_checked(row, f"{name}:{number}"), split, self.origin())

    def make(self, progress: bool) -> MadePairs:
        """Build the pairs."""
        return pairs_of_java(self, self._config, progress=progress)


def wrap(row: dict[str, Any], split: SplitName, origin: str) -> JavaFile:
    """The method of ``row`` (FIELDS, and optionally ``url``) below its comment in a separate class."""
    type_name = re.sub(r"\W", "_", row["func_name"].rpartition(".")[0]) or "_"
    head = f"class {type_name} {{ /**\n{row['docstring'].replace('*/', '* /')}\n*/\n"
    place = _LINE.search(str(row.get("url", "")))
    before = (int(place[1]) if place else 1) - head.count("\n") - 1
    data = f"{head}{row['code']}\n}}\n".encode(errors="replace")
    return JavaFile(origin, f"{row['repo']}/{row['path']}", data, Excerpt(split, before))


def _found(place: Path) -> list[Path]:
    """The raw files at or under ``place``."""
    if place.is_file():
        return [place]
    if (place / "java.zip").is_file():
        return [place / "java.zip"]
    files = [file for file in place.rglob("*.jsonl.gz") if file.is_file()]
    java = [file for file in files if file.name.startswith("java_")]  # there may be other languages
    return sorted(java or files, key=lambda file: _order(file.as_posix()))


def _line_files(paths: list[Path]) -> Iterator[tuple[str, Iterator[tuple[int, bytes]]]]:
    """The name and the numbered lines of each JSON Lines file."""
    for path in paths:
        try:
            if path.name.endswith(".gz"):
                with open_regular(path) as file:
                    size = os.fstat(file.fileno()).st_size
                    yield path.as_posix(), numbered_lines(path.as_posix(), file, size)
            else:
                yield from _zip_line_files(path)
        except zipfile.BadZipFile as error:
            raise ValueError(f"{path} is no whole zip file ({error}): get it again") from error


def _zip_line_files(path: Path) -> Iterator[tuple[str, Iterator[tuple[int, bytes]]]]:
    with open_regular(path) as packed, zipfile.ZipFile(packed) as archive:
        names = [name for name in archive.namelist() if name.endswith(".jsonl.gz")]
        if not names:
            raise ValueError(f"{path} contains no *.jsonl.gz: expected CodeSearchNet's java.zip")
        for name in sorted(names, key=_order):
            if archive.getinfo(name).flag_bits & 1:
                raise ValueError(f"{path} is encrypted: expected CodeSearchNet's java.zip")
            with archive.open(name) as file:
                yield name, numbered_lines(f"{path}:{name}", file, archive.getinfo(name).file_size)


def _order(name: str) -> tuple[int, int, str]:
    """Sort key: split, number, name."""
    found = _NAME.search(name)
    if found is None:
        return len(SPLITS), 0, name
    return [*SPLITS].index(_split(found["split"])), int(found["number"] or 0), name


def _split_of(name: str, row: Any) -> SplitName | None:
    """The official split, of the file or else of the line."""
    if found := _NAME.search(name):
        return _split(found["split"])
    partition = row.get("partition") if isinstance(row, dict) else None
    return _split(partition) if partition in SPLITS else None


def _split(name: str) -> SplitName:
    return next(split for split in SPLITS if split == name)


def _checked(row: Any, where: str) -> dict[str, Any]:
    there = row if isinstance(row, dict) else {}
    wrong = [field for field in FIELDS if not isinstance(there.get(field), str)]
    if wrong:
        raise ValueError(
            f"{where} is no line of CodeSearchNet: expected texts in {', '.join(FIELDS)}; {', '.join(wrong)} missing"
        )
    return there
