"""CodeSearchNet's Java part with its official splits (Husain et al. 2019, arXiv:1909.09436), and its test in two ways.

The rows, methods with their docstrings already without comment marks, come from java.zip or from Parquet files
(data_prep/sources/codesearchnet_rows.py). In ``csn`` each method is wrapped in a class, below its comment, and read
like any Java file. The prepared pairs do not depend on the form or on the order of the rows.

In the two data sets of the test as the field reads it every row counts. ``csn_filtered`` is the set of GraphCodeBERT
(Guo et al. 2021, arXiv:2009.08366, section 4.1), which CodeBERT's and UniXcoder's numbers in today's papers are on:
lists of the rows (their addresses) for training, validation and test, and of 40,347 candidates from CodeSearchNet's
validation and test rows. Each of 10,955 queries ranks all candidates. ``csn_1000`` is CodeSearchNet's own test (Husain
et al. 2019, section 4): each query ranks the 1,000 methods of its group. Queries are the summaries that CodeSearchNet's
``docstring_tokens`` are made of, in this project's words. Comments inside a method are no words of its fields here, as
GraphCodeBERT's preprocessing removes them. Methods that cannot be parsed have the words of their identifiers.
"""

import logging
import zipfile
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Final

from data_prep.config import DataConfig
from data_prep.errors import UserError
from data_prep.files.reading import open_regular
from data_prep.pipeline.java_extraction import PublishedRow, pairs_of_rows, placed, wrap
from data_prep.pipeline.pairs import JavaSources
from data_prep.pipeline.stages import MadePairs, Stopwatch, listed, raw_folder
from data_prep.records import SPLITS, Pair, SourceFile, SplitName
from data_prep.sources.codesearchnet_rows import Row, RowCount, find_files, read_rows
from data_prep.sources.download import DownloadError, Remote
from data_prep.sources.places import JAVA_ROWS, Place, fetch_first, place_of, places_of_codesearchnet

WHAT: Final = "CodeSearchNet (Java)"
LISTS: Final = Remote(
    "https://raw.githubusercontent.com/microsoft/CodeBERT/c0de43d3aaf38e89290f1efb771f8de845e7a489/GraphCodeBERT/"
    "codesearch/dataset.zip",
    git_blob="e229c0247430feeb5a3c0f22ffd7acbe3b2165f4",
)
PARTS: Final = ("train", "valid", "test", "codebase")
SIZES: Final = {"train": 164_923, "valid": 5_183, "test": 10_955}
"""Rows of the lists, from GraphCodeBERT/codesearch/README.md."""
GROUP: Final = 1000
"""Methods that a query of CodeSearchNet's own test is ranked among."""

_logger = logging.getLogger(__name__)
_MEMBER: Final = "dataset/java/{}.txt"
_MOST: Final = 256 << 20  # bytes of a list


class Csn(JavaSources):
    """CodeSearchNet Java, official splits: 454,451, 15,328 and 26,909 methods before our filters; 1 GB to fetch."""

    cache_name: ClassVar[str] = "csn"
    _origin: ClassVar[str] = "codesearchnet-java-v2"

    def __init__(self, config: DataConfig) -> None:
        super().__init__(config)
        self._place = raw_folder(config, "csn")
        self._count = RowCount()

    def inputs(self) -> list[Path]:
        """The raw files, fetched if there are none.

        Raises:
            UserError: there are none and no place has them.
        """
        return self._row_files()

    def _row_files(self) -> list[Path]:
        if found := find_files(self._place):
            return found
        if self._config.path:
            raise UserError(
                f"--data.path={self._config.path} has neither java.zip nor java_*.jsonl.gz nor java/*.parquet of all "
                "splits: expected CodeSearchNet in one of these forms"
            )
        try:
            fetch_first(places_of_codesearchnet(self._config.mirror), self._place, WHAT)
        except DownloadError as error:
            raise UserError(
                f"{WHAT} cannot be fetched: {error}; put java.zip, its folder java/final/jsonl, or the Hub's "
                f"java/*.parquet into {self._place}, or give --data.path= or --data.mirror=; data set jdk needs no "
                "download"
            ) from error
        return find_files(self._place)

    def origin(self) -> str:
        """The name and version of the data."""
        return self._origin

    def java_files(self) -> Iterator[SourceFile]:
        """Each method wrapped in a separate class, training first.

        Raises:
            UserError: a file is damaged or has other fields than CodeSearchNet's.
        """
        return (wrap(row.fields, row.split, self.origin()) for row in self.rows())

    def make(self, progress: bool) -> MadePairs:
        """Build the pairs; the manifest also has the number of rows, their checksum and where they were fetched."""
        made = self._made(progress, _place_in_corpus)
        made.manifest.update(self.record())
        return made

    def rows(self) -> Iterator[Row]:
        """The rows, training first.

        Raises:
            UserError: a file is damaged or has other fields than CodeSearchNet's.
        """
        self.left_out.clear()
        self._count = RowCount()
        for row in read_rows(self._row_files(), self.left_out):
            self._count.add(row)
            yield row
        self._compare()

    def record(self) -> dict[str, Any]:
        """Number and checksum of the rows that were read, and their place, for a manifest."""
        return {**self._count.record(), "fetched_from": place_of(self._place)}

    def _compare(self) -> None:
        """Warn if there are other numbers of rows than CodeSearchNet has."""
        if dict(self._count.rows) != JAVA_ROWS:
            has = ", ".join(f"{split} {self._count.rows[split]:,}" for split in SPLITS)
            published = ", ".join(f"{split} {JAVA_ROWS[split]:,}" for split in SPLITS)
            _logger.warning("%s has %s rows here, but %s as published: not comparable", WHAT, has, published)


def _place_in_corpus(pair: Pair) -> tuple[Any, ...]:
    """Sort key of a pair: its split and its place."""
    method = pair.method
    split = SPLITS.index(method.split) if method.split else len(SPLITS)
    return split, method.path, method.start_line, method.end_line, method.source, pair.query_text


class _Published(Csn):
    """A data set of all rows of some lists or splits."""

    reading: ClassVar[dict[str, int | bool]]  # evaluation.reading.TestReading

    def origin(self) -> str:
        """The name and version of the data."""
        return f"{self._origin}-{self.cache_name.removeprefix('csn_')}"

    @abstractmethod
    def published_rows(self) -> Iterator[PublishedRow]:
        """The rows for each split."""

    def make(self, progress: bool) -> MadePairs:
        """Build the pairs; none is left out."""
        watch, unparsed = Stopwatch(), 0
        splits: dict[SplitName, list[Pair]] = {name: [] for name in SPLITS}
        rows = self.published_rows()
        for split, pair, is_parsed in pairs_of_rows(rows, self.origin(), self._config, progress=progress):
            splits[split].append(pair)
            unparsed += not is_parsed
        for pairs in splits.values():
            pairs.sort(key=placed)
        watch.stage("extract")
        counts = {"pairs": sum(map(len, splits.values())), "not_parsed": unparsed}
        manifest: dict[str, Any] = {"counts": counts, "broken_files": listed(self.left_out)}
        manifest |= {"test_reading": self.reading, **self.record()}
        left_out = f", {len(self.left_out):,} lines left out" if self.left_out else ""
        source = f"{sum(manifest['rows'].values()):,} rows, {unparsed:,} of those used not parsed{left_out}"
        return MadePairs(splits, manifest, source, watch.seconds)


class CsnFiltered(_Published):
    """GraphCodeBERT's filtered CodeSearchNet Java: 164,923 and 5,183 pairs, 10,955 queries over 40,347 methods."""

    cache_name = "csn_filtered"
    reading: ClassVar[dict[str, int | bool]] = {"candidates_without_query": True}

    def __init__(self, config: DataConfig) -> None:
        super().__init__(config)
        place = raw_folder(config, self.cache_name)
        self._lists = place.parent if place.is_file() else place

    def inputs(self) -> list[Path]:
        """CodeSearchNet's raw files and GraphCodeBERT's lists, ``dataset.zip``; fetched if there are none.

        Raises:
            UserError: there are none and no place has them.
        """
        found = self._row_files()
        lists = self._lists / "dataset.zip"
        if not lists.is_file():
            mirror = self._config.mirror.rstrip("/")
            remote = Remote(f"{mirror}/dataset.zip", git_blob=LISTS.git_blob) if mirror else LISTS
            try:
                fetch_first([Place(mirror or "GitHub", {lists.name: remote})], self._lists, "GraphCodeBERT's lists")
            except DownloadError as error:
                raise UserError(
                    f"csn_filtered needs GraphCodeBERT/codesearch/dataset.zip of github.com/microsoft/CodeBERT: "
                    f"{error}; put it into {self._lists}, or beside CodeSearchNet's files in the folder of --data.path="
                ) from error
        return [*found, lists]

    def published_rows(self) -> Iterator[PublishedRow]:
        """The rows of each list.

        Raises:
            UserError: the lists are damaged, or rows of them are missing.
        """
        lists = {part: read_list(self._lists / "dataset.zip", part) for part in PARTS}
        if other := [f"{part} {len(lists[part]):,}" for part, size in SIZES.items() if len(lists[part]) != size]:
            _logger.warning("GraphCodeBERT's lists have other sizes here (%s): not comparable", ", ".join(other))
        found = Counter[str]()
        for row in self.rows():
            yield from _listed_rows(row, lists, found)
        for part in ("train", "valid", "test"):
            if found[part] < len(lists[part]):
                missing = len(lists[part]) - found[part]
                raise UserError(
                    f"{missing:,} of the {len(lists[part]):,} rows of {_MEMBER.format(part)} are not in "
                    "CodeSearchNet's files: both have to be of the whole Java part"
                )


class Csn1000(_Published):
    """CodeSearchNet's own test for Java: the 26,909 test rows, each query over the 1,000 methods of its group."""

    cache_name = "csn_1000"
    reading: ClassVar[dict[str, int | bool]] = {"group": GROUP}

    def published_rows(self) -> Iterator[PublishedRow]:
        """The test rows."""
        return (PublishedRow(row.fields, "test") for row in self.rows() if row.split == "test")


def read_list(path: Path, part: str) -> frozenset[str]:
    """The addresses in a list of ``dataset.zip``, one a line.

    Raises:
        UserError: the file is no such archive.
    """
    try:
        with open_regular(path) as packed, zipfile.ZipFile(packed) as archive:
            member = archive.getinfo(_MEMBER.format(part))
            if member.file_size > _MOST or member.flag_bits & 1:
                raise UserError(f"{path} is refused: its list {member.filename} is encrypted or far too long")
            addresses = frozenset(archive.read(member).decode().split())
    except (OSError, KeyError, zipfile.BadZipFile, UnicodeDecodeError, EOFError, NotImplementedError) as error:
        what = " ".join(str(error).split())
        raise UserError(f"{path} is not GraphCodeBERT's dataset.zip ({what}): get it again") from error
    if not addresses:
        raise UserError(f"{path} has no address in {_MEMBER.format(part)}: get it again")
    return addresses


def _listed_rows(row: Row, lists: dict[str, frozenset[str]], found: Counter[str]) -> Iterator[PublishedRow]:
    """The uses of a row: a pair of training or validation; a candidate of the test, and then perhaps a query."""
    address = row.fields["url"]
    for split in ("train", "valid"):
        if row.split == split and address in lists[split]:
            found[split] += 1
            yield PublishedRow(row.fields, row.split)
    if row.split != "train" and address in lists["codebase"]:
        is_query = address in lists["test"]
        found["test"] += is_query
        yield PublishedRow(row.fields, "test", is_query)
