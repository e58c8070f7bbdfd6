"""A source file of a language that :mod:`data_prep.languages` reads: its functions, methods and types, and the file.

The file itself is the first unit, so that its constants and top-level code are found too; what cannot be parsed is
found by it alone.
"""

from collections.abc import Mapping
from typing import Final, Literal

from data_prep.corpus.filters import function_reason, is_generated, path_reason, text_reason
from data_prep.languages.java.javadoc import query_words
from data_prep.languages.registry import language_of
from data_prep.languages.source_language import FoundFunction, ParsedSource, SourceLanguage
from data_prep.records import JavaFile, Method, Pair
from search.files.file_words import file_words
from search.files.languages import Unit, Units
from search.files.text_file import whole_file

_SHOWN: Final = 40
"""Lines of a type that its unit shows."""
_BOM: Final = b"\xef\xbb\xbf"
_KINDS: Final[Mapping[str, Literal["method", "type", "constructor"]]] = {"type": "type", "constructor": "constructor"}


def read_functions(file: JavaFile) -> Units:
    """The file as a whole, then every named function, method and type in source order, documented or not.

    Raises:
        ValueError: no language has the suffix of its name.
    """
    language = language_of(file.path)
    if language is None:
        raise ValueError(f"{file.path} is of no language whose functions are read")
    data = file.data.replace(b"\r\n", b"\n").removeprefix(_BOM)
    parsed, left_out = _parsed(data, file.path, language)
    words = file_words(data, parsed.comments if parsed else ())
    units = whole_file(file, data, words)
    if parsed:
        found = sorted([*parsed.types(), *parsed.functions], key=lambda each: (each.start, -each.end))
        can_ask = not path_reason(file.path, language) and not is_generated(data, parsed.code_start)
        units += [_unit(file, data, each, language, can_ask=can_ask) for each in found if each.name]
    return Units(units, left_out, words)


def _parsed(data: bytes, path: str, language: SourceLanguage) -> tuple[ParsedSource | None, str]:
    """What a file declares, and which part of it was not read; None if it is found as a whole alone."""
    reason = text_reason(data.decode("utf-8", "replace").replace("\0", " ").encode())
    if reason or language.is_minified(path):
        return None, "minified or data: found as a whole file, its functions are not read"
    try:
        parsed = language.parse(data, path)
    except ValueError as error:
        return None, f"{error}: found as a whole file, its functions are not read"
    count = parsed.left_out
    if not count:
        return parsed, ""
    what = "1 function is" if count == 1 else f"{count:,} functions are"
    return parsed, f"{what} found by the whole file only: syntax errors, too deeply nested, or too many"


def _unit(file: JavaFile, data: bytes, found: FoundFunction, language: SourceLanguage, *, can_ask: bool) -> Unit:
    fields = {**found.fields(), "ast": ()}
    source = data[found.start : found.end].decode("utf-8", "replace")
    if found.kind == "type":
        source = "\n".join(source.split("\n")[:_SHOWN])
    kind = _KINDS.get(found.kind, "method")
    place = file.origin, file.path, found.start_line, found.end_line
    method = Method(*place, found.type_name, found.name, kind, source.strip(), found.doc, fields)
    lines = found.end_line - found.start_line + 1
    asks = can_ask and kind == "method" and not function_reason(found, language, lines)
    return Unit(Pair(method, found.query, query_words(found.query)), asks)
