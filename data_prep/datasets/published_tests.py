"""Which pairs of other releases are in the published tests of TabCS, so that they are not trained on.

The test of Java-GitHub has its sources and queries in their order: a pair is in it if the identifiers of the code are
the same, one after the other, capitals and literals aside, or if name and query are. That of CodeSearchNet has no
sources, and its queries are bags of words without the stop words: a pair is in it if the name is the same and the query
has all known words of the test's, of which there must be three.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from data_prep.config import DataConfig
from data_prep.datasets.tabcs import CsnTabcs, JcgTabcs
from data_prep.errors import UserError
from data_prep.languages.identifiers import split_identifier
from data_prep.records import UNKNOWN, Pair

TESTS: Final = (CsnTabcs, JcgTabcs)
TEST_NAMES: Final = tuple(kind.cache_name for kind in TESTS)
NOT_COMPARED: Final = "its files are not there, so nothing is compared with it here"
_LEAST_WORDS: Final = 3
_LITERAL: Final = re.compile(r'"(?:\\.|[^"\\])*+"|\'(?:\\.|[^\'\\])*+\'')
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][\w$]*")
_PLACEHOLDERS: Final = frozenset(f"{before}{kind}{after}" for kind in ("str", "num", "bool") for before, after in
                                 (("_", ""), ("", "_")))  # fmt: skip
_NAME: Final = re.compile(r"(?<![@.] )(?<![\w$])([A-Za-z_$][\w$]*) ?\(")
_WORD: Final = re.compile(r"\w+")
_Words = tuple[str, ...]


class PublishedTest:
    """The pairs of a published test."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self._codes: set[_Words] = set()
        self._queries: set[tuple[_Words, _Words]] = set()
        self._bags: defaultdict[_Words, set[frozenset[str]]] = defaultdict(set)
        for pair in pairs:
            name, words = pair.words("name"), _words(word for word in pair.query if word != UNKNOWN)
            if pair.method.source:
                self._codes.add(_identifiers(pair.method.source))
                self._queries.update([(name, words)] if words else [])
            elif len(bag := frozenset(words)) >= _LEAST_WORDS:
                self._bags[name].add(bag)

    def has(self, name: _Words, query: Sequence[str], code: str) -> bool:
        """Whether it has a pair.

        Args:
            name: the words of the method's name.
            query: its words, as they are.
            code: "": it is not known.
        """
        words = _words(query)
        if (code and _identifiers(code) in self._codes) or (name, words) in self._queries:
            return True
        return any(bag <= {*words} for bag in self._bags.get(name, ()))


def published_tests(config: DataConfig, place: Path) -> tuple[dict[str, PublishedTest], list[Path]]:
    """The tests of TabCS that are at hand by their data sets, and their files.

    Args:
        config: of the data set that is compared with them.
        place: where a clone of TabCS may be; else they are where their own data sets have them.

    Raises:
        UserError: a file is damaged.
    """
    found, files = dict[str, PublishedTest](), list[Path]()
    for kind in TESTS:
        for path in (str(place), ""):
            test = kind(replace(config, path=path, drop_empty="none", statements=False))
            try:
                files += test.test_files()
            except UserError:
                continue
            found[kind.cache_name] = PublishedTest(test.test_pairs())
            break
    return found, files


def overlap_of(row: Mapping[str, Any], tests: Mapping[str, PublishedTest]) -> list[str]:
    """The names of the tests that have a row: its lists ``query`` and ``name``, its ``code``; one of the last two."""
    code = row.get("code", "")
    name = tuple(row.get("name", ())) or name_in(code)
    return [each for each, test in tests.items() if test.has(name, row["query"], code)]


def name_in(code: str) -> _Words:
    """The words of the name of the method that a text begins with; () if it has none."""
    found = _NAME.search(code)
    return split_identifier(found[1]) if found else ()


def _identifiers(code: str) -> _Words:
    words = (word.lower() for word in _IDENTIFIER.findall(_LITERAL.sub(" ", code)))
    return tuple(word for word in words if word not in _PLACEHOLDERS)


def _words(query: Iterable[str]) -> _Words:
    return tuple(_WORD.findall(" ".join(query).lower()))
