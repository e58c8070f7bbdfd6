"""The command ``bash run.sh search``, and what its words mean: a question, and the folder that is searched."""

import gc
import os
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from data_prep.errors import UserError
from data_prep.files.named_paths import named_path
from experiments.terminal import console
from experiments.terminal.options import parsed
from search.making import complain_about
from search.options import SearchOptions

if TYPE_CHECKING:
    from search.cursor import Cursor
    from search.engine.engine import Engine
    from search.index.freshness import Freshness

_OF_FOLDER: Final = ("folder", "dir", "directory", "root", "in", "project", "repo", "repository")
"""Options that are tried for a folder."""
_PATH: Final = re.compile(r"\.{1,2}|(?:\.{1,2}|~[^/]*)/.*|.*/", re.DOTALL)
_EXPECTED: Final = 'bash run.sh search "QUESTION" DIR'


def as_typed(arguments: Sequence[str]) -> Iterator[str]:
    """Arguments with what is behind ``--`` as words, which may begin with a minus, and ``--usages=NAME`` as two."""
    words = False
    for each in arguments:
        value = each.partition("=")[2] if each.startswith("--usages=") and not words else ""
        if each == "--" and not words:
            words = True
        elif value not in ("", "true", "false"):
            yield from ("--usages", value)
        else:
            yield f" {each}" if words and each.startswith("-") else each


def check_guesses(arguments: Sequence[str]) -> None:
    """Say where the folder stands to whoever looks for an option.

    Raises:
        UserError: an argument is such an option.
    """
    for each in arguments:
        name, _, value = each.removeprefix("--").partition("=")
        if each.startswith("--") and name in _OF_FOLDER:
            raise UserError(f"--{name} is no option: the folder comes last, {_EXPECTED.replace('DIR', value or 'DIR')}")


def question_and_folder(words: Sequence[str], *, alone: bool = False) -> tuple[str, Path | None, str]:
    """The question, the folder if one is named, and what was understood if that was not plain.

    Args:
        words: as typed; several that are not a folder are a question that was not quoted.
        alone: whether a folder may stand without a question, since something else is asked for.

    Raises:
        UserError: the last one is meant as a folder, and is none.
    """
    if len(words) < 2:
        is_folder = alone and any(map(os.path.isdir, words))
        return "" if is_folder else " ".join(words), named_folder(words[0]) if is_folder else None, ""
    *before, last = words
    plain = any(len(each.split()) > 1 for each in before)
    if os.path.isdir(os.path.expanduser(last)):  # noqa: PTH111, PTH112 - which know no errors
        question, folder = " ".join(before), named_folder(last)
        return question, folder, "" if plain and len(before) == 1 else f"asked {question!r} in {folder}"
    if len(words) == 2 and len(last.split()) > 1 and os.path.isdir(words[0]):  # noqa: PTH112
        return last, named_folder(words[0]), f"asked {last!r} in {words[0]}"
    from search.engine.filters import begins_with_filter

    if not begins_with_filter(last) and ((plain and len(words) == 2) or _means_folder(last)):
        raise UserError(_no_folder(last))
    question = " ".join(words)
    return question, None, f"asked {question!r}{_hint(words[0], before, last)}"


def _hint(first: str, before: Sequence[str], last: str) -> str:
    """What else the words could mean: a file at the end, or a folder before the question."""
    if os.path.isfile(last):  # noqa: PTH113
        return f"; to ask that file alone: {_of_file(last)}"
    if os.path.isdir(first):  # noqa: PTH112
        rest = " ".join([*before[1:], last])
        return f'; to ask that folder: bash run.sh search "{rest}" {first}'
    return ""


def _no_folder(typed: str) -> str:
    path = os.path.expanduser(typed)  # noqa: PTH111 - which knows no error
    if os.path.isfile(path):  # noqa: PTH113
        return f"{typed} is a file: {_of_file(path)} asks it alone"
    return f"there is no folder {typed}: {_EXPECTED}, and quote a question of several words"


def _of_file(path: str) -> str:
    """The command that asks one file."""
    folder, name = os.path.split(path)
    return f'bash run.sh search "QUESTION" {folder or "."} --path={name}'


def named_folder(typed: str) -> Path:
    """The folder that is named.

    Raises:
        UserError: there is none.
    """
    folder = named_path(typed)
    if not folder.is_dir():
        raise UserError(f"{folder} {'is no folder' if os.path.lexists(folder) else 'does not exist'}: name a folder")
    return folder


def _means_folder(word: str) -> bool:
    if _PATH.fullmatch(word):
        return True
    above = os.path.dirname(word)  # noqa: PTH120 - of a text that need not be a path
    return word.startswith("/") and above != "/" and os.path.isdir(above)  # noqa: PTH112


def search(arguments: Sequence[str]) -> bool:
    """Answer a question; returns whether something was found."""
    from search.engine.filters import begins_with_filter

    gc.set_threshold(50_000)  # one answer leaves hardly any circular garbage
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
    from search.terminal.changed import changed_files
    from search.terminal.hits import Answer, show_answer

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
    from search.first_use import source_of

    nearest = "none" if options.model == "none" else options.nearest
    source = source_of(options.index, folder, start, vectors=nearest != "none")
    from search.engine.engine import Engine  # perhaps loaded meanwhile
    from search.opening import opened, reranker_of

    found, retriever = opened(source.path, nearest, mapped=True, tell=source.tell)
    return Engine(found, reranker_of(found, options.model), retriever=retriever), source.freshness, source.root


def _cursor(typed: str, query: str = "") -> "Cursor":
    from search.cursor import cursor_at

    return cursor_at(typed, query)
