"""CodeSearchNet with its official splits (Husain et al. 2019, arXiv:1909.09436).

``--data.language`` names one of its six languages, or all. The rows, methods with their docstrings already without
comment marks, come from an archive or from Parquet files (data_prep/sources/codesearchnet_rows.py). In ``csn`` each
Java method is wrapped in a class, below its comment, and read like any Java file; a function of another language is
parsed by itself. The prepared pairs do not depend on the form or on the order of the rows.
"""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Final

from data_prep.config import DEFAULT_LANGUAGE, DataConfig
from data_prep.errors import UserError
from data_prep.languages.comments import first_sentence
from data_prep.languages.registry import language as language_named
from data_prep.languages.registry import language_called, language_of
from data_prep.pipeline.code_rows import CodeRow, code_row, placed, read_rows
from data_prep.pipeline.duplicates import Distinct, drop_duplicates
from data_prep.pipeline.filters import Candidate, reason_to_drop
from data_prep.pipeline.java_extraction import wrap
from data_prep.pipeline.pairs import JavaSources
from data_prep.pipeline.stages import Extracted, MadePairs, raw_folder
from data_prep.records import SPLITS, Pair, SourceFile
from data_prep.sources.codesearchnet_rows import (
    ROWS,
    Row,
    RowCount,
    find_files,
    language_in,
    place_of,
    places_of_codesearchnet,
)
from data_prep.sources.codesearchnet_rows import read_rows as read_lines
from data_prep.sources.download import DownloadError, fetch_first

LANGUAGES: Final = tuple(ROWS)
_logger = logging.getLogger(__name__)


def languages_of(name: str) -> tuple[str, ...]:
    """The languages of CodeSearchNet that ``--data.language`` names.

    Raises:
        UserError: it has no such language.
    """
    found = language_called(name)
    if found not in (*LANGUAGES, "all"):
        raise UserError(f"--data.language={name}: CodeSearchNet has {', '.join(LANGUAGES)}, or all")
    return LANGUAGES if found == "all" else (found,)


class Csn(JavaSources):
    """CodeSearchNet, official splits; Java: 454,451, 15,328 and 26,909 methods before our filters, 1 GB to fetch."""

    name: ClassVar[str] = "csn"

    def __init__(self, config: DataConfig) -> None:
        """Find the languages.

        Raises:
            UserError: CodeSearchNet has no such language.
        """
        super().__init__(config)
        self.languages = languages_of(config.language)
        self._what = config.language if len(self.languages) > 1 else self.languages[0]
        self.cache_name = self.name if self._what == DEFAULT_LANGUAGE else f"{self.name}-{self._what}"
        self._place = raw_folder(config, "csn")
        self._spoken: dict[str, str] = {}
        self._counts = {language: RowCount() for language in self.languages}

    def inputs(self) -> list[Path]:
        """The raw files, fetched if there are none.

        Raises:
            UserError: there are none and no place has them.
        """
        return [file for language in self.languages for file in self._row_files(language)]

    def _row_files(self, language: str) -> list[Path]:
        if found := find_files(self._place, language):
            return found
        if self._config.path:
            raise UserError(
                f"--data.path={self._config.path} has neither {language}.zip nor {language}_*.jsonl.gz or .jsonl nor "
                f"{language}/*.parquet of all splits: expected CodeSearchNet in one of these forms"
            )
        what = f"CodeSearchNet ({language_named(language).title})"
        folder = self._place if language == DEFAULT_LANGUAGE else self._place / language
        try:
            fetch_first(places_of_codesearchnet(self._config.mirror, language), folder, what)
        except DownloadError as error:
            raise UserError(
                f"{what} cannot be fetched: {error}; put {language}.zip, its folder {language}/final/jsonl, or the "
                f"Hub's {language}/*.parquet into {self._place}, or give --data.path= or --data.mirror=; data set jdk "
                "needs no download"
            ) from error
        return find_files(self._place, language)

    def origin(self) -> str:
        """The name and version of the data."""
        what = self.spoken(self.languages[0]) if len(self.languages) == 1 else self._what
        return f"codesearchnet-{what}-v2"

    def java_files(self) -> Iterator[SourceFile]:
        """Each Java method wrapped in a separate class, training first.

        Raises:
            UserError: a file is damaged or has other fields than CodeSearchNet's.
        """
        rows = self.rows(DEFAULT_LANGUAGE) if self.spoken(DEFAULT_LANGUAGE) == DEFAULT_LANGUAGE else iter(())
        return (wrap(row.fields, row.split, self.origin()) for row in rows)

    def extracted(self) -> Extracted:
        """The methods of all languages that pass the filters, Java's by their files; by split and place."""
        self.left_out.clear()
        found = super().extracted() if DEFAULT_LANGUAGE in self.languages else Extracted()
        for language in self.languages:
            if self.spoken(language) != DEFAULT_LANGUAGE:
                found.add(self._functions(language))
        found.pairs.sort(key=_place_in_corpus)
        return found

    def spoken(self, language: str) -> str:
        """The language of the files for ``language``: another one if there are no others."""
        if language not in self._spoken:
            first = self._row_files(language)[0]
            place = first.relative_to(self._place) if self._place.is_dir() else Path(first.name)
            self._spoken[language] = language_in(place) or language
        return self._spoken[language]

    def _functions(self, language: str) -> Extracted:
        """The functions of another language than Java that pass the filters."""
        found, spoken = Extracted(), language_named(self.spoken(language))
        rows: list[Row] = []

        def code_rows() -> Iterator[CodeRow]:
            for row in self.rows(language):
                rows.append(replace(row, fields={**row.fields, "code": ""}))
                yield code_row(row.fields, spoken.name, row.split, first_sentence(row.fields["docstring"]))

        read = read_rows(code_rows(), self.origin(), self._config)
        for number, each in enumerate(read):
            found.files += 1
            found.methods += 1
            if isinstance(each, str):
                found.dropped["short documentation"] += 1
                continue
            pair, is_parsed = each
            if not is_parsed:
                found.broken.append((pair.method.path, "does not parse: has words only"))
            method, doc = pair.method, rows[number].fields["docstring"]
            place = (method.path, method.name, method.kind, method.end_line - method.start_line + 1)
            candidate = Candidate(*place, doc, pair.query_text, pair.query)
            common = method.name in spoken.common_names
            reason = "standard method" if common else reason_to_drop(candidate, self._config)
            if reason:
                found.dropped[reason] += 1
            else:
                found.pairs.append(pair)
        return found

    def distinct(self, pairs: Sequence[Pair]) -> Distinct:
        """The pairs without copies, each language apart."""
        if len(self.languages) == 1:
            return super().distinct(pairs)
        groups: dict[str, list[Pair]] = {}
        for pair in pairs:
            found = language_of(pair.method.path)
            groups.setdefault(found.name if found else "", []).append(pair)
        parts = [drop_duplicates(group, self._config.near_duplicate) for group in groups.values()]
        dropped = sum((Counter(part.dropped) for part in parts), Counter())
        return Distinct([pair for part in parts for pair in part.pairs], dict(dropped))

    def make(self) -> MadePairs:
        """Build the pairs; the manifest also has the number of rows, their checksum and where they were fetched."""
        made = super().make()
        made.manifest.update(self.record())
        return made

    def rows(self, language: str = DEFAULT_LANGUAGE) -> Iterator[Row]:
        """The rows of a language, training first.

        Raises:
            UserError: a file is damaged or has other fields than CodeSearchNet's.
        """
        count = self._counts[language] = RowCount()
        for row in read_lines(self._row_files(language), self.left_out):
            count.add(row)
            yield row
        self._compare(language, count)

    def record(self) -> dict[str, Any]:
        """Number and checksum of the rows that were read, and their place, for a manifest."""
        whole = RowCount()
        for count in self._counts.values():
            whole.rows.update(count.rows)
            whole.total = (whole.total + count.total) % (1 << 256)
        places = (place_of(self._place / name) for name in ("", *self.languages))
        return {**whole.record(), "fetched_from": next(filter(None, places), "")}

    def _compare(self, language: str, count: RowCount) -> None:
        """Warn if there are other numbers of rows than CodeSearchNet has."""
        published = ROWS[self.spoken(language)]
        if dict(count.rows) != published:
            has = ", ".join(f"{split} {count.rows[split]:,}" for split in SPLITS)
            known = ", ".join(f"{split} {published[split]:,}" for split in SPLITS)
            title = language_named(self.spoken(language)).title
            _logger.warning(
                "CodeSearchNet (%s) has %s rows here, but %s as published: not comparable", title, has, known
            )


def _place_in_corpus(pair: Pair) -> tuple[Any, ...]:
    """Sort key of a pair: its split and its place."""
    split = pair.method.split
    return SPLITS.index(split) if split else len(SPLITS), *placed(pair)
