"""The table of saved results on posts, means over seeds: ``bash run.sh posts table``."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from evaluation.metrics import mrr, recall_at
from evaluation.result_store import ResultStore, SavedRun
from evaluation.significance import compare, holm
from experiments.posts.ablations import ABLATIONS, BASE, ablation_page, folder_name
from experiments.posts.results import DEPTHS, PostsResult
from experiments.recipes import results_folder

RESULTS: Final = results_folder.RESULTS / "posts"
"""Results that are published; its name for the corpus is the folder below."""
CONTROL: Final = "bm25_tuned"
_WEIGHT: Final = re.compile(r" \(weight [\d.]+\)$")
_KINDS: Final = ("", "code", "error", "both", "other_text")

Grouped = dict[tuple[str, str], list[PostsResult]]
"""(corpus, ranker) -> its result with each seed."""


def write_summaries(folder: Path = RESULTS) -> list[Path]:
    """Write ``NAME.md`` for every folder of results in ``folder``, and ``NAME-ablations.md``; returns the files.

    Raises:
        UserError: there are no results, or one is damaged.
        OSError: a file cannot be written.
    """
    found = [each for each in sorted(folder.glob("*")) if each.is_dir()]
    if not found:
        raise UserError(f"expected folders of results in {folder}, there are none: --evaluate.save=FOLDER writes them")
    pages = []
    for each in found:
        page, store = folder / f"{each.name}.md", ResultStore(each)
        store.fold()
        runs = store.load()
        write_atomically(page, summary(each.name, grouped(runs)))
        pages.append(page)
        if ablated := ablation_pages(runs):
            pages.append(folder / f"{each.name}-ablations.md")
            write_atomically(pages[-1], f"# {each.name}: ablations\n\n{ablated}")
    return pages


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
            yield [each for each in _results(run) if each.pool == "full"][-1]


def grouped(runs: Mapping[str, SavedRun]) -> Grouped:
    """The results of saved runs, but of no ablation; the same result, such as of a control, is counted once.

    Raises:
        UserError: one is damaged.
    """
    found: Grouped = {}
    for result in (each for name, run in runs.items() if "/" not in name for each in _results(run)):
        same = found.setdefault((result.pool, _WEIGHT.sub("", result.ranker)), [])
        if result.ranks not in [each.ranks for each in same]:
            same.append(result)
    return found


def summary(name: str, results: Grouped) -> str:
    """Tables of both corpora by ranker, of the kinds of query, and the differences to tuned BM25."""
    lines = [f"# {name}: the query is code and an error, the answer is a post", ""]
    lines += ["Means over seeds, with the 95 % interval over queries of the mean for one seed (Wilson).", ""]
    for pool in ("full", "closed"):
        lines += [*_table(pool, results), ""]
    lines += [*_kinds(results), "", *_differences(results)]
    return "\n".join(lines) + "\n"


def _table(pool: str, results: Grouped) -> Iterator[str]:
    rows = {ranker: found for (of, ranker), found in results.items() if of == pool}
    if not rows:
        return
    first = next(iter(rows.values()))[0]
    yield f"## {pool} corpus: {first.documents:,} documents, {len(first.ranks):,} queries"
    yield ""
    yield f"| ranker | seeds | {' | '.join(f'Recall@{k}' for k in DEPTHS)} | MRR |"
    yield "|---|---:|" + "---:|" * (len(DEPTHS) + 1)
    yield f"| chance | | {' | '.join(f'{first.chance[str(k)]:.4f}' for k in DEPTHS)} | |"
    for ranker, found in rows.items():
        yield f"| {ranker} | {len(found)} | {' | '.join(_cell(found, k) for k in DEPTHS)} | {_mean_mrr(found):.3f} |"


def _cell(found: Sequence[PostsResult], k: int) -> str:
    values = [recall_at(np.array(each.ranks), k) for each in found]
    mean, low, high = (float(np.mean([getattr(each, name) for each in values])) for name in ("value", "low", "high"))
    spread = f" ± {np.std([each.value for each in values], ddof=1):.3f}" if len(values) > 1 else ""
    return f"{mean:.3f}{spread} ({low:.3f} to {high:.3f})"


def _mean_mrr(found: Sequence[PostsResult], rows: Sequence[int] | None = None) -> float:
    ranks = [np.array(each.ranks) for each in found]
    return float(np.mean([mrr(each if rows is None else each[list(rows)]) for each in ranks]))


def _kinds(results: Grouped) -> Iterator[str]:
    rows = {ranker: found for (of, ranker), found in results.items() if of == "full"}
    kinds = next(iter(rows.values()))[0].kinds
    shown = [kind for kind in _KINDS if kind and kinds.get(kind)]
    yield "## Recall@10 by kind of query, full corpus"
    yield ""
    yield "Queries that are code alone, an error alone, or both; and those whose text is not nearly their original's."
    yield ""
    yield f"| ranker | {' | '.join(f'{kind} ({len(kinds[kind])})' for kind in shown)} |"
    yield "|---|" + "---:|" * len(shown)
    for ranker, found in rows.items():
        cells = [f"{np.mean([each.hits(10)[list(kinds[kind])].mean() for each in found]):.3f}" for kind in shown]
        yield f"| {ranker} | {' | '.join(cells)} |"


def _differences(results: Grouped) -> Iterator[str]:
    rows = {ranker: found for (of, ranker), found in results.items() if of == "full"}
    if CONTROL not in rows:
        return
    others = [ranker for ranker, found in rows.items() if ranker != CONTROL and "titles" not in ranker]
    control = _hits(rows[CONTROL])
    found = [compare(_hits(rows[ranker]), control) for ranker in others]
    adjusted = holm([each.p_value for each in found])
    yield f"## Recall@10 minus that of {CONTROL}, full corpus"
    yield ""
    yield "Hits averaged over seeds; intervals by bootstrap over queries, p by sign flips, adjusted by Holm."
    yield ""
    yield "| ranker | difference | times | p |"
    yield "|---|---:|---:|---:|"
    for ranker, each, p in zip(others, found, adjusted, strict=True):
        times = _hits(rows[ranker]).mean() / control.mean()
        yield f"| {ranker} | {each.mean:+.3f} ({each.low:+.3f} to {each.high:+.3f}) | {times:.2f} | {p:.3f} |"


def _hits(found: Sequence[PostsResult]) -> np.ndarray:
    mean: np.ndarray = np.mean([each.hits(10) for each in found], axis=0)
    return mean


def _results(run: SavedRun) -> list[PostsResult]:
    try:
        rows = run.content["results"]
        return [PostsResult(**{**row, "queries": tuple(row["queries"]), "ranks": tuple(row["ranks"])}) for row in rows]
    except (KeyError, TypeError, UserError) as error:
        raise UserError(f"{run.where} is no result on posts ({error}): remove it") from error
