"""The command ``bash run.sh search``, and what its words mean: a question, and the folder that is searched."""

import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from data_prep.errors import UserError
from data_prep.files.access import named_path
from experiments.terminal import console
from experiments.terminal.options import parsed
from search.options import EXPECTED, RelatedOptions, SearchOptions

if TYPE_CHECKING:
    from search.engine.engine import Engine
    from search.opening import Source

Found = TypeVar("Found")
_READING_ON: Final = "answered; reading the changed files for the next question (Ctrl-C: do not wait)"
_OF_FOLDER: Final = ("folder", "dir", "directory", "root", "in", "project", "repo", "repository")
"""Options that are tried for a folder."""
_BLANK_IN_NAME: Final = re.compile(r"-[^=\s]*\s")


def as_typed(arguments: Sequence[str]) -> Iterator[str]:
    """Arguments with what is behind ``--`` as words, which may begin with a minus, and ``--usages=NAME`` as two.

    What begins with a minus and has a blank is a question too, unless it gives a value to an option.
    """
    words = False
    for each in arguments:
        value = each.partition("=")[2] if each.startswith("--usages=") and not words else ""
        if each == "--" and not words:
            words = True
        elif value not in ("", "true", "false"):
            yield from ("--usages", value)
        else:
            is_asked = words or _BLANK_IN_NAME.match(each)
            yield f" {each}" if is_asked and each.startswith("-") else each


def check_guesses(arguments: Sequence[str]) -> None:
    """Say where the folder stands to whoever looks for an option.

    Raises:
        UserError: an argument is such an option.
    """
    from shlex import quote

    for each in arguments:
        name, _, value = each.removeprefix("--").partition("=")
        if each.startswith("--") and name in _OF_FOLDER:
            how = EXPECTED.replace("DIR", quote(value or "DIR"))
            raise UserError(f"--{name} is no option: the folder comes last, {how}")


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
        return "" if is_folder else " ".join(words), named_path(words[0]) if is_folder else None, ""
    *before, last = words
    plain = any(len(each.split()) > 1 for each in before)
    if os.path.isdir(os.path.expanduser(last)):  # noqa: PTH111, PTH112 - which know no errors
        question, folder = " ".join(before), named_path(last)
        return question, folder, "" if plain and len(before) == 1 else f"asked {question!r} in {folder}"
    if len(words) == 2 and len(last.split()) > 1 and os.path.isdir(words[0]):  # noqa: PTH112
        return last, named_path(words[0]), f"asked {last!r} in {words[0]}"
    from search.unquoted import check_no_folder, hint

    check_no_folder(words, quoted=plain)
    question = " ".join(words)
    return question, None, f"asked {question!r}{hint(words[0], before, last)}"


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
        from search.usages import show_usages

        top = options.top if any(re.match("--top(=|$)", each) for each in arguments) else 0
        return show_usages(words, options, top)
    first = "".join(words[:1])
    pasted = first == "-" or "\n" in first or re.search(r"[:#(]\d|line \d|\.py::\w", first)
    if pasted or (options.snippet and (not first or os.path.isdir(first))):  # noqa: PTH112
        from search.snippets.command import search_pasted

        if (found := search_pasted(words, options)) is not None:
            return found
    if not (words or options.at or options.regex) or options.snippet:
        raise UserError(
            'expected one question: bash run.sh search "read all lines of a file", a comment `# search: ...`, by '
            "--at=FILE:LINE, code, by - or --snippet=FILE, or --regex=PATTERN"
        )
    asked, folder, understood = question_and_folder(words, alone=bool(options.regex))
    if understood:
        console.complain(understood)
    return answered(asked, folder, options)


def answered(asked: str, folder: Path | None, options: SearchOptions) -> bool:
    """Answer a question in words, or one at a cursor.

    What has changed is read completely before it is said that nothing is found, or that no file has a word.
    """
    from search.engine.expressions import Pattern
    from search.engine.question import words_of

    cursor = None
    if options.at:
        from search.cursor import cursor_at

        cursor = cursor_at(options.at, asked)
    question = cursor.query if cursor else asked
    pattern = Pattern(options.regex) if options.regex else None
    if question or not pattern:
        words_of(question)  # what is bad is reported before anything is opened
    nearest = "none" if options.model == "none" else options.nearest
    source = source_for(options, folder, cursor.file.parent if cursor else None, vectors=nearest != "none")
    from search.hits import Answer, show_answer  # which is there by now where an index was made

    def answer(source: "Source | None") -> "Answer":
        language = cursor.language if cursor else ""
        engine, root, languages, files = ready(options, source, options.model, nearest, language)
        started = time.perf_counter()
        hits = engine.search(
            question,
            top=options.top,
            path=path_inside(options, root),
            languages=languages,
            by_file=options.files or options.by == "file",
            context=cursor.context if cursor else (),
            files=files,
            pattern=pattern and Pattern(options.regex, root),
        )
        seconds = time.perf_counter() - started
        return Answer(engine, question, hits, engine.certainty(question, hits), seconds, root)

    is_found = lambda found: found.sure.level != "none" and not (found.sure.absent or found.sure.name)  # noqa: E731
    found, source = of_all(source, answer, is_found)
    show_answer(replace(found, more=freshness_of(source)), options)
    read_on(source)
    return found.sure.level != "none"


def of_all(
    source: "Source | None", answer: "Callable[[Source | None], Found]", is_found: "Callable[[Found], bool]"
) -> "tuple[Found, Source | None]":
    """The answer from an index, and the index; if it does not answer, that after all that has changed is read.

    Args:
        source: the index; None: there is more than one, which are as they are.
        answer: answers from it.
        is_found: whether an answer is one, which more files would not change much.

    Raises:
        UserError: what ``answer`` raises.
    """
    if source is None or source.root is None or not _is_behind(source):
        return answer(source), source
    try:
        if is_found(found := answer(source)):
            return found, source
    except UserError:  # such as of a pattern of paths that no file has yet
        pass
    from search.index.reading_on import read_rest

    known, more = source.freshness, "at least " * source.freshness.unknown
    count = f"{more}{len(known.reading):,} changed" if known.reading else "changed"
    console.complain(f"reading {count} file{'s' * (len(known.reading) != 1)} before an answer")
    source = replace(source, freshness=read_rest(source.path, source.root))
    return answer(source), source


def _is_behind(source: "Source") -> bool:
    """Whether files have changed that are being read."""
    return bool(source.freshness.line) and not source.freshness.trouble


def read_on(source: "Source | None") -> None:
    """Wait for what is read beyond an answer: where a command ends, what it has started may be ended with it."""
    if source is None or not _is_behind(source):
        return
    from search.index.reading_on import finish

    sys.stdout.flush()
    late = threading.Timer(console.PATIENCE, console.complain, [_READING_ON])
    late.start()
    try:
        finish(source.path)
    except KeyboardInterrupt:  # the answer is there
        console.complain("not waited for")
    finally:
        late.cancel()


def source_for(
    options: SearchOptions, folder: Path | None, start: Path | None = None, *, vectors: bool
) -> "Source | None":
    """The index that answers, as :func:`search.opening.source_of` finds it; None: those of a list do."""
    from search.opening import source_of

    if not options.list:
        return source_of(options.index, folder, start, vectors=vectors)
    if folder:
        raise UserError("--list names the folders: leave out DIR")
    return None


def path_inside(options: "SearchOptions | RelatedOptions", root: Path | None) -> str:
    """The value of ``--path``; one that is absolute and in the folder ``root`` begins at its top."""
    if root is None or not options.path.startswith("/"):
        return options.path
    from search.engine.asked_places import pattern_of

    return pattern_of(root, options.path)


def ready(
    options: "SearchOptions | RelatedOptions",
    source: "Source | None",
    model: str = "none",
    nearest: str = "none",
    language: str = "",
) -> tuple["Engine", Path | None, frozenset[str], frozenset[str] | None]:
    """The engine over an index or else a list, its folder if it is one, and languages and files that hits must be in.

    ``model``, ``nearest`` and ``language`` are as options name them, the last if ``--language`` is empty.

    Raises:
        UserError: nothing of the index can be a hit, or something cannot be opened.
    """
    from search.opening import check_answers, opened_from

    languages = frozenset[str]()
    if named := options.language or language:
        from search.files.languages import chosen_languages

        languages = chosen_languages(named)
    if source is None:
        assert isinstance(options, SearchOptions)
        from search.making import complain_about
        from search.repository_list import opened_list

        near = nearest != "none"
        engine = opened_list(named_path(options.list), model, near=near, tell=complain_about)
    else:
        from search.engine.engine import Engine
        from search.models.packed import reranker_maker

        found, retriever = opened_from(source, nearest)
        engine = Engine(found, reranker_maker(model, for_many=False)(found), retriever=retriever)
    root = source.root if source else None
    check_answers(engine.index, path_inside(options, root), languages)
    engine.names.paths.folder, engine.names.paths.here = root, named_path(".") if root else None
    if not options.changed:
        return engine, root, languages, None
    from search.files.tree import uncommitted_files

    changed = uncommitted_files(engine.index, root)
    if not changed and not (source and _is_behind(source)):  # else it is asked again once all is read
        console.complain(f"--changed: git calls none of the {len(engine.index.files):,} files changed")
    return engine, root, languages, changed


def freshness_of(source: "Source | None") -> dict[str, Any]:
    """What may be old of an answer, as JSON says it; it is also printed, as it is if a folder above answers."""
    if source and source.is_above:
        console.complain(f"searched: {source.root}, which has an index (name a folder to search that alone)")
    if source and source.freshness.line:
        console.complain(source.freshness.line)
    return source.freshness.told if source else {}
