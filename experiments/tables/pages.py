"""Pages and figures of the results saved in ``experiments/results/``, and the table of README: ``bash run.sh table``.

A page is one entry of :func:`_pages`: its name, and a function of the saved results. All results go through
:class:`Saved`, so that each is read once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.files.writing import write_atomically
from data_prep.installation import INSTALLED
from evaluation.benchmark import BenchmarkResult
from evaluation.result_store import ResultStore
from evaluation.results import Result
from evaluation.speed import Row
from experiments.context.gains import pictures as context_pictures
from experiments.context.page import FOLDER as CONTEXTS
from experiments.context.page import NAME as SCOTCH
from experiments.context.page import page as context_page
from experiments.context.results import ContextResult, load_results
from experiments.gencodesearchnet.report import FOLDER as GENCODESEARCHNET
from experiments.gencodesearchnet.report import benchmark_page, difference_picture, kept_benchmarks
from experiments.gencodesearchnet.rows import merged
from experiments.posts.pages import folders_of, summaries
from experiments.recipes.config import REPOSITORY
from experiments.recipes.results_folder import RESULTS
from experiments.speed.report import newest_rows
from experiments.tables.ablation_checks import calibration_section, control_section
from experiments.tables.ablations import ABLATIONS, GRID, Found, ablation_page, ablation_picture, found_by, overview
from experiments.tables.answers import Answers, answers_of
from experiments.tables.answers_page import WHERE, answers_page, budgets, tree_note, where_section
from experiments.tables.answers_pictures import answers_pictures
from experiments.tables.cells import Cell, saved_results
from experiments.tables.comparison_pictures import drawn_kinds, kind_pictures
from experiments.tables.comparison_tables import Clusters, Named, cost, named, tables
from experiments.tables.graph_grid import grid_text
from experiments.tables.language_table import NAME as LANGUAGES
from experiments.tables.language_table import language_page
from experiments.tables.main_table import (
    CELLS,
    README_ALSO,
    README_ROWS,
    README_TESTS,
    REFERENCES,
    best_trials_section,
    shown,
)
from experiments.tables.published import published_page
from experiments.tables.query_kinds import (
    BY_OVERLAP,
    QUERIES,
    WHY,
    KnownPool,
    are_joined,
    clusters,
    joined,
    joined_facts,
    kind_table,
    nearest_table,
    saved_facts,
)
from experiments.tables.readme_table import OVERVIEW, overview_leads, overview_picture, with_tables
from experiments.tables.tuning import TRIED, cells_of, encoder_trials, tuning_page
from experiments.terminal.console import say

README: Final = REPOSITORY / "README.md"
FOLDERS: Final = ("main", "ablations", "calibration", "tuning", LANGUAGES, GENCODESEARCHNET, QUERIES, CONTEXTS)
"""Whose results are put into two files each, and those of each corpus of posts."""
POSTS: Final = "posts"
_LOADS: Final = "Times were taken under different loads and compare no models."


@dataclass(frozen=True)
class Saved:
    """The results in a folder such as ``experiments/results/``, as the pages read them."""

    folder: Path
    own: bool = False  # whether they are of whatever options: someone's own

    @cached_property
    def main(self) -> list[tuple[str, Result]]:
        """The main table, with the labels of its rows; of splits that count as one."""
        return joined(self.as_saved)

    @cached_property
    def as_saved(self) -> list[tuple[str, Result]]:
        """The main table, with the fingerprints of the splits as they were saved."""
        cells = [cell for part in CELLS.values() for cell in part]
        return [(shown(label), result) for label, result in self._of(cells, "main")]

    @cached_property
    def readme(self) -> Named:
        """The rows of README's table."""
        return named(self.main, {**README_ALSO, **README_ROWS}, README_TESTS)

    @cached_property
    def known(self) -> list[KnownPool]:
        """The rows of the main page on each test set of whose queries facts are saved."""
        return [(each.pool, [*each.rows.values()], each.facts) for each in self.answers.values() if each.facts]

    @cached_property
    def ablations(self) -> list[Found]:
        """The findings of the ablations for which the base model and a variant have saved results."""
        found = (found_by(name, self._of(each.cells, "ablations"), self.clusters) for name, each in ABLATIONS.items())
        return [each for each in found if each]

    @cached_property
    def clusters(self) -> Clusters:
        """The files of the queries of each split."""
        return clusters(self.folder)

    @cached_property
    def benchmarks(self) -> list[BenchmarkResult]:
        """The results on GenCodeSearchNet."""
        return kept_benchmarks(self.folder)

    @cached_property
    def contexts(self) -> list[ContextResult]:
        """The tests with contexts."""
        return load_results(self.folder / CONTEXTS)

    @cached_property
    def answers(self) -> Mapping[str, Answers]:
        """What answers the questions of the main page, by test set."""
        return answers_of(self.main, joined_facts(saved_facts(self.folder).values()), self.clusters)

    @cached_property
    def times(self) -> Sequence[Row]:
        """The models' times."""
        return newest_rows(self.folder, "models")

    @cached_property
    def trials(self) -> list[tuple[str, Result]]:
        """The trials on validation, with their labels."""
        return self._of((cell for name in TRIED for cell in cells_of(name)), "tuning")

    def main_page(self) -> str:
        """The answers; settings and notes are those of this repository's runs."""
        chosen = "" if self.own else budgets(*encoder_trials(dict(self.trials)))
        why = WHY if are_joined(self.as_saved) else ""
        return answers_page(self.answers, chosen, self.times, tree_note(self.main), why, self._cost)

    @property
    def _cost(self) -> str:
        return f"{cost(result for _, result in self.main)} {_LOADS}"

    def all_page(self) -> str:
        """All rows and columns."""
        if not self.main:
            return ""
        text = tables(self.main, REFERENCES, self.clusters, whole=True)
        why = f"{WHY}\n\n" if are_joined(self.as_saved) else ""
        return f"# All models\n\n{self._cost}\n\n{why}{text}\n"

    def where_page(self) -> str:
        """The main page's differences by kind of query, and counting copies."""
        by_kind, by_overlap = ([*filter(None, map(table, self.known))] for table in (kind_table, nearest_table))
        parts = [
            "# Where are the models ahead?",
            *([BY_OVERLAP, *by_overlap] if by_overlap else []),
            WHERE,
            *(["## All queries", *where_section(self.answers)] if self.answers else []),
            "## By kind of query",
            *by_kind,
            *(f"![Ranks and differences on {name}](main-{name}-where.png)" for name in drawn_kinds(self.known)),
        ]
        return "\n\n".join(filter(None, parts)) + "\n" if by_kind else ""

    def tuning_page(self) -> str:
        """The settings compared on validation, and the best ones on test splits."""
        page, tested = tuning_page(self.trials), best_trials_section(self.main)
        return "\n\n".join(filter(None, (page.rstrip(), tested))) + "\n" if page or tested else ""

    def overview(self) -> str:
        """All ablations, and what says how far their graph and their test can be trusted."""
        sections = filter(None, (control_section(self.folder), calibration_section(self.folder)))
        return overview(self.ablations, [*sections])

    def _of(self, cells: Iterable[Cell], page: str) -> list[tuple[str, Result]]:
        return saved_results(cells, self.folder / page, None if self.own else {})


def write_tables(readme: Path = README, results: Path = RESULTS) -> None:
    """Write all tables and figures from the saved results.

    Raises:
        UserError: this program runs from a wheel, or a result cannot be read.
    """
    if INSTALLED:
        raise UserError("tables are written into a checkout of the repository: clone it, and run this there")
    saved = _folded(Saved(results))
    write_atomically(readme, with_tables(readme.read_text(encoding="utf-8"), saved.readme, saved.answers))
    files = _write_pages(saved)
    say(f"{', '.join((readme.name, *files))}: of {len(saved.main)} results of the main table")


def write_own_tables(results: Path) -> None:
    """Write the same tables and figures of results of one's own, beside them.

    Raises:
        UserError: the folder has no results, or one cannot be read.
    """
    if not any((results / name).is_dir() for name in (*FOLDERS, POSTS)):
        raise UserError(
            f"{results} has no saved results: expected one of the folders {', '.join(FOLDERS)} in it, as `bash run.sh "
            "benchmark PART --out=DIR` writes them"
        )
    files = _write_pages(_folded(Saved(results, own=True)))
    say(f"{results}: {', '.join(files)}")


def _folded(saved: Saved) -> Saved:
    for folder in (*map(saved.folder.joinpath, FOLDERS), *folders_of(saved.folder / POSTS)):
        ResultStore(folder).fold()
    return saved


def _write_pages(saved: Saved) -> list[str]:
    """Write the pages and pictures into their folder; returns their names."""
    files: dict[str, str | bytes] = {**dict(pages(saved)), **dict(pictures(saved))}
    for name, content in files.items():
        (saved.folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(saved.folder / name, content)
    return [*files]


def pages(saved: Saved) -> Iterator[tuple[str, str]]:
    """The Markdown files of those pages that have results, by their names in the folder."""
    found = {
        "published": "" if saved.own else published_page(),
        "main": saved.main_page(),
        "main-all": saved.all_page(),
        "main-where": saved.where_page(),
        "tuning": saved.tuning_page(),
        LANGUAGES: language_page(saved.folder, own=saved.own),
        GENCODESEARCHNET: benchmark_page(saved.benchmarks),
        SCOTCH: context_page(saved.contexts),
        "ablations": saved.overview(),
        **{f"ablations/{each.name}": ablation_page(each) for each in saved.ablations},
        f"ablations/{GRID}": grid_text(saved.folder, None if saved.own else {}),
    }
    yield from ((f"{name}.md", text) for name, text in found.items() if text)
    yield from ((f"{POSTS}/{name}", text) for name, text in summaries(saved.folder / POSTS))


def pictures(saved: Saved) -> Iterator[tuple[str, bytes]]:
    """The figures, by their names in the folder."""
    yield from ((f"main-{dataset}-where.png", png) for dataset, png in kind_pictures(saved.known).items())
    yield from answers_pictures(saved.answers, saved.times)
    if panels := overview_leads(saved.readme, saved.clusters):
        yield OVERVIEW, overview_picture(panels)
    if saved.benchmarks:
        yield f"{GENCODESEARCHNET}.png", difference_picture(merged(saved.benchmarks))
    yield from ((f"ablations/{each.name}.png", ablation_picture(each)) for each in saved.ablations)
    yield from context_pictures(saved.contexts).items()
