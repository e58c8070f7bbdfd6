"""CodeSearchNet's challenge: 99 queries, for which people graded functions from 0 to 3 (Husain et al. 2019, section 5).

``annotationStore.csv`` names the functions by their addresses. Those that are among CodeSearchNet's documented rows are
the pool; the others, which are in no row, count as not found. A function's grade is the mean of those it was given.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from data_prep.config import DataConfig
from data_prep.datasets.csn_published import Published
from data_prep.errors import UserError
from data_prep.files.text_rows import csv_rows
from data_prep.languages.identifiers import query_words
from data_prep.pipeline.published_rows import PublishedRow, pairs_of_rows
from data_prep.pipeline.stages import MadePairs, Stopwatch, listed, raw_folder
from data_prep.records import Pair, SplitName
from data_prep.sources.download import DownloadError, Remote
from data_prep.sources.places import Place, fetch_first

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

    def __init__(self, config: DataConfig) -> None:
        super().__init__(config)
        place = raw_folder(config, self.name)
        self._annotations = (place.parent if place.is_file() else place) / FILE

    def inputs(self) -> list[Path]:
        """CodeSearchNet's raw files and the grades, fetched if there are none.

        Raises:
            UserError: there are none and no place has them.
        """
        found = super().inputs()
        if not self._annotations.is_file():
            mirror = self._config.mirror.rstrip("/")
            remote = replace(ANNOTATIONS, url=f"{mirror}/{FILE}") if mirror else ANNOTATIONS
            try:
                folder = self._annotations.parent
                fetch_first([Place(mirror or "GitHub", {FILE: remote})], folder, "CodeSearchNet's grades")
            except DownloadError as error:
                raise UserError(
                    f"csn_99 needs resources/{FILE} of github.com/github/CodeSearchNet: {error}; put it into "
                    f"{self._annotations.parent}, or beside CodeSearchNet's files in the folder of --data.path="
                ) from error
        return [*found, self._annotations]

    def published_rows(self) -> Iterator[PublishedRow]:
        """The rows of the functions that have a grade."""
        paths = {path for grades in self._grades().values() for path in grades}
        for language in self.languages:
            spoken = self.spoken(language)
            for row in self.rows(language):
                if row.fields["url"].removeprefix(_HOST) in paths:
                    yield PublishedRow(row.fields, "test", is_query=False, language=spoken)

    def make(self, progress: bool) -> MadePairs:
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
        read = pairs_of_rows(rows, self.origin(), self._config, progress=progress)
        for row, (_, pair, _) in zip(rows, read, strict=True):
            path = row.fields["url"].removeprefix(_HOST)
            found.add(path)
            method = replace(pair.method, path=path)
            pairs += [Pair(method, query, query_words(query)) for query in of_path[path] or [""]]
        if not any(pair.query for pair in pairs):
            raise UserError(f"no function of {self._annotations} is among CodeSearchNet's rows: give all of a language")
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
        for number, row in csv_rows(self._annotations, lambda *why: self.left_out.append(why), needed):
            if row["Language"].lower() not in wanted:
                continue
            if row["Relevance"] not in ("0", "1", "2", "3"):
                raise UserError(
                    f"{self._annotations}:{number}: expected a grade from 0 to 3, not {row['Relevance']!r:.20}"
                )
            path = row["GitHubUrl"].removeprefix(_HOST)
            given.setdefault(row["Query"].lower(), {}).setdefault(path, []).append(float(row["Relevance"]))
        means = {
            query: {path: sum(each) / len(each) for path, each in paths.items()}
            for query, paths in sorted(given.items())
        }
        return {query: paths for query, paths in means.items() if any(paths.values())}
