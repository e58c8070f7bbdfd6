"""The main page: its question, a table of six answers with intervals, two pictures, then all comparisons and rows."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from evaluation.comparison import MARGIN, Entry, Lead, Side, largest_pools
from evaluation.queries import READ, query_classes
from evaluation.speed import Row
from experiments.tables.answers import GRID_RUNS, IN_SHORT, MORE, QUESTIONS, ROWS, Answers, Pair
from experiments.tables.answers_pictures import PICTURE, TIME_PICTURE, timed
from experiments.tables.comparison_tables import Results, markdown_table, said, with_interval
from experiments.tables.main_table import README_TESTS
from experiments.tables.query_kinds import wins_table
from experiments.tables.tuning import EARLIER, TRIALS, TUNED

WHERE: Final = (
    "The pairs of [main.md](main.md), of the same models, with 95 % intervals over training seeds and queries, those "
    "of one file together. Queries with equal words have equal rankings. Where any of their methods counts as an "
    "answer, the rank is that of the first. Wins and losses: on how many queries 1/rank, the mean over seeds, is above "
    "the other's, equal, below."
)
YES_OR_NO: Final[Mapping[Side, str]] = {
    "better": "yes",
    "worse": "no, behind",
    "level": "no, level",
    "not shown": "not shown",
    "one seed": "one seed",
}
"""How rows compare, as a word of the first table."""
_TUNED: Final = ("minilm + BM25", "galm_plus + BM25")
"""The pair that says how much further fine-tuning leads."""
_UNREAD: Final = "Without the queries that ablations have read"
_ANCHOR: Final = _UNREAD.lower().replace(" ", "-")
_HEADING: Final = "# Is GALM ahead of its baselines, and of BM25?"
_TASK: Final = "By its comment one method is sought among all of a test split."
_NAMES: Final = (
    "`bm25_tuned` is BM25 with settings chosen on validation, `L = 0` is GALM without its graph layer. All names: "
    "[models.md](../../docs/models.md)."
)
_PICTURE: Final = (
    f"![Differences of MRR with their intervals]({PICTURE})\n\n"
    "The first row minus the second. Red: ahead. Blue: behind. Dark grey: level. Light grey: not shown; hollow: one "
    f"seed. The band is within {MARGIN:g} of 0. Pairs that one test set alone has are not drawn."
)
_TIMES: Final = (
    "**What does it cost?** All trained models were timed in one run, a question with 1,000 methods, on the processor "
    "([speed.md](speed.md#models)). Squares are fused with BM25 and take the time of both."
)
_CONVENTIONS: Final = f"""\
- Differences are paired over queries, with 95 % intervals over training seeds and queries, those of one file together.
  On CSN and JCG files are not known: each query counts for itself.
- Ahead and behind: p < 0.05 after Holm's correction for all comparisons of a test set on this page.
- Level: the whole interval lies within {MARGIN:g} of 0. That is as if of a hundred queries two had their method first
  in place of second. Where neither holds, nothing is shown.
- A trained row with one seed gets no verdict. With three, p-values are somewhat too small where trainings differ much
  and queries little. An interval that nearly holds 0 then says little.
- MRR: mean ± deviation over seeds. "+ BM25": both scores fused, with a weight tuned on validation.
- *: any method counts whose own query has the same words.
- The rows of CSN and JCG were trained on more Java, without theirs. minilm as it comes was not: it has learned from
  CodeSearchNet's pairs, and the JDK's validation chose its weight there.
- The JDK's minilm was trained for one epoch, Debian's for three."""
_LINKS: Final = """\
- Where, and on which queries: [main-where.md](main-where.md), by overlap with training, length and words in common.
- All rows and columns: [main-all.md](main-all.md), with settings, sizes and the papers' convention.
- The graph in other forms: [ablations/graph.md](ablations/graph.md). Do other parts help? [ablations.md](ablations.md).
- What papers print, and what it can mean: [published.md](published.md)."""


def budgets(encoder_trials: Mapping[str, int], both: int) -> str:
    """What each model's settings were chosen by.

    Args:
        encoder_trials: data set -> number of settings of the pretrained encoder that its validation has compared.
        both: how many of them both data sets have.
    """
    tried = " and ".join(f"{number} on the validation pairs of {name}" for name, number in encoder_trials.items())
    lines = (
        f"Each of {len(TUNED)} word models had {TRIALS} equal trials on the JDK's validation pairs. The best setting "
        "serves Debian's too ([tuning.md](tuning.md)).",
        f"The earlier settings of galm were chosen by a grid of {GRID_RUNS} runs, those of tabcs among {len(EARLIER)}. "
        "Those of galm_plus were found by hand, in more runs.",
        "Without its graph, galm has the setting that was best with it. None was sought for it.",
        "What GALM's paper leaves open, and what galm_plus has instead, was chosen on validation before these trials. "
        "So their leads include this work.",
        "On CSN and JCG, galm_plus starts at 0.2. This start was tried for galm_plus alone.",
        f"minilm had settings of its own: {tried}, {both} of them on both." if tried else "",
    )
    return "\n".join(f"- {line}" for line in lines if line)


def answers_page(
    found: Mapping[str, Answers],
    chosen: str = "",
    times: Sequence[Row] = (),
    caveat: str = "",
    data: str = "",
    cost: str = "",
) -> str:
    """The page; "" without answers.

    Args:
        found: test set -> what was found on it.
        chosen: how the models' settings were chosen.
        times: of the models, compared with BM25's.
        caveat: what stands directly below the first table.
        data: a remark on the test sets, after the other remarks on that table.
        cost: of all runs, in a sentence.
    """
    if not found:
        return ""
    lines = filter(None, (caveat, _corrected(found), *_caveats(found), data))
    parts = (
        _HEADING,
        f"{_TASK} {_first_sentence(found)}",
        in_short(found),
        "\n".join(f"- {line}" for line in lines),
        _NAMES,
        _PICTURE,
        f"{_TIMES}\n\n![MRR against time]({TIME_PICTURE})" if timed(found, times) else "",
        cost,
        _LINKS,
        f"## How to read it\n\n{_CONVENTIONS}",
        f"## How settings were chosen\n\n{chosen}" if chosen else "",
        "## All comparisons",
        *(_answered(question, pairs, found) for question, pairs in QUESTIONS.items()),
        _unread(found),
        f"## MRR of all rows\n\n{_rows(found)}",
    )
    return "\n\n".join(filter(None, parts)) + "\n"


def tree_note(results: Results) -> str:
    """What is known of TabCS where more Java trained it; "" without the rows of before and after on the JDK."""
    _, entries = largest_pools(results).get("jdk", (None, []))
    rows = {entry.label: entry for entry in entries}
    before, after = (rows.get(f"tabcs_no_ast{end}") for end in ("", MORE))
    if not before or not after:
        return ""
    return (
        "On CSN and JCG, TabCS has no syntax tree, and no settings were chosen for its training there. With that "
        f"training it has {after.mrr_text} on the JDK, and {before.mrr_text} without the further Java (seeds: "
        f"{after.seeds}, {before.seeds}). So those distances to TabCS are not of the models alone."
    )


def _first_sentence(found: Mapping[str, Answers]) -> str:
    """The first pair that is known, in a sentence for each test set of README; without these, for each."""
    pair = next(
        pair for pairs in QUESTIONS.values() for pair in pairs if any(pair in each.leads for each in found.values())
    )
    known = {title: each.leads[pair] for title, each in found.items() if pair in each.leads}
    own = {title: lead for title, lead in known.items() if title in README_TESTS.values()}
    return " ".join(f"{title}: {said(pair, lead)}" for title, lead in (own or known).items())


def in_short(found: Mapping[str, Answers]) -> str:
    """The questions that a reader comes with, and on each test set a word and the difference; "" without any."""
    rows = [
        (question, *(_word(each.leads[pair]) if pair in each.leads else "-" for each in found.values()))
        for question, pair in IN_SHORT.items()
        if any(pair in each.leads for each in found.values())
    ]
    return markdown_table(("difference of MRR, 95 % interval", *found), rows) if rows else ""


def _word(lead: Lead) -> str:
    return f"{YES_OR_NO[lead.side]}, {with_interval(lead.difference)}"


def _corrected(found: Mapping[str, Answers]) -> str:
    sizes = (sum(lead.difference.has_verdict for lead in each.leads.values()) for each in found.values())
    return (
        f"Verdicts are corrected for all comparisons of a test set on this page ({_listed([*map(str, sizes)])}). The "
        "intervals are not: one may leave out 0 where nothing is shown."
    )


def _caveats(found: Mapping[str, Answers]) -> Iterator[str]:
    """What the first table does not show: rows of earlier settings, and queries that ablations have read."""
    earlier = [title for title, each in found.items() if each.word_models(of_equal_trials=False)]
    trials = [title for title, each in found.items() if each.word_models(of_equal_trials=True) and title not in earlier]
    if trials:
        yield (
            f"Each word model has the best of its {TRIALS} trials on {_listed(trials)}. GALM without its graph has "
            "GALM's setting."
        )
    if trials and earlier:
        yield f"On {_listed(earlier)} only rows of earlier settings exist, and are compared."
    told = [f"{title}: {said(_TUNED, each.leads[_TUNED])}" for title, each in found.items() if _TUNED in each.leads]
    if told:
        yield f"MiniLM, fine-tuned on the same pairs. {' '.join(told)}"
    for title, each in found.items():
        if each.unread:
            yield f"Earlier ablations have read some queries of {title}: [the answers without them](#{_ANCHOR})."


def _unread(found: Mapping[str, Answers]) -> str:
    """The first table's answers on the queries that no ablation has read; "" if none was read."""
    parts = []
    for title, each in found.items():
        if each.facts and each.unread:
            apart = next(group for group in query_classes(each.facts) if group.kind == READ)
            rows = [
                (
                    _difference(pair),
                    with_interval(each.leads[pair].difference),
                    with_interval(lead.difference),
                    lead.side,
                )
                for pair, lead in each.unread.items()
            ]
            read = each.pool.queries - apart.size
            parts.append(
                f"{title}: earlier ablations were judged on {read:,} of its {each.pool.queries:,} queries. Verdicts "
                "are corrected for this table.\n\n"
                + markdown_table(("first - second", "all queries", f"the other {apart.size:,}", "it is"), rows)
            )
    return "\n\n".join((f"## {_UNREAD}", *parts)) if parts else ""


def _difference(pair: Pair) -> str:
    return " - ".join(pair)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + " and " * (len(names) > 1) + names[-1]


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


def where_section(found: Mapping[str, Answers]) -> Iterator[str]:
    """For each test set of whose queries facts are known, the page's pairs: differences, wins and losses."""
    for title, each in found.items():
        if each.copies:
            yield f"### {title}\n\n{_pairs(each)}"


def _pairs(found: Answers) -> str:
    copies = found.copy_leads
    alike = Counter(found.facts.texts if found.facts else ())
    shared = sum(number for number in alike.values() if number > 1)
    header = ("first - second", "MRR", "it is", "MRR, any method of the query's words", "it is")
    rows = [
        (_difference(pair), *(text for of in (lead, copies[pair]) for text in (with_interval(of.difference), of.side)))
        for pair, lead in found.leads.items()
    ]
    values = {name: entry.reciprocal_ranks for name, entry in found.rows.items()}
    wins = wins_table([(f"{first} - {second}", values[first], values[second]) for first, second in found.leads])
    told = f"{shared:,} of {found.pool.queries:,} queries have the words of another."
    return f"{told}\n\n{markdown_table(header, rows)}\n\n{wins}"
