"""CodeSearchNet's Java part with its official splits (Husain et al. 2019, arXiv:1909.09436).

The rows, methods with their docstrings already without comment marks, come from java.zip or from Parquet files
(data_prep/sources/codesearchnet_rows.py). Each method is wrapped in a class, below its comment, and read like any Java
file. The prepared pairs do not depend on the form or on the order of the rows.
"""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from data_prep.config import DataConfig
from data_prep.errors import UserError
from data_prep.files.named_paths import named_path
from data_prep.pipeline.java_extraction import wrap
from data_prep.pipeline.java_pairs import pairs_of_java
from data_prep.pipeline.stages import MadePairs
from data_prep.records import SPLITS, Pair, SourceFile
from data_prep.sources.codesearchnet_rows import Row, RowCount, find_files, read_rows
from data_prep.sources.download import DownloadError
from data_prep.sources.places import JAVA_ROWS, fetch_first, place_of, places_of_codesearchnet

WHAT: Final = "CodeSearchNet (Java)"
_logger = logging.getLogger(__name__)


class Csn:
    """CodeSearchNet Java, official splits: 454,451, 15,328 and 26,909 methods before our filters; 1 GB to fetch."""

    cache_name = "csn"

    def __init__(self, config: DataConfig) -> None:
        self._config = config
        self.raw = CsnRows(config)
        self.left_out = self.raw.left_out  # line, error

    def inputs(self) -> list[Path]:
        """The raw files, fetched if there are none.

        Raises:
            UserError: there are none and no place has them.
        """
        return self.raw.inputs()

    def origin(self) -> str:
        """The name and version of the data."""
        return self.raw.origin

    def java_files(self) -> Iterator[SourceFile]:
        """Each method wrapped in a separate class, training first.

        Raises:
            UserError: a file is damaged or has other fields than CodeSearchNet's.
        """
        return (wrap(row.fields, row.split, self.origin()) for row in self.raw.rows())

    def make(self, progress: bool) -> MadePairs:
        """Build the pairs; the manifest also has the number of rows, their checksum and where they were fetched."""
        made = pairs_of_java(self, self._config, order=_place_in_corpus, progress=progress)
        made.manifest.update(self.raw.record())
        return made


class CsnRows:
    """The rows in ``--data.path=`` or else in ``data/raw/csn``, where they are put when they are fetched."""

    origin: Final = "codesearchnet-java-v2"

    def __init__(self, config: DataConfig) -> None:
        self._mirror, self._given = config.mirror, config.path
        self._place = named_path(config.path) if config.path else Path(config.root) / "raw" / "csn"
        self._count = RowCount()
        self.left_out: list[tuple[str, str]] = []  # line, error

    def inputs(self) -> list[Path]:
        """The raw files, fetched if there are none.

        Raises:
            UserError: there are none and no place has them.
        """
        if found := find_files(self._place):
            return found
        if self._given:
            raise UserError(
                f"--data.path={self._given} has neither java.zip nor java_*.jsonl.gz nor java/*.parquet of all splits: "
                "expected CodeSearchNet in one of these forms"
            )
        try:
            fetch_first(places_of_codesearchnet(self._mirror), self._place, WHAT)
        except DownloadError as error:
            raise UserError(
                f"{WHAT} cannot be fetched: {error}; put java.zip, its folder java/final/jsonl, or the Hub's "
                f"java/*.parquet into {self._place}, or give --data.path= or --data.mirror=; data set jdk needs no "
                "download"
            ) from error
        return find_files(self._place)

    def rows(self) -> Iterator[Row]:
        """The rows, training first.

        Raises:
            UserError: a file is damaged or has other fields than CodeSearchNet's.
        """
        self.left_out.clear()
        self._count = RowCount()
        for row in read_rows(self.inputs(), self.left_out):
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
