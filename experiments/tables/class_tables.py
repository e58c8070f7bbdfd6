"""Tables of the models' differences from BM25 by kind of query, in Markdown."""

from collections.abc import Sequence
from typing import Final

from evaluation.comparison import Entry
from evaluation.query_classes import KINDS, LEAST, Gain, QueryClass, gain, query_classes
from experiments.tables.comparison_tables import markdown_table, with_interval
from experiments.tables.query_facts import KnownPool

MODELS: Final = ("galm_plus", "galm")
AGAINST: Final = "bm25_tuned"


def compared(entries: Sequence[Entry]) -> tuple[list[Entry], Entry] | None:
    """Those of ``MODELS`` that have several seeds and the ranker they are compared with; None without either."""
    named = {entry.label: entry for entry in entries}
    models = [named[label] for label in MODELS if label in named and named[label].seeds > 1]
    return (models, named[AGAINST]) if models and AGAINST in named else None


def class_table(known: KnownPool) -> str:
    """Each model's difference from BM25 by class of queries, with a summary; "" if one is missing."""
    pool, entries, facts = known
    found = compared(entries)
    if found is None:
        return ""
    models, against = found
    classes = query_classes(facts)
    leads = {model.label: [gain(model, against, each.rows, facts.files) for each in classes] for model in models}
    header = ("queries", "number", f"MRR of {AGAINST}", *(f"{label} - {AGAINST}" for label in leads))
    rows = [
        (_name(each), f"{each.size:,}", f"{against.reciprocal_ranks[each.rows].mean():.3f}", *map(_shown, gains))
        for each, gains in zip(classes, zip(*leads.values(), strict=True), strict=True)
    ]
    caption = (
        f"**{pool.dataset}** ({pool.origin}), {pool.split} split: MRR minus that of {AGAINST}, with 95 % intervals "
        "over seeds and the queries of each class by file, not corrected for how many there are. Length is counted "
        "in words; overlap is the share of a query's distinct stems that stand in its method's name, tokens or API "
        f"words too. Classes of fewer than {LEAST} queries are left out."
    )
    said = "\n".join(f"- {_verdict(label, classes, gains)}" for label, gains in leads.items())
    return f"{caption}\n\n{markdown_table(header, rows)}\n\n{said}"


def _name(each: QueryClass) -> str:
    return f"{each.kind}: {each.label}" if each.kind else each.label


def _shown(lead: Gain) -> str:
    return with_interval(lead.mean, lead.low, lead.high)


def _verdict(label: str, classes: Sequence[QueryClass], gains: Sequence[Gain]) -> str:
    """The classes for which the interval is above 0, below 0, or contains 0, in words."""
    above, below, neither = (
        _named([each for each, lead in zip(classes, gains, strict=True) if lead.sign == sign]) for sign in (1, -1, 0)
    )
    return (
        f"{label} is ahead of {AGAINST}, the interval above 0, in {above}; it is behind, the interval below 0, in "
        f"{below}; the interval holds 0 in {neither}."
    )


def _named(classes: Sequence[QueryClass]) -> str:
    labels = {kind: ", ".join(each.label for each in classes if each.kind == kind) for kind in ("", *KINDS)}
    return " and ".join(f"{kind} ({names})" if kind else names for kind, names in labels.items() if names) or "no class"
