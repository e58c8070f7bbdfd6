"""The commands ``bash run.sh posts index`` and ``posts search``, and their options. Light to import, for the help."""

import json
import shlex
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from data_prep.bounds import check_bounds, real, whole
from data_prep.errors import UserError, one_line
from data_prep.files.named_paths import check_replaceable_folder, named_path
from data_prep.posts.config import PostsConfig
from experiments.terminal.console import complain, say, show
from experiments.terminal.options import parsed

if TYPE_CHECKING:
    from search.snippets.post_index import PostHit


@dataclass(frozen=True, slots=True)
class PostsIndexOptions(PostsConfig):
    """Options of ``posts index``: those of reading the dump, and the index's own."""

    out: str = "data/posts-index"
    """Folder of the index; it is replaced."""
    model: str = ""
    """Folder of a stage of training, such as runs/posts/stages/round-2-...; empty: BM25 alone."""
    weight: float = 0.5
    """Weight of the model in its fusion with BM25, such as the one that its test printed."""
    json: bool = False
    """Print one JSON object."""

    def __post_init__(self) -> None:
        PostsConfig.__post_init__(self)
        check_bounds(self, {"weight": real(0, 1)})


@dataclass(frozen=True, slots=True)
class PostsSearchOptions:
    """Options of ``posts search``."""

    index: str = "data/posts-index"
    """Folder of the index."""
    snippet: str = ""
    """File with code, output or both; empty: standard input is read."""
    top: int = 5
    """Number of posts."""
    nearest: str = "exact"
    """How vectors are searched: exact, faiss, a file NAME.db or the URI of a Milvus."""
    json: bool = False
    """Print one JSON object."""

    def __post_init__(self) -> None:
        check_bounds(self, {"top": whole(1, 1000)})


def index(arguments: Sequence[str]) -> None:
    """Index the answered questions of dumps.

    Raises:
        UserError: a dump or the model is not available, or an option is wrong.
    """
    words, options = parsed(arguments, PostsIndexOptions)
    if not words and not options.path:
        raise UserError("expected a dump: bash run.sh posts index DUMP [DUMP ...] [--tag=TAG] [--model=STAGE]")
    out = named_path(options.out)
    check_replaceable_folder(out, "--out", "index.json")
    from data_prep.files.folder_lock import sole_holder
    from data_prep.posts.store import prepare_posts
    from experiments.recipes.snippet_encoder import load_snippet_encoder
    from search.snippets.post_index import write_index

    model = named_path(options.model) if options.model else None
    if model:
        load_snippet_encoder(model)  # reported before anything is read
    config = replace(options, path=(*options.path, *words))
    command = shlex.join(["bash", "run.sh", "posts", "index", *arguments])
    tell = complain if options.json else say
    posts = prepare_posts(config, command=command, say=tell)
    started = time.perf_counter()
    with sole_holder(out.with_name(f".{out.name}.lock"), lambda: tell("waiting for another process")):
        write_index(out, posts.posts, model, options.weight, {"made_from": posts.fingerprint})
    answered = sum(bool(post.best_answer) for post in posts.posts)
    seconds = time.perf_counter() - started
    if options.json:
        told = {"index": str(out), "questions": len(posts.posts), "answered": answered, "model": options.model or None}
        show(json.dumps(told | {"seconds": round(seconds, 3)}, indent=1).replace("\x7f", "\\u007f"))
        return
    say(f"indexed {answered:,} answered questions of {len(posts.posts):,} in {seconds:.0f} s: {out}")


def search(arguments: Sequence[str]) -> bool:
    """Find posts for the code and the error on standard input, or in a file; returns whether there are some.

    Raises:
        UserError: there is no index, or nothing to search for.
    """
    words, options = parsed(arguments, PostsSearchOptions)
    if words:
        raise UserError("the snippet comes from standard input or --snippet=FILE, not from the command line")
    from search.snippets.command import pasted_text
    from search.snippets.post_index import PostIndex, keyword_of, read_snippet

    text = pasted_text(named_path(options.snippet) if options.snippet else None)
    query = read_snippet(text)
    if len(text) > (kept := len(query.text)) + 1000:
        tell = complain if options.json else say
        tell(f"of {len(text):,} characters the middle is left out; {kept:,} are read")
    found = PostIndex(named_path(options.index), options.nearest)
    started = time.perf_counter()
    hits = found.search(query, options.top)
    seconds = time.perf_counter() - started
    found.close()
    if options.json:
        told = {"error": keyword_of(query), "milliseconds": round(1000 * seconds, 2), "results": [*map(asdict, hits)]}
        show(json.dumps(told, indent=1).replace("\x7f", "\\u007f"))
        return bool(hits)
    lines = [line for hit in hits for line in _lines(hit)] or ["nothing found: no post has a word of it"]
    error = f" for {one_line(keyword_of(query))}" if keyword_of(query) else ""
    show("\n".join([*lines, f"{len(hits)} of {found.size:,} posts{error} in {1000 * seconds:.0f} ms"]))
    return bool(hits)


def _lines(hit: "PostHit") -> list[str]:
    scores = f"{hit.score:.2f} (BM25 {hit.bm25:.1f}" + (")" if hit.model is None else f", model {hit.model:.2f})")
    keyword = f"  [{', '.join(map(one_line, hit.keyword))}]" if hit.keyword else ""
    by = f"question: {hit.question_by}, answer: {hit.answer_by}, {hit.licence}"
    return [
        f"{hit.rank:>2}  {one_line(hit.title)}{keyword}",
        f"    {one_line(hit.excerpt)}",
        f"    {scores}  {one_line(hit.url)}  {one_line(by)}",
    ]
