"""The README's table: the best of each kind of ranker, with BM25, on every test set."""

from collections.abc import Iterable
from typing import Final

from evaluation.comparison import Entry, by_pool
from evaluation.results import Result
from experiments.tables.comparison_tables import markdown_table

ROWS: Final = (
    "galm_plus, start 0.2 (JDK + repositories + open Java) + BM25, fusion weight tuned on repositories",
    "galm_plus, start 0.2 (JDK + repositories + open Java)",
    "galm_plus, vectors of 512 + BM25",
    "galm_plus, vectors of 512",
    "galm_plus",
    "tabcs + BM25",
    "galm",
    "tabcs",
    "bm25_tuned",
)
"""At most nine labels of the main table."""
_ALIASES: Final = ((" + bm25_tuned", " + BM25"),)
"""Parts of saved labels, and how tables and figures show them."""


def shown(label: str) -> str:
    """A saved label as tables and figures show it."""
    for saved, said in _ALIASES:
        label = label.replace(saved, said)
    return label


def summary(results: Iterable[tuple[str, Result]]) -> str:
    """MRR of :data:`ROWS` on every pool; "" if no result is saved."""
    pools = by_pool(results)
    found = {pool: {entry.label: entry for entry in entries} for pool, entries in pools.items()}
    labels = [label for label in ROWS if any(label in entries for entries in found.values())]
    if not labels:
        return ""
    rows = [(label, *(_mrr(entries.get(label)) for entries in found.values())) for label in labels]
    table = markdown_table(("ranker", *(pool.dataset for pool in found)), rows)
    sizes = ", ".join(f"{pool.dataset} {pool.size:,}" for pool in found)
    return (
        f"{table}\n\nMRR on test splits, every query over the whole pool ({sizes} methods), ties counted against the "
        "ranker; means over seeds ± standard deviation where there are several."
    )


def _mrr(entry: Entry | None) -> str:
    if entry is None:
        return ""
    deviation = "" if entry.mrr_deviation is None else f" ± {entry.mrr_deviation:.3f}"
    return f"{entry.mrr:.3f}{deviation}"
