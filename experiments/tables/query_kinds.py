"""Where a model is ahead of BM25, by kind of query: the facts of the queries behind the tables, and the differences.

The facts are saved beside the results, in ``experiments/results/queries/``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

import numpy as np

from data_prep.files.access import named_path
from data_prep.files.json_text import from_json, to_json
from data_prep.store.prepared_data import PreparedData, limit_pairs
from evaluation.comparison import Entry, Pool, by_pool
from evaluation.queries import KINDS, LEAST, TRAINED, QueryClass, QueryFacts, gain, query_classes, query_facts
from evaluation.result_store import ResultStore
from evaluation.results import Result
from evaluation.significance import PairedValues, RunDifference
from experiments.recipes.config import Configuration, resolve
from experiments.tables.cells import Cell, finished
from experiments.tables.comparison_tables import Clusters, inline_text, markdown_table, with_interval
from experiments.terminal.console import say

QUERIES: Final = "queries"
"""The folder of the facts."""
TREES: Final = "trees-"
"""The names of the source trees of queries begin so; they are kept in the same folder."""
MODELS: Final = ("galm_plus", "galm", "tabcs")
AGAINST: Final = "bm25_tuned"
_ALSO: Final = ((("galm",), "tabcs"), (("galm + BM25",), "tabcs + BM25"))
"""Further models, and the ranker that they are compared with by kind of query."""
_BY_OVERLAP: Final = (("galm_plus", AGAINST), ("galm", "tabcs"))
"""Whose differences by overlap with training are said first."""
TRAINED_AS: Final = "galm"
"""The model whose training pairs queries are compared with: those of all that are trained on their data set alone."""
EARLIER: Final = ("jdk", 12_000)
"""The data set, and the limit of its pairs, on whose test queries ablations were judged before they had validation."""

_Tested = Literal["test", "valid"]

KnownPool = tuple[Pool, Sequence[Entry], QueryFacts]
"""A pool, the rankers that were tested on it, and the facts about its queries."""


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
    return {facts.fingerprint: facts.files for facts in saved_facts(results).values()}


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


def known_pools(labelled: Sequence[tuple[str, Result]], results: Path) -> list[KnownPool]:
    """The pools of labelled results whose queries are those of the facts saved below ``results``.

    Raises:
        UserError: saved facts cannot be read.
    """
    saved = saved_facts(results).values()
    pools = by_pool(labelled).items()
    return [(pool, entries, facts) for pool, entries in pools for facts in saved if facts.fits(pool)]


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
    """Differences from BM25, and of GALM from TabCS, by class of queries, with summaries; "" if all are missing."""
    pool, entries, facts = known
    found = [compared(entries), *(compared(entries, *pair) for pair in _ALSO)]
    return "\n\n".join(kinds_against(pool, *each, facts) for each in found if each)


def nearest_answer(known: KnownPool) -> str:
    """Differences by overlap with training, in a sentence for each two rankers; "" where it is not known."""
    pool, entries, facts = known
    classes = classes_by_kind(facts).get(TRAINED, [])
    told = []
    for model, against in _BY_OVERLAP:
        if classes and (found := compared(entries, (model,), against)):
            (one,), other = found
            gains = [f"{each.label} {with_interval(gain(one, other, each.rows, facts.files))}" for each in classes]
            told.append(f"`{model}` - `{against}` by {TRAINED}: {', '.join(gains)}.")
    return f"- {inline_text(pool.dataset)}: {' '.join(told)}" if told else ""


def wins_table(pairs: Sequence[tuple[str, PairedValues, PairedValues]]) -> str:
    """How often the first of each pair is ahead of the second on a query and behind it.

    Args:
        pairs: a name, and 1/rank of each query by the first and by the second, means over seeds.
    """
    signs = [(name, np.sign(first - second)) for name, first, second in pairs]
    rows = [(name, *(f"{np.count_nonzero(sign == side):,}" for side in (1, 0, -1))) for name, sign in signs]
    return markdown_table(("queries", "ahead", "equal", "behind"), rows)


def kinds_against(pool: Pool, models: Sequence[Entry], against: Entry, facts: QueryFacts) -> str:
    """The difference of ``models`` from the ranker ``against`` by class of queries, with a summary."""
    classes = query_classes(facts)
    leads = {model.label: [gain(model, against, each.rows, facts.files) for each in classes] for model in models}
    header = ("queries", "number", f"MRR of {against.label}", *(f"{label} - {against.label}" for label in leads))
    rows = [
        (
            f"{each.kind}: {each.label}" if each.kind else each.label,
            f"{each.size:,}",
            f"{against.reciprocal_ranks[each.rows].mean():.3f}",
            *(with_interval(lead) for lead in gains),
        )
        for each, gains in zip(classes, zip(*leads.values(), strict=True), strict=True)
    ]
    lengths = "counted in words" + ", that of a method in its tokens" * bool(facts.code_words)
    caption = (
        f"**{inline_text(pool.dataset)}** ({inline_text(pool.origin)}), {pool.split} split: MRR minus that of "
        f"{inline_text(against.label)}, with 95 % intervals over seeds and the queries of each class by file, not "
        "corrected for how many there are. Length is "
        f"{lengths}; overlap is the share of a query's distinct stems that stand in its method's name, tokens or API "
        f"words too.{_of_training(facts)} Classes of fewer than {LEAST} queries are left out."
    )
    said = "\n".join(f"- {_verdict(label, against.label, classes, gains)}" for label, gains in leads.items())
    return f"{caption}\n\n{markdown_table(header, rows)}\n\n{said}"


def _of_training(facts: QueryFacts) -> str:
    text = (
        " The nearest training method is that of whose distinct tokens the method shares most, as Jaccard similarity, "
        "among those that copies were removed from."
    ) * bool(facts.nearest)
    return text + " Earlier ablations were judged on a part of these queries." * bool(facts.read)


def _verdict(label: str, against: str, classes: Sequence[QueryClass], gains: Sequence[RunDifference]) -> str:
    """The classes for which the interval is above 0, below 0, or contains 0, in words."""
    if not all(each.has_verdict for each in gains):
        return f"{label} and {against}: no verdict, since a trained model has one seed."
    above, below, neither = (
        _named([each for each, lead in zip(classes, gains, strict=True) if lead.sign == sign]) for sign in (1, -1, 0)
    )
    return (
        f"{label} is ahead of {against}, the interval above 0, in {above}; it is behind, the interval below 0, in "
        f"{below}; the interval holds 0 in {neither}."
    )


def _named(classes: Sequence[QueryClass]) -> str:
    labels = {kind: ", ".join(each.label for each in classes if each.kind == kind) for kind in ("", *KINDS)}
    return " and ".join(f"{kind} ({names})" if kind else names for kind, names in labels.items() if names) or "no class"
