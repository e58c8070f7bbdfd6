"""The search for posts over many of them, on one thread.

The answered questions of the dump are repeated until they are as many as asked for, and indexed; without ``--model``,
their vectors are those of a light encoder before training, which cost what trained ones do. Asked are the code and
errors of questions of the dump, one at a time.
"""

import json
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict
from functools import partial
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Final

import numpy as np
import torch

from baselines.snipper.config import LightConfig
from baselines.snipper.light import LightEncoder, LightTokenizer
from baselines.snipper.texts import QueryText, document_text
from data_prep.errors import UserError
from data_prep.files.atomic import naming
from data_prep.files.named_paths import named_path
from data_prep.posts.config import PostsConfig
from data_prep.posts.sets import Post
from data_prep.posts.store import prepare_posts
from evaluation.speed import Form, Measured, SpeedOptions, asking, compare, timed
from experiments.recipes.snippet_encoder import RECORD, TOKENIZER, WEIGHTS
from experiments.terminal.console import say
from search.posts.post_index import CANDIDATES, PostIndex, write_index
from search.retrieval.ann.faiss_index import installed
from training.checkpoint import save_weights

TOP: Final = 5
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
        f"both fused, with the posts read, {how}": asking(lambda query: index.search(query, TOP), queries),
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
