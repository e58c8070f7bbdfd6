"""Filters inside a question, ``path:src/ type:function -lang:go how is a lock taken``, and the rows that they leave.

A filter is a known name, a colon and a value without a blank or another colon, at the start of a word. So
``std::path``, ``http://x`` and ``type: expected str`` are none, nor is anything in a text of several lines, which
somebody has pasted. A value in quotes may have both: ``path:"my folder/*"``. A word in quotes is no filter:
``"type:node"``. A question that is wholly in quotes leaves what has its words one after the other.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

import numpy as np

from data_prep.errors import UserError, meant, one_line, shown
from data_prep.store.arrays import Bool
from search.engine.question import LONGEST_QUERY, QueryError
from search.files.languages import chosen_languages, path_matcher
from search.index.code_index import UNIT_KINDS, Index, IndexedFile

if TYPE_CHECKING:
    from search.engine.certainty import Certainty

_NAMED: Final = 3
"""Words that a line names."""
_FILTER: Final = re.compile(
    r'(?<!\S)(?P<without>-?)(?P<name>path|type|language|lang|test|ext):(?:"(?P<quoted>[^"]+)"|(?P<plain>[^\s":]+))(?!\S)'
)
_FORM: Final[Mapping[str, str]] = {
    "path": r".*(?:[/*?]|\.\w).*",
    "type": r"[A-Za-z]+(?:,[A-Za-z]+)*",
    "lang": r"[A-Za-z]+[+#]*(?:,[A-Za-z]+[+#]*)*",
    "test": r"[A-Za-z]+",
    "ext": r"\.?\w+(?:[.,]\w+)*",
}
"""Of what form the value of each filter is; a word with a value of another form is none."""
_TYPES: Final[Mapping[str, frozenset[str]]] = {
    "class": frozenset(("type",)),
    "function": frozenset(("method", "abstract")),
    "method": frozenset(("method", "abstract", "constructor")),
    "constant": frozenset(("constant",)),
    "file": frozenset(("file",)),
    "test": frozenset(("test",)),
}
"""Value of ``type:`` -> kinds of units."""
_TESTS: Final = ("no", "only", "yes")
_IN_QUOTES: Final = "; if it is part of the question, put it in quotes"


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter."""

    name: str  # path, type, lang, test or ext
    values: Sequence[str]  # one of which is enough
    without: bool  # whether what has one is left out
    typed: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question as typed, in parts."""

    text: str  # without its filters, and the quotes around all of it
    filters: Sequence[Filter] = ()
    quoted: bool = False  # whether only what has its words one after the other is meant
    with_tests: bool = False  # whether tests are asked for as much as other code
    unheeded: Sequence[str] = ()  # words of it that would be filters if a folder or file was called so

    def noted(self, sure: "Certainty") -> "Certainty":
        """How certain its answer is, with what of it is :attr:`unheeded`."""
        words = ", ".join(one_line(each)[:60] for each in self.unheeded[:_NAMED])
        said = f"{words} was read as text, since no folder or file is called so"
        return replace(sure, beyond="; ".join(filter(None, (sure.beyond, said))))

    def rows(self, index: Index) -> Bool[np.ndarray, " rows"]:
        """The rows of ``index`` that the filters leave.

        Raises:
            QueryError: they leave none; the message says which of them does.
        """
        rows = np.ones(len(index), np.bool_)
        for name in dict.fromkeys((each.name, each.without) for each in self.filters):
            some = [each for each in self.filters if (each.name, each.without) == name]
            found = np.logical_or.reduce([_holding(index, each) for each in some])
            if not some[0].without and not found.any():
                raise QueryError(_nothing(index, " ".join(each.typed for each in some)))
            rows &= ~found if some[0].without else found
        if self.filters and not rows.any():
            raise QueryError(_nothing(index, " ".join(each.typed for each in self.filters)))
        return rows


def read_question(typed: str, index: Index | None = None, *, alone: bool = False) -> Question:
    """A question and its filters.

    Args:
        typed: both, in one line.
        index: what is asked, whose folders and files ``path:`` may name by one word; None: such a word is no filter.
        alone: whether filters may stand without a question, since something else is asked for.

    Raises:
        QueryError: the value of a filter is not known, or there is no question besides the filters.
    """
    if len(typed) > LONGEST_QUERY or ":" not in typed or "\n" in typed.strip():
        return _unquoted(Question(typed))
    filters: list[Filter] = []
    unheeded: list[str] = []

    def taken(found: re.Match[str]) -> str:
        name = "lang" if found["name"] == "language" else found["name"]
        value = found["quoted"] or found["plain"]
        is_one = found["quoted"] or re.fullmatch(_FORM[name], value) or (name == "path" and _is_part(value, index))
        if not is_one:
            unheeded.extend([found[0]] if name == "path" and index is not None else ())
            return found[0]
        values = (value,) if name == "path" else tuple(each.strip(" .") for each in value.split(","))
        values = tuple(map(str.lower, values)) if name in ("type", "test", "lang") else values
        filters.append(_checked(Filter(name, values, bool(found["without"]), found[0])))
        return " "

    text = _FILTER.sub(taken, typed)
    if filters and not (text.strip() or alone):
        raise QueryError(f"{shown(typed.strip())} only says where to search: add a question in words, or a name")
    tests = any(each.name == "test" and each.values[0] != "no" for each in filters)
    return _unquoted(Question(text.strip() if filters else typed, filters, with_tests=tests, unheeded=unheeded))


def _unquoted(question: Question) -> Question:
    """A question without the quotes around all of it."""
    found = re.fullmatch(r'\s*"([^"]+)"\s*', question.text)
    return replace(question, text=found[1], quoted=True) if found else question


def begins_with_filter(word: str) -> bool:
    """Whether a word of a command line is a question, or a part of one, whose first word is a filter."""
    return _FILTER.match(word) is not None


def path_filter(pattern: str) -> Callable[[str], bool]:
    """What tells whether a path is meant by ``path:`` or ``--path``.

    That is a pattern for the whole path (``src/*``), for the name (``test_*.py``), or what the path has as a part, from
    one "/" to another: a folder (``src/``, ``src``), or a file (``pool/impl.py``). With "/" in front the part is first.
    The folder itself (``.``, ``./``, ``/``) has all.

    Raises:
        UserError: it is too long.
    """
    if pattern in (".", "./", "/"):
        return lambda _: True
    part = f"/{pattern.removeprefix('./').strip('/')}/"
    first, is_folder = pattern.startswith(("/", "./")), pattern.endswith("/")
    if not re.search(r"[*?\[]", pattern):
        path_matcher(pattern)  # whether it is too long

        def is_meant(path: str) -> bool:
            whole = f"/{path.rpartition('/')[0] if is_folder else path}/"
            return whole.startswith(part) if first else part in whole

        return is_meant
    matches = path_matcher(f"{part[1:]}*" if is_folder else part[1:-1])
    return (lambda path: matches(path) or matches(path.rpartition("/")[2])) if "/" not in pattern else matches


def known_path(index: Index, path: str) -> str:
    """A path as :func:`path_filter` takes it, without a line behind it.

    Raises:
        UserError: it is too long, or no file matches it.
    """
    from search.index.frame_locator import named_places

    files = [file.path for file in index.files]
    for each in (path, *(name for name, _ in named_places(path))):
        if not each or not files or any(map(path_filter(each), files)):
            return each
    raise UserError(f"path {shown(path)} matches nothing in {_files_of(index)}, such as {files[0]}")


def files_of_languages(index: Index, languages: frozenset[str]) -> Bool[np.ndarray, " files"]:
    """Which files are of some languages."""
    return np.fromiter((not each.languages.isdisjoint(languages) for each in index.files), np.bool_, len(index.files))


def allowed_rows(
    index: Index, path: str, speaking: Bool[np.ndarray, " files"] | None, files: Collection[str] | None
) -> Bool[np.ndarray, " rows"]:
    """Which rows are in the files that are asked for.

    Args:
        index: of the rows.
        path: as :func:`path_filter` takes it; empty: all.
        speaking: which files are of the languages that are asked for; None: all.
        files: paths of files; None: all.
    """
    allowed = np.ones(len(index.files), np.bool_)
    if path:
        allowed &= np.fromiter(map(path_filter(path), (file.path for file in index.files)), np.bool_, len(allowed))
    if speaking is not None:
        allowed &= speaking
    if files is not None:
        allowed &= np.fromiter((file.path in files for file in index.files), np.bool_, len(allowed))
    return index.per_row(allowed)


def _checked(found: Filter) -> Filter:
    """A filter with known values.

    Raises:
        QueryError: one is not.
    """
    if found.name == "lang":
        try:
            known = chosen_languages(",".join(found.values))
        except UserError as error:
            raise QueryError(f"{found.typed}: {error}{_IN_QUOTES}") from error
        return replace(found, values=sorted(known))
    takes = {"type": tuple(_TYPES), "test": _TESTS}.get(found.name, found.values)
    if wrong := [each for each in found.values if each not in takes]:
        near = f"{shown(wrong[0])}{meant(wrong[0], takes)}"
        raise QueryError(f"{found.name}: takes one of {', '.join(takes)}, not {near}{_IN_QUOTES}")
    if found.name == "test" and found.without:
        raise QueryError(f"{found.typed} is to be written test:no or test:only")
    return found


def _is_part(value: str, index: Index | None) -> bool:
    """Whether a file or a folder of the index has this name."""
    return index is not None and any(map(path_filter(value), (file.path for file in index.files)))


def _holding(index: Index, wanted: Filter) -> Bool[np.ndarray, " rows"]:
    """The rows that have one of the values of a filter."""
    if wanted.name == "type":
        return np.logical_or.reduce([_of_type(index, value) for value in wanted.values])
    if wanted.name == "test":
        return {"no": ~index.tests, "only": index.tests}.get(wanted.values[0], np.ones_like(index.tests))
    is_meant: Mapping[str, Callable[[IndexedFile], bool]] = {
        "path": lambda file: any(matches(file.path) for matches in matchers),
        "lang": lambda file: not file.languages.isdisjoint(wanted.values),
        "ext": lambda file: file.path.lower().endswith(tuple(f".{each.lower()}" for each in wanted.values)),
    }
    matchers = [path_filter(value) for value in wanted.values] if wanted.name == "path" else []
    return _spread(index, is_meant[wanted.name])


def _of_type(index: Index, value: str) -> Bool[np.ndarray, " rows"]:
    """The rows of a type; a function is no member of anything, except in Java, which has no others."""
    found = np.isin(index.kinds, [number for number, kind in enumerate(UNIT_KINDS) if kind in _TYPES[value]])
    if value in ("function", "method"):
        member = np.fromiter(("." in name for name in index.names), np.bool_, len(index))
        of_java = _spread(index, lambda file: file.language == "java")
        found &= (member | of_java) if value == "method" else (~member | of_java)
    return found


def _spread(index: Index, is_meant: Callable[[IndexedFile], bool]) -> Bool[np.ndarray, " rows"]:
    """What is so of each file, for each of its rows."""
    return index.per_row(np.array([is_meant(file) for file in index.files], np.bool_))


def _nothing(index: Index, typed: str) -> str:
    """Why nothing is left."""
    there = f", such as {index.files[0].path}" if index.files else ""
    if "lang" in typed or "ext:" in typed:
        ends = sorted({PurePosixPath(file.path).suffix for file in index.files})
        there = f", which end in {', '.join(ends[:12])}"
    return f"{typed} matches nothing in {_files_of(index)}{there}{_IN_QUOTES}"


def _files_of(index: Index) -> str:
    return f"the index's {len(index.files):,} files" if len(index.files) != 1 else "the index's one file"
