"""Where a model is ahead of BM25, by kind of query: the facts of the queries behind the tables, and the differences.

The facts are saved beside the results, in ``experiments/results/queries/``. A test split that was prepared twice counts
as one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, TypeVar

import numpy as np

from data_prep.files.access import named_path
from data_prep.files.json_text import from_json, to_json
from data_prep.store.prepared_data import PreparedData, limit_pairs
from evaluation.comparison import Entry, Lead, Pool, judged
from evaluation.queries import ASKED, KINDS, LEAST, TRAINED, QueryClass, QueryFacts, gain, query_classes, query_facts
from evaluation.result_store import ResultStore
from evaluation.results import Result, Tested
from evaluation.significance import PairedValues
from experiments.recipes.config import Configuration, resolve
from experiments.tables.cells import Cell, finished
from experiments.tables.comparison_tables import Clusters, Results, inline_text, markdown_table, with_interval
from experiments.terminal.console import say

QUERIES: Final = "queries"
"""The folder of the facts."""
TREES: Final = "trees-"
"""The names of the source trees of queries begin so; they are kept in the same folder."""
MODELS: Final = ("galm_plus", "galm", "tabcs")
AGAINST: Final = "bm25_tuned"
_ALSO: Final = ((("galm",), "tabcs"), (("galm + BM25",), "tabcs + BM25"))
"""Further models, and the ranker that they are compared with by kind of query."""
_BY_OVERLAP: Final = (
    ("galm_plus", AGAINST),
    ("galm", "tabcs"),
    ("galm_plus", "tabcs"),
    ("galm + BM25", "tabcs + BM25"),
    ("galm_plus + BM25", "tabcs + BM25"),
    ("minilm", "galm_plus"),
)
"""Whose differences by overlap with training stand first."""
BY_OVERLAP: Final = (
    "Differences of MRR by overlap with training: with the nearest training method, by the field of tokens alone, and "
    "with training queries. Number of queries in parentheses, 95 % intervals. Bold: p < 0.05 after Holm's correction "
    "for the classes of a row."
)
TRAINED_AS: Final = "galm"
"""The model whose training pairs queries are compared with: those of all that are trained on their data set alone."""
EARLIER: Final = ("jdk", 12_000)
"""The data set, and the limit of its pairs, on whose test queries ablations were judged before they had validation."""

_Tested = Literal["test", "valid"]

KnownPool = tuple[Pool, Sequence[Entry], QueryFacts]
"""A pool, the rankers that were tested on it, and the facts about its queries."""


SAME_SPLITS: Final[Mapping[str, str]] = {
    "15d9416a9acb09e950029f35e8772ebe7628352ceeb9ffb3198331ff0fb8e0a6": (
        "5ef8ac2c898e0004753b319d35b7625a2e0d1fa039a5f78cb9025d693b217775"
    ),
}
"""Fingerprint of a test split -> that which it counts as.

The JDK's, as a later reader of Java prepared it: the same 5,171 queries, names, tokens and trees in the same order. One
method of these has another list of calls, and 4 of 38,290 training pairs differ.
"""
WHY: Final = (
    "The JDK was prepared twice from the same sources. All 5,171 test queries, names, tokens and trees are the same, "
    "in the same order. One of these methods has another list of calls, and 4 of 38,290 training pairs differ. Both "
    "count as one test set."
)
"""The same for readers of the pages."""

_Split = TypeVar("_Split", bound=Tested)


def joined(results: Results) -> list[tuple[str, Result]]:
    """Results with their labels, as tested on one split where the two count as one."""
    return [
        (label, replace(_joined(each), also={name: _joined(tested) for name, tested in each.also.items()}))
        for label, each in results
    ]


def _joined(tested: _Split) -> _Split:
    known = tested.data.fingerprint
    return replace(tested, data=replace(tested.data, fingerprint=SAME_SPLITS.get(known, known)))


def joined_facts(facts: Iterable[QueryFacts]) -> list[QueryFacts]:
    """The same of the facts of queries, which do not look at calls alone: all of them are equal on both."""
    return [replace(each, fingerprint=SAME_SPLITS.get(each.fingerprint, each.fingerprint)) for each in facts]


def are_joined(results: Results) -> bool:
    """Whether some results, as saved, are of a split that counts as another."""
    return any(each.data.fingerprint in SAME_SPLITS for _, each in results)


def facts_name(dataset: str, limit: int = 0, split: _Tested = "test") -> str:
    """The name of the facts of a split of a data set; ``limit``: of its pairs, 0: all."""
    return "-".join(filter(None, (dataset, str(limit) if limit else "", "" if split == "test" else split)))


def saved_facts(results: Path) -> dict[str, QueryFacts]:
    """All facts that are saved, by name.

    Raises:
        UserError: some are damaged.
    """
    runs = ResultStore(results / QUERIES).load()
    return {
        name: from_json(QueryFacts, run.content, run.where) for name, run in runs.items() if not name.startswith(TREES)
    }


def clusters(results: Path) -> Clusters:
    """The files that queries are of, of those test splits of which facts are saved."""
    return {facts.fingerprint: facts.files for facts in joined_facts(saved_facts(results).values())}


def write_query_facts(cells: Sequence[Cell], results: Path, typed: Mapping[str, str]) -> None:
    """Save the facts of the queries that ``cells`` are tested on, where none are saved or the data have changed.

    Data are prepared only if facts are missing or a cell has still to be run.

    Raises:
        UserError: the data cannot be prepared, or saved facts cannot be read.
    """
    from experiments.run.data import drop_crossing_copies, prepare_stage, training_data
    from experiments.run.run import command_line

    store, saved = ResultStore(results / QUERIES), saved_facts(results)
    for name, (dataset, plan) in _wanted(cells, results, typed).items():
        command = command_line("benchmark", cells[0].dataset, typed)
        data = prepare_stage(dataset, plan.data, command)
        if plan.evaluate.split == "valid":
            data = training_data(plan, data, command)
        apart = drop_crossing_copies(resolve(dataset, TRAINED_AS, typed), data) if name == dataset else None
        facts = query_facts(
            data.splits[plan.evaluate.split],
            dataset=dataset,
            origin=data.manifest["origin"],
            train=apart.splits["train"] if apart else None,
            read=_read_earlier(data) if name == EARLIER[0] else (),
        )
        if saved.get(name) != facts:
            store.save(name, to_json(facts))
            say(f"{dataset}: saved the numbers of words and the files of {len(facts.words):,} {facts.split} queries")
    store.fold()


def _read_earlier(data: PreparedData) -> list[int]:
    """For each test query 1 if earlier ablations, of a part of the data, were judged on it."""
    rows = limit_pairs(data, EARLIER[1]).splits["test"].texts.rows
    return np.isin(np.arange(len(data.splits["test"])), rows).astype(int).tolist()


def _wanted(cells: Sequence[Cell], results: Path, typed: Mapping[str, str]) -> dict[str, tuple[str, Configuration]]:
    """The names of facts that may be missing or old, with their data sets as the cells prepare them."""
    wanted: dict[str, tuple[str, Configuration]] = {}
    saved = saved_facts(results)
    for cell in cells:
        plan = cell.plan(typed)
        is_run = any(finished(cell, results / folder, typed) for folder in ("main", "ablations"))
        tested: list[tuple[str, str, int, _Tested]] = [
            (cell.dataset, plan.data.path, plan.data.limit, plan.evaluate.split),
            *((dataset, place, 0, "test") for dataset, place in plan.evaluate.also_sets),
        ]
        for dataset, place, limit, split in tested:
            name = facts_name(dataset, limit, split)
            if not (is_run and name in saved):
                data = replace(plan.data, path=str(named_path(place)) if place else "", limit=limit)
                needed = replace(plan, data=data, evaluate=replace(plan.evaluate, split=split))
                wanted.setdefault(name, (dataset, needed))
    return wanted


def compared(
    entries: Sequence[Entry], labels: Sequence[str] = MODELS, against: str = AGAINST
) -> tuple[list[Entry], Entry] | None:
    """Those of ``labels`` that have several seeds and the ranker they are compared with; None without either."""
    named = {entry.label: entry for entry in entries}
    models = [named[label] for label in labels if label in named and named[label].seeds > 1]
    return (models, named[against]) if models and against in named else None


def classes_by_kind(facts: QueryFacts) -> dict[str, list[QueryClass]]:
    """The classes of each kind that has some."""
    classes = query_classes(facts)
    return {kind: group for kind in KINDS if (group := [each for each in classes if each.kind == kind])}


def kind_table(known: KnownPool) -> str:
    """Differences from BM25, and of GALM from TabCS, by class of queries; "" if all are missing."""
    pool, entries, facts = known
    found = [compared(entries), *(compared(entries, *pair) for pair in _ALSO)]
    return "\n\n".join(kinds_against(pool, *each, facts) for each in found if each)


def nearest_table(known: KnownPool) -> str:
    """Differences by overlap with training, a row for each two rankers; "" where it is not known."""
    pool, entries, facts = known
    by_kind = classes_by_kind(facts)
    classes = [each for kind in (TRAINED, ASKED) for each in by_kind.get(kind, [])]
    pairs = [found for model, against in _BY_OVERLAP if (found := compared(entries, (model,), against))]
    rows = [
        (f"{one.label} - {other.label}", *_cells(_class_leads(one, other, classes, facts))) for (one,), other in pairs
    ]
    if not classes or not rows:
        return ""
    header = (f"**{inline_text(pool.dataset)}**", *(f"{each.kind}: {each.label} ({each.size:,})" for each in classes))
    return markdown_table(header, rows)


def _class_leads(model: Entry, against: Entry, classes: Sequence[QueryClass], facts: QueryFacts) -> list[Lead]:
    """The difference of two rankers in each class, corrected for the number of classes."""
    return judged([gain(model, against, each.rows, facts.files) for each in classes])


def _cells(leads: Iterable[Lead]) -> list[str]:
    """Differences as cells of a table, bold where they are significant."""
    texts = [(with_interval(lead.difference), lead.verdict) for lead in leads]
    return [f"**{text}**" if verdict == "yes" else text for text, verdict in texts]


def wins_table(pairs: Sequence[tuple[str, PairedValues, PairedValues]]) -> str:
    """How often the first of each pair is ahead of the second on a query and behind it.

    Args:
        pairs: a name, and 1/rank of each query by the first and by the second, means over seeds.
    """
    signs = [(name, np.sign(first - second)) for name, first, second in pairs]
    rows = [(name, *(f"{np.count_nonzero(sign == side):,}" for side in (1, 0, -1))) for name, sign in signs]
    return markdown_table(("queries", "ahead", "equal", "behind"), rows)


def kinds_against(pool: Pool, models: Sequence[Entry], against: Entry, facts: QueryFacts) -> str:
    """The difference of ``models`` from the ranker ``against`` by class of queries; bold: significant."""
    everything, *classes = query_classes(facts)
    columns = {
        model.label: [
            with_interval(gain(model, against, everything.rows, facts.files)),
            *_cells(_class_leads(model, against, classes, facts)),
        ]
        for model in models
    }
    header = ("queries", "number", f"MRR of {against.label}", *(f"{label} - {against.label}" for label in columns))
    rows = [
        (
            f"{each.kind}: {each.label}" if each.kind else each.label,
            f"{each.size:,}",
            f"{against.reciprocal_ranks[each.rows].mean():.3f}",
            *cells,
        )
        for each, cells in zip((everything, *classes), zip(*columns.values(), strict=True), strict=True)
    ]
    lengths = "counted in words" + ", that of a method in its tokens" * bool(facts.code_words)
    caption = (
        f"**{inline_text(pool.dataset)}** ({inline_text(pool.origin)}), {pool.split} split: MRR minus that of "
        f"{inline_text(against.label)}, with 95 % intervals over seeds and the queries of each class by file. Bold: "
        "p < 0.05 after Holm's correction for the classes of a column, which intervals do not have. A model with one "
        f"seed has neither. Length is {lengths}. Overlap is the share of a query's distinct stems that stand in its "
        f"method's name, tokens or API words too.{_of_training(facts)} Classes of fewer than {LEAST} queries are left "
        "out."
    )
    return f"{caption}\n\n{markdown_table(header, rows)}"


def _of_training(facts: QueryFacts) -> str:
    text = (
        " The nearest training method is that of whose distinct tokens the method shares most, as Jaccard similarity, "
        "among those that copies were removed from. Only the field of tokens counts there, not names, calls or trees."
    ) * bool(facts.nearest)
    text += " Same query in training: a training pair has the words of this query too." * bool(facts.asked)
    return text + " Earlier ablations were judged on a part of these queries." * bool(facts.read)
