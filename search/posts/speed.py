"""The speed of the search for posts: ``bash run.sh speed posts DUMP`` measures it over many posts, on one thread.

The answered questions of the dump are repeated until they are as many as asked for, and indexed; without ``--model``,
their vectors are those of a light encoder before training, which cost what trained ones do. Asked are the code and
errors of questions of the dump, one at a time. It writes ``posts-speed.json`` and ``posts-speed.md`` to
``experiments/results/``.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Final

import numpy as np
import torch

from baselines.snipper.config import LightConfig
from baselines.snipper.light import LightEncoder, LightTokenizer
from baselines.snipper.texts import QueryText, document_text
from data_prep.errors import UserError
from data_prep.files.atomic import naming, write_atomically
from data_prep.files.named_paths import named_path
from data_prep.posts.records import Post
from data_prep.posts.store import prepare_posts
from evaluation.json_records import to_json
from evaluation.provenance import Machine, code_version, machine
from experiments.recipes.config import REPOSITORY
from experiments.recipes.results_folder import results_folder
from experiments.recipes.snippet_encoder import RECORD, TOKENIZER, WEIGHTS
from experiments.terminal.console import say, show
from experiments.terminal.options import parsed
from search.posts.options import PostsSpeedOptions
from search.posts.post_index import CANDIDATES, PostIndex, write_index
from search.retrieval.ann.faiss_index import installed
from training.checkpoint import save_weights

TOP: Final = 5
_WEIGHT: Final = 0.5


@dataclass(frozen=True, slots=True)
class QueryTime:
    """Milliseconds per query, after a warm-up."""

    name: str
    median: float
    p95: float
    processor: float  # the median of the processor's time, which other programs do not prolong


@dataclass(frozen=True, slots=True)
class PostsSpeed:
    """All measurements."""

    origin: str
    posts: int
    repeated: float  # times that a post occurs
    dim: int
    queries: int
    index_seconds: float
    open_seconds: dict[str, float]
    times: list[QueryTime]
    load: float
    code_version: str
    date: str
    machine: Machine


def measure_posts(arguments: Sequence[str]) -> PostsSpeed:
    """Measure all, and write it to ``experiments/results/``.

    Raises:
        UserError: the dump is not available, has too few questions, or an option is wrong.
    """
    words, options = parsed(arguments, PostsSpeedOptions)
    if not words and not options.path:
        raise UserError("expected a dump: bash run.sh speed posts DUMP [--tag=TAG] [--posts=300000]")
    results = results_folder([{"posts": asdict(options)}], [{"posts": asdict(PostsSpeedOptions())}])
    found = prepare_posts(replace(options, path=(*options.path, *words)), command="", say=say).posts
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name, naming(Path(name)):
        told = _measured(found, options, Path(name))
    results.mkdir(parents=True, exist_ok=True)
    write_atomically(results / "posts-speed.json", json.dumps(to_json(told), indent=1) + "\n")
    write_atomically(results / "posts-speed.md", markdown(told))
    show(f"\n{markdown(told)}")
    return told


def _measured(posts: Sequence[Post], options: PostsSpeedOptions, folder: Path) -> PostsSpeed:
    answered = [post for post in posts if post.best_answer]
    asking = [post for post in posts if post.has_query]
    if not answered or not asking:
        raise UserError("expected questions with an accepted answer, and some with code or an error")
    chosen = np.random.default_rng(0).permutation(len(asking))[: options.queries].tolist()
    queries = [QueryText.of(asking[place]) for place in chosen]
    model = named_path(options.model) if options.model else untrained(answered, folder / "model")
    say(f"indexing {options.posts:,} posts")
    started = time.perf_counter()
    write_index(folder / "index", [*_repeated(answered, options.posts)], model, _WEIGHT, {})
    made = time.perf_counter() - started
    opened: dict[str, float] = {}
    times: list[QueryTime] = []
    for how in ("exact", "faiss") if installed() else ("exact",):
        started = time.perf_counter()
        index = PostIndex(folder / "index", how)
        opened[how] = time.perf_counter() - started
        say(f"{len(queries):,} queries, vectors by {how}")
        times += [timed(name, ask, queries) for name, ask in _ways(index, how, words=not times)]
        dim, size = index.dim, index.size
        index.close()
    return PostsSpeed(
        origin=", ".join(sorted({post.site for post in answered})),
        posts=size,
        repeated=size / len(answered),
        dim=dim,
        queries=len(queries),
        index_seconds=made,
        open_seconds=opened,
        times=times,
        load=os.getloadavg()[0],
        code_version=code_version(REPOSITORY),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=machine(),
    )


def _repeated(posts: Sequence[Post], count: int) -> Iterator[Post]:
    return islice(chain.from_iterable(repeat(posts)), count)


def untrained(posts: Sequence[Post], folder: Path) -> Path:
    """A light encoder of the posts' words as its training begins with it, in ``folder``."""
    config = LightConfig()
    tokenizer = LightTokenizer.of([document_text(post, body=True) for post in posts], config)
    torch.manual_seed(0)
    model = LightEncoder(config, tokenizer.vocabulary)
    model.start_with(tokenizer.rarity)
    folder.mkdir()
    save_weights(model, folder / WEIGHTS)
    tokenizer.save(folder / TOKENIZER)
    (folder / RECORD).write_text(json.dumps({"kind": "light", "model": asdict(config)}))
    return folder


def _ways(index: PostIndex, how: str, *, words: bool) -> Iterator[tuple[str, Callable[[QueryText], object]]]:
    if words:
        yield "BM25 alone", lambda query: index.by_words(query, CANDIDATES)
    yield f"vectors alone, {how}", lambda query: index.by_vectors(query, CANDIDATES)
    yield f"both fused, with the posts read, {how}", lambda query: index.search(query, TOP)


def timed(name: str, ask: Callable[[QueryText], object], queries: Sequence[QueryText]) -> QueryTime:
    """The times of all queries, asked in turn twice: what is read and built at first use is not counted."""
    for query in queries:
        ask(query)
    walls, used = [], []
    for query in queries:
        wall, processor = time.perf_counter(), time.process_time()
        ask(query)
        used.append(1000 * (time.process_time() - processor))
        walls.append(1000 * (time.perf_counter() - wall))
    median, late = np.quantile(walls, [0.5, 0.95]).tolist()
    return QueryTime(name, median, late, float(np.median(used)))


def markdown(found: PostsSpeed) -> str:
    """The table in Markdown."""
    opened = ", ".join(f"{how} {seconds:.1f} s" for how, seconds in found.open_seconds.items())
    lines = [
        f"{found.posts:,} posts ({found.origin}, each {found.repeated:.1f} times), vectors of {found.dim}, "
        f"{found.queries} queries, one thread; {found.machine.cpu}, {found.machine.cores} cores, load "
        f"{found.load:.1f}; {found.date[:10]}, code {found.code_version}. Indexed in {found.index_seconds:.0f} s; "
        f"opened in: {opened}.",
        "",
        "| search | median | 95 % | processor, median |",
        "|---|---:|---:|---:|",
        *(f"| {t.name} | {t.median:.1f} ms | {t.p95:.1f} ms | {t.processor:.1f} ms |" for t in found.times),
    ]
    return "\n".join(lines) + "\n"
