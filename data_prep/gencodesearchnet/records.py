"""GenCodeSearchNet's raw records: a text and a code in one string, JSON Lines.

``{"input": "TEXT [CODESPLIT] CODE", "target": 1, "target_options": ["no_match", "match"]}``; raw files contain only
matching pairs (Diera et al., GenBench 2023; its task package). Besides, rows of its source files: JSON Lines, a JSON
array or CSV, each with its location.

For models that were trained on Java's fields, a code of any language gets fields by rules that look at letters only. No
grammar: the same rules for Go, R or Python, so that what a model does on them is its own and not a parser's.
"""

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, TypeVar

from data_prep.errors import UserError
from data_prep.files.json_text import json_array, json_lines
from data_prep.files.text_rows import LeftOut, csv_rows
from data_prep.files.writing import atomic_file
from data_prep.languages.fields import LONGEST
from data_prep.languages.identifiers import query_words, split_identifier
from data_prep.records import Method, Pair
from data_prep.sources.pair_rows import UNKNOWN_LABEL, of_label
from data_prep.store.split import Split

T = TypeVar("T")
SEPARATOR: Final = "[CODESPLIT]"
OPTIONS: Final = ("no_match", "match")

NO_SEPARATOR: Final = "no separator"
MANY_SEPARATORS: Final = "more than one separator"
HALF: Final = "half a surrogate pair"


class NoText(UserError):  # noqa: N818 - names a state
    """A string has half of a surrogate pair, which JSON's escapes can name."""


class NoLabel(UserError):  # noqa: N818 - names a state
    """A label says neither that a pair is a match nor that it is none."""


@dataclass(frozen=True, slots=True)
class Example:
    """A text and its code, as they stand on both sides of the separator: its spaces are theirs."""

    text: str
    code: str

    @property
    def input(self) -> str:
        """The string of the raw record."""
        return f"{self.text}{SEPARATOR}{self.code}"


@dataclass(frozen=True, slots=True)
class RawFile:
    """The content of a raw file."""

    examples: tuple[Example, ...]
    dropped: Counter[str]  # reason -> lines
    groups: tuple[str, ...] = ()  # what each pair belongs to, such as its project; () if the file does not say


def example(text: str, code: str) -> Example:
    """A pair with the spaces that the release puts around its separator."""
    return Example(f"{text} ", f" {code}")


def line_of(pair: Example, target: int = 1) -> str:
    """A raw record as a line without its end."""
    record = {"input": pair.input, "target": target, "target_options": list(OPTIONS)}
    return json.dumps(record, ensure_ascii=False)


def read_raw(path: Path) -> RawFile:
    """The pairs of a raw file, plain or gzip-compressed; both halves keep their spaces.

    A line that is no JSON object, and a record that does not split into two halves, is dropped and counted.

    Raises:
        UserError: the file is damaged, or an object is no raw record of a matching pair; the message names it.
    """
    examples: list[Example] = []
    dropped: Counter[str] = Counter()
    for _, text in made_of(_line_rows(path, counted(dropped)), _input, dropped):
        halves = text.split(SEPARATOR)
        if len(halves) != 2:
            dropped[NO_SEPARATOR if len(halves) == 1 else MANY_SEPARATORS] += 1
        else:
            examples.append(Example(*halves))
    return RawFile(tuple(examples), dropped)


def write_raw(path: Path, examples: Iterable[Example]) -> None:
    """Write matching pairs, none with the separator inside, whole or not at all; compressed if named ``.gz``."""
    write_lines(path, map(line_of, examples))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write ``lines`` as UTF-8, whole or not at all; the same lines give the same bytes, compressed or not."""
    with atomic_file(path) as new, new.open("wb") as plain, ExitStack() as closing:
        file: IO[bytes] | gzip.GzipFile = plain
        if path.suffix == ".gz":  # neither name nor time: the same each run
            file = closing.enter_context(gzip.GzipFile("", "wb", fileobj=plain, mtime=0))
        for line in lines:
            file.write(f"{line}\n".encode())


def encodable(text: str, where: str) -> str:
    """``text``, if it can be encoded as UTF-8.

    Raises:
        NoText: it has half of a surrogate pair.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise NoText(f"{where}: expected Unicode text, not {HALF}, {error.object[error.start]!r}") from error
    return text


@dataclass(frozen=True, slots=True)
class Row:
    """An object of a file, and its location."""

    where: str
    fields: Mapping[str, Any]

    def text(self, *names: str) -> str:
        """The value of the first of the fields ``names`` that the row has; a list of tokens is joined by one space.

        Raises:
            UserError: the row has none of them, or it is neither a text nor a list of texts.
        """
        value = self._value(names)
        if isinstance(value, list) and all(isinstance(token, str) for token in value):
            value = " ".join(value)
        if not isinstance(value, str):
            raise UserError(f"{self.where}: expected a text or a list of tokens in {_any(names)}, not {value!r:.40}")
        return encodable(value, self.where)

    def is_match(self, name: str) -> bool:
        """Whether the field ``name`` says that the row is a match.

        Raises:
            NoLabel: it says neither.
        """
        value = self._value((name,))
        said = of_label(value) if value not in (None, "") else None
        if said is None:
            raise NoLabel(f"{self.where}: expected 0 or 1 in {name!r}, not {value!r:.40}")
        return said

    def number(self, name: str) -> int:
        """The whole number in the field ``name``.

        Raises:
            UserError: there is something else.
        """
        value = self._value((name,))
        if type(value) is not int:
            raise UserError(f"{self.where}: expected a whole number in {name!r}, not {value!r:.40}")
        return value

    def _value(self, names: tuple[str, ...]) -> Any:
        for name in names:
            if name in self.fields:
                return self.fields[name]
        has = ", ".join(map(str, self.fields))
        raise UserError(f"{self.where}: expected the field {_any(names)}, but the row has {has or 'none'}")


def _input(row: Row) -> str:
    """The string of a raw record."""
    record, where = row.fields, row.where
    text, target, options = (record.get(field) for field in ("input", "target", "target_options"))
    if not isinstance(text, str):
        raise UserError(f"{where}: expected a text in 'input', not {text!r:.40}")
    if not isinstance(options, list) or not all(isinstance(option, str) for option in options):
        raise UserError(f"{where}: expected a list of texts in 'target_options', not {options!r:.40}")
    if type(target) is not int or not 0 <= target < len(options):
        raise UserError(f"{where}: expected a place in {options!r:.60} in 'target', not {target!r:.40}")
    if options[target] != OPTIONS[1]:
        raise UserError(
            f"{where}: the target is {options[target]!r:.40}, but a raw file contains pairs that are a {OPTIONS[1]!r}: "
            "give the raw file, not a matching or ranking set that was made of it"
        )
    return encodable(text, where)


def made_of(rows: Iterable[Row], make: Callable[[Row], T], dropped: Counter[str]) -> Iterator[tuple[Row, T]]:
    """Each row with what ``make`` makes of it; those whose text or label cannot be read are dropped and counted.

    Raises:
        NoLabel: of the first row, if there are no others.
    """
    first, kept = None, False
    for row in rows:
        try:
            made = make(row)
        except NoText:
            dropped[HALF] += 1
        except NoLabel as error:
            dropped[UNKNOWN_LABEL] += 1
            first = first or error
        else:
            kept = True
            yield row, made
    if first and not kept:
        raise first


def source_rows(path: Path, dropped: Counter[str]) -> Iterator[Row]:
    """The rows of a file: CSV with a line of names, a JSON array of objects (``.json``), else JSON Lines.

    What is no row is counted in ``dropped``.

    Raises:
        UserError: the file is damaged, of another form, or has no row but broken ones; the message names it and a line.
        OSError: it cannot be read, or is not a regular file.
    """
    left_out = counted(dropped)
    if path.suffix == ".csv":
        return (Row(f"{path}:{line}", fields) for line, fields in csv_rows(path, left_out))
    if path.suffix == ".json":
        return (Row(f"{path}, element {number}", fields) for number, fields in json_array(path, left_out))
    return _line_rows(path, left_out)


def counted(dropped: Counter[str]) -> LeftOut:
    """What counts rows that are left out by the kind of their reason."""
    return lambda _, reason: dropped.update([reason.partition(":")[0]])


def _line_rows(path: Path, left_out: LeftOut) -> Iterator[Row]:
    return (Row(f"{path}:{number}", fields) for number, fields in json_lines(path, left_out))


def _any(names: tuple[str, ...]) -> str:
    return " or ".join(map(repr, names))


_IDENTIFIER: Final = re.compile(r"[^\W\d][\w$]*")
_DECLARED: Final = re.compile(r"\b(?:def|function|func|fun|fn|sub)\s+(?:\([^()]*\)\s*)?([^\W\d][\w$]*)")
_ASSIGNED: Final = re.compile(r"^\s*([^\W\d][\w$.]*)\s*(?:<-|=(?!=))")
_CALLED: Final = re.compile(r"([^\W\d][\w$]*)\s*\(")
_KEYWORDS: Final = frozenset((
    "abstract", "and", "as", "assert", "async", "await", "begin", "boolean", "break", "byte", "case", "catch", "chan",
    "char", "class", "const", "continue", "def", "default", "defer", "delete", "do", "double", "echo", "elif", "else",
    "elseif", "elsif", "end", "ensure", "enum", "except", "export", "extends", "false", "final", "finally", "float",
    "for", "foreach", "from", "func", "function", "global", "go", "goto", "if", "implements", "import", "in", "int",
    "interface", "is", "lambda", "let", "long", "module", "native", "new", "next", "nil", "none", "not", "null",
    "or", "package", "pass", "private", "protected", "public", "raise", "range", "rescue", "return", "self", "short",
    "static", "string", "struct", "super", "switch", "then", "this", "throw", "throws", "true", "try", "type", "typeof",
    "unless", "until", "use", "var", "void", "while", "with", "yield",
))  # fmt: skip
"""Keywords of the languages, lower-case."""


def code_fields(code: str) -> dict[str, tuple[str, ...]]:
    """The words of a piece of code, as fields of the names that models know.

    - name: of what it declares; else of what it first assigns to, as R does; else of what it first calls; else its
      first identifier. A model that compares name words with the query would favour code without a name.
    - tokens: the words of its identifiers, each at its first place only, without single letters and keywords.
    - api: the names it calls, as written, in order; ast: none.
    """
    called = [name for name in _CALLED.findall(code) if name.lower() not in _KEYWORDS]
    declared = _DECLARED.search(code) or _ASSIGNED.match(code)
    found = [name for name in _IDENTIFIER.findall(code) if name.lower() not in _KEYWORDS]
    name = declared.group(1) if declared else next(iter([*called, *found]), "")
    words = dict.fromkeys(word for each in found for word in split_identifier(each))
    tokens = tuple(word for word in words if len(word) > 1 and word not in _KEYWORDS)[:LONGEST]
    api = called[1:] if declared and called[:1] == [name] else called
    return {"name": split_identifier(name)[:LONGEST], "tokens": tokens, "api": tuple(api[:LONGEST]), "ast": ()}


def as_split(name: str, pairs: Iterable[Example]) -> Split:
    """Texts and codes as pairs of a prepared data set, in order."""
    return Split.of(name, [_pair(name, number, pair) for number, pair in enumerate(pairs, start=1)])


def _pair(origin: str, number: int, pair: Example) -> Pair:
    text, code = pair.text.strip(), pair.code.strip()
    method = Method(origin, origin, number, number, "", "", "method", code, "", code_fields(code))
    return Pair(method, text, query_words(text))
