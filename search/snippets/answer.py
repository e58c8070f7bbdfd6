"""Answers to code: to a pasted piece of it or a stack trace, and to a place in the index.

These are the functions that the commands, the server and the tools of agents call. Nothing pasted is run or stored.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, Literal

from data_prep.errors import UserError, shown
from data_prep.languages.identifiers import LONGEST_WORD, split_identifier
from data_prep.traces.trace import Trace, frames_like, read_trace
from search.engine.engine import Engine
from search.files.languages import language_name
from search.index.code_index import Index
from search.index.frame_locator import FrameLocator, Located
from search.snippets.code_search import CodeHit, CodeQuery, CodeSearch
from search.snippets.code_text import CodeText, Tokens, read_code, shortened

Kind = Literal["trace", "code", "place"]

LONGEST_CODE: Final = 1 << 15
"""Characters of code that are read, half from each end: a parser may need seconds for more, if it is broken."""
_LOOKED_AT: Final = 2000
_MANY: Final = 0.1
_FRAMES: Final = 20
"""Frames of a trace, from the innermost on, whose code is looked for."""
_MESSAGE: Final = 20
"""Words of an error's message that are looked for."""


@dataclass(frozen=True, slots=True)
class CodeAnswer:
    """What an index has for a piece of code."""

    kind: Kind  # what was asked: a stack trace, code, or a place in the index
    language: str  # of the question; "" if it is not known
    hits: Sequence[CodeHit]  # code like it, best first
    trace: Trace | None = None  # of a stack trace
    frames: Sequence[Located] = ()  # of a stack trace, in its order
    row: int | None = None  # of a place: the unit that contains it
    read: int = 0  # characters that were read of the text
    left_out: int = 0  # characters of its middle that were not
    unread: int = 0  # lines that look like frames of a stack trace, but are not read as such

    @property
    def is_there(self) -> bool:
        """Whether something was found."""
        return bool(self.hits) or any(each.row is not None for each in self.frames)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which hits are wanted."""

    top: int = 10
    path: str = ""  # a pattern that their paths must match; empty: all
    languages: Collection[str] = ()  # that they must be in; empty: all
    files: Collection[str] | None = None  # paths of files that they must be in; None: all


EVERYTHING: Final = Wanted()


def answer_text(engine: Engine, text: str, wanted: Wanted = EVERYTHING, language: str = "") -> CodeAnswer:
    """What an index has for a pasted text: a stack trace or code.

    Args:
        engine: over the index.
        text: the trace, or a log that has one, or the code; of very long code the middle is left out.
        wanted: which hits.
        language: of the code, if it is known.

    Raises:
        UserError: there is no word in the text.
    """
    if trace := read_trace(text):
        return _answer_trace(engine, trace, wanted, len(text))
    read = shortened(text, LONGEST_CODE)
    left_out = max(0, len(text) - len(read))
    code = read_code(read, language, wanted.languages or languages_of(engine.index))
    if not code.tokens and not code.api and not code.defined:
        raise UserError(f"expected code or a stack trace, got {shown(text.strip()) if text.strip() else 'nothing'}")
    hits = _like(engine, query_of_code(code), wanted)
    unread = frames_like(text)
    return CodeAnswer("code", code.language, hits, read=len(read), left_out=left_out, unread=unread)


def languages_of(index: Index) -> Collection[str]:
    """Languages that many of an index's files are in, by some of its files."""
    some = index.files[:: len(index.files) // _LOOKED_AT + 1]
    number = Counter(chain.from_iterable(each.languages for each in some))
    return [name for name, found in number.items() if found >= _MANY * len(some)]


def answer_place(engine: Engine, path: str, line: int, wanted: Wanted = EVERYTHING) -> CodeAnswer:
    """Code like that of the unit at a place, without that unit and those around and inside it.

    Args:
        engine: over the index.
        path: of an indexed file, or its last folders and name.
        line: from 1.
        wanted: which hits.

    Raises:
        UserError: there is no such file in the index, several files have such a path, or the line is in no unit.
    """
    index = engine.index
    file = file_of(index, path)
    row = FrameLocator(index).row_at(file, line)
    if row is None:
        raise UserError(outside_of_units(index, file, line))
    language = language_name(index.files[file].path)
    return CodeAnswer("place", language, _like(engine, query_of_row(index, row), wanted, around(index, {row})), row=row)


def file_of(index: Index, path: str) -> int:
    """The number of the indexed file that ``path`` names, by its whole path or its last parts.

    Raises:
        UserError: there is none, or there are several.
    """
    exact = [number for number, file in enumerate(index.files) if file.path == path]
    wanted = f"/{path.removeprefix('./')}"
    found = exact or [number for number, file in enumerate(index.files) if f"/{file.path}".endswith(wanted)]
    if not found:
        raise UserError(
            f"there is no indexed file {shown(path)}: name one of the index, or update it by `bash run.sh index DIR`"
        )
    if len(found) > 1:
        others = ", ".join(shown(index.files[number].path) for number in found[:3])
        raise UserError(
            f"{len(found):,} indexed files end in {shown(path)}, such as {others}: name more of its folders"
        )
    return found[0]


def query_of_row(index: Index, row: int) -> CodeQuery:
    """A row as a piece of code to look for."""
    words, text = index.split.word_list, index.split.text(row)
    return CodeQuery(
        words("tokens", row), words("api", row), Tokens.of_unit(text.source, text.path), words("name", row)
    )


def outside_of_units(index: Index, file: int, line: int) -> str:
    """Why a line is in no unit."""
    found = index.files[file]
    ends = [index.split.text(row).end_line for row in index.rows_of(file)]
    if not ends:
        return f"nothing of {shown(found.path)} is indexed" + (f" ({found.trouble})" if found.trouble else "")
    return f"line {line:,} of {shown(found.path)} is in no unit of the index, whose last ends at line {max(ends):,}"


def around(index: Index, rows: Collection[int]) -> set[int]:
    """Rows, and those of their files that are around or inside them."""
    found = set()
    for row in rows:
        own, file = index.split.text(row), index.file_number(row)
        for other in index.rows_of(file):
            text = index.split.text(other)
            inside = own.start_line <= text.start_line and text.end_line <= own.end_line
            outside = text.start_line <= own.start_line and own.end_line <= text.end_line
            if inside or outside:
                found.add(other)
    return found


def _answer_trace(engine: Engine, trace: Trace, wanted: Wanted, read: int) -> CodeAnswer:
    index = engine.index
    located = FrameLocator(index).located(trace.frames)
    inner = located[::-1] if trace.innermost_last else located
    lines = dict.fromkeys(filter(None, (_code_of(index, each) for each in inner[:_FRAMES])))
    suffixes = [language_name(each.frame.path) for each in located if language_name(each.frame.path)]
    language = suffixes[0] if suffixes else trace.language
    code = query_of_code(read_code("\n".join(lines), language))
    errors = dict.fromkeys(chain.from_iterable(_error_words(each.error, each.message) for each in trace.errors))
    nearest = next((each.row for each in inner if each.row is not None), None)
    if nearest is not None:
        unit = query_of_row(index, nearest)
        code = CodeQuery(_joined(unit.tokens, code.tokens), _joined(unit.api, code.api), unit.text)
    code = CodeQuery(_joined(code.tokens, errors), code.api, code.text)
    hits = _like(engine, code, wanted, around(index, {each.row for each in located if each.row is not None}))
    return CodeAnswer("trace", language, hits, trace, located, read=read, unread=trace.unread)


def _error_words(error: str, message: str) -> Iterable[str]:
    """The words of an error's type without its package, and of the start of its message."""
    runs = [run.strip(".,:;()[]{}'\"")[:LONGEST_WORD] for run in message.split()]
    words = [word for run in runs for word in split_identifier(run) if len(word) > 1]
    return [*split_identifier(error.rpartition(".")[2][:LONGEST_WORD]), *words[:_MESSAGE]]


def _code_of(index: Index, located: Located) -> str:
    """The line of code of a frame: as printed, or that of its row."""
    frame, row = located.frame, located.row
    if frame.code or row is None or located.moved:
        return frame.code
    text = index.split.text(row)
    if index.is_whole_file(row):
        return ""  # its text begins behind the licence
    lines = text.source.split("\n")
    place = frame.line - text.start_line
    return lines[place].strip() if 0 <= place < len(lines) else ""


def query_of_code(code: CodeText) -> CodeQuery:
    """A text as a piece of code to look for."""
    named = list(dict.fromkeys(word for name in code.defined for word in split_identifier(name)))
    return CodeQuery(_joined(named, code.tokens), code.api, Tokens.of(code.text, code.language))


def _joined(first: Iterable[str], second: Iterable[str]) -> list[str]:
    return list(dict.fromkeys((*first, *second)))


def _like(engine: Engine, code: CodeQuery, wanted: Wanted, without: Collection[int] = ()) -> list[CodeHit]:
    return CodeSearch(engine).like(
        code, top=wanted.top, path=wanted.path, languages=wanted.languages, without=without, files=wanted.files
    )
