"""The pages of saved results on posts: what is better than BM25, tables, ablations.

``bash run.sh table`` writes them with all others; ``posts table`` writes them alone.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, get_args

import numpy as np

from data_prep.errors import UserError
from data_prep.files.writing import write_atomically
from evaluation.comparison import MARGIN, Lead, Side
from evaluation.metrics import mrr, recall_at
from evaluation.result_store import ResultStore, SavedRun
from experiments.posts.results import (
    ABLATIONS,
    BASE,
    DEPTHS,
    KINDS,
    Grouped,
    PostsResult,
    Rows,
    compared,
    folder_name,
    grouped,
    results_of,
    times,
)
from experiments.recipes import results_folder
from experiments.tables.comparison_tables import table_lines, with_interval

RESULTS: Final = results_folder.RESULTS / "posts"
"""Results that are published; its name for the corpus is the folder below."""
CONTROL: Final = "bm25_tuned"
JUDGED: Final = (
    "Intervals of differences (95 %) are over training seeds and threads of duplicates; p is adjusted by Holm over the "
    "rows of a table, which intervals are not. A trained model with one seed has neither. Level: the whole interval "
    f"lies within {MARGIN:g} of 0; not shown: neither that nor a difference."
)
ON_TEST: Final = f"{JUDGED} The queries are those of the main test: this is no second test, and it chose no setting."
"""What has to be known of ablations."""


def write_summaries(folder: Path = RESULTS) -> list[Path]:
    """Write the pages of every folder of results in ``folder``.

    Raises:
        UserError: there are no results, or one is damaged.
        OSError: a file cannot be written.
    """
    for each in folders_of(folder):
        ResultStore(each).fold()
    if not (pages := dict(summaries(folder))):
        raise UserError(f"expected folders of results in {folder}, there are none: --evaluate.save=FOLDER writes them")
    for name, page in pages.items():
        write_atomically(folder / name, page)
    return [folder / name for name in pages]


def folders_of(folder: Path) -> list[Path]:
    """The folders of results in ``folder``, one of each corpus."""
    return [each for each in sorted(folder.glob("*")) if each.is_dir()]


def summaries(folder: Path) -> Iterator[tuple[str, str]]:
    """``NAME.md`` and ``NAME-ablations_on_test.md`` of every folder of results in ``folder``.

    Raises:
        UserError: a result is damaged.
    """
    for each in folders_of(folder):
        runs = ResultStore(each).load()
        yield f"{each.name}.md", summary(each.name, grouped(runs))
        if ablated := ablation_pages(runs):
            title = f"# {each.name}: what do parts of the loop do on the test?"
            yield f"{each.name}-ablations_on_test.md", f"{title}\n\n{ON_TEST}\n\n{ablated}"


def ablation_pages(runs: Mapping[str, SavedRun]) -> str:
    """The tables of the ablations among saved runs, one after the other; "" if there are none.

    Raises:
        UserError: one is damaged.
    """
    pages = []
    for name, ablation in ABLATIONS.items():
        labels = (BASE, *ablation.variants)
        found = {label: list(_of_full(runs, f"ablations/{name}/{folder_name(label)}/")) for label in labels}
        found = {label: results for label, results in found.items() if results}
        if BASE in found and len(found) > 1:
            pages.append(f"## {name}\n\n{ablation_page(ablation.question, found)}")
    return "\n".join(pages)


def _of_full(runs: Mapping[str, SavedRun], folder: str) -> Iterator[PostsResult]:
    """The result of the last round of each seed on the full corpus."""
    for name, run in runs.items():
        if name.startswith(folder):
            yield [each for each in results_of(run) if each.pool == "full"][-1]


def summary(name: str, results: Grouped) -> str:
    """Tables of both corpora by ranker, of the kinds of query, and the differences to tuned BM25."""
    lines = [f"# {name}: does an encoder find posts by code and an error better than BM25 does?", ""]
    lines += [*_differences(results["full"])]
    for pool in ("full", "closed"):
        lines += [*(_table(pool, results[pool]) if pool in results else ()), ""]
    return "\n".join([*lines, *_kinds(results["full"])]) + "\n"


def _differences(rows: Rows) -> Iterator[str]:
    if CONTROL not in rows:
        return
    others = [ranker for ranker in rows if ranker != CONTROL and "," not in ranker]
    leads = compared({ranker: rows[ranker] for ranker in others}, rows[CONTROL])
    what = f"Recall@10 minus that of {CONTROL}, full corpus"
    yield from (f"{what}:", "", *_answer(leads), "", JUDGED, "", f"## {what}", "")
    cells = {}
    for ranker, lead in leads.items():
        difference, *judgement = _cells(lead)
        cells[ranker] = (str(len(rows[ranker])), difference, times(rows[ranker], rows[CONTROL]), *judgement)
    yield from (*table_lines(("ranker", "seeds", "difference", "times", "p", "it is"), cells), "")


def _table(pool: str, rows: Rows) -> Iterator[str]:
    first = next(iter(rows.values()))[0]
    yield f"## {pool} corpus: {first.documents:,} documents, {len(first.ranks):,} queries"
    yield ""
    yield "Means over seeds, with the 95 % interval over queries of the mean for one seed (Wilson)."
    yield ""
    yield f"| ranker | seeds | {' | '.join(f'Recall@{k}' for k in DEPTHS)} | MRR |"
    yield "|---|---:|" + "---:|" * (len(DEPTHS) + 1)
    yield f"| chance | | {' | '.join(f'{first.chance[str(k)]:.4f}' for k in DEPTHS)} | |"
    for ranker, found in rows.items():
        mean_mrr = np.mean([mrr(np.array(each.ranks)) for each in found])
        yield f"| {ranker} | {len(found)} | {' | '.join(_recall(found, k) for k in DEPTHS)} | {mean_mrr:.3f} |"


def _recall(found: Sequence[PostsResult], k: int) -> str:
    values = [recall_at(np.array(each.ranks), k) for each in found]
    mean, low, high = (float(np.mean([getattr(each, name) for each in values])) for name in ("value", "low", "high"))
    spread = f" ± {np.std([each.value for each in values], ddof=1):.3f}" if len(values) > 1 else ""
    return f"{mean:.3f}{spread} ({low:.3f} to {high:.3f})"


def _kinds(rows: Rows) -> Iterator[str]:
    kinds = next(iter(rows.values()))[0].kinds
    shown = [kind for kind in KINDS if kinds.get(kind)]
    yield "## Recall@10 by kind of query, full corpus"
    yield ""
    yield "Queries that are code alone, an error alone, or both; and those whose text is not nearly their original's."
    yield ""
    cells = {
        ranker: [f"{np.mean([each.hits(10)[list(kinds[kind])].mean() for each in found]):.3f}" for kind in shown]
        for ranker, found in rows.items()
    }
    yield from table_lines(("ranker", *(f"{kind} ({len(kinds[kind])})" for kind in shown)), cells)


def _answer(leads: Mapping[str, Lead]) -> Iterator[str]:
    """Which rows are better, which worse, and of which neither is shown, as a list."""
    for side in get_args(Side):
        rows = [f"{name} {with_interval(each.difference)}" for name, each in leads.items() if each.side == side]
        if rows:
            yield f"- {side.capitalize()}: {'; '.join(rows)}."


def _cells(lead: Lead) -> tuple[str, str, str]:
    """A difference, its adjusted p-value and what it is."""
    return with_interval(lead.difference), "" if math.isnan(lead.adjusted_p) else f"{lead.adjusted_p:.3f}", lead.side


def ablation_page(question: str, found: Mapping[str, Sequence[PostsResult]]) -> str:
    """A table of all variants, and which differ from the first; those of other queries are not compared."""
    base, *others = found
    same = {label: found[label] for label in others if found[label][0].queries == found[base][0].queries}
    leads = compared(same, found[base])
    heads = ("variant", "queries", f"Recall@10, mean of {len(found[base])} seeds", "difference", "p", "it is")
    cells = {}
    for label, results in found.items():
        recalls = [float(result.hits(10).mean()) for result in results]
        spread = f" ± {np.std(recalls, ddof=1):.3f}" if len(recalls) > 1 else ""
        compared_with = _cells(leads[label]) if label in leads else ("", "", "")
        cells[label] = (str(len(results[0].ranks)), f"{np.mean(recalls):.3f}{spread}", *compared_with)
    answer = [*_answer(leads), ""] if leads else []
    return "\n".join([question, "", *answer, *table_lines(heads, cells)]) + "\n"
