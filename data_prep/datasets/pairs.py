"""Pairs of one's own: ``--data.path=`` names files of a query and a code a row, or a folder in BEIR's form.

Rows that say no split are divided by their group, else by clusters of near-duplicates, so that no code of the test
has a copy in training; at random where one cluster would swallow a part. Codes of the same text are one candidate of
the test, and all codes of a query are sought by it.
"""

import hashlib
import logging
import os
import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import numpy as np

from data_prep.config import DEFAULT_LANGUAGE, DataConfig
from data_prep.errors import UserError, one_line, shown
from data_prep.files.access import named_path
from data_prep.files.text_rows import BLANK
from data_prep.languages.pieces import languages_of
from data_prep.languages.registry import LANGUAGES, language_called
from data_prep.pipeline.code_rows import CodeRow, ReadPart, read_parts
from data_prep.pipeline.copies import Divided, SplitRow, divided_rows
from data_prep.pipeline.stages import MadePairs, Stopwatch, counted_reasons, listed
from data_prep.records import SPLITS
from data_prep.sources.pair_files import BeirSource, PairSource, is_beir, named_files
from data_prep.sources.pair_rows import UNKNOWN_LABEL, UNKNOWN_SPLIT, PairRow, query_text, read_columns
from data_prep.store.arrays import Int, Ragged, edges
from data_prep.store.split import Gathered, PairText, Split

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

    def make(self) -> MadePairs:
        """Build the pairs.

        Raises:
            UserError: no row is a pair, or they are too few.
            OSError: a file cannot be read, or a process was killed.
        """
        watch, read = Stopwatch(), _Read()
        self.left_out.clear()
        for rows, part in self._parts():
            self.left_out += [(row.where, why) for row, why in zip(rows, part.reasons, strict=True) if why]
            read.add([row for row, why in zip(rows, part.reasons, strict=True) if not why], part)
        watch.stage("extract")
        if not any(row.asked for row in read.rows):
            raise UserError(self._nothing())
        kept, pairs = read.without_copies()
        places, queries = [read.rows[row] for row in kept.tolist()], pairs.words["query"].take(kept)
        try:
            parts = divided_rows(places, read.identifiers().take(kept), queries, self._config)
        except UserError as error:
            told = counted_reasons(self.left_out, self._reasons(read, kept))
            raise UserError(f"--data.path={self._config.path}: {error}{told}") from error
        if parts.warning:
            _logger.warning("%s: %s", self.origin(), parts.warning)
        names = np.array(parts.names)
        splits = {name: pairs.take(kept[names == name]) for name in SPLITS}
        watch.stage("split")
        return MadePairs(splits, *self._about(read, kept, parts), watch.seconds)

    def _about(self, read: "_Read", kept: Int[np.ndarray, " pairs"], parts: Divided) -> tuple[dict[str, Any], str]:
        """What the manifest says, and the printed line."""
        reasons = self._reasons(read, kept)
        languages = Counter(read.languages[row] for row in kept.tolist())
        unparsed = sum(not read.parsed[row] and bool(read.languages[row]) for row in kept.tolist())
        counts: dict[str, Any] = {
            "rows": len(kept) + reasons.total(),
            "left_out": dict(reasons.most_common()),
            "not_parsed": unparsed,
            "languages": {name or "unknown": number for name, number in languages.most_common()},
            "pairs": len(kept),
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
        return about, source

    def _reasons(self, read: "_Read", kept: Int[np.ndarray, " pairs"]) -> Counter[str]:
        """Why rows are left out -> their number."""
        reasons = Counter(reason.partition(":")[0] for _, reason in self.left_out)
        reasons["same query and code"] += len(read.rows) - len(kept)
        return reasons

    def _parts(self) -> Iterator[tuple[list[PairRow], ReadPart]]:
        """Rows, and what is read of them."""
        rows = self._source.rows(lambda where, why: self.left_out.append((where, why)) if why != BLANK else None)
        first = [*islice(rows, 50 * SAMPLE)]
        among = self._languages or _languages_of(first)
        sent: deque[PairRow] = deque()

        def code_rows() -> Iterator[CodeRow]:
            for row in chain(first, rows):
                sent.append(row)
                yield _code_row(row)

        for part in read_parts(code_rows(), self.origin(), self._config, among=among):
            yield [sent.popleft() for _ in part.reasons], part

    def _nothing(self) -> str:
        reasons = Counter(reason.partition(":")[0] for _, reason in self.left_out)
        if not reasons:
            return f"--data.path={self._config.path} has no row"
        told = counted_reasons(self.left_out, reasons)
        first = max(reasons, key=reasons.__getitem__)
        names = next((why.partition(": ")[2] for _, why in self.left_out if why.startswith(f"{first}: ")), "")
        hint = f": a row has {names}{_YOURS}" if names and first in _MISSING else _HINTS.get(first, "")
        return f"--data.path={self._config.path} has no pair of a query and a code{told}{hint}"


_MISSING: Final = ("no query", "no code")
_YOURS: Final = ": name yours by --data.columns=query=COLUMN,code=COLUMN"
_HINTS: Final = {
    **dict.fromkeys(_MISSING, ": columns of other names are named by --data.columns=query=COLUMN,code=COLUMN"),
    UNKNOWN_LABEL: ": --data.columns=label= says that this column does not tell matches",
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


class _Read:
    """What is read of all rows."""

    def __init__(self) -> None:
        self.rows: list[SplitRow] = []
        self._pairs = Gathered()
        self.languages: list[str] = []
        self.parsed: list[bool] = []
        self._texts: list[tuple[bytes, bytes, str]] = []  # digests of query and code, and the code's identifier
        self._identifiers: list[Ragged] = []

    def add(self, rows: Sequence[PairRow], part: ReadPart) -> None:
        """Take a part, which was read of ``rows``."""
        self._pairs.add_part(part.pairs)
        self.languages += part.languages
        self.parsed += part.parsed
        self._identifiers.append(part.identifiers)
        for row, exact, query, code in zip(rows, part.exact, part.queries, part.codes, strict=True):
            self.rows.append(SplitRow(bool(row.query), row.split, row.group, exact))
            self._texts.append((query, code, row.code_id))

    def identifiers(self) -> Ragged:
        """The identifiers of each code."""
        lengths = np.concatenate([part.lengths for part in self._identifiers])
        return Ragged(np.concatenate([part.values for part in self._identifiers]), edges(lengths))

    def without_copies(self) -> tuple[Int[np.ndarray, " pairs"], Split]:
        """The rows without later ones of the same query and code, those of a test first.

        And all pairs, in which the same code has one place.
        """
        ranks = [("test", "valid", None, "train").index(row.split) for row in self.rows]
        places: dict[tuple[bytes, str], int] = {}
        seen: set[tuple[bytes, bytes, str, str]] = set()
        kept, moved = list[int](), dict[int, PairText]()
        for row in sorted(range(len(ranks)), key=ranks.__getitem__):
            asked, split, *_ = self.rows[row]
            query, code, code_id = self._texts[row]
            key = (query, code, code_id, "" if asked else split or "")
            if key not in seen:
                seen.add(key)
                kept.append(row)
                first = places.setdefault((code, code_id), row)
                if first != row:
                    to = self._pairs.text(first)
                    moved[row] = replace(
                        self._pairs.text(row), path=to.path, start_line=to.start_line, end_line=to.end_line
                    )
        return np.array(sorted(kept), np.int64), self._pairs.split(moved)
