"""The units of a file: the file itself, and what it declares in a language that :mod:`data_prep.languages` reads.

The file itself is the first unit, so that its top-level code is found too; what cannot be parsed is found by it alone.
Java has a reader of its own (:mod:`search.files.java_units`).
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from data_prep.errors import UserError
from data_prep.languages.comments import first_sentence
from data_prep.languages.fields import left_out_lines
from data_prep.languages.identifiers import query_words, split_identifier
from data_prep.languages.language import FoundFunction, Language, ParsedSource, words
from data_prep.languages.registry import language as language_named
from data_prep.pipeline.filters import function_reason, is_generated, path_reason
from data_prep.records import Method, Pair, SourceFile, UnitKind
from search.files.embedded import embedded
from search.files.languages import SHOWN, STATES_LICENCE, WHOLE_ALONE, Unit, Units, language_of_file, whole_file
from search.files.recovery import LONG, best_of, declared_in, is_built, is_minified, parseable, placed, plausible
from search.files.repair import Repaired
from search.files.tree import is_test
from search.files.words import file_words, folded

_HEAD: Final = re.compile(
    rb"(?m)^[ \t]*(?:(?:export|default|async|declare|abstract|static|public|private|protected)[ \t]+)*"
    rb"(?:(?:def|class|func(?:[ \t]*\([^)\n]{0,200}\))?|function\*?|interface|enum)[ \t]+(?:[\w$]+[.:])*([\w$]+)"
    rb"|(?<=[ \t])([\w$]+)\([^;{}]{0,300}\)[^;{}=\n]{0,100}\{[ \t]*$)"
)
"""What begins a function or type, by its text alone."""
_OF_TEXT: Final = re.compile(rb"[^\n=]{0,200}=[ \t]*[a-zA-Z]{0,2}(?:\"\"\"|'''|`)")
_LICENCE: Final = re.compile(
    r"(?i)\W*(?:spdx-|copyright\b|\(c\) ?\d|@(?:license|licence|copyright)\b|(?:licensed|released|distributed) under\b"
    r"|all rights reserved"
    r"|(?:use of )?this (?:source code|file|code|software|program|library|module)\b.{0,80}\blicen[cs]e"
    r"|(?:the )?(?:mit|bsd|apache|gnu|isc|mozilla)\b.{0,40}\blicen[cs]e)"
)
"""What begins a licence."""
_PARAGRAPHS: Final = re.compile(r"\n[ \t]*(?:#|//|--)?[ \t]*\n")
_STATEMENTS: Final = words("if for while switch catch with function return super")
"""What begins other things that look so."""
_BOM: Final = b"\xef\xbb\xbf"
_GENERIC: Final = words("app index main server router routes route api handler handlers")
"""Words of a file's name that say nothing about the subject of its routes."""
_KINDS: Final[Mapping[str, UnitKind]] = {
    "type": "type", "constructor": "constructor", "constant": "constant", "test": "test", "abstract": "abstract"
}  # fmt: skip


def read_functions(file: SourceFile) -> Units:
    """The file as a whole, then every named function, method, type and constant in source order, documented or not.

    Raises:
        UserError: no language has the suffix of its name.
    """
    language = language_of_file(file.path, file.data)
    data = text = file.data.replace(b"\r\n", b"\n").removeprefix(_BOM)
    if inner := embedded(file.path, data):
        language, data, text = language_named(inner.language or language.name), inner.data, inner.text
    read = _Read.of(data, file.path, language)
    parsed = read.parsed
    counted = file_words(text, read.comments)
    units = whole_file(file, text, counted)
    if parsed:
        can_ask = not path_reason(file.path, language) and not is_generated(data, parsed.code_start, of_corpus=True)
        found = [_named(each, data, file.path, language) for each in read.declared(test=is_test(file.path))]
        found[:1] = [_without_licence(each, parsed.code_start) for each in found[:1]]
        units += [_unit(file, data, each, language, can_ask=can_ask) for each in found if each.name]
        lost = left_out_lines(_lost(data, found, read.comments)) if parsed.broken_line or read.fixed else ""
        read.left_out = "; ".join(filter(None, (read.left_out, lost)))
    if inner and inner.cells:
        units = inner.cells.placed(units, language.line_comment)
        read.left_out = inner.cells.said(read.left_out)
    left_out = "; ".join(filter(None, (inner.left_out if inner else "", read.left_out)))
    return Units(units, left_out, counted, language.name)


def _lost(data: bytes, found: Sequence[FoundFunction], comments: Sequence[tuple[int, int]]) -> list[int]:
    """The lines of a broken text that begin a function or type which is not ``found``, nor inside of one that is."""
    todo, around, lines = sorted(found, key=lambda each: -each.start), list[FoundFunction](), list[int]()
    line = place = 0
    for match in _HEAD.finditer(data):
        start, name = match.start(match.lastindex or 0), match[match.lastindex or 0].decode("utf-8", "replace")
        line, place = line + data.count(b"\n", place, start), start
        while todo and todo[-1].start <= start:
            around.append(todo.pop())
        around = [each for each in around if each.end > start]
        number = bisect_right(comments, (start, len(data))) - 1
        if (number >= 0 and comments[number][1] > start) or name in _STATEMENTS:
            continue
        indent = len(match[0]) - len(match[0].lstrip())
        inside = any(each.kind != "type" and _indent_of(data, each.start) < indent for each in around)
        inside |= any(each.kind == "constant" and _OF_TEXT.match(data, each.start) for each in around)
        if not inside and all(each.name.rpartition(".")[2] != name for each in around):
            lines.append(line + 1)
    return lines


def _indent_of(data: bytes, place: int) -> int:
    start = data.rfind(b"\n", 0, place) + 1
    line = data[start : start + LONG]
    return len(line) - len(line.lstrip())


@dataclass(slots=True)
class _Read:
    """What was read of a file."""

    data: bytes
    parsed: ParsedSource | None  # None: it is found as a whole alone
    left_out: str  # which part was not read
    fixed: Repaired | None = None  # what was parsed in place of a half-typed file

    @classmethod
    def of(cls, data: bytes, path: str, language: Language) -> "_Read":
        if is_minified(data) or language.is_minified(path):
            return cls(data, None, f"minified or data: {WHOLE_ALONE}")
        if is_built(data):
            return cls(data, None, f"built from other files: {WHOLE_ALONE}")
        try:
            begun = parseable if language.line_comment == "//" else bytes
            parse = lambda text: language.parse(begun(text), path)  # noqa: E731
            parsed, fixed, parts = best_of(data, language, path, parse, declared_in)
        except UserError as error:
            return cls(data, None, f"{error}: {WHOLE_ALONE}")
        if (count := parsed.left_out - len(parsed.damaged())) > 0:  # which has tests too, which are no functions
            what = "1 function is" if count == 1 else f"{count:,} functions are"
            parts.append(f"{what} found by the whole file only: too deeply nested, or too many")
        return cls(data, parsed, "; ".join(parts), fixed)

    @property
    def comments(self) -> Sequence[tuple[int, int]]:
        """Where the comments of the file are."""
        spans = self.parsed.comments if self.parsed else ()
        return [(self.fixed.place(start), self.fixed.place(end)) for start, end in spans] if self.fixed else spans

    def declared(self, *, test: bool) -> list[FoundFunction]:
        """What the file declares, in source order; a constant that is a function or type is that alone.

        In a ``test``, what is declared inside of functions is found by these, and handlers by the whole file: there,
        it is mostly made-up material. So is it in a module ``tests`` of a file. What begins far behind the start of a
        line is minified.
        """
        parsed = self.parsed
        if parsed is None:
            return []
        handlers = () if test else _outside_of_tests(parsed)
        cases = parsed.cases(Repaired(self.data, self.fixed.added).text if self.fixed else b"")
        handlers = [*handlers, *(each for each in cases if not (test and each.kind == "handler"))]
        own = {(each.start, each.end) for each in handlers}
        found = [each for each in parsed.functions if (each.start, each.end) not in own]
        found += [*parsed.types(), *handlers, *(() if test else parsed.inner())]
        if parsed.broken_line or self.fixed:
            damaged = {(each.start, each.end): each for each in parsed.damaged()}
            found = plausible([*found, *damaged.values()], self.fixed.text if self.fixed else self.data)
        places = {(each.start, each.end) for each in found}
        names = {(each.type_name, each.name) for each in parsed.functions}  # without bodies they are declared again
        others = (each for each in parsed.constants() if (each.start, each.end) not in places)
        found += [each for each in others if each.kind == "constant" or (each.type_name, each.name) not in names]
        found = placed(found, self.fixed)
        near = [each for each in found if each.start - self.data.rfind(b"\n", 0, each.start) <= LONG]
        if len(near) < len(found):
            what = f"{len(found) - len(near):,} functions behind the first {LONG:,} characters of a line"
            self.left_out = "; ".join(filter(None, (self.left_out, f"{what} are found by the whole file only")))
        return sorted(near, key=lambda each: (each.start, -each.end))


def _outside_of_tests(parsed: ParsedSource) -> list[FoundFunction]:
    """The handlers of a file that are in no module ``tests`` of it."""
    found = parsed.handlers()
    tests = [each for each in parsed.types() if each.name == "tests"] if found else []
    return [each for each in found if not any(some.start <= each.start < some.end for some in tests)]


def _named(found: FoundFunction, data: bytes, path: str, language: Language) -> FoundFunction:
    """A function that is all that its file exports has the name of the file, as those who import it call it.

    Of an ``index.js``, it is that of the folder.
    """
    if found.name or not data.startswith(language.sole_exports, found.start):
        return found
    *folders, name = path.split("/")
    name = name.split(".")[0]
    return replace(found, name=folders[-1] if name == "index" and folders else name)


def _without_licence(found: FoundFunction, code_start: int) -> FoundFunction:
    """A function or type without the licence of its file, if that is the comment before it, which begins the file."""
    if found.start != code_start or not _LICENCE.match(found.doc):
        return found
    paragraphs = _PARAGRAPHS.split(found.doc)
    last = max(number for number, each in enumerate(paragraphs) if number == 0 or STATES_LICENCE.search(each))
    doc = "\n\n".join(paragraphs[last + 1 :])
    return replace(found, doc=doc, query=first_sentence(doc))


def _unit(file: SourceFile, data: bytes, found: FoundFunction, language: Language, *, can_ask: bool) -> Unit:
    fields = {**found.fields(), "ast": ()}
    if found.kind == "handler":
        fields["name"] = (*fields["name"], *_subject(found.name, file.path, fields["name"]))
    source = data[found.start : found.end].decode("utf-8", "replace")
    if found.kind in ("type", "constant"):
        source = "\n".join(source.split("\n")[:SHOWN])
    kind = _KINDS.get(found.kind, "method")
    place = file.origin, file.path, found.start_line, found.end_line
    method = Method(*place, found.type_name, found.name, kind, source.strip(), found.doc, fields)
    lines = found.end_line - found.start_line + 1
    asks = can_ask and kind == "method" and found.kind != "handler" and not function_reason(found, language, lines)
    return Unit(Pair(method, found.query, query_words(folded(found.query))), asks)


def _subject(name: str, path: str, known: Sequence[str]) -> Sequence[str]:
    """The words of the file's name for the handler of a route in it: routers are put together elsewhere, by them."""
    stem = path.rpartition("/")[2].split(".")[0]
    return [word for word in split_identifier(stem) if word not in (*known, *_GENERIC)] if " /" in name else []
