"""``bash run.sh search --usages NAME``: who calls or mentions a name."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from data_prep.errors import UserError
from data_prep.files.named_paths import named_path
from experiments.terminal import console
from search.cli import question_and_folder
from search.options import SearchOptions

if TYPE_CHECKING:
    from search.first_use import Source
    from search.index.code_index import Index


def show_usages(words: Sequence[str], options: SearchOptions, top: int) -> bool:
    """Print the usages of a name; returns whether there is something.

    Args:
        words: as typed: the name, perhaps with filters, and perhaps a folder.
        options: as typed.
        top: how many usages; 0: as many as usual.

    Raises:
        UserError: there is no name, or an option has no part in it.
    """
    for name in ("at", "snippet", "explain", "regex"):
        if getattr(options, name):
            raise UserError(f"--{name} has no part in --usages: leave it out")
    if not words:
        raise UserError("expected a name: bash run.sh search --usages Type.method")
    asked, folder, _ = question_and_folder(words)
    from search.engine.engine import Engine
    from search.files.languages import chosen_languages
    from search.opening import check_answers
    from search.terminal.changed import changed_files
    from search.terminal.hits import View
    from search.usages.find import USUAL, find_usages
    from search.usages.show import as_files, as_record, as_text, as_vimgrep, said

    index, source = _opened(options, folder)
    root, languages = source.root if source else None, chosen_languages(options.language)
    check_answers(index, options.path, languages)
    started = time.perf_counter()
    engine = Engine(index, None)
    files = changed_files(index, root) if options.changed else None
    found = find_usages(engine, asked, root, path=options.path, languages=languages, files=files)
    milliseconds = round(1000 * (time.perf_counter() - started), 2)
    if source and source.freshness.line:
        console.complain(source.freshness.line)
    if options.json:
        told = {"query": asked, "milliseconds": milliseconds, **as_record(index, found, top or USUAL)}
        told |= source.freshness.told if source else {}
        console.show(json.dumps(told, indent=1).replace("\x7f", "\\u007f"))
    elif not (options.files or options.vimgrep):
        console.show(as_text(View.of(engine, "", root), found, top or USUAL), painted=True)
    elif found.files:
        console.show((as_files if options.files else as_vimgrep)(View.of(engine, "", root), found.first(top or USUAL)))
    else:
        console.complain(said(found))
    return found.is_there


def _opened(options: SearchOptions, folder: Path | None) -> "tuple[Index, Source | None]":
    """The index that answers, without models."""
    if options.list:
        from search.joint.opening import opened_list

        if folder:
            raise UserError("--list names the folders: leave out DIR")
        tell = lambda name, trouble: console.complain(f"{name}: {trouble}")  # noqa: E731
        return opened_list(named_path(options.list), "none", near=False, tell=tell).index, None
    from search.first_use import source_of
    from search.opening import opened

    source = source_of(options.index, folder, vectors=options.model != "none")
    return opened(source.path, "none", mapped=True, tell=source.tell)[0], source
