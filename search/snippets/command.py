"""The command ``bash run.sh related``, and code as the question of ``search``."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from data_prep.bounds import shown
from data_prep.errors import UserError
from data_prep.files.named_paths import named_path, named_places
from data_prep.files.reading import read_whole
from experiments.terminal import console
from experiments.terminal.options import parsed
from search.cli import freshness_of, ready
from search.files.walk import modified_at
from search.options import RelatedOptions, SearchOptions

if TYPE_CHECKING:
    from search.engine.engine import Engine
    from search.opening import Source
    from search.snippets.answer import CodeAnswer, Wanted

_MOST_BYTES: Final = 64 << 20
"""Bytes that are read of standard input."""


def related(arguments: Sequence[str]) -> bool:
    """Find code like that at a place; returns whether there is some.

    Raises:
        UserError: there is no index, or nothing of it is at the place.
    """
    words, options = parsed(arguments, RelatedOptions)
    if len(words) != 1:
        raise UserError("expected a file and a line: bash run.sh related src/app.py:120")
    from search.opening import source_of
    from search.serve.agent_paths import place_of
    from search.snippets.answer import answer_place

    place = words[0]
    typed = _file_of(place)
    source = source_of(options.index, None, _start(named_path(typed)), vectors=options.model != "none")
    root = None if options.index else source.root

    def answer(engine: "Engine", wanted: "Wanted") -> "CodeAnswer":
        path, line = place_of(engine.index, source.root, place, 0, named_path("."))
        found = answer_place(engine, path, line, wanted)
        _complain_if_changed(engine, found.row, root)
        return found

    return _show(answer, options, source)


def search_code(options: SearchOptions, folder: Path | None = None) -> bool:
    """Answer to the code or stack trace on standard input or in a file; returns whether something was found.

    Args:
        options: as typed.
        folder: the folder that is searched; None: as for a question.

    Raises:
        UserError: there is no index, or there is no code.
    """
    from search.snippets.answer import answer_text

    if options.by != "method" or options.at or options.regex:
        raise UserError("--by, --at and --regex are for questions in words, not for code")
    path = named_path(options.snippet) if options.snippet else None
    text = pasted_text(path)
    if not text.strip():
        where = f"in {path}" if path else "on standard input"
        raise UserError(
            f"expected code or a stack trace {where}: python app.py 2>&1 | bash run.sh search -; got nothing"
        )
    from search.files.languages import language_name
    from search.opening import source_of

    language = language_name(path.name) if path else ""
    source = None if options.list else source_of(options.index, folder, vectors=options.model != "none")
    answer = lambda engine, wanted: answer_text(engine, text, wanted, language)  # noqa: E731
    return _show(answer, options, source)


def pasted_text(path: Path | None) -> str:
    """The text of a file, or of standard input if there is none, in the encoding that it seems to be in.

    Raises:
        UserError: the file cannot be read.
    """
    from search.files.encodings import text_of

    data = read_whole(path) if path else sys.stdin.buffer.read(_MOST_BYTES)
    with suppress(UserError):  # binary: a log may have a NUL byte
        data = text_of(data).data
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


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
    from search.snippets.answer import Wanted
    from search.snippets.show import as_json, as_text
    from search.terminal.hits import View, show_list

    engine, root, languages, files = ready(
        options, source, nearest="none" if options.model == "none" else options.nearest
    )
    started = time.perf_counter()
    told = answer(engine, Wanted(options.top, options.path, languages, files))
    seconds = time.perf_counter() - started
    more, view = freshness_of(source), View.of(engine, "", root, explain=options.explain)
    if options.json:
        console.show(as_json(engine, told, seconds, more=more))
    elif options.files or options.vimgrep:
        show_list(view, [hit.row for hit in told.hits], options)
    else:
        console.show(as_text(view, told, seconds), painted=True)
    return bool(told.hits) or any(each.row is not None for each in told.frames)


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
        console.complain(f"{file.path} {what}; update the index by `bash run.sh index {root}`")
