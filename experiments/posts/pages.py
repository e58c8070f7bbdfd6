"""The pages of saved results on posts: what is better than BM25, tables, ablations.

``bash run.sh table`` writes them with all others; ``posts table`` writes them alone.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.errors import UserError
from data_prep.files.writing import write_atomically
from evaluation.comparison import MARGIN, Lead, judged, mean_text
from evaluation.metrics import mrr, recall_at
from evaluation.result_store import ResultStore, SavedRun
from experiments.posts.results import (
    ABLATIONS,
    BASE,
    DEPTHS,
    KINDS,
    TITLES,
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
from experiments.tables.comparison_tables import WORDS, by_side, counted, table_lines, with_interval

RESULTS: Final = results_folder.RESULTS / "posts"
"""Results that are published; its name for the corpus is the folder below."""
CONTROL: Final = "bm25_tuned"
INTERVALS: Final = "Intervals of differences (95 %) are over training seeds and threads of duplicates."
JUDGED: Final = (
    f"{INTERVALS} p is adjusted by Holm over a table, which intervals are not. A trained model with one seed has "
    f"neither. Level: the whole interval lies within {MARGIN:g} of 0. Not shown: neither that nor a difference."
)
ON_TEST: Final = (
    "**Nothing is concluded here.** These tables read the queries of the main test, so they are no second test. They "
    f"chose no setting, and give differences without verdicts. {INTERVALS}"
)
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
        own, ablated = ({name: run for name, run in runs.items() if ("/" in name) == apart} for apart in (False, True))
        yield f"{each.name}.md", summary(each.name, grouped(own), cost(own.values()))
        if found := ablation_results(ablated):
            title = f"# {each.name}: what do parts of the loop change, on the queries of the main test?"
            tables = (f"## {name}\n\n{ablation_page(ABLATIONS[name].question, of)}" for name, of in found.items())
            parts = (title, f"{ON_TEST} {_largest(found)}", cost(ablated.values()), "\n".join(tables))
            yield f"{each.name}-ablations_on_test.md", "\n\n".join(parts)


def cost(runs: Iterable[SavedRun]) -> str:
    """The hours of training of all runs, in a sentence; a stage that runs share counts once."""
    stages = {(stage["key"], stage["seconds"]) for run in runs for stage in run.content.get("stages", ())}
    hours = sum(seconds for _, seconds in stages) / 3600
    return f"Cost: {counted(len(stages), 'trained stage')}, {hours:.1f} hours in all; times of ranking are not saved."


def ablation_results(runs: Mapping[str, SavedRun]) -> dict[str, Rows]:
    """The ablations among saved runs: name -> variant -> its results; those without the base are left out.

    Raises:
        UserError: one is damaged.
    """
    found_of = {}
    for name, ablation in ABLATIONS.items():
        labels = (BASE, *ablation.variants)
        found = {label: list(_of_full(runs, f"ablations/{name}/{folder_name(label)}/")) for label in labels}
        found = {label: results for label, results in found.items() if results}
        if BASE in found and len(found) > 1:
            found_of[name] = found
    return found_of


def _largest(found: Mapping[str, Rows]) -> str:
    """The variant that differs most from the base, in a sentence; "" where none is compared."""
    leads = {label: lead for rows in found.values() for label, lead in _against_first(rows).items()}
    if not leads:
        return ""
    label = max(leads, key=lambda each: abs(leads[each].difference.mean))
    return f"The largest difference in Recall@10: `{label}`, {with_interval(leads[label].difference)}."


def _against_first(found: Mapping[str, Sequence[PostsResult]]) -> dict[str, Lead]:
    """Each variant of the first one's queries, compared with that."""
    base, *others = found
    same = {label: found[label] for label in others if found[label][0].queries == found[base][0].queries}
    return compared(same, found[base])


def _of_full(runs: Mapping[str, SavedRun], folder: str) -> Iterator[PostsResult]:
    """The result of the last round of each seed on the full corpus."""
    for name, run in runs.items():
        if name.startswith(folder):
            yield [each for each in results_of(run) if each.pool == "full"][-1]


def summary(name: str, results: Grouped, spent: str = "") -> str:
    """Tables of both corpora by ranker, of the kinds of query, and the differences to tuned BM25."""
    lines = [f"# {name}: does an encoder find posts by code and an error better than BM25 does?", ""]
    lines += [*_differences(results["full"], spent)]
    for pool in ("full", "closed"):
        lines += [*(_table(pool, results[pool]) if pool in results else ()), ""]
    return "\n".join([*lines, *_kinds(results["full"]), *_titles(results["full"])]) + "\n"


def _differences(rows: Rows, spent: str) -> Iterator[str]:
    if CONTROL not in rows:
        return
    leads = compared(_others(rows), rows[CONTROL])
    what = f"Recall@10 minus that of {CONTROL}, full corpus"
    sides = [lead.side for lead in leads.values() if lead.side != "one seed"]
    if sides:
        ahead = sides.count("better")
        are = "is" if ahead == 1 else "are"
        yield from (f"Of {counted(len(sides), 'ranker')} with a verdict, {ahead} {are} ahead of `{CONTROL}`.", "")
    yield from (f"{what}:", "", *by_side(leads), "", JUDGED, "", *([spent, ""] if spent else ()), f"## {what}", "")
    cells = {}
    for ranker, lead in leads.items():
        p = "" if math.isnan(lead.adjusted_p) else f"{lead.adjusted_p:.3f}"
        ratio = times(rows[ranker], rows[CONTROL])
        cells[ranker] = (str(len(rows[ranker])), with_interval(lead.difference), ratio, p, WORDS[lead.side])
    yield from (*table_lines(("ranker", "seeds", "difference", "times", "p", "it is"), cells), "")


def _others(rows: Rows) -> Rows:
    """The rankers that are compared with tuned BM25: not those of other queries or answers."""
    return {ranker: found for ranker, found in rows.items() if ranker != CONTROL and "," not in ranker}


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
    low, high = (float(np.mean([getattr(each, name) for each in values])) for name in ("low", "high"))
    return f"{mean_text([each.value for each in values])} ({low:.3f} to {high:.3f})"


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
    heads = [f"{kind} ({len(kinds[kind])})" for kind in shown]
    yield from table_lines(("ranker", *heads), cells)
    if CONTROL in rows and shown:
        others = _others(rows)
        found = [compared(_of_kind(others, kind), _of_kind(rows, kind)[CONTROL]) for kind in shown]
        leads = iter(judged([each[ranker].difference for ranker in others for each in found]))
        cells = {ranker: [_judged_cell(next(leads)) for _ in shown] for ranker in others}
        yield from ("", f"The same minus that of {CONTROL}:", "")
        yield from table_lines((f"minus {CONTROL}", *heads), cells)


def _of_kind(rows: Rows, kind: str) -> Rows:
    """The results on the queries of a kind alone."""
    return {ranker: [each.on(each.kinds[kind]) for each in found] for ranker, found in rows.items()}


def _judged_cell(lead: Lead) -> str:
    return f"{with_interval(lead.difference)}, {WORDS[lead.side]}"


def _titles(rows: Rows) -> Iterator[str]:
    """Recall@10 of the rankers that were asked by titles too, against their own by code and errors."""
    asked = {name.removesuffix(TITLES): found for name, found in rows.items() if name.endswith(TITLES)}
    known = {name: found for name, found in asked.items() if name in rows and not found[0].trained}
    if known:
        differences = [compared({name: found}, rows[name])[name].difference for name, found in known.items()]
        leads = dict(zip(known, judged(differences), strict=True))
        yield from ("", "## Recall@10 by titles minus that by code and errors, full corpus", "")
        yield from table_lines(("ranker", "difference"), {name: [_judged_cell(each)] for name, each in leads.items()})


def ablation_page(question: str, found: Mapping[str, Sequence[PostsResult]]) -> str:
    """A table of all variants, and their differences from the first; those of other queries are not compared."""
    leads, base = _against_first(found), next(iter(found.values()))
    heads = ("variant", "queries", f"Recall@10, mean of {counted(len(base), 'seed')}", "difference")
    cells = {}
    for label, results in found.items():
        recalls = mean_text([float(result.hits(10).mean()) for result in results])
        difference = with_interval(leads[label].difference) if label in leads else ""
        cells[label] = (str(len(results[0].ranks)), recalls, difference)
    return "\n".join([question, "", *table_lines(heads, cells)]) + "\n"
