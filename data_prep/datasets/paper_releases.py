"""The releases of DeepCS, TL-CodeSum and R252, each with its own splits; every row of a test is kept, in order.

Training pairs that a published test of TabCS has are left out and counted (:mod:`data_prep.datasets.tabcs`);
those that a test of the same release has are left out as of any data set (``--data.clean_splits``).
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np

from data_prep.config import DataConfig
from data_prep.datasets.open_java import NO_TYPE, laid_out, prose, with_literals, without_type
from data_prep.datasets.tabcs import (
    LEAST_PAIRS,
    NOT_COMPARED,
    TEST_NAMES,
    PublishedTest,
    name_in,
    overlap_of,
    published_tests,
    training_splits,
)
from data_prep.errors import UserError
from data_prep.pipeline.code_rows import PublishedRow, pairs_of_rows
from data_prep.pipeline.stages import ReadyMade
from data_prep.records import SPLITS, Pair, SplitName
from data_prep.sources.paper_files import PARTS, deepcs_files, files_below, read_deepcs, where_to_get
from data_prep.sources.tabcs_release import ReleasedPairs, ReleasedSplit

_Tests = Mapping[str, PublishedTest]
_LISTS: Final = ("query", "name", "tokens", "api")


class PaperRelease(ReadyMade):
    """A release in a folder or in a clone of its repository."""

    release: ClassVar[str]  # of paper_files.CLONES
    parts: ClassVar[Mapping[SplitName, str]]  # split -> part, "train" or "test" among them

    def __init__(self, config: DataConfig) -> None:
        """Set the configuration.

        Raises:
            UserError: it selects fields that these pairs do not have.
        """
        if config.profile != "clean":
            raise UserError(f"{self.cache_name} has no --data.profile={config.profile}")
        super().__init__(config)

    def inputs(self) -> list[Path]:
        """The files of all parts that are there, and those of the published tests.

        Raises:
            UserError: there are none.
        """
        found = [path for paths in self._found().values() for path in paths]
        if not found:
            raise UserError(f"{self.cache_name} needs its files in {self._place}: {where_to_get([self.release])}")
        return [*found, *published_tests(self._config, self._place)[1]]

    def origin(self) -> str:
        """The name of the data."""
        return self.cache_name

    def missing(self) -> list[str]:
        """The missing parts."""
        return [part for part in self.parts.values() if part not in self._found()]

    def _found(self) -> dict[str, list[Path]]:
        """Part -> its files."""
        files = files_below(self._place)
        found = {part: self._files(files, part) for part in self.parts.values()}
        return {part: paths for part, paths in found.items() if paths}

    def _files(self, files: Sequence[Path], part: str) -> list[Path]:
        return [*PARTS[f"{self.release}/{part}"].found(files).values()]

    def pairs(self) -> Mapping[SplitName, Sequence[Pair]]:
        """The pairs of each split.

        Raises:
            UserError: a file is damaged or does not fit the others.
        """
        tests, _ = published_tests(self._config, self._place)
        found = self._found()
        self.left_out[:] = [(part, "it is not there") for part in self.parts.values() if part not in found]
        self.left_out += [(name, NOT_COMPARED) for name in TEST_NAMES if name not in tests]
        return self._splits(found, tests)

    @abstractmethod
    def _splits(self, found: Mapping[str, Sequence[Path]], tests: _Tests) -> Mapping[SplitName, Sequence[Pair]]:
        """The pairs of the parts that are there."""

    def _in_tests(self, split: SplitName, names: Sequence[str]) -> bool:
        """Whether a row of training is in published tests, which are counted; rows of a test stay."""
        for name in () if split == "test" else names:
            key = f"{split}_pairs_left_out_that_are_in_{name}"
            self.counts[key] = self.counts.get(key, 0) + 1
        return bool(names) and split != "test"


class WordLists(PaperRelease):
    """A release whose fields are lists of words, as :class:`ReleasedPairs` has them; a sample of training validates."""

    def _splits(self, found: Mapping[str, Sequence[Path]], tests: _Tests) -> Mapping[SplitName, Sequence[Pair]]:
        self.counts = {}
        read = {split: self._read(found[part], part) for split, part in self.parts.items() if part in found}
        for split, release in read.items():
            self.counts[f"released_{split}_pairs"] = len(release)
        splits: dict[SplitName, Sequence[Pair]] = {}
        is_same = len(read) == len(self.parts) and _are_equal(read["train"], read["test"])
        sources = self._sources(len(read["test"])) if "test" in read else ()
        if "train" in read:
            pairs = ReleasedPairs(self.origin(), "train", read["train"], sources=sources if is_same else ())
            splits |= self._training(pairs, tests)
        if is_same:
            self.left_out.append((self.parts["test"], "its pairs are those of training"))
        elif "test" in read:
            splits["test"] = ReleasedPairs(self.origin(), "test", read["test"], sources=sources)
        return splits

    def _sources(self, rows: int) -> Sequence[str]:  # noqa: ARG002 - of those that have none
        """The methods of the test, if they are there."""
        return ()

    def _training(self, pairs: ReleasedPairs, tests: _Tests) -> dict[SplitName, Sequence[Pair]]:
        rows = ({"query": each.query, "name": each.words("name"), "code": each.method.source} for each in pairs)
        kept = [number for number, row in enumerate(rows) if not self._in_tests("train", overlap_of(row, tests))]
        if len(kept) < LEAST_PAIRS:
            raise UserError(f"{self.origin()} has {len(kept)} training pairs: expected {LEAST_PAIRS} or more")
        return training_splits(pairs.take(np.array(kept)), self._config.split_seed)

    def _read(self, paths: Sequence[Path], part: str) -> ReleasedSplit:
        text = PARTS[f"{self.release}/{part}"]
        rows = (row for _, row in text.rows(dict(zip(text.files, paths, strict=True))))
        return ReleasedSplit.of_rows(part, rows, _LISTS)


class DeepcsJava(WordLists):
    """Java of DeepCS: its example of 10,000 pairs, or what it was trained on and tested with."""

    cache_name = "deepcs_java"
    release = "deepcs_example"
    parts: ClassVar[Mapping[SplitName, str]] = {"train": "train", "test": "test"}

    def inputs(self) -> list[Path]:
        """The same, with the file of methods.

        Raises:
            UserError: there are none.
        """
        return [*super().inputs(), *self._methods().values()]

    def _methods(self) -> dict[str, Path]:
        return PARTS["deepcs_example/pairs"].found(files_below(self._place))

    def _sources(self, rows: int) -> Sequence[str]:
        found = [row["code"] for _, row in PARTS["deepcs_example/pairs"].rows(self._methods())]
        return found if len(found) == rows else ()

    def _files(self, files: Sequence[Path], part: str) -> list[Path]:
        return super()._files(files, part) or deepcs_files(files, part)

    def _read(self, paths: Sequence[Path], part: str) -> ReleasedSplit:
        return read_deepcs(part, paths) if paths[0].suffix == ".h5" else super()._read(paths, part)


class R252(WordLists):
    """Java of R252, 22,384 pairs for training and 1,512 for the test, which are its validation."""

    cache_name = release = "r252"
    parts: ClassVar[Mapping[SplitName, str]] = {"train": "train", "test": "valid"}


class TlCodeSum(PaperRelease):
    """Java of TL-CodeSum: 69,708 pairs for training, 8,714 for validation and 8,714 for the test, as methods."""

    cache_name = release = "tlcodesum"
    parts: ClassVar[Mapping[SplitName, str]] = {split: split for split in SPLITS}

    def _splits(self, found: Mapping[str, Sequence[Path]], tests: _Tests) -> Mapping[SplitName, Sequence[Pair]]:
        self.counts = {f"released_{part}_pairs": 0 for part in found}
        splits: dict[SplitName, list[Pair]] = {part: [] for part in self.parts if part in found}
        unparsed = 0
        for split, pair, is_parsed in pairs_of_rows(
            self._rows(found, tests), self.origin(), self._config, progress=False
        ):
            splits[split].append(without_type(pair))
            unparsed += not is_parsed
        self.counts["methods_that_do_not_parse"] = unparsed
        return splits

    def _rows(self, found: Mapping[str, Sequence[Path]], tests: _Tests) -> Iterator[PublishedRow]:
        for split, name in self.parts.items():
            part = PARTS[f"{self.release}/{name}"]
            for number, row in part.rows(dict(zip(part.files, found.get(name, ()), strict=False))):
                self.counts[f"released_{name}_pairs"] += 1
                if not self._in_tests(split, overlap_of(row, tests)):
                    yield _published(row, split, f"{name}:{number}")


def _published(row: Mapping[str, Any], split: SplitName, place: str) -> PublishedRow:
    """A row with its whole query as the summary, which otherwise ends at an @ (:func:`summary`)."""
    code, name = laid_out(with_literals(row["code"])), "".join(word.capitalize() for word in name_in(row["code"]))
    texts = {"func_name": f"{NO_TYPE}.{name}", "code": code, "docstring": f"{prose(' '.join(row['query']))}\n\n"}
    return PublishedRow({"repo": "tlcodesum", "path": place, **texts}, split)


def _are_equal(one: ReleasedSplit, other: ReleasedSplit) -> bool:
    return all(
        np.array_equal(one.ids[field].values, other.ids[field].values)
        and np.array_equal(one.ids[field].offsets, other.ids[field].offsets)
        for field in one.ids
    )
