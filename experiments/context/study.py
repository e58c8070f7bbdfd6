"""What people judge of two runs: a set to be labelled (Scotch, row K-15), and a comparison of pairs (row K-17).

``context annotate`` writes, for a sample of test queries of each language, the first functions of both runs over all
test functions of the language, without duplicates and in random order, with the context and the code beside: a CSV file
for :mod:`experiments.context.labels`.

``context study`` compares, for a sample of validation queries of each language, the first function of both runs over
all validation functions of the language. A person sees query, context and the two functions in random order in the
terminal, and answers which is better, that neither is, or that the query makes no sense. Where both runs have the same
function first, it is a tie by itself. Answers are saved at once; the command goes on where it was stopped.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.errors import UserError, unexpected
from data_prep.files.access import named_path
from data_prep.files.json_text import load_record, to_json
from data_prep.files.writing import write_atomically
from evaluation.significance import wilson
from experiments.context.finished_run import FinishedRun, Pool, model_scores, rows_of_languages, same_pairs, url_of
from experiments.context.labels import COLUMNS, HIGHEST
from experiments.context.options import AnnotateOptions, StudyOptions
from experiments.terminal.console import say, show
from experiments.terminal.options import parsed

CONTEXT_LINES: Final = 40
"""Lines of a context that are shown, its last."""
ANSWERS: Final = {
    "left": "the left one is better",
    "right": "the right one is better",
    "tie": "neither is better",
    "incoherent": "the query makes no sense",
}
"""Answers as typed and saved -> what they mean."""
_OUTCOMES: Final = ("win", "lose", "tie")


@dataclass(frozen=True, eq=False)
class FirstFunctions:
    """A query, and the first functions of several runs over all functions of its language."""

    language: str
    query: str
    query_url: str
    context: str  # its last lines
    rows: Sequence[Sequence[int]]  # of each run, best first
    code: Mapping[int, str]  # of each of these rows
    urls: Mapping[int, str]


def first_functions(
    runs: Sequence[FinishedRun], queries: int, top: int, random: np.random.Generator
) -> Iterator[FirstFunctions]:
    """The first ``top`` functions of each run, for at most ``queries`` of each language, drawn at random."""
    split, dataset = runs[0].split, runs[0].plan.dataset
    for language, rows in rows_of_languages(split).items():
        asked = np.sort(random.choice(rows, min(queries, len(rows)), replace=False))
        pool = Pool(np.concatenate([asked, np.setdiff1d(rows, asked)]), len(asked))
        orders = [
            np.argsort(-model_scores(run.ranker, run.split)(run.split)(pool), axis=1, kind="stable") for run in runs
        ]
        firsts = np.stack([pool.rows[order[:, :top]] for order in orders], axis=1)  # [queries, runs, top]
        shown = runs[0].triples([*asked.tolist(), *firsts.ravel().tolist()])
        for row, first in zip(asked.tolist(), firsts.tolist(), strict=True):
            found = {each for own in first for each in own}
            yield FirstFunctions(
                language=language,
                query=split.text(row).query_text,
                query_url=url_of(split.text(row), dataset),
                context="\n".join(shown[row].context.splitlines()[-CONTEXT_LINES:]),
                rows=first,
                code={each: shown[each].function for each in found},
                urls={each: url_of(split.text(each), dataset) for each in found},
            )


def annotate(arguments: Sequence[str]) -> None:
    """Write a set to be labelled.

    Raises:
        UserError: there are not two finished runs of the same data, or the file exists.
    """
    words, options = parsed(arguments, AnnotateOptions)
    if len(words) != 2 or not options.out:
        raise unexpected("two runs and a file: bash run.sh context annotate RUN_DIR RUN_DIR --out=FILE.csv", words)
    out = named_path(options.out)
    if out.exists():
        raise UserError(f"--out={out} exists, perhaps with labels: name a new file")
    runs = same_pairs([FinishedRun.of(Path(word)) for word in words])
    text, random = io.StringIO(newline=""), np.random.default_rng(options.seed)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*COLUMNS, "QueryUrl", "Context", "Code"])
    queries = functions = 0
    for each in first_functions(runs, options.queries, options.top, random):
        distinct = random.permutation([*dict.fromkeys(row for rows in each.rows for row in rows)]).tolist()
        for row in distinct:
            writer.writerow(
                [each.language, each.query, each.urls[row], "", "", each.query_url, each.context, each.code[row]]
            )
        queries, functions = queries + 1, functions + len(distinct)
    write_atomically(out, text.getvalue())
    say(f"{out}: {functions:,} functions for {queries:,} queries; label them with 0 to {HIGHEST}")


@dataclass(frozen=True, slots=True)
class Shown:
    """A function as it is shown."""

    code: str
    url: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """A query and the first functions of both runs, in the order in which they are shown."""

    language: str
    query: str
    context: str
    left: Shown
    right: Shown
    left_is_first: bool  # whether the left one is of the first run
    answer: str = ""  # one of ANSWERS, "" if there is none yet

    @property
    def outcome(self) -> str:
        """``win``, ``lose`` or ``tie`` of the second run, ``incoherent``, or "" without an answer."""
        if self.left.url == self.right.url:
            return "tie"
        if self.answer not in ("left", "right"):
            return self.answer
        return "lose" if (self.answer == "left") == self.left_is_first else "win"

    def __str__(self) -> str:
        parts = {"query": self.query, f"below this {self.language}": self.context}
        parts |= {"left": self.left.code, "right": self.right.code}
        return "\n".join(f"---- {name} ----\n{text}" for name, text in parts.items())


@dataclass(frozen=True, slots=True)
class Study:
    """The comparisons of two runs."""

    first: str
    second: str
    comparisons: Sequence[Comparison]

    @property
    def open(self) -> list[int]:
        """The places of comparisons without an outcome."""
        return [place for place, each in enumerate(self.comparisons) if not each.outcome]

    def save(self, path: Path) -> None:
        """Write as JSON.

        Raises:
            OSError: it cannot be written.
        """
        write_atomically(path, json.dumps(to_json(self), indent=1, ensure_ascii=False) + "\n")


def study(arguments: Sequence[str]) -> None:
    """Make a study of two runs, or go on with one that is made: ask while answers are missing, then show the outcome.

    Raises:
        UserError: two runs are named and the file exists, or none is and it does not, or it is damaged.
    """
    words, options = parsed(arguments, StudyOptions)
    if len(words) not in (0, 2) or not options.out:
        wanted = "two runs for a new study, or none to go on, and a file"
        raise unexpected(f"{wanted}: bash run.sh context study [RUN_DIR RUN_DIR] --out=FILE.json", words)
    path = named_path(options.out)
    if words and path.exists():
        raise UserError(f"--out={path} exists, perhaps with answers: leave out the runs to go on, or name a new file")
    if words:
        runs = same_pairs([FinishedRun.of(Path(word), "valid") for word in words])
        made = Study(runs[0].path.name, runs[1].path.name, [*_comparisons(runs, options)])
        made.save(path)
        say(f"{path}: {len(made.comparisons)} comparisons, {len(made.open)} to be answered")
    ask(path, input)
    show(outcome_page(load_study(path)))


def load_study(path: Path) -> Study:
    """Load what :meth:`Study.save` wrote.

    Raises:
        UserError: the file is missing or damaged.
    """
    return load_record(Study, path, "a study of two runs")


def _comparisons(runs: Sequence[FinishedRun], options: StudyOptions) -> Iterator[Comparison]:
    """The comparisons, language by language, each with its functions in random order."""
    random = np.random.default_rng(options.seed)
    for each in first_functions(runs, options.queries, 1, random):
        left_is_first = bool(random.integers(2))
        pair = [Shown(each.code[rows[0]], each.urls[rows[0]]) for rows in each.rows]
        left, right = pair if left_is_first else pair[::-1]
        yield Comparison(each.language, each.query, each.context, left, right, left_is_first)


def ask(path: Path, typed: Callable[[], str]) -> None:
    """Ask for the missing answers of a study and save each, until all are there, Ctrl-D or Ctrl-C."""
    found = load_study(path)
    for place in found.open:
        left = len(found.open)
        show(f"\n{found.comparisons[place]}\n\n{left} left; " + ", ".join(map(": ".join, ANSWERS.items())))
        answer = ""
        while answer not in ANSWERS:
            try:
                answer = typed().strip().lower()
            except (EOFError, KeyboardInterrupt):
                say(f"{left} comparisons have no answer yet: the same command without the runs goes on")
                return
        answered = [*found.comparisons]
        answered[place] = replace(answered[place], answer=answer)
        found = replace(found, comparisons=answered)
        found.save(path)


def outcome_page(found: Study) -> str:
    """The outcomes by language and over all, as percentages of the coherent queries."""
    size = f"{len(found.comparisons)} comparisons, {len(found.open)} without an answer"
    lines = [f"{found.second} against {found.first}: {size}"]
    for name in (*sorted({each.language for each in found.comparisons}), "all"):
        outcomes = [each.outcome for each in found.comparisons if name in (each.language, "all")]
        counts = {kind: outcomes.count(kind) for kind in _OUTCOMES}
        shares = ", ".join(
            f"{kind} {100 * count / max(1, sum(counts.values())):.1f} %" for kind, count in counts.items()
        )
        decided = counts["win"] + counts["lose"]
        share, (low, high) = counts["win"] / decided if decided else 0.5, wilson(counts["win"], decided)
        lines.append(
            f"  {name:12} {shares}; incoherent {outcomes.count('incoherent')}; wins among decided "
            f"{share:.2f} ({low:.2f} to {high:.2f})"
        )
    return "\n".join(lines)
