"""CodeSearchNet's test as the field reads it, where every row counts.

``csn_filtered`` is the set of GraphCodeBERT (Guo et al. 2021, arXiv:2009.08366, section 4.1), which CodeBERT's and
UniXcoder's numbers in today's papers are on: lists of the rows (their addresses) for training, validation and test, and
of candidates from CodeSearchNet's validation and test rows. Each query ranks all candidates. ``csn_1000`` is
CodeSearchNet's own test (Husain et al. 2019, section 4): each query ranks the 1,000 methods of its group. Queries are
the summaries that CodeSearchNet's ``docstring_tokens`` are made of, in this project's words. Comments inside a method
are no words of its fields here, as GraphCodeBERT's preprocessing removes them. Methods that cannot be parsed have the
words of their identifiers.

``csn_99`` is CodeSearchNet's challenge: 99 queries, for which people graded functions from 0 to 3 (section 5).
``annotationStore.csv`` names the functions by their addresses. Those that are among CodeSearchNet's documented rows are
the pool; the others, which are in no row, count as not found. A function's grade is the mean of those it was given.
"""

import logging
import zipfile
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Final

from data_prep.config import DEFAULT_LANGUAGE, DataConfig
from data_prep.datasets.csn import Csn
from data_prep.errors import UserError
from data_prep.files.access import open_regular
from data_prep.files.text_rows import csv_rows
from data_prep.languages.identifiers import query_words
from data_prep.languages.registry import language as language_named
from data_prep.pipeline.code_rows import PublishedRow, pairs_of_rows, placed
from data_prep.pipeline.stages import MadePairs, Stopwatch, listed, raw_folder
from data_prep.records import SPLITS, Pair, SplitName
from data_prep.sources.codesearchnet_rows import Row
from data_prep.sources.download import DownloadError, Place, Remote, fetch_first

LISTS: Final = Remote(
    "https://raw.githubusercontent.com/microsoft/CodeBERT/c0de43d3aaf38e89290f1efb771f8de845e7a489/GraphCodeBERT/"
    "codesearch/dataset.zip",
    git_blob="e229c0247430feeb5a3c0f22ffd7acbe3b2165f4",
)
PARTS: Final = ("train", "valid", "test", "codebase")
SIZES: Final = {
    "python": {"train": 251_820, "valid": 13_914, "test": 14_918, "codebase": 43_827},
    "php": {"train": 241_241, "valid": 12_982, "test": 14_014, "codebase": 52_660},
    "ruby": {"train": 24_927, "valid": 1_400, "test": 1_261, "codebase": 4_360},
    "go": {"train": 167_288, "valid": 7_325, "test": 8_122, "codebase": 28_120},
    "javascript": {"train": 58_025, "valid": 3_885, "test": 3_291, "codebase": 13_981},
    "java": {"train": 164_923, "valid": 5_183, "test": 10_955, "codebase": 40_347},
}
"""Language -> rows of the lists, from GraphCodeBERT/codesearch/README.md."""
GROUP: Final = 1000
"""Methods that a query of CodeSearchNet's own test is ranked among."""

_logger = logging.getLogger(__name__)
_ARCHIVE: Final = "dataset.zip"
_SOURCE: Final = "GraphCodeBERT/codesearch/dataset.zip of github.com/microsoft/CodeBERT"
_MEMBER: Final = "dataset/{}/{}.txt"
_MOST: Final = 256 << 20  # bytes of a list


class Published(Csn):
    """A data set of all rows of some lists or splits."""

    reading: ClassVar[dict[str, int | bool]]  # evaluation.reading.TestReading
    further: ClassVar[tuple[str, Remote, str, str] | None] = None  # arguments of _fetched()

    def __init__(self, config: DataConfig) -> None:
        super().__init__(config)
        place = raw_folder(config, self.name)
        self._beside = place.parent if place.is_file() else place

    def inputs(self) -> list[Path]:
        """CodeSearchNet's raw files, and the further one of the test; fetched if there are none.

        Raises:
            UserError: there are none and no place has them.
        """
        return [*super().inputs(), *([self._fetched(*self.further)] if self.further else ())]

    def _fetched(self, name: str, remote: Remote, what: str, source: str) -> Path:
        """A further file that the test is made from, beside the raw files, fetched if it is not there.

        Raises:
            UserError: it cannot be had.
        """
        folder, mirror = self._beside, self._config.mirror.rstrip("/")
        if not (folder / name).is_file():
            remote = replace(remote, url=f"{mirror}/{name}") if mirror else remote
            try:
                fetch_first([Place(mirror or "GitHub", {name: remote})], folder, what)
            except DownloadError as error:
                raise UserError(
                    f"{self.name} needs {source}: {error}; put it into {folder}, or beside CodeSearchNet's files in "
                    "the folder of --data.path="
                ) from error
        return folder / name

    def origin(self) -> str:
        """The name and version of the data."""
        return f"{super().origin()}-{self.name.removeprefix('csn_')}"

    @abstractmethod
    def published_rows(self) -> Iterator[PublishedRow]:
        """The rows for each split."""

    def make(self) -> MadePairs:
        """Build the pairs; none is left out."""
        watch, unparsed = Stopwatch(), 0
        self.left_out.clear()
        splits: dict[SplitName, list[Pair]] = {name: [] for name in SPLITS}
        for split, pair, is_parsed in pairs_of_rows(self.published_rows(), self.origin(), self._config):
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


class CsnFiltered(Published):
    """GraphCodeBERT's filtered CodeSearchNet; Java: 164,923 and 5,183 pairs, 10,955 queries over 40,347 methods."""

    name = "csn_filtered"
    reading: ClassVar[dict[str, int | bool]] = {"candidates_without_query": True}
    further = (_ARCHIVE, LISTS, "GraphCodeBERT's lists", _SOURCE)

    def published_rows(self) -> Iterator[PublishedRow]:
        """The rows of each list.

        Raises:
            UserError: the lists are damaged, or rows of them are missing.
        """
        for language in self.languages:
            yield from self._of_language(language)

    def _of_language(self, language: str) -> Iterator[PublishedRow]:
        spoken = self.spoken(language)
        lists = {part: read_list(self._beside / _ARCHIVE, part, spoken) for part in PARTS}
        sizes = {part: size for part, size in SIZES[spoken].items() if part != "codebase"}
        if other := [f"{part} {len(lists[part]):,}" for part, size in sizes.items() if len(lists[part]) != size]:
            _logger.warning("GraphCodeBERT's lists have other sizes here (%s): not comparable", ", ".join(other))
        found = Counter[str]()
        for row in self.rows(language):
            yield from _listed_rows(row, lists, found, spoken)
        for part in ("train", "valid", "test"):
            if found[part] < len(lists[part]):
                missing = len(lists[part]) - found[part]
                raise UserError(
                    f"{missing:,} of the {len(lists[part]):,} rows of {_MEMBER.format(spoken, part)} are not in "
                    f"CodeSearchNet's files: both have to be of the whole {language_named(spoken).title} part"
                )


class Csn1000(Published):
    """CodeSearchNet's own test; Java: the 26,909 test rows, each query over the 1,000 methods of its group."""

    name = "csn_1000"
    reading: ClassVar[dict[str, int | bool]] = {"group": GROUP}

    def published_rows(self) -> Iterator[PublishedRow]:
        """The test rows."""
        for language in self.languages:
            spoken = self.spoken(language)
            rows = (row for row in self.rows(language) if row.split == "test")
            yield from (PublishedRow(row.fields, "test", language=spoken) for row in rows)


def read_list(path: Path, part: str, language: str = DEFAULT_LANGUAGE) -> frozenset[str]:
    """The addresses in a list of ``dataset.zip``, one a line.

    Raises:
        UserError: the file is no such archive.
    """
    try:
        with open_regular(path) as packed, zipfile.ZipFile(packed) as archive:
            member = archive.getinfo(_MEMBER.format(language, part))
            if member.file_size > _MOST or member.flag_bits & 1:
                raise UserError(f"{path} is refused: its list {member.filename} is encrypted or far too long")
            addresses = frozenset(archive.read(member).decode().split())
    except (OSError, KeyError, zipfile.BadZipFile, UnicodeDecodeError, EOFError, NotImplementedError) as error:
        what = " ".join(str(error).split())
        raise UserError(f"{path} is not GraphCodeBERT's dataset.zip ({what}): get it again") from error
    if not addresses:
        raise UserError(f"{path} has no address in {_MEMBER.format(language, part)}: get it again")
    return addresses


def _listed_rows(
    row: Row, lists: dict[str, frozenset[str]], found: Counter[str], language: str
) -> Iterator[PublishedRow]:
    """The uses of a row: a pair of training or validation; a candidate of the test, and then perhaps a query."""
    address = row.fields["url"]
    for split in ("train", "valid"):
        if row.split == split and address in lists[split]:
            found[split] += 1
            yield PublishedRow(row.fields, row.split, language=language)
    if row.split != "train" and address in lists["codebase"]:
        is_query = address in lists["test"]
        found["test"] += is_query
        yield PublishedRow(row.fields, "test", is_query, language)


ANNOTATIONS: Final = Remote(
    "https://raw.githubusercontent.com/github/CodeSearchNet/106e827405c968597da938f6b373d30183918869/resources/"
    "annotationStore.csv",
    git_blob="98beff4e3dca397ca4f7084e584874de4e6c7bcf",
)
FILE: Final = "annotationStore.csv"
_HOST: Final = "https://github.com/"


class Csn99(Published):
    """CodeSearchNet's 99 queries with people's grades; their NDCG is that of CodeSearchNet's script."""

    name = "csn_99"
    further = (FILE, ANNOTATIONS, "CodeSearchNet's grades", f"resources/{FILE} of github.com/github/CodeSearchNet")

    def published_rows(self) -> Iterator[PublishedRow]:
        """The rows of the functions that have a grade."""
        paths = {path for grades in self._grades().values() for path in grades}
        for language in self.languages:
            spoken = self.spoken(language)
            for row in self.rows(language):
                if row.fields["url"].removeprefix(_HOST) in paths:
                    yield PublishedRow(row.fields, "test", is_query=False, language=spoken)

    def make(self) -> MadePairs:
        """Build a pair for each query and function that is relevant for it, and the other functions.

        Raises:
            UserError: a file is damaged, or no function with a grade is among the rows.
        """
        watch = Stopwatch()
        self.left_out.clear()
        grades, pairs, found = self._grades(), list[Pair](), set[str]()
        of_path: dict[str, list[str]] = {}
        for query, each in grades.items():
            for path, grade in each.items():
                of_path.setdefault(path, []).extend([query] * (grade > 0))
        rows = [*self.published_rows()]
        read = pairs_of_rows(rows, self.origin(), self._config)
        for row, (_, pair, _) in zip(rows, read, strict=True):
            path = row.fields["url"].removeprefix(_HOST)
            found.add(path)
            method = replace(pair.method, path=path)
            pairs += [Pair(method, query, query_words(query)) for query in of_path[path] or [""]]
        if not any(pair.query for pair in pairs):
            raise UserError(
                f"no function of {self._beside / FILE} is among CodeSearchNet's rows: give all of a language"
            )
        pairs.sort(key=lambda pair: (pair.method.path, pair.query_text))
        watch.stage("extract")
        splits: dict[SplitName, list[Pair]] = {"train": [], "valid": [], "test": pairs}
        counts = {"pairs": len(pairs), "graded": len(of_path), "graded_in_rows": len(found)}
        manifest: dict[str, Any] = {"counts": counts, "broken_files": listed(self.left_out), "missing_files": []}
        manifest |= {"test_reading": {"several": True, "grades": grades}, **self.record()}
        source = f"{len(found):,} of {len(of_path):,} graded functions, the others are in no row; {len(grades)} queries"
        return MadePairs(splits, manifest, source, watch.seconds)

    def _grades(self) -> dict[str, dict[str, float]]:
        """Query -> path of a function -> mean grade, of the languages asked for; queries without a relevant one not.

        Raises:
            UserError: the file is damaged.
        """
        wanted, given = {self.spoken(language) for language in self.languages}, dict[str, dict[str, list[float]]]()
        needed = ("Language", "Query", "GitHubUrl", "Relevance")
        for number, row in csv_rows(self._beside / FILE, lambda *why: self.left_out.append(why), needed):
            if row["Language"].lower() not in wanted:
                continue
            if row["Relevance"] not in ("0", "1", "2", "3"):
                raise UserError(
                    f"{self._beside / FILE}:{number}: expected a grade from 0 to 3, not {row['Relevance']!r:.20}"
                )
            path = row["GitHubUrl"].removeprefix(_HOST)
            given.setdefault(row["Query"].lower(), {}).setdefault(path, []).append(float(row["Relevance"]))
        means = {
            query: {path: sum(each) / len(each) for path, each in paths.items()}
            for query, paths in sorted(given.items())
        }
        return {query: paths for query, paths in means.items() if any(paths.values())}
