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
from experiments.tables.answers import BUDGET, WHERE, Answers, answers_of, answers_page, answers_pictures, where_section
from experiments.tables.cells import Cell, saved_results
from experiments.tables.comparison_pictures import (
    as_png,
    comparison_pictures,
    kind_pictures,
    overview_picture,
    training_pictures,
)
from experiments.tables.comparison_tables import Clusters, Named, cost, named, summary, tables
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
    QUERIES,
    KnownPool,
    clusters,
    kind_table,
    known_pools,
    nearest_answer,
    saved_facts,
)
from experiments.tables.tuning import TRIED, cells_of, tuning_page
from experiments.terminal.console import say

README: Final = REPOSITORY / "README.md"
START: Final = "<!-- results:start -->"
END: Final = "<!-- results:end -->"
FOLDERS: Final = ("main", "ablations", "calibration", "tuning", LANGUAGES, GENCODESEARCHNET, QUERIES, CONTEXTS)
"""Whose results are put into two files each, and those of each corpus of posts."""
POSTS: Final = "posts"
_LOADS: Final = "Times were taken under different loads and compare no models."

_FINDING: Final = """\
On a project seen in training, galm_plus, the encoder and every fusion below are significantly ahead of tuned BM25. On
unseen libraries, every fusion is, and of the models alone only the encoder. The others are significantly behind."""
_LEGEND: Final = """\
- MRR: mean of 1/rank among all methods of the test split ({sizes}), ties counted against the ranker.
- Models are trained for each column anew. "+ BM25": both scores fused, with a weight tuned on validation.
- GALM's paper leaves choices open: the tuned reading was chosen on validation, the literal one by its text.
- galm_plus is our variant of GALM, tuned longer than the baselines; here it has no graph layer.
- MiniLM is all-MiniLM-L6-v2: it learned from other text and code before ([pretrained.md](docs/pretrained.md)). It was
  trained on the JDK for one epoch.
- Is GALM ahead of TabCS? Of BM25? With intervals: [main.md](experiments/results/main.md), and all models from there.

![MRR of each row with its 95 % interval, beside that of tuned BM25](experiments/results/overview.png)"""


@dataclass(frozen=True)
class Saved:
    """The results in a folder such as ``experiments/results/``, as the pages read them."""

    folder: Path
    own: bool = False  # whether they are of whatever options: someone's own

    @cached_property
    def main(self) -> list[tuple[str, Result]]:
        """The main table, with the labels of its rows."""
        cells = [cell for part in CELLS.values() for cell in part]
        return [(shown(label), result) for label, result in self._of(cells, "main")]

    @cached_property
    def readme(self) -> Named:
        """The rows of README's table."""
        return named(self.main, {**README_ALSO, **README_ROWS}, README_TESTS)

    @cached_property
    def known(self) -> list[KnownPool]:
        """Its pools of whose queries facts are saved."""
        return known_pools(self.main, self.folder)

    @cached_property
    def ablations(self) -> list[Found]:
        """The findings of the ablations for which the base model and a variant have saved results."""
        return self._found({name: self._of(each.cells, "ablations") for name, each in ABLATIONS.items()})

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
        return answers_of(self.main, [facts for _, _, facts in self.known], self.clusters)

    @cached_property
    def times(self) -> Sequence[Row]:
        """The models' times."""
        return newest_rows(self.folder, "models")

    @property
    def asked(self) -> list[tuple[str, Result]]:
        """The rows of the main table that its page asks about; all if it asks about none."""
        labels = {entry.label for each in self.answers.values() for entry in each.rows.values()}
        return [row for row in self.main if not labels or row[0] in labels]

    def all_page(self) -> str:
        """All rows and columns."""
        if not self.main:
            return ""
        text = tables(self.main, REFERENCES, self.clusters, whole=True)
        return f"# All models\n\n{cost(result for _, result in self.main)} {_LOADS}\n\n{text}\n"

    def where_page(self) -> str:
        """The main page's differences by kind of query, and counting copies."""
        by_kind = [*filter(None, map(kind_table, self.known))]
        parts = [
            "# Where are the models ahead?",
            "\n".join(filter(None, map(nearest_answer, self.known))),
            WHERE,
            *(["## All queries", *where_section(self.answers)] if self.answers else []),
            "## By kind of query",
            *by_kind,
            "As pictures: `main-*-where.png` beside this page.",
        ]
        return "\n\n".join(filter(None, parts)) + "\n" if by_kind else ""

    def tuning_page(self) -> str:
        """The settings compared on validation, and the best ones on test splits."""
        page = tuning_page(self._of((cell for name in TRIED for cell in cells_of(name)), "tuning"))
        files = {name: facts.files for name, facts in saved_facts(self.folder).items()}
        tested = best_trials_section(self._of(CELLS["tuned"], "main"), files)
        return "\n\n".join(filter(None, (page.rstrip(), tested))) + "\n" if page or tested else ""

    def grid_page(self) -> str:
        """The grid of graphs."""
        return grid_text(self.folder, None if self.own else {})

    def overview(self) -> str:
        """All ablations, and what says how far their graph and their test can be trusted."""
        sections = filter(None, (control_section(self.folder), calibration_section(self.folder)))
        return overview(self.ablations, [*sections])

    def _of(self, cells: Iterable[Cell], page: str) -> list[tuple[str, Result]]:
        return saved_results(cells, self.folder / page, None if self.own else {})

    def _found(self, rows: Mapping[str, Sequence[tuple[str, Result]]]) -> list[Found]:
        found = (found_by(name, each, self.clusters) for name, each in rows.items())
        return [each for each in found if each]


def write_tables(readme: Path = README, results: Path = RESULTS) -> None:
    """Write all tables and figures from the saved results.

    Raises:
        UserError: this program runs from a wheel, or a result cannot be read.
    """
    if INSTALLED:
        raise UserError("tables are written into a checkout of the repository: clone it, and run this there")
    saved = _folded(Saved(results))
    write_atomically(readme, with_tables(readme.read_text(encoding="utf-8"), saved))
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
        "main": answers_page(saved.answers, "" if saved.own else BUDGET, saved.times),
        "main-all": saved.all_page(),
        "main-where": saved.where_page(),
        "tuning": saved.tuning_page(),
        LANGUAGES: language_page(saved.folder, own=saved.own),
        GENCODESEARCHNET: benchmark_page(saved.benchmarks),
        SCOTCH: context_page(saved.contexts),
        "ablations": saved.overview(),
        **{f"ablations/{each.name}": ablation_page(each) for each in saved.ablations},
        f"ablations/{GRID}": saved.grid_page(),
    }
    yield from ((f"{name}.md", text) for name, text in found.items() if text)
    yield from ((f"{POSTS}/{name}", text) for name, text in summaries(saved.folder / POSTS))


def pictures(saved: Saved) -> Iterator[tuple[str, bytes]]:
    """The figures, by their names in the folder."""
    kinds = {
        "": comparison_pictures(saved.asked),
        "-training": training_pictures(saved.asked),
        "-where": kind_pictures(saved.known),
    }
    for kind, pngs in kinds.items():
        yield from ((f"main-{dataset}{kind}.png", png) for dataset, png in pngs.items())
    yield from answers_pictures(saved.answers, saved.times)
    if saved.readme:
        yield "overview.png", as_png(overview_picture(saved.readme, [*README_ROWS.values()], README_ROWS["bm25_tuned"]))
    if saved.benchmarks:
        yield f"{GENCODESEARCHNET}.png", difference_picture(merged(saved.benchmarks))
    yield from ((f"ablations/{each.name}.png", ablation_picture(each)) for each in saved.ablations)
    yield from context_pictures(saved.contexts).items()


def with_tables(text: str, saved: Saved) -> str:
    """``text`` with the summary of the main table between the markers.

    Raises:
        UserError: the markers are not there, or a result cannot be read.
    """
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise UserError(f"expected the lines {START} and {END} in README.md, to write the table between them")
    return f"{before}{START}\n{_readme_part(saved.readme)}\n{END}{after}"


def _readme_part(found: Named) -> str:
    if not found:
        return "No results are saved yet."
    sizes = " and ".join(f"{next(iter(rows.values())).tested[0].pool_size:,}" for rows in found.values())
    return f"{_FINDING}\n\n{summary(found, README_ROWS.values())}\n\n{_LEGEND.format(sizes=sizes)}"
