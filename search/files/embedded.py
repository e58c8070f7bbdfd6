"""Code inside of another file: scripts of Vue, Svelte and Astro components, cells of notebooks.

A component stays as long as it is, with blanks for all but its scripts, so that each place in it is one in the file. Of
a notebook, the lines of its cells are taken out of its JSON, each with the number of the file's line that it is in.
Other cells become comments, and so do lines that only IPython reads; outputs are left out.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Final

from data_prep.errors import UserError, one_line
from data_prep.files.json_text import parse_json
from data_prep.languages.identifiers import compiled_later
from data_prep.languages.language import Language
from data_prep.languages.registry import LANGUAGES
from data_prep.languages.registry import language as language_named
from data_prep.records import LARGEST_SOURCE
from search.files.languages import Unit

_SCRIPT: Final = compiled_later(
    r"(?is)<!--.*?(?:-->|\Z)|<script\b((?:[^<>\"']|\"[^\"]{0,500}\"|'[^']{0,500}')*+)>(.*?)(?:</script\b|\Z)"
)
_TYPE: Final = compiled_later(r"(?i)\btype\s*=\s*[\"']?(?!module|[\w/]*(?:java|type|ecma)script|babel|jsx|tsx?\b)")
"""In the tag of a script that is data or a template."""
_FRONT: Final = compiled_later(r"(?s)\A\s*---[ \t\r]*\n(.*?)(?:^---|\Z)", re.MULTILINE)
_ALL: Final = compiled_later(r"[^\n]")
_JSON: Final = compiled_later(r'"(?:[^"\\\n]|\\.)*+"|[{}\[\],:]')
_CELLS: Final = compiled_later(r"(?:worksheets/\d+/)?cells/(\d+)/(?:(cell_type)|(?:source|input)(?:/\d+)?)")
_PARTS: Final = frozenset(("source", "input", "cell_type"))
_DEEPEST: Final = 100
"""Lists and objects in each other, of which a notebook has fewer than ten."""
_TOO_LONG: Final = f"longer than {LARGEST_SOURCE >> 20} MiB: the cells behind that are not read"
_MAGIC: Final = compiled_later(r"(?:%[%\w]|!(?!=)|\?|[\w.]+\?\??[ \t]*$|[\w., \t]+=[ \t]*(?:%\w|!(?!=)))")
_SEEN: Final = 200
"""Characters of a line that say what it is."""
_LINES: Final = compiled_later(r"\blines? \d+(?:, \d+)*")
_TIMED: Final = compiled_later(r"%%(?:time|timeit|capture|prun|memit|mprun|px|skip|debug)\b")
"""What makes a cell no other language."""
_KERNELS: Final[Mapping[str, str]] = {"c++": "cpp", "c#": "csharp", "ipython": "python", "sos": "python"}


@dataclass(frozen=True, slots=True)
class Cells:
    """Where the lines of a notebook's code are; counted from 1."""

    lines: Sequence[int]  # the file's line of each line of code
    starts: Sequence[int]  # the first line of code of each cell

    def placed(self, units: Sequence[Unit], mark: str) -> list[Unit]:
        """Units by the lines of the file; the first line of each says its cell and line there, behind a ``mark``."""
        whole = [_moved(each, 1, self.lines[-1], "") for each in units[:1]]
        return [*whole, *(self._placed(each, mark) for each in units[1:])]

    def said(self, text: str) -> str:
        """What is said of lines of the code, of those of the file."""
        line_of = lambda found: str(self.lines[min(int(found[0]), len(self.lines)) - 1])  # noqa: E731
        return _LINES.sub(lambda found: re.sub(r"\d+", line_of, found[0]), text)

    def _placed(self, unit: Unit, mark: str) -> Unit:
        method = unit.pair.method
        start, end = (self.lines[each - 1] for each in (method.start_line, method.end_line))
        cell = bisect_right(self.starts, method.start_line)
        return _moved(unit, start, end, f"  {mark} cell {cell}, line {method.start_line - self.starts[cell - 1] + 1}")


def _moved(unit: Unit, start: int, end: int, said: str) -> Unit:
    method = unit.pair.method
    first, newline, rest = method.source.partition("\n")
    moved = replace(method, start_line=start, end_line=end, source=f"{first}{said}{newline}{rest}")
    return replace(unit, pair=replace(unit.pair, method=moved))


@dataclass(frozen=True, slots=True)
class Embedded:
    """What a parser reads of a file."""

    data: bytes
    text: bytes  # what the words of the file are taken from
    language: str = ""  # "": that of the file's name
    cells: Cells | None = None
    left_out: str = ""


def embedded(path: str, data: bytes) -> Embedded | None:
    """The code inside of a file; None: the file is code itself.

    Raises:
        UserError: it is no notebook.
    """
    read = _READERS.get(PurePosixPath(path).suffix)
    return read(data) if read else None


def _component(data: bytes, *, front: bool = False) -> Embedded:
    return Embedded(_only(data.decode("latin-1"), front=front).encode("latin-1"), data)


def _only(text: str, *, front: bool) -> str:
    """A component with blanks for all that is no script; ``front``: what is before its second ``---`` is one."""
    first = _FRONT.match(text) if front else None
    place = first.end() if first else 0
    scripts = (found for found in _SCRIPT.finditer(text, place) if found[2] and not _TYPE.search(found[1]))
    parts: list[str] = []
    place = 0
    for start, end in (*([first.span(1)] if first else []), *(found.span(2) for found in scripts)):
        parts += _ALL.sub(" ", text[place:start]), text[start:end]
        place = end
    return "".join((*parts, _ALL.sub(" ", text[place:])))


def scripts_alone(source: str, path: str) -> str:
    """A component with blanks for all that is no script; a part of one without tags, and other text, as it is."""
    suffix = PurePosixPath(path).suffix
    is_whole = "<script" in source or source.startswith("---")
    return _only(source, front=suffix == ".astro") if is_whole and suffix in (".vue", ".svelte", ".astro") else source


def _notebook(data: bytes) -> Embedded:
    text = data.decode("utf-8", "replace")
    whole, told = _checked(text or "{}") if len(data) <= LARGEST_SOURCE else ({}, _TOO_LONG)
    named = _language_of(whole)
    language = language_named(named or "python")
    code: list[str] = []
    places: list[int] = []
    starts: list[int] = []
    for is_code, lines in _cells(text):
        if is_code:
            starts.append(len(code) + 1)
        for line, place in _read(lines, language) if is_code and named else _commented(lines, language):
            code.append(line)
            places.append(place)
        code.append("")
        places.append(places[-1] if places else 1)
    if told and not code:
        raise UserError(told)
    found = "\n".join(code).encode("utf-8", "replace")
    return Embedded(found, found, language.name, Cells(places or [1], starts or [1]), told)


def _checked(text: str) -> tuple[Mapping[str, Any], str]:
    """The whole notebook, and what is said of one that is broken."""
    try:
        whole = parse_json(text)
    except UserError as error:
        return {}, f"no valid JSON: {one_line(str(error))}"
    return whole if isinstance(whole, dict) else {}, ""


def _language_of(whole: Mapping[str, Any]) -> str:
    """The language that a notebook names, Python if it names none; "": one that is not read."""
    about = whole.get("metadata")
    about = about if isinstance(about, dict) else {}
    parts = [(about.get("kernelspec"), "language"), (about.get("language_info"), "name")]
    said = [part[name] for part, name in parts if isinstance(part, dict) and isinstance(part.get(name), str)]
    names = [_KERNELS.get(each.lower(), each.lower()) for each in said]
    return next((each for each in names if each in LANGUAGES), "" if names else "python")


def _cells(text: str) -> Iterator[tuple[bool, list[tuple[str, int]]]]:
    """Whether each cell is code, and its lines with those of the file."""
    number, kind, lines = "", "code", list[tuple[str, int]]()
    for path, value, line in _strings(text):
        found = _CELLS.fullmatch(path)
        if not found:
            continue
        if found[1] != number:
            if lines:
                yield kind == "code", lines
            number, kind, lines = found[1], "code", []
        if found[2]:
            kind = value
        elif value:
            lines += ((each, line) for each in value.removesuffix("\n").split("\n"))
    if lines:
        yield kind == "code", lines


def _strings(text: str) -> Iterator[tuple[str, str, int]]:
    """Each text of a cell in a JSON file, with the path to it and its line: ``cells/0/source/1``."""
    path: list[str | int | None] = []  # the key in each object, None before it, and the place in each list
    line, place = 1, 0
    for found in _JSON.finditer(text):
        token = found[0]
        if token[0] != '"':
            _step(path, token)
        elif path and path[-1] is None:
            path[-1] = token[1:-1]
        elif len(path) <= _DEEPEST and not _PARTS.isdisjoint(path[-2:]):
            line, place = line + text.count("\n", place, found.start()), found.start()
            yield "/".join(map(str, path)), _decoded(token), line


def _step(path: list[str | int | None], token: str) -> None:
    """Go on behind a bracket or a comma."""
    if token in "{[":
        path.append(None if token == "{" else 0)
    elif token in "}]":
        del path[-1:]
    elif token == "," and path:
        path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None


def _decoded(token: str) -> str:
    try:
        return str(json.loads(token, strict=False)).replace("\r\n", "\n")
    except ValueError:
        return ""


def _read(lines: Sequence[tuple[str, int]], language: Language) -> Iterator[tuple[str, int]]:
    """The lines of a cell with blanks for those that only IPython reads."""
    first = lines[0][0] if lines else ""
    if language.name != "python":
        yield from lines
    elif first.startswith("%%") and not _TIMED.match(first):
        yield from _commented(lines, language)
    else:
        inside = False
        for line, place in lines:
            yield "" if not inside and _MAGIC.match(line[:_SEEN].lstrip()) else line, place
            inside ^= line.count('"""') % 2 == 1 or line.count("'''") % 2 == 1


def _commented(lines: Sequence[tuple[str, int]], language: Language) -> Iterator[tuple[str, int]]:
    return ((f"{language.line_comment} {line}", place) for line, place in lines)


_READERS: Final[Mapping[str, Callable[[bytes], Embedded]]] = {
    ".vue": _component,
    ".svelte": _component,
    ".astro": partial(_component, front=True),
    ".ipynb": _notebook,
}
