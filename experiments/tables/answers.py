"""The page of the main table: its questions, answered by paired differences; all else is on other pages.

A new row is a line of ``ROWS``, and one of ``QUESTIONS`` where it is to be compared. What has no saved result is left
out.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evaluation.comparison import MARGIN, Entry, Lead, Pool, Side, counting_copies, largest_pools, paired_leads
from evaluation.queries import QueryFacts
from evaluation.speed import Row
from experiments.tables.comparison_pictures import as_png, forest_panels
from experiments.tables.comparison_tables import Clusters, Results, markdown_table, said, with_interval
from experiments.tables.main_table import MIXED_WITH, README_TESTS, TESTS, TOKEN_HEADS
from experiments.tables.query_kinds import wins_table
from training.drawing import Figure

PICTURE: Final = "main.png"
TIME_PICTURE: Final = "main-time.png"
Pair = tuple[str, str]
_FUSED: Final = " + BM25"
_MORE: Final = " (JDK + repositories + open Java)"
_TUNED: Final = ", fusion weight tuned on repositories"

ROWS: Final[Mapping[str, tuple[str, ...]]] = {
    "galm": ("galm", f"galm{_MORE}"),
    "galm, L = 0": ("galm, L = 0",),
    "galm_plus": ("galm_plus", f"galm_plus, start 0.2{_MORE}"),
    "tabcs": ("tabcs", f"tabcs_no_ast{_MORE}"),
    "bm25_tuned": ("bm25_tuned",),
    "galm + BM25": ("galm + BM25", f"galm{_MORE} + BM25{_TUNED}"),
    "galm, L = 0 + BM25": ("galm, L = 0 + BM25",),
    "galm_plus + BM25": ("galm_plus + BM25", f"galm_plus, start 0.2{_MORE} + BM25{_TUNED}"),
    "tabcs + BM25": ("tabcs + BM25", f"tabcs_no_ast{_MORE} + BM25{_TUNED}"),
    **{f"minilm{end}": (f"minilm{end}", f"minilm, one epoch{end}") for end in ("", _FUSED)},
    "minilm as it comes": ("minilm as it comes",),
    "minilm as it comes + BM25": ("minilm as it comes + BM25", "minilm as it comes + BM25, fusion weight tuned on jdk"),
    **{name: (name,) for label in TOKEN_HEADS for name in (label, f"{label} + BM25")},
}
"""Row -> the labels that it has in results; of several on one test set the first."""
QUESTIONS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "Is GALM ahead of TabCS?": (("galm", "tabcs"), ("galm + BM25", "tabcs + BM25")),
    "Does GALM's graph help?": (("galm", "galm, L = 0"), ("galm + BM25", "galm, L = 0 + BM25")),
    "Is GALM ahead of BM25?": (("galm", "bm25_tuned"), ("galm + BM25", "bm25_tuned")),
    "Is GALM ahead of MiniLM, fine-tuned?": (("galm", "minilm"), ("galm + BM25", "minilm + BM25")),
    "Is galm_plus, our variant of GALM, ahead of TabCS?": (
        ("galm_plus", "tabcs"),
        ("galm_plus + BM25", "tabcs + BM25"),
    ),
    "Is galm_plus ahead of BM25?": (("galm_plus", "bm25_tuned"), ("galm_plus + BM25", "bm25_tuned")),
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
    **{question: pairs[0] for question, pairs in QUESTIONS.items() if pairs[0][0].startswith("galm")},
    "Is MiniLM, fine-tuned, ahead of galm_plus?": ("minilm", "galm_plus"),
}
"""What the page says first: question -> the pair that answers it."""
BUDGET: Final = (
    "**Tuning.** The neural models of this page were given the same four settings on validation; those with or without "
    "a tree have the other form's. With the best of eight equal trials each, the JDK is ranked in "
    "[tuning.md](tuning.md#the-best-of-eight-trials-on-test-splits). galm keeps its paper's loss. What GALM's paper "
    "leaves open, and what galm_plus has instead, was chosen on validation by hand, in more runs than that: its lead "
    "includes this work."
)
WHERE: Final = (
    "The pairs of [main.md](main.md) with 95 % intervals over training seeds and queries, those of one file together. "
    "Queries with equal words have equal rankings: where any of their methods counts as an answer, the rank is that of "
    "the first. Wins and losses: on how many queries 1/rank, the mean over seeds, is above the other's, equal, below."
)
YES_OR_NO: Final[Mapping[Side, str]] = {
    "better": "yes",
    "worse": "no, behind",
    "level": "no, level",
    "not shown": "not shown",
    "one seed": "one seed",
}
"""The same as a word of the first table."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What was found on one test set."""

    pool: Pool
    rows: Mapping[str, Entry]  # by the page's names
    leads: Mapping[Pair, Lead]  # of each question's pairs
    copies: Mapping[str, Entry]  # the rows, with any method of the query's words as an answer; {} if not known
    texts: Sequence[int]  # a number for the words of each query; () if not known
    clusters: Sequence[int] | None

    @property
    def copy_leads(self) -> Mapping[Pair, Lead]:
        """The same pairs by the ranks of ``copies``."""
        return _leads(self.copies, self.clusters)


def answers_of(results: Results, facts: Iterable[QueryFacts], clusters: Clusters) -> dict[str, Answers]:
    """What was found on each of ``TESTS``, by the name of the page; those without a pair are left out."""
    known = [*facts]
    pools = largest_pools(results)
    found = {}
    for dataset, title in TESTS.items():
        if dataset in pools:
            pool, entries = pools[dataset]
            by_label = {entry.label: entry for entry in entries}
            rows = {
                name: by_label[next(label for label in labels if label in by_label)]
                for name, labels in ROWS.items()
                if not by_label.keys().isdisjoint(labels)
            }
            texts: Sequence[int] = next((each.texts for each in known if each.fits(pool)), ())
            copies = {name: counting_copies(entry, texts) for name, entry in rows.items()} if texts else {}
            files = clusters.get(pool.fingerprint)
            found[title] = Answers(pool, rows, _leads(rows, files), copies, texts, files)
    return {title: each for title, each in found.items() if each.leads}


def _leads(rows: Mapping[str, Entry], clusters: Sequence[int] | None) -> dict[Pair, Lead]:
    pairs = [pair for of in QUESTIONS.values() for pair in of if all(name in rows for name in pair)]
    found = paired_leads([(rows[first], rows[second]) for first, second in pairs], clusters)
    return dict(zip(pairs, found, strict=True))


def answers_page(found: Mapping[str, Answers], note: str, times: Sequence[Row] = ()) -> str:
    """The page; "" without answers. ``times``: of the models, compared with BM25's."""
    if not found:
        return ""
    parts = (
        "# Is GALM ahead of its baselines, and of BM25?",
        "By its comment one method is sought among all of a test split. Numbers beside answers are differences of MRR.",
        _in_short(found),
        *(_answered(question, pairs, found) for question, pairs in QUESTIONS.items()),
        f"![Differences of MRR with their intervals]({PICTURE})",
        _rows(found),
        f"{_TIMES}\n\n![MRR against time]({TIME_PICTURE})" if _timed(found, times) else "",
        _CONVENTIONS,
        note,
        _LINKS,
    )
    return "\n\n".join(filter(None, parts)) + "\n"


def _in_short(found: Mapping[str, Answers]) -> str:
    """The questions that a reader comes with, and on each test set a word and the difference; "" without any."""
    rows = [
        (question, *(_word(each.leads[pair]) if pair in each.leads else "-" for each in found.values()))
        for question, pair in IN_SHORT.items()
        if any(pair in each.leads for each in found.values())
    ]
    table = markdown_table(("models alone", *found), rows)
    return f"{table}\n\nTheir intervals, and the same with BM25 added:" if rows else ""


def _word(lead: Lead) -> str:
    return f"{YES_OR_NO[lead.side]}, {lead.difference.mean:+.3f}"


def _answered(question: str, pairs: Sequence[Pair], found: Mapping[str, Answers]) -> str:
    lines = []
    for title, each in found.items():
        known = [pair for pair in pairs if pair in each.leads]
        told = [said(pair, each.leads[pair]) for pair in known]
        lines += [f"- {title}: {' '.join(told)}"] if told else []
    return "\n".join((f"**{question}**\n", *lines)) if lines else ""


def _rows(found: Mapping[str, Answers]) -> str:
    """MRR of each row on each test set, and counting copies."""
    columns: dict[str, Mapping[str, Entry]] = {}
    for title, each in found.items():
        columns |= {title: each.rows} | ({f"{title}*": each.copies} if each.copies else {})
    names = [name for name in ROWS if any(name in rows for rows in columns.values())]
    return markdown_table(
        ("MRR", *columns),
        [(name, *(rows[name].mrr_text if name in rows else "-" for rows in columns.values())) for name in names],
    )


_CONVENTIONS: Final = (
    "**How to read it.** Differences are paired over queries, with 95 % intervals over training seeds and queries, "
    "those of one file together; on CSN and JCG, whose files are not known, each for itself. Ahead and behind: "
    "p < 0.05 after Holm's correction for all comparisons of a test set on this page, which intervals do not have; "
    f"other pages correct for theirs. Level: the whole interval lies within {MARGIN:g} of 0, as if of a hundred "
    "queries two had their method first in place of second. Where neither holds, nothing is shown. A trained row with "
    "one seed gets no verdict; with three, p-values are somewhat too small where trainings differ much and queries "
    "little, so that an interval that nearly holds 0 says little. MRR: mean ± deviation over seeds. "
    '"+ BM25": both scores fused, with a weight tuned on validation. *: any method counts whose own query has the same '
    "words. The rows of CSN and JCG were trained on more Java, without theirs, and their tabcs has no syntax tree. "
    "minilm as it comes was not: it has learned from CodeSearchNet's pairs, and the JDK's validation chose its weight "
    "there. The JDK's minilm was trained for one epoch, Debian's for three."
)
_TIMES: Final = (
    "**What does it cost?** All models timed in one run, a question with 1,000 methods, on the processor "
    "([speed.md](speed.md#models)). Squares are fused with BM25 and take the time of both."
)
_LINKS: Final = """\
- Where, and on which queries: [main-where.md](main-where.md), by overlap with training, length and words in common.
- All rows and columns: [main-all.md](main-all.md), with settings, sizes and the papers' convention.
- The graph in other forms: [ablations/graph.md](ablations/graph.md). Do other parts help? [ablations.md](ablations.md).
- What papers print, and what it can mean: [published.md](published.md)."""


def where_section(found: Mapping[str, Answers]) -> Iterator[str]:
    """For each test set of whose queries facts are known, the page's pairs: differences, wins and losses."""
    for title, each in found.items():
        if each.copies:
            yield f"### {title}\n\n{_pairs(each)}"


def _pairs(found: Answers) -> str:
    copies, alike = found.copy_leads, Counter(found.texts)
    shared = sum(number for number in alike.values() if number > 1)
    header = ("first - second", "MRR", "it is", "MRR, any method of the query's words", "it is")
    rows = [
        (" - ".join(pair), *(text for of in (lead, copies[pair]) for text in (with_interval(of.difference), of.side)))
        for pair, lead in found.leads.items()
    ]
    values = {name: entry.reciprocal_ranks for name, entry in found.rows.items()}
    wins = wins_table([(f"{first} - {second}", values[first], values[second]) for first, second in found.leads])
    told = f"{shared:,} of {found.pool.queries:,} queries have the words of another."
    return f"{told}\n\n{markdown_table(header, rows)}\n\n{wins}"


def answers_pictures(found: Mapping[str, Answers], times: Sequence[Row]) -> Iterator[tuple[str, bytes]]:
    """The page's pictures as PNG, by their names: all differences, a panel for each test set; MRR against time."""
    names = [pair for pairs in QUESTIONS.values() for pair in pairs]
    panels = {
        title: {" - ".join(pair): each.leads[pair] for pair in names if pair in each.leads}
        for title, each in found.items()
    }
    shown = [name for name in map(" - ".join, names) if any(name in leads for leads in panels.values())]
    if found:
        yield PICTURE, forest_panels(panels, shown)
    if tested := _timed(found, times):
        yield TIME_PICTURE, time_picture(tested, times)


def _timed(found: Mapping[str, Answers], times: Sequence[Row]) -> dict[str, Mapping[str, Entry]]:
    """The rows of README's test sets, where two or more were timed."""
    known = {name for row in times for name in (row.first, row.second)}
    rows = {title: found[title].rows for title in README_TESTS.values() if title in found}
    return {title: each for title, each in rows.items() if len(known & each.keys()) > 1}


def time_picture(tested: Mapping[str, Mapping[str, Entry]], times: Sequence[Row]) -> bytes:
    """A PNG of MRR against each kind of time. What is fused with BM25 takes the time of both.

    Args:
        tested: test set -> rows of the page.
        times: of the models, compared with BM25's.
    """
    seconds: dict[str, dict[str, float]] = {}
    for row in times:
        of = seconds.setdefault(row.name, {row.first: row.first_seconds.median})
        of[row.second] = row.second_seconds.median
    for of in seconds.values():
        of |= {f"{name}{_FUSED}": spent + of[MIXED_WITH] for name, spent in of.items() if name != MIXED_WITH}
    figure = Figure(figsize=(14, 4.6 * len(tested)), dpi=110, layout="constrained")
    panels = figure.subplots(len(tested), len(seconds), squeeze=False, sharey="row", sharex="col")
    names = [name for name in ROWS if any(name in rows and name in seconds[times[0].name] for rows in tested.values())]
    plain = [*dict.fromkeys(name.removesuffix(_FUSED) for name in names)]
    for line, (title, rows) in zip(panels, tested.items(), strict=True):
        for axes, (what, of) in zip(line, seconds.items(), strict=True):
            for name in (name for name in names if name in rows):
                colour = f"C{plain.index(name.removesuffix(_FUSED)) % 10}"
                marker = "s" if name.endswith(_FUSED) else "o"
                axes.plot(1000 * of[name], rows[name].mrr, label=name, color=colour, marker=marker, linestyle="")
            axes.set(xscale="log", xlabel=f"ms for {what}", title=title)
            axes.grid(color="0.9")
        line[0].set_ylabel("MRR")
    drawn = {line.get_label(): line for axes in panels[:, 0] for line in axes.lines}
    figure.legend([drawn[name] for name in names], names, loc="outside right upper", fontsize=9)
    return as_png(figure)
