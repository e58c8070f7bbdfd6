"""Additional open training pairs in Java: of DeepCS, TL-CodeSum and R252 (51,324 before filtering).

They are read from clones of their repositories (:mod:`data_prep.sources.paper_files`), or from gzip-compressed JSON
Lines with the same fields, one object per line:

- ``deepcs_example/pairs.jsonl.gz``, the example data of DeepCS (Gu, Zhang and Kim 2018): ``query`` (a list of words),
  ``code``, ``repo`` and ``file`` (texts);
- ``tlcodesum/{valid,test}.jsonl.gz``, of TL-CodeSum (Hu et al. 2018): ``query``, and ``code`` with ``_STR``, ``_NUM``
  and ``_BOOL`` for literals;
- ``r252/{train,valid}.jsonl.gz``, of R252: the lists ``query``, ``name``, ``tokens`` and ``api``.

Pairs that a published test of TabCS has are dropped (:mod:`data_prep.datasets.tabcs`); each row of JSON Lines
names those tests as ``eval_overlap``. All others are for training. Code is read like that of any Java file, with its
query as the comment, so that fields and filters are those of the other data sets; TL-CodeSum does not include a
method's class, so calls without a receiver are not part of ``api``. R252 has no code: identifiers are split as here, a
call's class and method are lower-case, there are no syntax and no statement trees, and the query is the whole comment,
since sentence ends are not marked.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, Final

from data_prep.config import DataConfig
from data_prep.datasets.tabcs import NOT_COMPARED, TEST_NAMES, overlap_of, published_tests
from data_prep.errors import UserError
from data_prep.files.json_text import json_lines
from data_prep.gencodesearchnet.records import HALF, NoText, counted, encodable
from data_prep.languages.fields import LONGEST
from data_prep.languages.identifiers import query_words, split_identifier
from data_prep.pipeline.duplicates import COMPARED_FIELDS
from data_prep.pipeline.filters import Candidate, reason_to_drop
from data_prep.pipeline.java_extraction import Chunk, extract, wrap
from data_prep.pipeline.stages import ReadyMade
from data_prep.records import Method, Pair, SplitName
from data_prep.sources.paper_files import CLONES, PARTS, TEXTS, files_below, where_to_get

FILES: Final[dict[str, tuple[str, ...]]] = {
    "deepcs_example/pairs.jsonl.gz": ("code", "repo", "file"),
    "tlcodesum/valid.jsonl.gz": ("code",),
    "tlcodesum/test.jsonl.gz": ("code",),
    "r252/train.jsonl.gz": ("name", "tokens", "api"),
    "r252/valid.jsonl.gz": ("name", "tokens", "api"),
}
"""File, in the form of JSON Lines -> the fields that are read besides ``query`` and ``eval_overlap``."""

ENDING: Final = ".jsonl.gz"
NO_TYPE: Final = "_"
"""Placeholder for an unknown class of a method."""
_WORD: Final = re.compile(r"[\w$]+")
_PROSE: Final = (
    (re.compile(r"&\s+(lt|gt|amp|quot|nbsp)\s+;"), r"&\1;"),
    (re.compile(r"<\s+(?:(/)\s+)?(?=\w)"), r"<\1"),  # < / p >
    (re.compile(r"\s+(?:(/)\s+)?>"), r"\1>"),
    (re.compile(r"(?<=\w)\s+'\s+(?=(?:s|t|d|m|re|ve|ll)\b)"), "'"),  # don ' t
    (re.compile(r"\b([a-z])\s+\.\s+([a-z])\s+\."), r"\1.\2."),  # e . g .
    (re.compile(r"(?<=\d)\s+\.\s+(?=\d)"), "."),
    (re.compile(r"(?<=[(\[])\s+|\s+(?=[)\].,;:!?](?:\s|$))"), ""),
)
_PIECE: Final = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|\S+')
_SHIFT: Final = re.compile(r">( >)+(?= )")
_LITERAL: Final = re.compile(r"(?<![\w$])_(STR|NUM|BOOL)(?![\w$])")
_STANDS_FOR: Final = {"STR": '""', "NUM": "0", "BOOL": "true"}
_INDENT: Final = "    "


class OpenJava(ReadyMade):
    """Training pairs of DeepCS's example data, TL-CodeSum and R252, for ``--data.extra_train_sets=``."""

    cache_name = "open_java"

    def __init__(self, config: DataConfig) -> None:
        """Set the configuration.

        Raises:
            UserError: it selects fields that these pairs do not have.
        """
        if config.profile != "clean":
            raise UserError(f"open_java has no --data.profile={config.profile}: R252 has no code to parse")
        super().__init__(config)
        self._clones: dict[str, dict[str, Path]] = {}  # part -> its files as published

    def inputs(self) -> list[Path]:
        """The existing files, and those of the published tests if rows have to be compared with them.

        Raises:
            UserError: there are none.
        """
        self._find()
        found = [self._place / name for name in FILES if self._is_there(name)]
        raw = [path for part in self._clones.values() for path in part.values()]
        if not found and not raw:
            raise UserError(
                f"open_java needs one or more of its three releases in {self._place}: {where_to_get([*CLONES])}"
            )
        return [*found, *raw, *(published_tests(self._config, self._place)[1] if raw else ())]

    def _find(self) -> None:
        """Find the published files of what is not there as JSON Lines."""
        parts = {name: PARTS[name.removesuffix(ENDING)] for name in FILES if not self._is_there(name)}
        files = files_below(self._place) if parts else []
        self._clones = {name: found for name, part in parts.items() if (found := part.found(files))}

    def _is_there(self, name: str) -> bool:
        return (self._place / name).is_file()

    def missing(self) -> list[str]:
        """The missing files."""
        return [name for name in FILES if not self._is_there(name) and name not in self._clones]

    def origin(self) -> str:
        """The name of the data."""
        return self.cache_name

    def pairs(self) -> Mapping[SplitName, Sequence[Pair]]:
        """The pairs of all files, in order, without later pairs with the same query and code.

        Raises:
            UserError: a file is damaged, or a row lacks a field; the message names file and line.
        """
        self._find()
        self.left_out[:] = [(name, "it is not there") for name in self.missing()]
        rows, dropped = Counter[str](), Counter[str]()
        kept: dict[tuple[tuple[str, ...], ...], Pair] = {}
        for name, number, row in self._rows(dropped):
            rows[f"rows of {name.partition('/')[0]}"] += 1
            found = self._pair(name, number, row)
            if isinstance(found, str):
                dropped[found] += 1
            elif kept.setdefault((found.query, *map(found.words, COMPARED_FIELDS)), found) is not found:
                dropped["same query and code"] += 1
        self.counts = {**rows, **{f"left out ({reason})": count for reason, count in dropped.items()}}
        return {"train": list(kept.values())}

    def _rows(self, dropped: Counter[str]) -> Iterator[tuple[str, int, dict[str, Any]]]:
        """File, number and fields of each row."""
        tests = published_tests(self._config, self._place)[0] if self._clones else {}
        if self._clones:
            self.left_out += [(name, NOT_COMPARED) for name in TEST_NAMES if name not in tests]
        for name in FILES:
            if self._is_there(name):
                for number, row in json_lines(self._place / name, counted(dropped)):
                    yield name, number, row
            for number, row in PARTS[name.removesuffix(ENDING)].rows(self._clones.get(name, {})):
                yield name, number, row | {"eval_overlap": overlap_of(row, tests)}

    def _pair(self, name: str, number: int, row: dict[str, Any]) -> Pair | str:
        """The pair of a row, or why it is dropped."""
        try:
            _check(row, FILES[name], f"{self._place / name}:{number}")
        except NoText:
            return HALF
        if row["eval_overlap"]:
            return "in a published test"
        if "code" in FILES[name]:
            return self._of_code(name, row)
        return self._of_lists(name, number, row)

    def _of_code(self, name: str, row: dict[str, Any]) -> Pair | str:
        code, (repo, path), type_name = with_literals(row["code"]), name.split("/"), NO_TYPE
        if "repo" in FILES[name]:
            code, repo, path, type_name = row["code"], row["repo"], row["file"], PurePosixPath(row["file"]).stem
        method = {"func_name": f"{type_name}.", "code": laid_out(code), "docstring": prose(" ".join(row["query"]))}
        file = wrap({"repo": repo, "path": path, **method}, "train", self.origin())
        found = extract(Chunk([file], self._config))
        if found.broken or found.methods != 1:
            return "not one Java method"
        return without_type(found.pairs[0]) if found.pairs else next(iter(found.dropped))

    def _of_lists(self, name: str, number: int, row: dict[str, Any]) -> Pair | str:
        words, tokens = _split(row["name"]), [word for word in _split(row["tokens"]) if len(word) > 1]
        api = _WORD.findall(" ".join(row["api"]))
        if not words or not tokens:
            return "no name or no tokens"
        lists = {"name": words, "tokens": dict.fromkeys(tokens), "api": api}
        fields = {field: tuple(each)[:LONGEST] for field, each in lists.items()}
        camel = words[0] + "".join(word.capitalize() for word in words[1:])
        text = " ".join(row["query"])
        query = query_words(text)
        candidate = Candidate(name, camel, "method", self._config.min_method_lines, "", text, query)
        if reason := reason_to_drop(candidate, self._config):
            return reason
        method = Method(self.origin(), name, number, number, "", camel, "method", "", "", fields, "train")
        return Pair(method, text, query)


def _check(row: dict[str, Any], needed: Sequence[str], where: str) -> None:
    """Check that ``row`` has all fields that are read."""
    for field in ("query", *needed, "eval_overlap"):
        value = row.get(field)
        if field in TEXTS:
            if not isinstance(value, str):
                raise UserError(f"{where}: expected a text in {field!r}, not {value!r:.40}")
        elif not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise UserError(f"{where}: expected a list of words in {field!r}, not {value!r:.40}")
        encodable("".join(value), where)


def _split(words: Sequence[str]) -> list[str]:
    return list(chain.from_iterable(map(split_identifier, words)))


def without_type(pair: Pair) -> Pair:
    """``pair`` without calls of the placeholder class."""
    method = pair.method
    if method.type_name != NO_TYPE:
        return pair
    api = method.fields.get("api", ())
    calls = [call for call in zip(api[::2], api[1::2], strict=True) if call[0] != NO_TYPE]
    fields = {**method.fields, "api": tuple(chain.from_iterable(calls))}
    return replace(pair, method=replace(method, type_name="", fields=fields))


def prose(text: str) -> str:
    """``text`` without the spaces before its punctuation: ``don ' t ( e . g . ) .`` -> ``don't (e.g.).``."""
    for spaced, written in _PROSE:
        text = spaced.sub(written, text)
    return text


def laid_out(code: str) -> str:
    """``code`` with one indented line per statement and brace; parentheses are not broken across lines."""
    return "\n".join(_SHIFT.sub(lambda found: found[0].replace(" ", ""), line) for line in _code_lines(code))


def with_literals(code: str) -> str:
    """``code`` with TL-CodeSum's ``_STR``, ``_NUM`` and ``_BOOL`` replaced by literals of that type."""
    return _LITERAL.sub(lambda found: _STANDS_FOR[found[1]], code)


def _code_lines(code: str) -> Iterator[str]:
    line: list[str] = []
    depth = open_parentheses = 0
    for piece in _PIECE.findall(code):
        open_parentheses += {"(": 1, ")": -1}.get(piece, 0)
        closes = piece == "}" and not open_parentheses
        if closes and line:
            yield _INDENT * depth + " ".join(line)
            line = []
        depth = max(0, depth - closes)
        line.append(piece)
        if piece in ("{", "}", ";") and not open_parentheses:
            yield _INDENT * depth + " ".join(line)
            line = []
            depth += piece == "{"
    if line:
        yield _INDENT * depth + " ".join(line)
