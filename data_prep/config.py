"""Configuration of data preparation: the data sets by name, and section ``data``.

A new data set is a file in ``data_prep/datasets`` and a line here. Light to import: every command is checked by it.
"""

import pkgutil
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Protocol, runtime_checkable

from data_prep.errors import COUNT, SEED, WORKERS, UserError, check_bounds, real, whole
from data_prep.languages.registry import language_called

if TYPE_CHECKING:
    from data_prep.pipeline.stages import MadePairs

DEFAULT_LANGUAGE: Final = "java"
"""Of data sets of several languages, and where the rows of pairs look like it."""


def named_sets(text: str) -> tuple[tuple[str, str], ...]:
    """Parse a comma-separated list of DATASET or DATASET:PATH into data sets and paths, "" if none is given."""
    if not text.strip():
        return ()
    parts = (part.strip().partition(":") for part in text.split(","))
    return tuple((name.strip(), path.strip()) for name, _, path in parts)


@dataclass(frozen=True, slots=True)
class DataConfig:
    """Which data are prepared, and how."""

    path: str = ""
    """Location of the raw data; empty: the data set's default."""
    mirror: str = ""
    """Address of a folder that has the data set's files, asked in place of the known ones; empty: the known ones."""
    release: str = ""
    """Release of the JDK whose sources jdk takes: 17 is the same on every machine, OpenJDK's source archive; any other
    has to be installed. Empty: an installed one, 17 if there are several."""
    limit: int = 0
    """Use at most this many pairs, sampled from all splits by their sizes; 0: all. The stored data has all pairs."""
    root: str = "data"
    """Folder of the prepared data sets."""
    min_query_words: int = 3
    """Minimum length of a query, in words (CodeSearchNet: 3)."""
    min_method_lines: int = 3
    """Minimum length of a method, in lines (CodeSearchNet: 3)."""
    near_duplicate: float = 0.8
    """Jaccard similarity of words from which methods are near-duplicates, of which one is kept; 1: exact only."""
    valid_share: float = 0.05
    """Fraction of the pairs, by whole files, for validation."""
    test_share: float = 0.113
    """Fraction of the pairs, by whole files, for testing; a little more than 5,000 pairs of the JDK."""
    split_seed: int = 0
    """Seed of the split by file."""
    processes: int = 0
    """Number of parsing processes; 0: one per processor."""
    profile: Literal["clean", "jcg"] = "clean"
    """Code fields by this project's rules, or exactly as in the Java-GitHub release of TabCS and FcarCS, without the
    methods that javalang (Java 8) cannot parse. Data sets that come with fields are not affected."""
    statements: bool = False
    """Whether to also extract statement trees, which FcarCS reads, by javalang; methods that it cannot parse have none.
    `--data.profile=jcg` always has them. Such data are prepared in a separate folder."""
    drop_empty: Literal["none", "empty", "all_oov"] = "none"
    """Test pairs to drop from csn_tabcs and jcg_tabcs: those with an empty name, tokens, api or query; or with one that
    has no known word."""
    train_limit: int = 0
    """Train on at most this many pairs, sampled after all others were added or left out; 0: all. Validation and test
    remain whole."""
    extra_train_sets: str = ""
    """Other data sets whose training pairs are added to this one's, except those that occur in its validation or test:
    comma-separated DATASET or DATASET:PATH. `--data.limit` applies to this data set before that, not to the others."""
    clean_splits: bool = True
    """Whether training pairs that copy a validation or test pair of the same data set (equal name and tokens with a
    Jaccard similarity of .8, or equal name and query) are left out, and validation pairs that copy a test pair."""
    language: str = DEFAULT_LANGUAGE
    """Language of the pairs of data sets of several: python, javascript, typescript, java, go; of `seven_languages` php
    and ruby too; of CodeSearchNet these without typescript; of a list of your own any that it names (rust, c#); or all.
    Of rows of `pairs` that say none, where they would be read as another."""
    columns: str = ""
    """What the columns of `pairs` are called where other names than the usual: query=COLUMN,code=COLUMN, or a JSON file
    with the same; fields: query, code, id, language, split, group, path, name, url, licence, label."""
    split: Literal["repo", "random"] = "repo"
    """How data sets of several languages are split: by whole repositories, or at random as in Scotch's paper; random
    also divides `pairs` anew, whatever their rows or files say."""
    hold_out: str = ""
    """Source tree of `repositories` or `installed`, such as pypi/django, whose pairs are the test split; those that
    are tested else are training pairs. Empty: none. To leave out each in turn; not with --data.split=random."""
    mirrors: str = ""
    """Folder of clones, bare or plain, that are read instead of fetching repositories: OWNER+NAME or OWNER/NAME, which
    may have the clone in a folder `repo`."""
    cluster: str = ""
    """Where `repositories` and `installed` are extracted: empty, here by --data.processes; ray, or an address
    ray://HOST:PORT, by Ray (`bash run.sh install cluster`)."""
    exclude_overlap_with: str = ""
    """Other data sets whose pairs, of any split, are removed from training and validation: comma-separated DATASET or
    DATASET:PATH, such as folder:/code/guava."""

    def __post_init__(self) -> None:
        check_bounds(self, _DATA_BOUNDS, "data")
        object.__setattr__(self, "language", language_called(self.language))
        if not self.root:
            raise UserError("--data.root takes a folder for the prepared data sets, not nothing")
        if self.mirror and not self.mirror.startswith(("http://", "https://")):
            raise UserError(f"--data.mirror takes an http or https address, not {self.mirror!r:.60}")
        if not re.fullmatch(r"(?:\d{1,4}(?:\.\d{1,4}){0,4})?", self.release, re.ASCII):
            raise UserError(f"--data.release takes a release such as 17 or 17.0.19, not {self.release!r:.60}")
        if self.hold_out and self.split == "random":
            raise UserError("--data.hold_out leaves out a whole source tree: it takes --data.split=repo")
        for option in ("extra_train_sets", "exclude_overlap_with"):
            typed = getattr(self, option)
            if not all(name for name, _ in named_sets(typed)):
                raise UserError(f"--data.{option} takes comma-separated DATASET or DATASET:PATH, not {typed!r}")

    @property
    def has_statements(self) -> bool:
        """Whether methods have statement trees."""
        return self.statements or self.profile == "jcg"

    @property
    def variant(self) -> str:
        """Suffix of the prepared data's folder; each choice of fields has a separate folder."""
        return "-jcg" if self.profile == "jcg" else "-statements" * self.statements

    @property
    def extra_sets(self) -> tuple[tuple[str, str], ...]:
        """The data sets of ``extra_train_sets`` with their paths, "" if none is given."""
        return named_sets(self.extra_train_sets)

    @property
    def apart_sets(self) -> tuple[tuple[str, str], ...]:
        """The data sets of ``exclude_overlap_with`` with their paths, "" if none is given."""
        return named_sets(self.exclude_overlap_with)


_DATA_BOUNDS: Final = {
    "limit": COUNT,
    "train_limit": COUNT,
    "min_query_words": whole(1, 1000),
    "min_method_lines": whole(1, 10_000),
    "near_duplicate": real(0, 1, above=True),
    "valid_share": real(0, 0.5, above=True, below=True),
    "test_share": real(0, 0.5, above=True, below=True),
    "split_seed": SEED,
    "processes": WORKERS,
}


DATASETS: Final[dict[str, str]] = {
    "jdk": "data_prep.datasets.jdk:Jdk",
    "folder": "data_prep.datasets.folders:Folder",
    "project": "data_prep.datasets.folders:Project",
    "csn": "data_prep.datasets.csn:Csn",
    "csn_filtered": "data_prep.datasets.csn_published:CsnFiltered",
    "csn_1000": "data_prep.datasets.csn_published:Csn1000",
    "csn_99": "data_prep.datasets.csn_published:Csn99",
    "csn_tabcs": "data_prep.datasets.tabcs:CsnTabcs",
    "jcg_tabcs": "data_prep.datasets.tabcs:JcgTabcs",
    "debian_sample": "data_prep.datasets.folders:DebianSample",
    "open_java": "data_prep.datasets.open_java:OpenJava",
    "deepcs_java": "data_prep.datasets.paper_releases:DeepcsJava",
    "tlcodesum": "data_prep.datasets.paper_releases:TlCodeSum",
    "r252": "data_prep.datasets.paper_releases:R252",
    "pairs": "data_prep.datasets.pairs:Pairs",
    "repositories": "data_prep.datasets.source_trees:Repositories",
    "seven_languages": "data_prep.datasets.source_trees:SevenLanguages",
    "installed": "data_prep.datasets.source_trees:Installed",
}
"""Name -> class, constructed with a DataConfig."""


@runtime_checkable
class DataSet(Protocol):
    """The interface of data sets."""

    cache_name: str
    """Name of the folder of its prepared pairs."""

    def inputs(self) -> list[Path]:
        """All files and folders that its pairs are made from, downloaded if possible."""
        ...

    def origin(self) -> str:
        """Name and version of the raw data; called after ``inputs``."""
        ...

    def make(self) -> "MadePairs":
        """Build its pairs, with a progress bar on a terminal."""
        ...


@runtime_checkable
class OfLanguages(Protocol):
    """The interface of data sets that have pairs of several languages."""

    languages: tuple[str, ...]
    """Those of its pairs."""


def data_set(name: str, config: DataConfig) -> DataSet:
    """The data set ``name`` under ``config``.

    Raises:
        UserError: there is no such data set, or it is not available with this configuration.
    """
    if name not in DATASETS:
        raise UserError(f"there is no data set {name!r}; there are {', '.join(DATASETS)}")
    found: DataSet = pkgutil.resolve_name(DATASETS[name])(config)
    if config.language != DEFAULT_LANGUAGE and not isinstance(found, OfLanguages):
        raise UserError(f"{name} has Java only, not --data.language={config.language}")
    return found
