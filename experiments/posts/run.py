"""Trains, tunes and tests models of posts: ``bash run.sh posts MODEL``, ``posts sample`` and ``ablate snipper_...``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from itertools import product
from typing import Any, Final, Literal

import numpy as np

from data_prep.errors import UserError
from data_prep.files.access import named_path
from data_prep.files.writing import sole_holder, write_atomically
from data_prep.installation import code_version, default_or_named, machine, without_paths
from data_prep.posts.sample import write_sample
from data_prep.posts.sets import PostSets
from data_prep.posts.store import PreparedPosts, prepare_posts
from data_prep.posts.tracker import write_tracker
from evaluation.metrics import best_ranks, mrr, top_at_k
from evaluation.results import public
from experiments.posts.config import MODELS, SAMPLE_SEED, SAMPLE_SIZE, PostsBm25Config, PostsPlan, resolve_plan
from experiments.posts.loop import Loop, Stage
from experiments.posts.pages import ON_TEST, ablation_page
from experiments.posts.pools import Bm25Ranker, Pool, PostRanker, ZeroShotRanker, development_pools, evaluation_pool
from experiments.posts.results import (
    ABLATIONS,
    BASE,
    DEPTHS,
    KINDS,
    LAST_ROUND,
    SEEDS,
    TITLES,
    PostsResult,
    difference_line,
    folder_name,
    save_results,
    table,
)
from experiments.recipes.config import REPOSITORY
from modeling.ranker import FusedScores, Scores, best_weight

MakeRanker = Callable[[], PostRanker]
NOTE: Final = (
    "Synthetic sample: documented examples of installed packages, broken on purpose, with their genuine tracebacks. "
    "The numbers say that the pipeline runs, and nothing about posts that people write."
)


@dataclass
class Tested:
    """The results of a run, and the page that shows them."""

    results: list[PostsResult]
    page: str


def run_posts(plan: PostsPlan, command: str, say: Callable[[str], None]) -> Tested:
    """Prepare the posts, train what is to be trained, and test.

    Raises:
        UserError: the dump is not available, or has no evaluation set.
        OSError: a file cannot be read or written.
    """
    posts = prepare_posts(plan.data, command=command, say=say)
    sets = PostSets(posts.posts, plan.data)
    say("; ".join(f"{name} {count:,}" for name, count in sets.counts().items()))
    if not sets.evaluation:
        raise UserError(
            f"no duplicate link with code or an error leads to an answered question among {len(posts.posts):,} "
            "questions, so there is nothing to test on: take a larger site, another --data.tag, or add PostLinks.xml"
        )
    return PostsTest(plan, posts, sets, command, say).run()


@dataclass
class PostsTest:
    """One model on the sets of its data."""

    plan: PostsPlan
    posts: PreparedPosts
    sets: PostSets
    command: str
    say: Callable[[str], None]

    def run(self) -> Tested:
        """Test the model; a trained one after every stage, and fused with tuned BM25."""
        stages: list[Stage] = []
        if self.trained:
            loop = Loop(self.plan, self.sets, self.say)
            rankers: dict[str, MakeRanker] = {f"{self.plan.name} untrained": loop.untrained}
            if self.plan.evaluate.stages != "none":
                stages = loop.run()
                tested = stages if self.plan.evaluate.stages == "all" else stages[-1:]
                rankers = {f"{self.plan.name} {each.name}": partial(loop.ranker, each) for each in tested}
        elif self.plan.kind == "zero_shot":
            rankers = {self.plan.name: lambda: ZeroShotRanker(self.plan.model)}
        else:
            rankers = {self.plan.name: lambda: Bm25Ranker(self.plan.model)}
        full, closed = self._tested(rankers)
        lines = [table(full, KINDS), "", table(closed)]
        if self.plan.kind != "bm25" and self.plan.evaluate.fusion:
            lines += ["", difference_line(full[-1], full[-2])]
        begun = "-untrained" if self.trained and not stages else ""
        name = f"{self.plan.name}{begun}-seed{self.plan.train.seed}"
        save = self.plan.evaluate.save
        folder = named_path(save) if save else default_or_named(self.plan.loop.out) / "results"
        path = save_results(folder, name, full + closed, self._about(stages))
        return Tested(full + closed, "\n".join([*lines, "", f"results: {path}"]))

    def _tested(self, rankers: Mapping[str, MakeRanker]) -> tuple[list[PostsResult], list[PostsResult]]:
        full, closed = [], []
        for name, make in rankers.items():  # one in memory at a time
            ranker = make()
            scores = ranker.over(self.full)
            full.append(self._result(name, self.full, scores))
            if self.plan.evaluate.first_link:
                full.append(self._result(f"{name}, first link only", self.full.of_first_link(), scores))
            closed.append(self._result(name, self.closed, ranker.over(self.closed)))
        if self.plan.evaluate.titles:
            titles = self._pool("full", titles=True)
            full.append(self._result(f"{name}{TITLES}", titles, ranker.over(titles)))
        if self.plan.kind != "bm25" and self.plan.evaluate.fusion:
            full += self._fused(name, ranker)
        return full, closed

    def _fused(self, name: str, ranker: PostRanker) -> list[PostsResult]:
        """Tuned BM25, and its fusion with ``ranker`` by the weight that is best on the development sets."""
        bm25 = Bm25Ranker(resolve_plan("bm25_tuned", {}).model)
        weight = self._weight(ranker, bm25)
        scores = FusedScores(ranker.over(self.full), bm25.over(self.full), weight)
        return [
            self._result("bm25_tuned", self.full, bm25.over(self.full)),
            self._result(f"{name} + bm25_tuned (weight {weight})", self.full, scores),
        ]

    def _weight(self, ranker: PostRanker, bm25: Bm25Ranker) -> float:
        """The weight of ``ranker`` with the best mean of all recalls on the duplicate development set.

        Without one, on the same-post set.
        """
        pool = development_pools(self.sets, self.plan.loop.parts, body=self.plan.evaluate.body)[-1]

        def measure(block: np.ndarray, first: int) -> float:
            part = slice(first, first + len(block))
            ranks = best_ranks([block], pool.relevant[part], pool.ignored[part])
            return float(sum((ranks <= k).sum() for k in DEPTHS))

        return best_weight(ranker.over(pool), bm25.over(pool), measure)

    @property
    def trained(self) -> bool:
        return MODELS[self.plan.name].trained

    @cached_property
    def full(self) -> Pool:
        return self._pool("full")

    @cached_property
    def closed(self) -> Pool:
        return self._pool("closed")

    def _pool(self, of: Literal["full", "closed"], *, titles: bool = False) -> Pool:
        return evaluation_pool(self.sets, self.plan.loop.parts, body=self.plan.evaluate.body, of=of, titles=titles)

    def _result(self, name: str, pool: Pool, scores: Scores) -> PostsResult:
        return PostsResult.of(name, pool, self.sets, pool.ranks(scores))

    def _about(self, stages: Sequence[Stage]) -> dict[str, Any]:
        plan = self.plan
        sections = ("data", "model", "loop", "train", "evaluate")
        return {
            "model": plan.name,
            "command": without_paths(self.command),
            "data": {"sets": self.sets.counts(), "fingerprint": self.posts.fingerprint},
            "config": public({name: asdict(getattr(plan, name)) for name in sections}),
            "stages": [{**stage.record, "key": stage.key} for stage in stages],
            "machine": asdict(machine()),
            "code": code_version(REPOSITORY),
        }


def run_sample(name: str, typed: Mapping[str, str], command: str, say: Callable[[str], None]) -> str:
    """Make the sample if it is not there, then train and test the model; returns the page.

    Raises:
        ValueError: an option is wrong, or too few examples could be broken.
        OSError: a file cannot be written.
    """
    fixed = {"data.tag": "", "data.inline": "false", "loop.out": "runs/posts_sample"}
    plan = resolve_plan(name, {**fixed, **typed, "data.path": "none"})
    folder = default_or_named(plan.data.root) / f"posts_sample-{SAMPLE_SIZE}-{SAMPLE_SEED}"
    with sole_holder(folder.with_name(f".{folder.name}.lock"), lambda: say("waiting for another process")):
        if not (folder / "synthetic_sample" / "Posts.xml").exists():
            say(f"breaking documented examples of installed packages, for {SAMPLE_SIZE:,} questions: some minutes")
            write_sample(folder, SAMPLE_SIZE, SAMPLE_SEED, say)
            links = folder / "links.jsonl"
            write_tracker(folder / "tickets.jsonl", links, folder / "synthetic_sample", {"site": "synthetic_sample"})
    typed = {**fixed, **typed, "data.path": str(folder / "synthetic_sample")}
    return f"{NOTE}\n\n{run_posts(resolve_plan(name, typed), command, say).page}"


def run_ablation(name: str, typed: Mapping[str, str], command: str, say: Callable[[str], None]) -> str:
    """Train and test every variant; returns the page, which is also saved in the folder of the runs.

    Raises:
        ValueError: an option is unknown, or the data are not available.
        OSError: a file cannot be written.
    """
    ablation = ABLATIONS[name]
    out = default_or_named(resolve_plan(BASE, typed).loop.out) / "ablations"
    found: dict[str, list[PostsResult]] = {}
    for label, settings in {BASE: {}, **ablation.variants}.items():
        for seed in range(SEEDS):
            own = {"train.seed": str(seed), "evaluate.save": str(out / name / folder_name(label))}
            plan = resolve_plan(BASE, {**typed, **settings, **LAST_ROUND, **own})
            say(f"{name}: {label}, seed {seed}")
            results = [each for each in run_posts(plan, command, say).results if each.pool == "full"]
            found.setdefault(label, []).append(results[-1])
    page = f"{ON_TEST}\n\n{ablation_page(ablation.question, found)}"
    write_atomically(out / f"{name}.md", page)
    return f"{page}\n{out / f'{name}.md'}"


def tuned_page(plan: PostsPlan, command: str, say: Callable[[str], None]) -> str:
    """A table of settings, the best by mean MRR over both development sets first.

    Raises:
        UserError: the dump is not available, or has no development queries.
    """
    sets = PostSets(prepare_posts(plan.data, command=command, say=say).posts, plan.data)
    pools = development_pools(sets, plan.loop.parts, body=plan.evaluate.body)
    if not pools:
        raise UserError("there are no development queries to tune on: take a larger dump")
    rows = []
    for config in _settings(plan.model):
        cells, total = "", 0.0
        for pool in pools:
            ranks = pool.ranks(Bm25Ranker(config).over(pool))
            cells += f" {top_at_k(ranks, 10):.3f} | {mrr(ranks):.4f} |"
            total += mrr(ranks) / len(pools)
        rows.append(
            (total, f"| {config.words} | {config.k1} | {config.b} | {config.title_weight} |{cells} {total:.4f} |")
        )
        say(rows[-1][1])
    heads = " | ".join(f"{pool.name} Recall@10 | MRR" for pool in pools)
    best = [line for _, line in sorted(rows, reverse=True)]
    rule = "|---" * (5 + 2 * len(pools)) + "|"
    return "\n".join([f"| words | k1 | b | title weight | {heads} | mean MRR |", rule, *best])


def _settings(config: PostsBm25Config) -> Iterator[PostsBm25Config]:
    yield replace(config, words="okapi", k1=1.2, b=0.75, title_weight=1)
    for k1, b, weight in product((1.2, 2.5), (0.5, 0.75, 1.0), (1, 3)):
        yield replace(config, k1=k1, b=b, title_weight=weight)
