"""Results of rankers on posts: ranks per query; their tables, and those of saved ones, ``bash run.sh posts table``."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from evaluation.metrics import chance_recall, mrr, recall_at
from evaluation.result_store import ResultStore, SavedRun
from evaluation.significance import compare, compare_all, holm
from experiments.posts.ablations import ABLATIONS, BASE, folder_name
from experiments.posts.pools import Pool
from experiments.recipes import results_folder

DEPTHS: Final = (5, 10, 20, 50)
"""Depths of recall in the paper."""
_OUTSIDE: Final = re.compile(r"[^\w.+-]+")
RESULTS: Final = results_folder.RESULTS / "posts"
"""Results that are published; its name for the corpus is the folder below."""
CONTROL: Final = "bm25_tuned"
_WEIGHT: Final = re.compile(r" \(weight [\d.]+\)$")
KINDS: Final = ("code", "error", "both", "other_text")
"""Kinds of queries that have rows of their own."""


@dataclass(frozen=True)
class PostsResult:
    """The ranks of one ranker on one pool."""

    ranker: str
    pool: str
    documents: int
    queries: tuple[str, ...]  # keys of posts
    ranks: tuple[int, ...]
    chance: Mapping[str, float]  # depth -> expected recall of a random order
    kinds: Mapping[str, Sequence[int]]  # kind of query -> places

    @classmethod
    def of(
        cls, ranker: str, pool: Pool, keys: Sequence[str], ranks: np.ndarray, kinds: Mapping[str, Sequence[int]]
    ) -> "PostsResult":
        """The result with the chance of each depth."""
        chance = {str(k): round(chance_recall(len(pool.documents), pool.relevant, k), 5) for k in DEPTHS}
        return cls(ranker, pool.name, len(pool.documents), tuple(keys), tuple(ranks.tolist()), chance, kinds)

    def hits(self, k: int) -> np.ndarray:
        """1 for each query with a relevant document in the top ``k``, else 0."""
        return (np.array(self.ranks) <= k).astype(np.float64)

    def row(self, kind: str = "") -> str:
        """A row of a table: recalls with intervals, and MRR, of all queries or of one kind."""
        ranks = np.array(self.ranks)[list(self.kinds[kind])] if kind else np.array(self.ranks)
        if not len(ranks):
            return f"| {self.ranker} | {kind or 'all'} | 0 |" + " |" * (len(DEPTHS) + 1)
        recalls = (recall_at(ranks, k) for k in DEPTHS)
        cells = [f"{each.value:.3f} ({each.low:.3f} to {each.high:.3f})" for each in recalls]
        return f"| {self.ranker} | {kind or 'all'} | {len(ranks)} | {' | '.join(cells)} | {mrr(ranks):.3f} |"


def table(results: Sequence[PostsResult], kinds: Sequence[str] = ()) -> str:
    """A Markdown table of results on one pool, with chance in its first row."""
    first = results[0]
    heads = " | ".join(f"Recall@{k}" for k in DEPTHS)
    chance = " | ".join(f"{first.chance[str(k)]:.4f}" for k in DEPTHS)
    lines = [
        f"{first.pool} corpus, {first.documents:,} documents; 95 % intervals (Wilson)",
        "",
        f"| ranker | queries | number | {heads} | MRR |",
        "|---|---|---:|" + "---:|" * (len(DEPTHS) + 1),
        f"| chance | all | {len(first.ranks)} | {chance} | |",
    ]
    for result in results:
        lines += [result.row(), *(result.row(kind) for kind in kinds if result.kinds.get(kind))]
    return "\n".join(lines)


def mean_hits(results: Sequence[PostsResult]) -> np.ndarray:
    """The hits of each query in the top 10, averaged over results such as those of several seeds."""
    mean: np.ndarray = np.mean([result.hits(10) for result in results], axis=0)
    return mean


def compared(
    results: Mapping[str, Sequence[PostsResult]], control: Sequence[PostsResult]
) -> dict[str, tuple[str, str]]:
    """Recall@10 of each minus that of ``control``, as it is printed, and its p-value, adjusted by Holm."""
    found = compare_all([mean_hits(each) for each in results.values()], mean_hits(control))
    shown = [f"{each.mean:+.3f} ({each.low:+.3f} to {each.high:+.3f})" for each in found]
    adjusted = [f"{p:.3f}" for p in holm([each.p_value for each in found])]
    return dict(zip(results, zip(shown, adjusted, strict=True), strict=True))


def difference_line(first: PostsResult, second: PostsResult) -> str:
    """Recall@10 of the first minus that of the second, over the same queries, with its bootstrap interval."""
    assert first.queries == second.queries, "two results are only compared on the same queries"
    found = compare(first.hits(10), second.hits(10))
    times = _times(first.hits(10).mean(), second.hits(10).mean())
    return (
        f"{first.ranker} minus {second.ranker}, Recall@10: {found.mean:+.3f} "
        f"({found.low:+.3f} to {found.high:+.3f}), {f'{times} times, ' if times else ''}p = {found.p_value:.4f}"
    )


def _times(first: float, second: float) -> str:
    """How many times as much the first is; "" if the second is nothing."""
    return f"{first / second:.2f}" if second else ""


def save_results(folder: Path, name: str, results: Sequence[PostsResult], about: Mapping[str, Any]) -> Path:
    """Write results as JSON; returns the file.

    Raises:
        OSError: it cannot be written.
    """
    content = {**about, "results": [asdict(result) for result in results]}
    return ResultStore(folder).save(_OUTSIDE.sub("_", name), content)


Rows = dict[str, list[PostsResult]]
Grouped = dict[str, Rows]
"""Corpus -> ranker -> its result with each seed."""


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
        same = found.setdefault(result.pool, {}).setdefault(_WEIGHT.sub("", result.ranker), [])
        if result.ranks not in [each.ranks for each in same]:
            same.append(result)
    return found


def summary(name: str, results: Grouped) -> str:
    """Tables of both corpora by ranker, of the kinds of query, and the differences to tuned BM25."""
    lines = [f"# {name}: the query is code and an error, the answer is a post", ""]
    lines += ["Means over seeds, with the 95 % interval over queries of the mean for one seed (Wilson).", ""]
    for pool in ("full", "closed"):
        lines += [*(_table(pool, results[pool]) if pool in results else ()), ""]
    lines += [*_kinds(results["full"]), "", *_differences(results["full"])]
    return "\n".join(lines) + "\n"


def _table(pool: str, rows: Rows) -> Iterator[str]:
    first = next(iter(rows.values()))[0]
    yield f"## {pool} corpus: {first.documents:,} documents, {len(first.ranks):,} queries"
    yield ""
    yield f"| ranker | seeds | {' | '.join(f'Recall@{k}' for k in DEPTHS)} | MRR |"
    yield "|---|---:|" + "---:|" * (len(DEPTHS) + 1)
    yield f"| chance | | {' | '.join(f'{first.chance[str(k)]:.4f}' for k in DEPTHS)} | |"
    for ranker, found in rows.items():
        mean_mrr = np.mean([mrr(np.array(each.ranks)) for each in found])
        yield f"| {ranker} | {len(found)} | {' | '.join(_cell(found, k) for k in DEPTHS)} | {mean_mrr:.3f} |"


def _cell(found: Sequence[PostsResult], k: int) -> str:
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
    yield f"| ranker | {' | '.join(f'{kind} ({len(kinds[kind])})' for kind in shown)} |"
    yield "|---|" + "---:|" * len(shown)
    for ranker, found in rows.items():
        cells = [f"{np.mean([each.hits(10)[list(kinds[kind])].mean() for each in found]):.3f}" for kind in shown]
        yield f"| {ranker} | {' | '.join(cells)} |"


def _differences(rows: Rows) -> Iterator[str]:
    if CONTROL not in rows:
        return
    others = [ranker for ranker, found in rows.items() if ranker != CONTROL and "titles" not in ranker]
    found = compared({ranker: rows[ranker] for ranker in others}, rows[CONTROL])
    yield f"## Recall@10 minus that of {CONTROL}, full corpus"
    yield ""
    yield "Hits averaged over seeds; intervals by bootstrap over queries, p by sign flips, adjusted by Holm."
    yield ""
    yield "| ranker | difference | times | p |"
    yield "|---|---:|---:|---:|"
    for ranker, (difference, p) in found.items():
        times = _times(mean_hits(rows[ranker]).mean(), mean_hits(rows[CONTROL]).mean())
        yield f"| {ranker} | {difference} | {times or '-'} | {p} |"


def _results(run: SavedRun) -> list[PostsResult]:
    try:
        rows = run.content["results"]
        return [PostsResult(**{**row, "queries": tuple(row["queries"]), "ranks": tuple(row["ranks"])}) for row in rows]
    except (KeyError, TypeError, UserError) as error:
        raise UserError(f"{run.where} is no result on posts ({error}): remove it") from error


def ablation_page(question: str, found: Mapping[str, Sequence[PostsResult]]) -> str:
    """A table of all variants; the first is the one that the others are compared with."""
    base, *others = found
    same = [label for label in others if found[label][0].queries == found[base][0].queries]
    differences = compared({label: found[label] for label in same}, found[base])
    head = f"| variant | queries | Recall@10, mean of {len(found[base])} seeds | difference | p |"
    lines = [question, "", head, "|---|---:|---:|---:|---:|"]
    for label, results in found.items():
        recalls = [float(result.hits(10).mean()) for result in results]
        spread = f" ± {np.std(recalls, ddof=1):.3f}" if len(recalls) > 1 else ""
        cells = f"| {label} | {len(results[0].ranks)} | {np.mean(recalls):.3f}{spread} |"
        lines.append(f"{cells} {' | '.join(differences[label])} |" if label in differences else f"{cells} | |")
    note = "Intervals: bootstrap over queries, of hits averaged over seeds; p: sign-flip test, adjusted by Holm."
    return "\n".join([*lines, "", note]) + "\n"
