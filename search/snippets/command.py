"""The commands whose question is code: ``bash run.sh related``, ``search -`` or ``--snippet``, and those for posts."""

import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from data_prep.errors import UserError, check_bounds, one_line, real, shown, unexpected, whole
from data_prep.files.access import check_replaceable_folder, named_path, read_whole
from data_prep.installation import default_or_named
from data_prep.posts.sets import PostsConfig
from data_prep.traces.one_line import with_lines
from data_prep.traces.trace import read_trace
from experiments.terminal import console
from experiments.terminal.console import complain, say, show
from experiments.terminal.options import parsed
from search.cli import answered, freshness_of, of_all, path_inside, read_on, ready
from search.files.stamps import modified_at
from search.index.frame_locator import named_places
from search.making import named_folder
from search.options import RelatedOptions, SearchOptions
from search.unquoted import asks

if TYPE_CHECKING:
    from search.engine.engine import Engine
    from search.opening import Source
    from search.snippets.answer import CodeAnswer, Wanted
    from search.snippets.post_index import PostHit

_MOST_BYTES: Final = 64 << 20  # that are read of standard input


def related(arguments: Sequence[str]) -> bool:
    """Find code like that at a place; returns whether there is some.

    Raises:
        UserError: there is no index, or nothing of it is at the place.
    """
    words, options = parsed(arguments, RelatedOptions)
    if len(words) != 1:
        raise unexpected("a file and a line: bash run.sh related src/app.py:120", words)
    from search.engine.asked_places import place_of
    from search.opening import source_of
    from search.snippets.answer import answer_place

    place, typed = words[0], _file_of(words[0])
    source = source_of(options.index, None, _start(named_path(typed)), vectors=options.model != "none")
    root = None if options.index else source.root

    def answer(engine: "Engine", wanted: "Wanted") -> "CodeAnswer":
        path, line = place_of(engine.index, source.root, place, 0, named_path("."))
        found = answer_place(engine, path, line, wanted)
        _complain_if_changed(engine, found.row, root)
        return found

    return _show(answer, options, source)


def search_pasted(words: Sequence[str], options: SearchOptions) -> bool | None:
    """As :func:`search_code`, for words as typed; None: the first is a question, and no trace."""
    first = with_lines("".join(words[:1]))
    is_question = "\n" not in first and first != "-" and not options.snippet
    if is_question or ("\n" in first and (options.snippet or options.at or options.regex or not read_trace(first))):
        return None
    named = words[1:] if first == "-" or "\n" in first else words
    return search_code(options, named_folder(" ".join(named)) if named else None, first if "\n" in first else "")


def search_code(options: SearchOptions, folder: Path | None = None, typed: str = "") -> bool:
    """Answer to the code or stack trace on standard input or in a file; returns whether something was found.

    Args:
        options: as typed.
        folder: the folder that is searched; None: as for a question.
        typed: the trace, if it was typed.

    Raises:
        UserError: there is no index, or there is no code.
    """
    from search.snippets.answer import answer_text

    if options.by != "method" or options.at or options.regex:
        raise UserError("--by, --at and --regex are for questions in words, not for code")
    path = named_path(options.snippet) if options.snippet else None
    text = typed or pasted_text(path)
    if not text.strip():
        where = f"in {path}" if path else "on standard input"
        raise UserError(
            f"expected code or a stack trace {where}: python app.py 2>&1 | bash run.sh search -; got nothing"
        )
    if not options.snippet and asks(text):
        return answered(" ".join(text.split()), folder, options)
    from search.files.languages import language_name
    from search.opening import source_of

    language = language_name(path.name) if path else ""
    source = None if options.list else source_of(options.index, folder, vectors=options.model != "none")
    answer = lambda engine, wanted: answer_text(engine, text, wanted, language)  # noqa: E731
    return _show(answer, options, source)


def pasted_text(path: Path | None) -> str:
    """The text of a file, or of standard input if there is none, in the encoding that it seems to be in.

    Raises:
        UserError: the file cannot be read, or is no text.
    """
    from search.files.encodings import is_text, text_of

    data = read_whole(path) if path else sys.stdin.buffer.read(_MOST_BYTES)
    with suppress(UserError):  # binary: a log may have a NUL byte
        data = text_of(data).data
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    if not is_text(text):
        raise UserError(f"expected code or a stack trace; {path or 'what is on standard input'} is no text")
    return text


def _file_of(typed: str) -> str:
    """The path of a place, of a file that is there if it may mean several."""
    places = [path for path, line in named_places(typed) if line]
    if not places:
        raise UserError(f"expected a file and a line from 1: bash run.sh related src/app.py:120; got {shown(typed)}")
    return next((each for each in places if named_path(each).exists()), places[0])


def _show(
    answer: "Callable[[Engine, Wanted], CodeAnswer]",
    options: SearchOptions | RelatedOptions,
    source: "Source | None",
) -> bool:
    from search.hits import View, show_list
    from search.snippets.answer import Wanted
    from search.snippets.show import as_json, as_text

    def timed(source: "Source | None") -> "tuple[Engine, Path | None, CodeAnswer, float]":
        nearest = "none" if options.model == "none" else options.nearest
        engine, root, languages, files = ready(options, source, nearest=nearest)
        started, wanted = time.perf_counter(), Wanted(options.top, path_inside(options, root), languages, files)
        return engine, root, answer(engine, wanted), time.perf_counter() - started

    (engine, root, told, seconds), source = of_all(source, timed, lambda found: found[2].is_there)
    more, view = freshness_of(source), View.of(engine, "", root, explain=options.explain)
    if options.json:
        console.show(as_json(engine, told, seconds, more=more))
    elif options.files or options.vimgrep:
        show_list(view, [hit.row for hit in told.hits], options)
    else:
        narrowed = bool(options.path or options.language or options.changed)
        console.show(as_text(view, told, seconds, narrowed=narrowed), painted=True)
    read_on(source)
    return told.is_there


def _start(path: Path) -> Path:
    """Where the way up to the index of a file begins: in its folder, or in the current one if that has the index."""
    from search.opening import indexed_above

    here, beside = named_path("."), Path(os.path.abspath(path)).parent  # noqa: PTH100 - no link is followed
    return here if not indexed_above(beside) and (indexed_above(here) or not beside.is_dir()) else beside


def _complain_if_changed(engine: "Engine", row: int | None, root: Path | None) -> None:
    """Say that the lines of a file may be others than those of the index."""
    if root is None or row is None:
        return
    file = engine.index.file(row)
    try:
        status = os.lstat(root / file.path)
        changed = (status.st_size, modified_at(status)) != (file.size, file.modified)
        what = "has changed since it was indexed: its lines may have moved"
    except OSError:
        changed, what = True, "is no longer there: what was indexed of it is used"
    if changed:
        console.complain(f"{file.path} {what}; update the index by `bash run.sh index {shlex.quote(str(root))}`")


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


def index_posts(arguments: Sequence[str]) -> None:
    """Index the answered questions of dumps.

    Raises:
        UserError: a dump or the model is not available, or an option is wrong.
    """
    words, options = parsed(arguments, PostsIndexOptions)
    if not words and not options.path:
        raise UserError("expected a dump: bash run.sh posts index DUMP [DUMP ...] [--tag=TAG] [--model=STAGE]")
    out = default_or_named(options.out)
    check_replaceable_folder(out, "--out", "index.json")
    from data_prep.files.writing import sole_holder
    from data_prep.posts.store import prepare_posts
    from experiments.recipes.run_folder import load_snippet_encoder
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


def search_posts(arguments: Sequence[str]) -> bool:
    """Find posts for the code and the error on standard input, or in a file; returns whether there are some.

    Raises:
        UserError: there is no index, or nothing to search for.
    """
    words, options = parsed(arguments, PostsSearchOptions)
    if words:
        raise UserError("the snippet comes from standard input or --snippet=FILE, not from the command line")
    from search.snippets.post_index import PostIndex, keyword_of, read_snippet

    text = pasted_text(named_path(options.snippet) if options.snippet else None)
    query = read_snippet(text)
    if len(text) > (kept := len(query.text)) + 1000:
        tell = complain if options.json else say
        tell(f"of {len(text):,} characters the middle is left out; {kept:,} are read")
    found = PostIndex(default_or_named(options.index), options.nearest)
    started = time.perf_counter()
    hits = found.search(query, options.top)
    seconds = time.perf_counter() - started
    found.close()
    if options.json:
        told = {"error": keyword_of(query), "milliseconds": round(1000 * seconds, 2), "results": [*map(asdict, hits)]}
        show(json.dumps(told, indent=1).replace("\x7f", "\\u007f"))
        return bool(hits)
    lines = [line for hit in hits for line in _post_lines(hit)] or ["nothing found: no post has a word of it"]
    error = f" for {one_line(keyword_of(query))}" if keyword_of(query) else ""
    show("\n".join([*lines, f"{len(hits)} of {found.size:,} posts{error} in {1000 * seconds:.0f} ms"]))
    return bool(hits)


def _post_lines(hit: "PostHit") -> list[str]:
    scores = f"{hit.score:.2f} (BM25 {hit.bm25:.1f}" + (")" if hit.model is None else f", model {hit.model:.2f})")
    keyword = f"  [{', '.join(map(one_line, hit.keyword))}]" if hit.keyword else ""
    by = f"question: {hit.question_by}, answer: {hit.answer_by}, {hit.licence}"
    return [
        f"{hit.rank:>2}  {one_line(hit.title)}{keyword}",
        f"    {one_line(hit.excerpt)}",
        f"    {scores}  {one_line(hit.url)}  {one_line(by)}",
    ]
