"""The word models with the best of their eight trials, on test splits: three seeds each, alone and fused with BM25.

``bash run.sh benchmark tuned`` trains them. The JDK's methods were read again for these rows: a few lists of calls
differ from those of the main table's rows, so that they are compared with each other alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from evaluation.comparison import Entry, largest_pools, paired_leads
from evaluation.results import Result
from experiments.tables.answers import TESTS, said
from experiments.tables.comparison_tables import markdown_table
from experiments.tables.main_table import of_trials, shown

_END: Final = of_trials("")
_FUSED: Final = " + BM25"
PAIRS: Final = (("galm", "tabcs"), ("galm_plus", "tabcs"), ("galm_plus", "galm"))
"""Models that are compared, alone and fused."""


def best_trials_section(results: Iterable[tuple[str, Result]], files: Mapping[str, Sequence[int]]) -> str:
    """The section of the page of settings; "" without results.

    Args:
        results: of the cells of ``benchmark tuned``, with their labels.
        files: data set -> a number for the file of each test query, where they are known.
    """
    pools = largest_pools(results)
    found = {title: pools[name] for name, title in TESTS.items() if name in pools}
    if not found:
        return ""
    tests = {title: {_name(each.label): each for each in entries} for title, (_, entries) in found.items()}
    names = dict.fromkeys(name for rows in tests.values() for name in rows)
    cells = [(name, *(rows[name].mrr_text if name in rows else "-" for rows in tests.values())) for name in names]
    told = [_told(title, rows, files.get(found[title][0].dataset)) for title, rows in tests.items()]
    return "\n\n".join(
        (f"## The best of eight trials, on test splits\n\n{_ABOUT}", markdown_table(("MRR", *tests), cells), *told)
    )


def _name(label: str) -> str:
    """The label of a row without what all rows have."""
    return shown(label).replace(_END, "")


def _told(title: str, rows: Mapping[str, Entry], files: Sequence[int] | None) -> str:
    pairs = [(first + end, second + end) for end in ("", _FUSED) for first, second in PAIRS]
    known = [pair for pair in pairs if all(name in rows for name in pair)]
    leads = paired_leads([(rows[first], rows[second]) for first, second in known], files)
    lines = [f"- {said(pair, lead)}" for pair, lead in zip(known, leads, strict=True)]
    return "\n".join((f"{title}:\n", *lines))


_ABOUT: Final = (
    "Each word model with the best setting of its trials, trained anew with up to three seeds. MRR: mean ± deviation "
    "over seeds, of all test queries over as many methods. Differences are paired over queries, with 95 % intervals "
    "over seeds and queries, those of one file together where files are known; verdicts by p < 0.05 after Holm's "
    "correction for the comparisons of a test set here. A few lists of calls of the JDK differ from those of the main "
    "table, so its rows are not compared with these."
)
