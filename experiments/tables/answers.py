"""The questions of the main page, and what saved ranks say to them: paired differences of its rows.

A new row is a line of ``ROWS``, and one of ``QUESTIONS`` where it is to be compared. What has no saved result is left
out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from evaluation.comparison import Entry, Lead, Pool, counting_copies, judged, largest_pools, paired_leads
from evaluation.queries import QueryFacts, gain
from experiments.tables.comparison_tables import Clusters, Results
from experiments.tables.graph_grid import grid_cells
from experiments.tables.main_table import TESTS, TOKEN_HEADS, WITHOUT_GRAPH, of_trials

Pair = tuple[str, str]
FUSED: Final = " + BM25"
GRID_RUNS: Final = len(grid_cells())
"""Runs of the grid that chose galm's earlier settings."""
MORE: Final = " (JDK + repositories + open Java)"
_TUNED: Final = ", fusion weight tuned on repositories"
_OF_TRIALS: Final[Mapping[str, tuple[str, str]]] = {
    "galm": (f"galm{MORE}", f"galm, earlier settings ({GRID_RUNS} trials)"),
    "galm_plus": (f"galm_plus, start 0.2{MORE}", "galm_plus, earlier settings"),
    "tabcs": (f"tabcs_no_ast{MORE}", "tabcs, earlier settings"),
    WITHOUT_GRAPH: ("", f"{WITHOUT_GRAPH}, earlier settings"),
}
"""Word model -> its label where more Java trained it, if it did, and the row of its earlier settings."""


def _word_rows(end: str, tuned: str) -> dict[str, tuple[str, ...]]:
    """The compared rows of the word models, alone or with ``end``, then those of earlier settings."""
    compared = {
        f"{name}{end}": (f"{of_trials(name)}{end}", f"{name}{end}", *([f"{more}{end}{tuned}"] if more else []))
        for name, (more, _) in _OF_TRIALS.items()
    }
    return compared | {f"{earlier}{end}": (f"{name}{end}",) for name, (_, earlier) in _OF_TRIALS.items()}


ROWS: Final[Mapping[str, tuple[str, ...]]] = {
    **_word_rows("", ""),
    "bm25_tuned": ("bm25_tuned",),
    **_word_rows(FUSED, _TUNED),
    **{f"minilm{end}": (f"minilm{end}", f"minilm, one epoch{end}") for end in ("", FUSED)},
    "minilm as it comes": ("minilm as it comes",),
    "minilm as it comes + BM25": ("minilm as it comes + BM25", "minilm as it comes + BM25, fusion weight tuned on jdk"),
    **{name: (name,) for label in TOKEN_HEADS for name in (label, f"{label} + BM25")},
}
"""Row -> the labels that it has in results; of several on one test set the first."""
EARLIER_ROWS: Final = frozenset(f"{earlier}{end}" for _, earlier in _OF_TRIALS.values() for end in ("", FUSED))
"""The rows of earlier settings, beside which a row of the same model stands."""
QUESTIONS: Final[Mapping[str, tuple[Pair, ...]]] = {
    "Is GALM ahead of TabCS?": (("galm", "tabcs"), ("galm + BM25", "tabcs + BM25")),
    "Does GALM's graph help?": (("galm", WITHOUT_GRAPH), ("galm + BM25", f"{WITHOUT_GRAPH}{FUSED}")),
    "Is GALM ahead of BM25?": (("galm", "bm25_tuned"), ("galm + BM25", "bm25_tuned")),
    "Is GALM ahead of MiniLM?": (
        ("galm + BM25", "minilm as it comes + BM25"),
        ("galm", "minilm"),
        ("galm + BM25", "minilm + BM25"),
    ),
    "Is galm_plus, our variant of GALM, ahead of it, and of TabCS?": (
        ("galm_plus", "galm"),
        ("galm_plus + BM25", "galm + BM25"),
        ("galm_plus", "tabcs"),
        ("galm_plus + BM25", "tabcs + BM25"),
    ),
    "Is galm_plus ahead of BM25?": (("galm_plus", "bm25_tuned"), ("galm_plus + BM25", "bm25_tuned")),
    "Is galm_plus ahead of MiniLM, not fine-tuned?": (("galm_plus + BM25", "minilm as it comes + BM25"),),
    "What does a pretrained encoder give, fine-tuned on the same pairs?": (
        ("minilm", "bm25_tuned"),
        ("minilm", "galm_plus"),
        ("minilm + BM25", "galm_plus + BM25"),
        ("minilm + BM25", "minilm as it comes + BM25"),
    ),
    "Does an alignment over its tokens help, and a graph?": (
        *((label, "minilm") for label in TOKEN_HEADS),
        *((f"{label} + BM25", "minilm + BM25") for label in TOKEN_HEADS),
    ),
}
"""Question -> the rows that it compares, the first with the second."""
IN_SHORT: Final[Mapping[str, Pair]] = {
    "Is GALM ahead of TabCS?": ("galm", "tabcs"),
    "Does GALM's graph help?": ("galm", WITHOUT_GRAPH),
    "Is GALM ahead of BM25?": ("galm", "bm25_tuned"),
    "Is GALM + BM25 ahead of MiniLM + BM25, not fine-tuned?": ("galm + BM25", "minilm as it comes + BM25"),
    "Is galm_plus, our variant, ahead of BM25?": ("galm_plus", "bm25_tuned"),
    "Is galm_plus + BM25 ahead of MiniLM + BM25, not fine-tuned?": ("galm_plus + BM25", "minilm as it comes + BM25"),
}
"""What the page says first: question -> the pair that answers it."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What was found on one test set."""

    pool: Pool
    rows: Mapping[str, Entry]  # by the page's names, which are their labels too
    labels: Mapping[str, str]  # the same names -> the labels in results
    leads: Mapping[Pair, Lead]  # of each question's pairs
    copies: Mapping[str, Entry]  # the rows, with any method of the query's words as an answer; {} if not known
    facts: QueryFacts | None  # of the queries; None: not known
    clusters: Sequence[int] | None

    @property
    def copy_leads(self) -> Mapping[Pair, Lead]:
        """The same pairs by the ranks of ``copies``."""
        return _leads(self.copies, self.clusters)

    def word_models(self, *, of_equal_trials: bool) -> list[str]:
        """The compared word models whose rows here have the best of equal trials, or those that have not."""
        known = [name for name in _OF_TRIALS if name in self.labels]
        return [name for name in known if (self.labels[name] == of_trials(name)) == of_equal_trials]

    @property
    def unread(self) -> Mapping[Pair, Lead]:
        """The pairs of ``IN_SHORT`` on the queries that no earlier ablation was judged on; {} if none was."""
        if self.facts is None or not any(self.facts.read):
            return {}
        rows = np.asarray(self.facts.read) == 0
        known = [pair for pair in IN_SHORT.values() if pair in self.leads]
        files = self.facts.files
        gains = [gain(self.rows[first], self.rows[second], rows, files) for first, second in known]
        return dict(zip(known, judged(gains), strict=True))


def answers_of(results: Results, facts: Iterable[QueryFacts], clusters: Clusters) -> dict[str, Answers]:
    """What was found on each of ``TESTS``, by the name of the page; those without a pair are left out."""
    known = [*facts]
    pools = largest_pools(results)
    found = {}
    for dataset, title in TESTS.items():
        if dataset in pools:
            pool, entries = pools[dataset]
            own = next((each for each in known if each.fits(pool)), None)
            found[title] = _answers(pool, {entry.label: entry for entry in entries}, own, clusters)
    return {title: each for title, each in found.items() if each.leads}


def _answers(pool: Pool, by_label: Mapping[str, Entry], facts: QueryFacts | None, clusters: Clusters) -> Answers:
    labels = {
        name: next(label for label in of if label in by_label)
        for name, of in ROWS.items()
        if not by_label.keys().isdisjoint(of)
    }
    rows = {name: replace(by_label[label], label=name) for name, label in labels.items()}
    texts = facts.texts if facts else ()
    copies = {name: counting_copies(entry, texts) for name, entry in rows.items()} if texts else {}
    files = clusters.get(pool.fingerprint)
    return Answers(pool, rows, labels, _leads(rows, files), copies, facts, files)


def _leads(rows: Mapping[str, Entry], clusters: Sequence[int] | None) -> dict[Pair, Lead]:
    pairs = [pair for of in QUESTIONS.values() for pair in of if all(name in rows for name in pair)]
    found = paired_leads([(rows[first], rows[second]) for first, second in pairs], clusters)
    return dict(zip(pairs, found, strict=True))
