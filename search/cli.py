"""The command ``bash run.sh search``."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from data_prep.errors import UserError
from data_prep.files.named_paths import named_path
from experiments.terminal import console
from experiments.terminal.options import parsed
from search.asked import as_typed, check_guesses, named_folder, question_and_folder
from search.making import complain_about
from search.options import SearchOptions

if TYPE_CHECKING:
    from search.cursor import Cursor
    from search.engine.engine import Engine
    from search.index.freshness import Freshness


def search(arguments: Sequence[str]) -> bool:
    """Answer a question; returns whether something was found."""
    from search.engine.filters import begins_with_filter

    arguments = [*as_typed(arguments)]
    check_guesses(arguments)
    if "--regex=" in arguments:
        raise UserError("--regex= is empty: expected a pattern of RE2, such as --regex='def \\w+_id'")
    typed = [f" {each}" if each.startswith("-") and begins_with_filter(each) else each for each in arguments]
    words, options = parsed(typed, SearchOptions)
    if options.usages:
        from search.usages.show import show_usages

        return show_usages(words, options, options.top if any(map(_says_top, arguments)) else 0)
    if words[:1] == ["-"] or (options.snippet and all(map(os.path.isdir, words[:1]))):
        from search.snippets.command import search_code

        named = words[1:] if words[:1] == ["-"] else words
        return search_code(options, named_folder(" ".join(named)) if named else None)
    if not (words or options.at or options.regex) or options.snippet:
        raise UserError(
            'expected one question: bash run.sh search "read all lines of a file", a comment `# search: ...`, by '
            "--at=FILE:LINE, code, by - or --snippet=FILE, or --regex=PATTERN"
        )
    asked, folder, understood = question_and_folder(words, alone=bool(options.regex))
    if understood:
        console.complain(understood)
    from search.engine.matching import Pattern
    from search.engine.question import words_of
    from search.files.languages import chosen_languages
    from search.opening import check_answers
    from search.terminal.answer import Answer, show_answer
    from search.terminal.changed import changed_files

    cursor = _cursor(options.at, asked) if options.at else None
    question = cursor.query if cursor else asked
    pattern = Pattern(options.regex) if options.regex else None
    if question or not pattern:
        words_of(question)  # what is bad is reported before anything is opened
    engine, freshness, root = _engine(options, folder, cursor.file.parent if cursor else None)
    languages = chosen_languages(options.language or (cursor.language if cursor else ""))
    check_answers(engine.index, options.path, languages)
    started = time.perf_counter()
    hits = engine.search(
        question,
        top=options.top,
        path=options.path,
        languages=languages,
        by_file=options.files or options.by == "file",
        context=cursor.context if cursor else (),
        files=changed_files(engine.index, root) if options.changed else None,
        pattern=pattern and Pattern(options.regex, root),
    )
    seconds = time.perf_counter() - started
    if freshness.line:
        console.complain(freshness.line)
    sure = engine.certainty(question, hits)
    show_answer(Answer(engine, question, hits, sure, seconds, root, freshness.told), options)
    return sure.level != "none"


def _says_top(argument: str) -> bool:
    return argument.partition("=")[0] == "--top"


def _engine(options: SearchOptions, folder: Path | None, start: Path | None) -> "tuple[Engine, Freshness, Path | None]":
    """The engine that answers, which of its hits may be old, and the folder, if it is known and one.

    Args:
        options: as typed.
        folder: the folder that is named; None: none is.
        start: where the way up to an index begins; None: in the current folder.
    """
    from search.index.freshness import CURRENT

    if options.list:
        from search.joint.opening import opened_list

        if folder:
            raise UserError("--list names the folders: leave out DIR")
        near = options.model != "none" and options.nearest != "none"
        return opened_list(named_path(options.list), options.model, near=near, tell=complain_about), CURRENT, None
    from search.engine.engine import Engine
    from search.first_use import source_of
    from search.opening import opened, reranker_of

    nearest = "none" if options.model == "none" else options.nearest
    source = source_of(options.index, folder, start, vectors=nearest != "none")
    found, retriever = opened(source.path, nearest, mapped=True, tell=source.tell)
    return Engine(found, reranker_of(found, options.model), retriever=retriever), source.freshness, source.root


def _cursor(typed: str, query: str = "") -> "Cursor":
    from search.cursor import cursor_at

    return cursor_at(typed, query)
