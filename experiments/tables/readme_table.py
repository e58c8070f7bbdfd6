"""The block of README that ``bash run.sh table`` writes: answers with intervals, a short table, and its picture."""

from collections.abc import Mapping
from dataclasses import replace
from textwrap import fill
from typing import Final

from data_prep.errors import UserError
from evaluation.comparison import Lead, leads
from experiments.tables.answers import Answers, Pair
from experiments.tables.answers_page import YES_OR_NO
from experiments.tables.comparison_pictures import forest_panels
from experiments.tables.comparison_tables import Clusters, Named, summary, with_interval
from experiments.tables.main_table import README_ROWS, README_TESTS, WITHOUT_GRAPH

START: Final = "<!-- results:start -->"
END: Final = "<!-- results:end -->"
OVERVIEW: Final = "overview.png"
BASE: Final = README_ROWS["bm25_tuned"]
ASKED: Final[Mapping[str, Pair]] = {
    "Is GALM ahead of TabCS?": ("galm", "tabcs"),
    "Does GALM's graph help?": ("galm", WITHOUT_GRAPH),
    "Is galm_plus ahead of BM25?": ("galm_plus", "bm25_tuned"),
    "Is it, with BM25 added?": ("galm_plus + BM25", "bm25_tuned"),
    "Is MiniLM ahead of it, both fused?": ("minilm + BM25", "galm_plus + BM25"),
}
"""Question of README -> the pair of the main page that answers it."""
_LEGEND: Final = """\
- MRR: mean of 1/rank among all methods of the test split ({sizes}), ties counted against the ranker.
- In parentheses: 95 % intervals. Verdicts are corrected for all comparisons of [main.md](experiments/results/main.md).
- Word models have the best of eight equal trials; GALM without its graph has GALM's. "+ BM25": scores fused.
- galm_plus: our variant of GALM, here without a graph. MiniLM: all-MiniLM-L6-v2 ([pretrained.md](docs/pretrained.md)).

![MRR of each row minus that of tuned BM25, with 95 % intervals](experiments/results/overview.png)"""


def with_tables(text: str, found: Named, answers: Mapping[str, Answers]) -> str:
    """``text`` of README with the block between the markers.

    Raises:
        UserError: the markers are not there.
    """
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise UserError(f"expected the lines {START} and {END} in README.md, to write the table between them")
    return f"{before}{START}\n{_block(found, answers)}\n{END}{after}"


def _block(found: Named, answers: Mapping[str, Answers]) -> str:
    if not found:
        return "No results are saved yet."
    sizes = " and ".join(f"{next(iter(rows.values())).tested[0].pool_size:,}" for rows in found.values())
    told = "\n".join(filter(None, (_told(question, pair, answers) for question, pair in ASKED.items())))
    return "\n\n".join(filter(None, (told, summary(found, README_ROWS.values()), _LEGEND.format(sizes=sizes))))


def _told(question: str, pair: Pair, answers: Mapping[str, Answers]) -> str:
    """A line that answers ``question`` on each test of README; "" where none has the pair."""
    known = {title: answers[title].leads.get(pair) for title in README_TESTS.values() if title in answers}
    words = [
        f"{title.partition(' (')[0]}: {YES_OR_NO[lead.side]}, {with_interval(lead.difference)}."
        for title, lead in known.items()
        if lead
    ]
    return fill(f"- **{question}** {' '.join(words)}", 120, subsequent_indent="  ") if words else ""


def overview_leads(found: Named, clusters: Clusters) -> dict[str, dict[str, Lead]]:
    """Test of README -> row -> its difference from tuned BM25; tests without this or without others are left out."""
    panels = {}
    for title, rows in found.items():
        entries = [replace(entry, label=name) for name, entry in rows.items()]
        panels[title] = leads(entries, BASE, clusters.get(entries[0].tested[0].data.fingerprint))
    return {title: rows for title, rows in panels.items() if rows}


def overview_picture(panels: Mapping[str, Mapping[str, Lead]]) -> bytes:
    """A PNG of :func:`overview_leads`."""
    names = [name for name in README_ROWS.values() if any(name in rows for rows in panels.values())]
    return forest_panels(panels, names, f"MRR from that of {BASE}")
