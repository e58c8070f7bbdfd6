"""Pairs of one's own: ``--data.path=`` names files of a query and a code a row, or a folder in BEIR's form.

Rows that say no split are divided by their group, else by clusters of near-duplicates, so that no code of the test
has a copy in training; at random where one cluster would swallow a part. Codes of the same text are one candidate of
the test, and all codes of a query are sought by it.
"""

import hashlib
import logging
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from data_prep.bounds import shown
from data_prep.config import DEFAULT_LANGUAGE, DataConfig
from data_prep.errors import UserError, one_line
from data_prep.files.named_paths import named_path
from data_prep.files.text_rows import BLANK
from data_prep.languages.pieces import languages_of
from data_prep.languages.registry import LANGUAGES, language_called
from data_prep.pipeline.code_rows import CodeRow, ReadRow, read_rows
from data_prep.pipeline.pair_splits import Divided, divided_rows
from data_prep.pipeline.splits import divided
from data_prep.pipeline.stages import MadePairs, Stopwatch, counted_reasons, listed
from data_prep.records import SPLITS, Method, Pair, SplitName
from data_prep.sources.beir_files import BeirSource, is_beir
from data_prep.sources.pair_columns import read_columns
from data_prep.sources.pair_files import (
    UNKNOWN_SPLIT,
    PairRow,
    PairSource,
    named_files,
    query_text,
)

SAMPLE: Final = 60
"""Rows without a language by which the languages of all are found."""
_LEAST_SHARE: Final = 0.05
"""Of that sample, from which a language counts."""
_UNWANTED: Final = re.compile(r"[^a-z0-9]+")
_logger = logging.getLogger(__name__)


class Pairs:
    """Your own pairs, of JSON Lines, JSON, CSV, TSV, Parquet or BEIR files; any language."""

    languages: tuple[str, ...] = ()
    """Those that rows without one may have; of any if there are none."""

    def __init__(self, config: DataConfig) -> None:
        """Find the files.

        Raises:
            UserError: there are none, or an option is wrong.
        """
        if not config.path:
            raise UserError("data set pairs needs --data.path=, files of pairs or a folder of them: see docs/data.md")
        if config.has_statements:
            raise UserError("pairs has no statement trees: leave out --data.profile and --data.statements")
        self._config = config
        place = named_path(config.path)
        columns = read_columns(config.columns)
        self._source = (
            BeirSource(place, columns)
            if is_beir(place)
            else PairSource(named_files(config.path), columns, config.split != "random")
        )
        self._languages = self._named_languages()
        files = [str(path) for path in self.inputs()]
        slug = _UNWANTED.sub("-", self._name().lower()).strip("-")[:40] or "files"
        told = repr((files, columns, config.language, config.split, config.path)).encode(errors="surrogatepass")
        self.cache_name = f"pairs-{slug}-{hashlib.sha256(told).hexdigest()[:8]}"
        self.left_out: list[tuple[str, str]] = []  # file:line, why it is no pair

    def inputs(self) -> list[Path]:
        """The files."""
        named = self._config.columns
        mapping = [named_path(named)] if named and "=" not in named else []
        return [*(file.path for file in self._source.files), *mapping]

    def origin(self) -> str:
        """``pairs`` and the name of the file or folder."""
        return f"pairs of {self._name()}"

    def _name(self) -> str:
        paths = [file.path for file in self._source.files]
        place = paths[0] if len(paths) == 1 else Path(os.path.commonpath(paths))
        return one_line(place.name.replace("@", "+"))

    def _named_languages(self) -> tuple[str, ...]:
        """Those of rows that say none, as far as an option tells."""
        named = self._config.language
        if named in (DEFAULT_LANGUAGE, "all"):
            return ()
        found = language_called(named)
        if found not in LANGUAGES:
            _logger.warning("no parser reads %s: its rows have the words of their identifiers only", shown(named))
        return (found if found in LANGUAGES else "",)

    def make(self, progress: bool) -> MadePairs:
        """Build the pairs.

        Raises:
            UserError: no row is a pair, or they are too few.
            OSError: a file cannot be read, or a process was killed.
        """
        watch, rows, read = Stopwatch(), list[PairRow](), list[ReadRow]()
        self.left_out.clear()
        for row, found in self._read(progress):
            if isinstance(found, str):
                self.left_out.append((row.where, found))
            else:
                asked = row.query[:1]  # of its texts a split only asks whether there are any
                rows.append(PairRow("", asked, "", row.split, group=row.group, code_id=row.code_id))
                read.append(found)
        watch.stage("extract")
        if not any(row.query for row in rows):
            raise UserError(self._nothing())
        rows, read, copies = _without_copies(rows, read)
        prints, queries = [each.fingerprint for each in read], [each.pair.query for each in read]
        parts = divided_rows(rows, prints, queries, self._config)
        if parts.warning:
            _logger.warning("%s: %s", self.origin(), parts.warning)
        splits = divided([each.pair for each in read], parts.names)
        watch.stage("split")
        return self._made(splits, read, parts, copies, watch)

    def _made(
        self,
        splits: dict[SplitName, list[Pair]],
        read: Sequence[ReadRow],
        parts: Divided,
        copies: int,
        watch: Stopwatch,
    ) -> MadePairs:
        reasons = Counter(reason.partition(":")[0] for _, reason in self.left_out)
        reasons["same query and code"] += copies
        unparsed = sum(bool(each.language) and not each.is_parsed for each in read)
        languages = Counter(each.language or "unknown" for each in read)
        counts: dict[str, Any] = {
            "rows": len(read) + reasons.total(),
            "left_out": dict(reasons.most_common()),
            "not_parsed": unparsed,
            "languages": dict(languages.most_common()),
            "pairs": len(read),
        }
        about = {
            "counts": counts,
            "broken_files": listed(self.left_out),
            "missing_files": [],
            "split_by": parts.by,
            "test_reading": {"several": True},
        }
        source = f"{counts['rows']:,} rows{counted_reasons(self.left_out, reasons)}, split {parts.by}"
        source += f"; {unparsed:,} do not parse and have words only" if unparsed else ""
        return MadePairs(splits, about, source, watch.seconds)

    def _read(self, progress: bool) -> Iterator[tuple[PairRow, ReadRow | str]]:
        """Each row with its pair, or why there is none."""
        rows = self._source.rows(lambda where, why: self.left_out.append((where, why)) if why != BLANK else None)
        first = [*islice(rows, 50 * SAMPLE)]
        among = self._languages or _languages_of(first)
        sent: list[PairRow] = []

        def code_rows() -> Iterator[CodeRow]:
            for row in chain(first, rows):
                sent.append(row)
                yield _code_row(row)

        found = read_rows(code_rows(), self.origin(), self._config, among=among, progress=progress)
        for number, each in enumerate(found):
            yield sent[number], each
            sent[number] = _READ

    def _nothing(self) -> str:
        reasons = Counter(reason.partition(":")[0] for _, reason in self.left_out)
        told = counted_reasons(self.left_out, reasons)
        first = max(reasons, key=reasons.__getitem__, default="no query")
        return f"--data.path={self._config.path} has no pair of a query and a code{told}{_HINTS.get(first, '')}"


_READ: Final = PairRow("", "", "")
_COLUMNS: Final = ": columns of other names are named by --data.columns=query=COLUMN,code=COLUMN"
_HINTS: Final = {
    "no query": _COLUMNS,
    "no code": _COLUMNS,
    UNKNOWN_SPLIT: f": expected {', '.join(SPLITS)}; --data.split=random divides all anew",
}
"""Why most rows are no pairs -> what to do."""


def _languages_of(rows: Sequence[PairRow]) -> tuple[str, ...]:
    """The languages of the rows that say none, by a sample."""
    silent = [row.code for row in rows if not row.language]
    return languages_of(silent[:: max(1, len(silent) // SAMPLE)][:SAMPLE], _LEAST_SHARE)


def _code_row(row: PairRow) -> CodeRow:
    called = language_called(row.language)
    name = called if called in LANGUAGES else "" if row.language else None
    file, _, number = row.where.rpartition(":")
    path = row.path or f"{Path(file).name}/{row.id or number}"
    return CodeRow(query_text(row.query), row.code, name, row.split, path, row.line, row.name, row.licence)


def _without_copies(rows: Sequence[PairRow], read: Sequence[ReadRow]) -> tuple[list[PairRow], list[ReadRow], int]:
    """The rows without later ones of the same query and code, those of a test first; the same code has one place."""
    order = sorted(range(len(rows)), key=lambda row: ("test", "valid", None, "train").index(rows[row].split))
    places: dict[tuple[str, str], Pair] = {}
    seen: set[tuple[str, str, str, str]] = set()
    kept: dict[int, ReadRow] = {}
    for row in order:
        pair = read[row].pair
        first = places.setdefault((pair.method.source, rows[row].code_id), pair).method
        key = (pair.query_text, pair.method.source, rows[row].code_id, "" if pair.query else (rows[row].split or ""))
        if key not in seen:
            seen.add(key)
            kept[row] = read[row] if first is pair.method else replace(read[row], pair=_moved(pair, first))
    left = sorted(kept)
    return [rows[row] for row in left], [kept[row] for row in left], len(rows) - len(left)


def _moved(pair: Pair, to: Method) -> Pair:
    """``pair`` with the place of the same code in another row."""
    return replace(pair, method=replace(pair.method, path=to.path, start_line=to.start_line, end_line=to.end_line))
