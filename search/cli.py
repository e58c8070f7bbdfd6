"""The command ``bash run.sh search``."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from data_prep.errors import UserError
from data_prep.files.named_paths import named_path
from experiments.terminal import console
from experiments.terminal.options import parsed
from search.making import complain_about
from search.options import SearchOptions

if TYPE_CHECKING:
    from search.cursor import Cursor
    from search.engine.engine import Engine


def search(arguments: Sequence[str]) -> bool:
    """Answer a question; returns whether something was found."""
    words, options = parsed(arguments, SearchOptions)
    if words == ["-"] or (options.snippet and not words):
        from search.snippets.command import search_code

        return search_code(options)
    if (len(words) != 1 and not (options.at and not words)) or options.snippet:
        raise UserError(
            'expected one question: bash run.sh search "read all lines of a file", a comment `# search: ...`, by '
            "--at=FILE:LINE, or code, by - or --snippet=FILE"
        )
    from search.engine.question import words_of
    from search.engine.show import as_json, as_text
    from search.files.languages import chosen_languages
    from search.opening import check_answers

    cursor = _cursor(options.at, *words) if options.at else None
    question = cursor.query if cursor else words[0]
    words_of(question)  # a bad query is reported before anything is opened
    engine = _engine(options, cursor.file.parent if cursor else None)
    languages = chosen_languages(options.language or (cursor.language if cursor else ""))
    check_answers(engine.index, options.path, languages)
    started = time.perf_counter()
    hits = engine.search(
        question,
        top=options.top,
        path=options.path,
        languages=languages,
        by_file=options.by == "file",
        context=cursor.context if cursor else (),
    )
    seconds = time.perf_counter() - started
    answer: Callable[..., str] = as_json if options.json else as_text
    console.show(answer(engine, question, hits, seconds, explain=options.explain), painted=not options.json)
    return engine.certainty(question, hits).level != "none"


def _engine(options: SearchOptions, folder: Path | None) -> "Engine":
    """The engine that answers; ``folder``: that whose index is asked if none is named, None: the current one."""
    if options.list:
        from search.joint.opening import opened_list

        near = options.model != "none" and options.nearest != "none"
        return opened_list(named_path(options.list), options.model, near=near, tell=complain_about)
    from search.engine.engine import Engine
    from search.opening import index_path, opened, reranker_of

    nearest = "none" if options.model == "none" else options.nearest
    found, retriever = opened(index_path(options.index, folder), nearest, mapped=True)
    return Engine(found, reranker_of(found, options.model), retriever=retriever)


def _cursor(typed: str, query: str = "") -> "Cursor":
    from search.cursor import cursor_at

    return cursor_at(typed, query)
