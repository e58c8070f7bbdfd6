"""Additional open training pairs in Java: of DeepCS, TL-CodeSum and R252 (51,324 before filtering).

Files are gzip-compressed JSON Lines, one object per line:

- ``deepcs_example/pairs.jsonl.gz``, the example data of DeepCS (Gu, Zhang and Kim 2018): ``query`` (a list of words),
  ``code``, ``repo`` and ``file`` (texts);
- ``tlcodesum/{valid,test}.jsonl.gz``, of TL-CodeSum (Hu et al. 2018): ``query``, and ``code`` with ``_STR``, ``_NUM``
  and ``_BOOL`` for literals;
- ``r252/{train,valid}.jsonl.gz``, of R252: the lists ``query``, ``name``, ``tokens`` and ``api``.

Each row has ``eval_overlap``, the published test sets that contain the same pair; rows with any are dropped. All others
are for training. Code is read like that of any Java file, with its query as the comment, so that fields and filters are
those of the other data sets; TL-CodeSum does not include a method's class, so calls without a receiver are not part of
``api``. R252 has no code: identifiers are split as here, a call's class and method are lower-case, there are no syntax
and no statement trees, and the query is the whole comment, since sentence ends are not marked.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, Final

from data_prep.config import DataConfig
from data_prep.datasets.tokenized_text import laid_out, prose, with_literals
from data_prep.errors import UserError
from data_prep.files.json_lines import json_lines
from data_prep.files.named_paths import named_path
from data_prep.gencodesearchnet.records import encodable
from data_prep.languages.fields import LONGEST
from data_prep.languages.identifiers import query_words, split_identifier
from data_prep.pairs.duplicates import COMPARED_FIELDS
from data_prep.pairs.excerpt import wrap
from data_prep.pairs.extraction import Chunk, extract
from data_prep.pairs.filters import Candidate, reason_to_drop
from data_prep.pairs.made import MadePairs, ready_made
from data_prep.records import Method, Pair, SplitName

FILES: Final[dict[str, tuple[str, ...]]] = {
    "deepcs_example/pairs.jsonl.gz": ("code", "repo", "file"),
    "tlcodesum/valid.jsonl.gz": ("code",),
    "tlcodesum/test.jsonl.gz": ("code",),
    "r252/train.jsonl.gz": ("name", "tokens", "api"),
    "r252/valid.jsonl.gz": ("name", "tokens", "api"),
}
"""File -> the fields that are read besides ``query`` and ``eval_overlap``."""

_TEXTS: Final = frozenset(("code", "repo", "file"))
"""The fields that are strings; all others are lists of words."""
_NO_TYPE: Final = "_"
"""Placeholder for an unknown class of a method."""
_WORD: Final = re.compile(r"[\w$]+")


class OpenJava:
    """Training pairs of DeepCS's example data, TL-CodeSum and R252, for ``--data.extra_train_sets=``."""

    cache_name = "open_java"

    def __init__(self, config: DataConfig) -> None:
        """Set the configuration.

        Raises:
            UserError: it selects fields that these pairs do not have.
        """
        if config.profile != "clean":
            raise UserError(f"open_java has no --data.profile={config.profile}: R252 has no code to parse")
        self._config = config
        self._place = named_path(config.path) if config.path else Path(config.root) / "raw" / self.cache_name
        self.left_out: list[tuple[str, str]] = []  # file, why it is skipped
        self.counts: dict[str, int] = {}  # rows by folder, rows dropped by reason; filled by pairs()

    def inputs(self) -> list[Path]:
        """The existing files.

        Raises:
            UserError: there are none.
        """
        found = [self._place / name for name in FILES if (self._place / name).is_file()]
        if not found:
            raise UserError(
                f"open_java needs one or more of {', '.join(FILES)} in {self._place}: put them there, or name the "
                "folder that has them by --data.path= (data_prep/datasets/open_java.py describes their format)"
            )
        return found

    def missing(self) -> list[str]:
        """The missing files."""
        return [name for name in FILES if not (self._place / name).is_file()]

    def origin(self) -> str:
        """The name of the data."""
        return self.cache_name

    def pairs(self) -> Mapping[SplitName, Sequence[Pair]]:
        """The pairs of all files, in order, without later pairs with the same query and code.

        Raises:
            UserError: a file is damaged, or a row lacks a field; the message names file and line.
        """
        self.left_out[:] = [(name, "it is not there") for name in self.missing()]
        rows, dropped = Counter[str](), Counter[str]()
        kept: dict[tuple[tuple[str, ...], ...], Pair] = {}
        for path in self.inputs():
            name = path.relative_to(self._place).as_posix()
            for number, row in json_lines(path):
                rows[f"rows of {path.parent.name}"] += 1
                found = self._pair(name, number, _checked(row, FILES[name], f"{path}:{number}"))
                if isinstance(found, str):
                    dropped[found] += 1
                elif kept.setdefault(_key(found), found) is not found:
                    dropped["same query and code"] += 1
        self.counts = {**rows, **{f"left out ({reason})": count for reason, count in dropped.items()}}
        return {"train": list(kept.values())}

    def make(self, progress: bool) -> MadePairs:  # noqa: ARG002 - there is no progress to show
        """Return the pairs without further processing."""
        return ready_made(self)

    def _pair(self, name: str, number: int, row: dict[str, Any]) -> Pair | str:
        """The pair of a row, or why it is dropped."""
        if row["eval_overlap"]:
            return "in a published test"
        if "code" in FILES[name]:
            return self._of_code(name, row)
        return self._of_lists(name, number, row)

    def _of_code(self, name: str, row: dict[str, Any]) -> Pair | str:
        code, (repo, path), type_name = with_literals(row["code"]), name.split("/"), _NO_TYPE
        if "repo" in FILES[name]:
            code, repo, path, type_name = row["code"], row["repo"], row["file"], PurePosixPath(row["file"]).stem
        method = {"func_name": f"{type_name}.", "code": laid_out(code), "docstring": prose(" ".join(row["query"]))}
        file = wrap({"repo": repo, "path": path, **method}, "train", self.origin())
        found = extract(Chunk([file], self._config))
        if found.broken or found.methods != 1:
            return "not one Java method"
        return _without_type(found.pairs[0]) if found.pairs else next(iter(found.dropped))

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
        candidate = Candidate(name, camel, "method", self._config.min_method_lines, (), "", text, query, False)
        if reason := reason_to_drop(candidate, self._config):
            return reason
        method = Method(self.origin(), name, number, number, "", camel, "method", "", "", fields, "train")
        return Pair(method, text, query)


def _checked(row: dict[str, Any], needed: Sequence[str], where: str) -> dict[str, Any]:
    """Check that ``row`` has all fields that are read."""
    for field in ("query", *needed, "eval_overlap"):
        value = row.get(field)
        if field in _TEXTS:
            if not isinstance(value, str):
                raise UserError(f"{where}: expected a text in {field!r}, not {value!r:.40}")
        elif not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise UserError(f"{where}: expected a list of words in {field!r}, not {value!r:.40}")
        encodable("".join(value), where)
    return row


def _split(words: Sequence[str]) -> list[str]:
    return list(chain.from_iterable(map(split_identifier, words)))


def _without_type(pair: Pair) -> Pair:
    """``pair`` without calls of the placeholder class."""
    method = pair.method
    if method.type_name != _NO_TYPE:
        return pair
    api = method.fields["api"]
    calls = [call for call in zip(api[::2], api[1::2], strict=True) if call[0] != _NO_TYPE]
    fields = {**method.fields, "api": tuple(chain.from_iterable(calls))}
    return replace(pair, method=replace(method, type_name="", fields=fields))


def _key(pair: Pair) -> tuple[tuple[str, ...], ...]:
    return pair.query, *(pair.words(field) for field in COMPARED_FIELDS)
