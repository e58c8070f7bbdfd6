"""The comparison of two runs by people, pair by pair (Scotch, row K-17): ``context study``.

For a sample of validation queries of each language, the first function of both runs over all validation functions of
the language. A person sees query, context and the two functions in random order, and answers which is better, that
neither is, or that the query makes no sense. Where both runs have the same function first, it is a tie by itself.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from scipy.stats import binomtest

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from evaluation.json_records import load_record, to_json
from experiments.context.annotate import CONTEXT_LINES, first_rows, sampled
from experiments.context.loaded_runs import LoadedRun, rows_of_languages, url_of
from experiments.context.options import StudyOptions

ANSWERS: Final = ("left", "right", "tie", "incoherent")


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


@dataclass(frozen=True, slots=True)
class Study:
    """The comparisons of two runs."""

    first: str
    second: str
    comparisons: Sequence[Comparison]

    @property
    def open(self) -> Iterator[int]:
        """The places of comparisons without an outcome."""
        return (place for place, each in enumerate(self.comparisons) if not each.outcome)

    def answered(self, place: int, answer: str) -> "Study":
        """The same with an answer.

        Raises:
            UserError: there is no such comparison or answer.
        """
        if not 0 <= place < len(self.comparisons) or answer not in ANSWERS:
            raise UserError(f"expected a comparison below {len(self.comparisons)} and one of {', '.join(ANSWERS)}")
        changed = [*self.comparisons]
        changed[place] = replace(changed[place], answer=answer)
        return replace(self, comparisons=changed)

    def save(self, path: Path) -> None:
        """Write as JSON.

        Raises:
            OSError: it cannot be written.
        """
        write_atomically(path, json.dumps(to_json(self), indent=1, ensure_ascii=False) + "\n")


def load_study(path: Path) -> Study:
    """Load what :meth:`Study.save` wrote.

    Raises:
        UserError: the file is missing or damaged.
    """
    return load_record(Study, path, "a study of two runs")


def comparisons(runs: Sequence[LoadedRun], options: StudyOptions) -> Iterator[Comparison]:
    """The comparisons, language by language, each with its functions in random order."""
    random, split, dataset = np.random.default_rng(options.seed), runs[0].split, runs[0].plan.dataset
    for language, rows in rows_of_languages(split).items():
        asked = sampled(rows, options.queries, random)
        firsts = [first_rows(run, asked, rows, 1)[:, 0].tolist() for run in runs]
        shown = runs[0].triples([*asked.tolist(), *firsts[0], *firsts[1]])
        for query, *pair in zip(asked.tolist(), *firsts, strict=True):
            left_is_first = bool(random.integers(2))
            left, right = (
                Shown(shown[row].function, url_of(split.text(row), dataset))
                for row in pair[:: 1 if left_is_first else -1]
            )
            context = "\n".join(shown[query].context.splitlines()[-CONTEXT_LINES:])
            yield Comparison(language, split.text(query).query_text, context, left, right, left_is_first)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Counts of the second run's outcomes, and how often it wins among wins and losses, with its 95 % interval."""

    win: int
    lose: int
    tie: int
    incoherent: int
    share: float
    low: float
    high: float


def outcome_of(found: Sequence[Comparison]) -> Outcome:
    """Count the outcomes; the interval is Wilson's over queries (JASA 1927), 0 to 1 if none is won or lost."""
    counts = {name: sum(each.outcome == name for each in found) for name in ("win", "lose", "tie", "incoherent")}
    decided = counts["win"] + counts["lose"]
    if not decided:
        return Outcome(**counts, share=0.5, low=0.0, high=1.0)
    ends = binomtest(counts["win"], decided).proportion_ci(method="wilson")
    return Outcome(**counts, share=counts["win"] / decided, low=float(ends.low), high=float(ends.high))


def outcome_page(found: Study) -> str:
    """A table of the outcomes by language and over all, as percentages of the coherent queries."""
    left = sum(1 for _ in found.open)
    lines = [f"{found.second} against {found.first}: {len(found.comparisons)} comparisons, {left} without an answer"]
    groups: Mapping[str, Sequence[Comparison]] = {
        name: [each for each in found.comparisons if each.language == name]
        for name in sorted({each.language for each in found.comparisons})
    }
    for name, each in {**groups, "all": found.comparisons}.items():
        outcome = outcome_of(each)
        total = max(1, outcome.win + outcome.lose + outcome.tie)
        shares = ", ".join(f"{kind} {100 * getattr(outcome, kind) / total:.1f} %" for kind in ("win", "lose", "tie"))
        interval = f"{outcome.share:.2f} ({outcome.low:.2f} to {outcome.high:.2f})"
        lines.append(f"  {name:12} {shares}; incoherent {outcome.incoherent}; wins among decided {interval}")
    return "\n".join(lines)
