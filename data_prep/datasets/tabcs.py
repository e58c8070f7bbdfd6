"""Pairs of the TabCS release (Xu et al. 2021): csn_tabcs from CodeSearchNet, jcg_tabcs from Java-GitHub.

The papers report results on their test sets of 10,000 pairs; every row is kept, in order. With the release's
``train.*`` files they can be used for training, without only for testing. Words come from the release's ids; words
missing from its vocabularies are ``UNKNOWN``. It has no statement trees: if requested, they are parsed from the sources
of jcg_tabcs's test methods, and all other pairs have none.

:class:`PublishedTest` says which pairs of other releases are in these tests, so that they are not trained on. That of
Java-GitHub has its sources and queries in their order: a pair is in it if the identifiers of the code are the same, one
after the other, capitals and literals aside, or if name and query are. That of CodeSearchNet has no sources, and its
queries are bags of words without the stop words: a pair is in it if the name is the same and the query has all known
words of the test's, of which there must be three.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np

from data_prep.config import DataConfig
from data_prep.errors import UserError
from data_prep.files.access import read_whole
from data_prep.languages.identifiers import split_identifier
from data_prep.languages.java.javalang_trees import parse_published, statement_trees
from data_prep.pipeline.stages import ReadyMade
from data_prep.records import UNKNOWN, Pair, SplitName
from data_prep.sources.tabcs_release import FILE_FIELDS, ReleasedPairs, ReleasedSplit

VALID_PAIRS: Final = 5_000
"""Training pairs held out for validation if there are 100,000 or more; otherwise a twentieth."""

LEAST_PAIRS: Final = 20
"""For training."""
_BLANK_FIELDS: Final = ("name", "tokens", "api", "query")
"""The fields that GALM reads."""
_SOURCE_FILE: Final = "test_source.txt"


class Published(ReadyMade):
    """The files ``{vocab,test,train}.{methodname,apiseq,tokens,sbt,desc}.pkl`` of a folder."""

    folder_in_release: ClassVar[str]
    has_sources: ClassVar[bool]  # whether line i of test_source.txt is the method of test pair i

    def __init__(self, config: DataConfig) -> None:
        """Set the configuration, and find the folder: with the files, a clone that has it, or among those of papers."""
        super().__init__(config)
        folders = (clone / self.folder_in_release for clone in (self._place, self._place / "TabCS"))
        self._place = next((folder for folder in folders if folder.is_dir()), self._place)

    def inputs(self) -> list[Path]:
        """The existing files.

        Raises:
            UserError: a vocabulary or test file is missing, or only some of the training files exist.
        """
        tests, train, lacking = self.test_files(), _files_of("train"), self.missing()
        if lacking and len(lacking) < len(train):
            raise UserError(f"{self._place} has training files, but not {', '.join(lacking)}: all five, or none")
        return [*tests, *(self._place / name for name in (() if lacking else train))]

    def test_files(self) -> list[Path]:
        """The files of the test.

        Raises:
            UserError: one is missing.
        """
        needed = [*_files_of("vocab"), *_files_of("test")]
        if lacking := [name for name in needed if not (self._place / name).is_file()]:
            raise UserError(
                f"{self.cache_name} needs {', '.join(lacking)} in {self._place}: put them there from "
                f"{self.folder_in_release} of github.com/cqu-isse/TabCS, or name them or a clone by --data.path="
            )
        source = [_SOURCE_FILE] if self.has_sources and (self._place / _SOURCE_FILE).is_file() else []
        return [self._place / name for name in (*needed, *source)]

    def missing(self) -> list[str]:
        """The missing training files."""
        return [name for name in _files_of("train") if not (self._place / name).is_file()]

    def origin(self) -> str:
        """The name of the data."""
        return f"tabcs-release-{self.cache_name.partition('_')[0]}"

    def pairs(self) -> Mapping[SplitName, Sequence[Pair]]:
        """The pairs of each split, in the release's order; ``valid`` is sampled from ``train`` with the split seed.

        Raises:
            UserError: a file is damaged or does not fit the others, or no test pair is left.
        """
        splits: dict[SplitName, Sequence[Pair]] = {"test": self.test_pairs()}
        if not self.missing():
            release = ReleasedSplit.read(self._place, "train")
            self.counts["released_training_pairs"] = len(release)
            if len(release) < LEAST_PAIRS:
                raise UserError(f"{self._place}/train.*.pkl have {len(release)} pairs: expected {LEAST_PAIRS} or more")
            splits |= training_splits(ReleasedPairs(self.origin(), "train", release), self._config.split_seed)
        return splits

    def test_pairs(self) -> ReleasedPairs:
        """The pairs of the test.

        Raises:
            UserError: a file is damaged or does not fit the others, or no pair is left.
        """
        release, rule = ReleasedSplit.read(self._place, "test"), self._config.drop_empty
        blank = np.zeros(len(release), bool)
        if rule != "none":
            blank = release.blank(_BLANK_FIELDS, unknown_counts=rule == "empty")
        self.counts = {"released_test_pairs": len(release), "blank_test_pairs_dropped": int(blank.sum())}
        if blank.all():
            raise UserError(f"--data.drop_empty={rule} leaves none of the {len(release):,} test pairs")
        sources = self._sources(len(release))
        return ReleasedPairs(self.origin(), "test", release, np.flatnonzero(~blank), sources, self._trees(sources))

    def _trees(self, sources: Sequence[str]) -> Sequence[tuple[str, ...]]:
        """The statement trees of each source, if requested."""
        if not self._config.has_statements or not sources:
            return ()
        found = [_trees_of(source) for source in sources]
        self.counts["test_methods_without_statement_trees"] = found.count(())
        return found

    def _sources(self, rows: int) -> Sequence[str]:
        """The method of each test pair, if the file exists and has as many lines."""
        self.left_out.clear()
        path = self._place / _SOURCE_FILE
        if not self.has_sources or not path.is_file():
            return ()
        lines = read_whole(path).decode(errors="replace").removesuffix("\n").split("\n")
        if len(lines) != rows:
            self.left_out.append((_SOURCE_FILE, f"{len(lines):,} lines for {rows:,} test pairs"))
            return ()
        return lines


def training_splits(pairs: ReleasedPairs, seed: int) -> dict[SplitName, Sequence[Pair]]:
    """The training pairs, :data:`LEAST_PAIRS` or more, without a sample that is for validation, and that sample."""
    size = VALID_PAIRS if len(pairs) >= 100_000 else len(pairs) // LEAST_PAIRS
    drawn = np.random.default_rng(seed).choice(len(pairs), size=size, replace=False)
    rest = np.delete(np.arange(len(pairs)), drawn)
    return {"train": pairs.take(rest), "valid": replace(pairs.take(np.sort(drawn)), split="valid")}


def _files_of(part: str) -> list[str]:
    return [f"{part}.{field}.pkl" for field in FILE_FIELDS.values()]


def _trees_of(source: str) -> tuple[str, ...]:
    """The statement trees of a method; empty if javalang cannot parse it."""
    try:
        return statement_trees(parse_published(source))
    except UserError:
        return ()


class CsnTabcs(Published):
    """CodeSearchNet Java from the TabCS release, with prepared fields; the words of a field are unordered."""

    cache_name = "csn_tabcs"
    folder_in_release = "Husain_TabCS/keras/data/github"
    has_sources = False


class JcgTabcs(Published):
    """Java-GitHub pairs from the TabCS release, in source order, with the source of the test's methods."""

    cache_name = "jcg_tabcs"
    folder_in_release = "Hu_TabCS/keras/data/github"
    has_sources = True


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
