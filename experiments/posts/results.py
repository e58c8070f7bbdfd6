"""Results of rankers on posts: the ranks of each query, saved and read, a run's table, and differences of Recall@10.

And the ablations of SnippeR's loop with the light encoder, ``bash run.sh ablate snipper_... --data.path=DUMP``: every
variant is trained with three seeds; stages that variants have in common are trained once. Compared is the last round on
the ``full`` corpus, by the hits of each query in the top 10. The queries are those of the main test.
"""

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from data_prep.errors import UserError
from data_prep.posts.sets import PostSets
from evaluation.comparison import Lead, judged
from evaluation.metrics import chance_recall, mrr, recall_at
from evaluation.result_store import ResultStore, SavedRun
from evaluation.significance import RunDifference, Runs, compare_runs
from experiments.posts.config import MODELS
from experiments.posts.pools import Pool, query_kinds
from experiments.tables.comparison_tables import with_interval

SEEDS: Final = 3
BASE: Final = "snipper_light"
LAST_ROUND: Final = {
    "evaluate.stages": "last",
    "evaluate.fusion": "false",
    "evaluate.titles": "false",
    "evaluate.first_link": "false",
}


@dataclass(frozen=True, slots=True)
class PostsAblation:
    """Variants that answer one question, as ``ablations.toml`` says."""

    asked: str
    variants: Mapping[str, Mapping[str, str]]  # label -> options
    needs: str = ""

    @property
    def question(self) -> str:
        """The question, with what its variants need."""
        return self.asked + f" It needs bash run.sh {self.needs}." * bool(self.needs)


ABLATIONS: Final = {
    name: PostsAblation(**each)
    for name, each in tomllib.loads(Path(__file__).with_name("ablations.toml").read_text(encoding="utf-8")).items()
}
"""Name -> ablation."""


def folder_name(label: str) -> str:
    """The name of the folder of a variant's results."""
    return re.sub(r"[^\w.-]+", "_", label)


DEPTHS: Final = (5, 10, 20, 50)
"""Depths of recall in the paper."""
_OUTSIDE: Final = re.compile(r"[^\w.+-]+")
_WEIGHT: Final = re.compile(r" \(weight [\d.]+\)$")
_TUPLES: Final = ("queries", "ranks", "threads")
TITLES: Final = ", titles as queries"
"""End of the name of a ranker that was asked by titles."""
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
    threads: tuple[int, ...]  # of each query: the same for those that duplicate links join

    @classmethod
    def of(cls, ranker: str, pool: Pool, sets: PostSets, ranks: np.ndarray) -> "PostsResult":
        """The result of the queries of ``pool`` with what is known of these, and the chance of each depth."""
        keys = tuple(sets.posts[row].key for row in pool.rows)
        threads = tuple(sets.threads[row] for row in pool.rows)
        chance = {str(k): round(chance_recall(len(pool.documents), pool.relevant, k), 5) for k in DEPTHS}
        kinds = query_kinds(sets, pool)
        return cls(ranker, pool.name, len(pool.documents), keys, tuple(ranks.tolist()), chance, kinds, threads)

    @property
    def trained(self) -> bool:
        """Whether another seed gives other ranks: of a model that is trained, alone or fused."""
        model = MODELS.get(re.split(r"\W", self.ranker, maxsplit=1)[0])
        return model is not None and model.trained

    def hits(self, k: int) -> np.ndarray:
        """1 for each query with a relevant document in the top ``k``, else 0."""
        return (np.array(self.ranks) <= k).astype(np.float64)

    def on(self, places: Sequence[int]) -> "PostsResult":
        """The result on some of the queries alone, without kinds."""
        return replace(
            self,
            queries=tuple(self.queries[place] for place in places),
            ranks=tuple(self.ranks[place] for place in places),
            threads=tuple(self.threads[place] for place in places),
            kinds={},
        )

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


def compared(results: Mapping[str, Sequence[PostsResult]], control: Sequence[PostsResult]) -> dict[str, Lead]:
    """Recall@10 of each against that of ``control``, over seeds and threads of duplicates."""
    assert all(each[0].queries == control[0].queries for each in results.values()), "compared on the same queries only"
    base, threads = _runs(control), control[0].threads
    found = judged([_difference(_runs(each), base, threads) for each in results.values()])
    return dict(zip(results, found, strict=True))


def _difference(first: Runs, second: Runs, threads: Sequence[int]) -> RunDifference:
    if len({*threads}) < 2:  # nothing is known of the variance over threads
        return RunDifference(float(first.values.mean() - second.values.mean()), *[math.nan] * 5)
    return compare_runs(first, second, threads)


def _runs(results: Sequence[PostsResult]) -> Runs:
    return Runs(np.stack([each.hits(10) for each in results]), trained=results[0].trained)


def difference_line(first: PostsResult, second: PostsResult) -> str:
    """Recall@10 of the first minus that of the second, with what is known of it with one seed."""
    found = compared({first.ranker: [first]}, [second])[first.ranker].difference
    unknown = "one seed or one thread of duplicates: no interval and no verdict"
    known = f"p = {found.p_value:.4f}" if found.has_verdict else unknown
    line = f"{first.ranker} minus {second.ranker}, Recall@10: {with_interval(found)}"
    return ", ".join(filter(None, (line, times([first], [second]), known)))


def times(first: Sequence[PostsResult], second: Sequence[PostsResult]) -> str:
    """How many times as much the first has; "" if the second has nothing."""
    one, other = (_runs(each).values.mean() for each in (first, second))
    return f"{one / other:.2f} times" if other else ""


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


def grouped(runs: Mapping[str, SavedRun]) -> Grouped:
    """The results of saved runs, but of no ablation; the same result, such as of a control, is counted once.

    Raises:
        UserError: one is damaged.
    """
    found: Grouped = {}
    for result in (each for name, run in runs.items() if "/" not in name for each in results_of(run)):
        same = found.setdefault(result.pool, {}).setdefault(_WEIGHT.sub("", result.ranker), [])
        if result.ranks not in [each.ranks for each in same]:
            same.append(result)
    return found


def results_of(run: SavedRun) -> list[PostsResult]:
    """The results of a saved run.

    Raises:
        UserError: it is damaged.
    """
    try:
        rows = run.content["results"]
        return [PostsResult(**row | {name: tuple(row[name]) for name in _TUPLES}) for row in rows]
    except (KeyError, TypeError, UserError) as error:
        raise UserError(f"{run.where} is no result on posts ({error}): remove it") from error
