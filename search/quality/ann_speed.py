"""How nearest-neighbour search grows, and the search for posts over many of them, by each engine on one thread.

``ann``: time, memory and recall of each engine at several numbers of vectors. The vectors are those that the shipped
bi-encoder makes of the JDK's functions, or those of an index that is named; beyond their number they are repeated with
noise of a tenth of their length. Questions are those made from comments. Each engine runs in a process of its own, one
after the other. One that takes too long or fails is given up, also for larger numbers; the others go on.

``posts``: the answered questions of the dump are repeated until they are as many as asked for, and indexed; without
``--model``, their vectors are those of a light encoder before training, which cost what trained ones do. Asked are the
code and errors of questions of the dump, one at a time.
"""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict
from functools import partial
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from jaxtyping import Float16

from baselines.snipper_light import LightEncoder, LightTokenizer
from baselines.snipper_texts import LightConfig, QueryText, document_text
from data_prep.errors import UserError
from data_prep.files.access import named_path
from data_prep.files.writing import naming
from data_prep.posts.sets import Post, PostsConfig
from data_prep.posts.store import prepare_posts
from evaluation.speed import (
    Form,
    GivenUpError,
    Measured,
    Row,
    SpeedOptions,
    asking,
    compare,
    in_own_process,
    memory_mb,
    quantiles,
    rows_of,
    timed,
)
from experiments.recipes.run_folder import RECORD, TOKENIZER, WEIGHTS
from experiments.terminal.console import say
from search.index.index_file import open_index
from search.index.vectors import open_vectors, row_encoder, vectors_path
from search.quality.index_speed import of_java_base, update_index, update_vectors, write_sources
from search.quality.questions import of_comments
from search.retrieval.approximate import FaissVectors, MilvusVectors, installed
from search.retrieval.exact import ExactVectors, VectorIndex
from search.snippets.post_index import CANDIDATES, PostIndex, write_index
from training.checkpoint import save_weights

ENGINES: Final[dict[str, Callable[[np.ndarray, Path], VectorIndex]]] = {
    "exact": lambda vectors, _: ExactVectors(vectors),
    "faiss": lambda vectors, _: FaissVectors(vectors),
    "milvus": lambda vectors, folder: MilvusVectors(vectors, str(folder / "vectors.db")),
}
"""The exact one first, by which the others are judged."""
TOP: Final = 15
NOISE: Final = 0.1
_BLOCK: Final = 50_000


def measure_ann(options: SpeedOptions) -> Measured:
    """Each engine over each number of vectors.

    Raises:
        UserError: the named index has no vectors by the shipped model or too few comments, or there is no JDK.
    """
    with tempfile.TemporaryDirectory() as name, naming(Path(name)):
        folder = Path(name)
        if options.index:
            path = named_path(options.index)
            origin = f"index {path.parent.name}"
        else:
            path = folder / "index"
            origin = f"{write_sources(options, folder / 'sources', of_java_base)}, java.base"
            update_index(folder / "sources", path)
            update_vectors(path)
        encoder, stored = row_encoder(), open_vectors(vectors_path(path))
        if stored.head.model != encoder.model:
            raise UserError(f"the vectors beside {path} are not by the shipped model: make them by `bash run.sh index`")
        real = np.random.default_rng(0).permutation(np.array(stored.vectors))
        words = of_comments(open_index(path), options.questions, options.seed).words
        np.save(folder / "asked.npy", np.concatenate([encoder.query(each) for each in words]))
        rows: list[Row] = []
        facts: dict[str, Mapping[str, Any]] = {}
        given_up: dict[str, int] = {}
        for size in sorted(options.sizes):
            grown(real, size, folder / "vectors.npy")
            (folder / "best.npy").unlink(missing_ok=True)
            more, others = _over(size, folder, options, given_up)
            rows, facts = rows + more, facts | others
    about = (
        f"{len(real):,} vectors of functions ({origin}; {real.shape[1]} dimensions, 16 bits), and beyond the same with "
        f"noise; {len(words)} questions, one thread. Memory: what the process holds beyond its start once it answers, "
        "without mapped files; and at most, with libraries and mapped vectors."
    )
    return Measured(about=about, unit="each", rows=rows, facts=facts)


def _over(
    size: int, folder: Path, options: SpeedOptions, given_up: dict[str, int]
) -> tuple[list[Row], dict[str, Mapping[str, Any]]]:
    """Rows and facts of each engine over so many vectors; engines that are given up are added to ``given_up``."""
    times: dict[str, Mapping[str, float]] = {}
    facts: dict[str, Mapping[str, Any]] = {}
    for engine in ENGINES:
        say(f"{engine}: {size:,} vectors")
        name = f"{engine}, {size:,}"
        try:
            if engine in given_up:
                raise GivenUpError(f"not tried, since given up at {given_up[engine]:,}")
            with tempfile.TemporaryDirectory(dir=folder) as own:
                run = in_own_process(search_vectors, engine, folder, Path(own), limit=options.limit)
            times[engine], facts[name] = run
        except (ValueError, OSError) as error:
            given_up.setdefault(engine, size)
            facts[name] = {"given up": str(error)}
    forms = [(engine, [seconds]) for engine, seconds in times.items()]
    return [row for other in forms[1:] for row in rows_of(f"{size:,}", forms[0], other)], facts


def grown(real: Float16[np.ndarray, "real dim"], rows: int, path: Path) -> Float16[np.ndarray, "rows dim"]:
    """So many vectors of length 1 in the file ``path``, mapped: the real ones, then these with noise, repeatedly."""
    random = np.random.default_rng(1)
    vectors = np.lib.format.open_memmap(path, "w+", np.float16, (rows, real.shape[1]))
    first = min(rows, len(real))
    vectors[:first] = real[:first]
    for start in range(first, rows, _BLOCK):
        places = np.arange(start, min(start + _BLOCK, rows)) % len(real)
        noise = random.standard_normal((len(places), real.shape[1]), np.float32) * NOISE / np.sqrt(real.shape[1])
        block = real[places].astype(np.float32) + noise
        vectors[start : start + len(places)] = block / np.maximum(np.linalg.norm(block, axis=1, keepdims=True), 1e-6)
    vectors.flush()
    return vectors


def search_vectors(engine: str, folder: Path, own: Path) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """Seconds and facts of an engine in this process, which has written its files to ``own``."""
    asked, vectors = np.load(folder / "asked.npy"), np.load(folder / "vectors.npy", mmap_mode="r")
    np.linalg.norm(asked @ asked.T)  # the libraries' own memory is not the engine's
    before = memory_mb("RssAnon")
    built, index = timed(lambda: ENGINES[engine](vectors, own))
    found = [timed(partial(index.search, query[None], TOP)) for query in asked]
    scores, best = np.array([hits[0][0] for _, hits in found]), folder / "best.npy"
    if engine == "exact":
        np.save(best, scores)
    facts = {
        "MiB": memory_mb("RssAnon") - before,
        "MiB at most": memory_mb(),
        "MB on disk": sum(file.stat().st_size for file in own.rglob("*") if file.is_file()) / 1e6,
    }
    if best.exists():  # ties with the last one count as found
        facts[f"recall@{TOP}"] = float((scores >= np.load(best)[:, -1:] - 1e-6).mean())
    times = quantiles([seconds for seconds, _ in found[len(found) // 5 :]])
    index.close()
    return {"ready": built, **{f"a question, {part}": seconds for part, seconds in times.items()}}, facts


_HITS: Final = 5
_WEIGHT: Final = 0.5


def measure_posts(options: SpeedOptions) -> Measured:
    """BM25, vectors and both fused, with vectors by each engine that is installed.

    Raises:
        UserError: the dump is not available, or has too few questions.
    """
    if not options.path:
        raise UserError("expected a dump: bash run.sh speed posts DUMP [--tag=TAG] [--posts=300000]")
    config = PostsConfig(path=(options.path,), tag=options.tag, root=options.root)
    posts = prepare_posts(config, command="", say=say).posts
    answered = [post for post in posts if post.best_answer]
    asking_posts = [post for post in posts if post.has_query]
    if not answered or not asking_posts:
        raise UserError("expected questions with an accepted answer, and some with code or an error")
    chosen = np.random.default_rng(options.seed).permutation(len(asking_posts))[: options.questions].tolist()
    queries = [QueryText.of(asking_posts[place]) for place in chosen]
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name, naming(Path(name)), ExitStack() as open_indexes:
        folder = Path(name)
        model = named_path(options.model) if options.model else untrained(answered, folder / "model")
        say(f"indexing {options.posts:,} posts")
        repeated = [*islice(chain.from_iterable(repeat(answered)), options.posts)]
        made, _ = timed(lambda: write_index(folder / "index", repeated, model, _WEIGHT, {}))
        facts = {"index": {"s": made}}
        forms: dict[str, Form] = {}
        for how in ("exact", "faiss") if installed() else ("exact",):
            opened, index = timed(partial(PostIndex, folder / "index", how))
            open_indexes.enter_context(closing(index))
            facts[f"opening, {how}"] = {"s": opened}
            forms |= _forms(index, how, queries)
        rows = compare("", forms, options.rounds)
        about = (
            f"{index.size:,} posts ({', '.join(sorted({post.site for post in answered}))}, each "
            f"{index.size / len(answered):.1f} times), vectors of {index.dim}, {len(queries)} queries, one thread."
        )
    return Measured(about=about, unit="a question", rows=rows, facts=facts)


def _forms(index: PostIndex, how: str, queries: Sequence[QueryText]) -> dict[str, Form]:
    return {
        "BM25 alone": asking(lambda query: index.by_words(query, CANDIDATES), queries),
        f"vectors alone, {how}": asking(lambda query: index.by_vectors(query, CANDIDATES), queries),
        f"both fused, with the posts read, {how}": asking(lambda query: index.search(query, _HITS), queries),
    }


def untrained(posts: Sequence[Post], folder: Path) -> Path:
    """A light encoder of the posts' words as its training begins with it, in ``folder``."""
    config = LightConfig()
    tokenizer = LightTokenizer.of([document_text(post, body=True) for post in posts], config)
    torch.manual_seed(0)
    model = LightEncoder(config, tokenizer.vocabulary)
    model.initialize(tokenizer)
    folder.mkdir()
    save_weights(model, folder / WEIGHTS)
    tokenizer.save(folder / TOKENIZER)
    (folder / RECORD).write_text(json.dumps({"kind": "light", "model": asdict(config)}))
    return folder
