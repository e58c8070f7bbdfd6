"""Configuration of data preparation (section ``data``) and of what models read of it (section ``words``)."""

from dataclasses import dataclass
from typing import Final, Literal

from data_prep.bounds import COUNT, LENGTH, SEED, WORKERS, check_bounds, real, whole
from data_prep.records import WORD_FIELDS

MOST_BUCKETS: Final = 65_536
"""Ids for words outside a vocabulary, at most."""


def named_sets(text: str) -> tuple[tuple[str, str], ...]:
    """The data sets of a comma list of DATASET or DATASET:PATH, with their paths, "" where none is given."""
    if not text.strip():
        return ()
    parts = (part.strip().partition(":") for part in text.split(","))
    return tuple((name.strip(), path.strip()) for name, _, path in parts)


@dataclass(frozen=True, slots=True)
class DataConfig:
    """What is prepared, and how."""

    path: str = ""
    """Where the raw data lies; empty: the data set's own place."""
    limit: int = 0
    """Use at most this many pairs, drawn over all splits by their shares; 0: all. The store keeps all."""
    root: str = "data"
    """Folder that holds the prepared data sets."""
    min_query_words: int = 3
    """Shortest query, in words (CodeSearchNet: 3)."""
    min_method_lines: int = 3
    """Shortest method, in lines (CodeSearchNet: 3)."""
    near_duplicate: float = 0.8
    """Methods whose words have this Jaccard similarity or more are near-duplicates: one is kept; 1: exact only."""
    valid_share: float = 0.05
    """Share of the pairs, by whole files, that goes to validation."""
    test_share: float = 0.113
    """Share of the pairs, by whole files, that goes to the test; of the JDK a little more than 5,000 pairs."""
    split_seed: int = 0
    """Seed of the split by file."""
    processes: int = 0
    """Processes that parse; 0: one per processor."""
    profile: Literal["clean", "jcg"] = "clean"
    """Code fields by our own rules, or word for word as the Java-GitHub release of TabCS and FcarCS has them; there a
    method that javalang cannot parse (Java 8) is left out. Data sets that come with their fields keep those."""
    statements: bool = False
    """Whether methods have their statement trees too, as FcarCS reads them, by javalang: a method that it cannot parse
    has none. `--data.profile=jcg` always has them. They are prepared in a folder of their own."""
    drop_blank: Literal["none", "empty", "all_oov"] = "none"
    """Test pairs left out of csn_tabcs and jcg_tabcs, where name, tokens, api or query has no word; or no known one."""
    extra: str = ""
    """Other data sets whose training pairs are added to this one's, but for those that stand in its validation or test:
    comma-separated DATASET or DATASET:PATH. `--data.limit` cuts this data set before that, and not the others."""
    apart: str = ""
    """Other data sets of which no pair may stand in training or validation, whatever their split: comma-separated
    DATASET or DATASET:PATH, such as folder:/code/guava."""

    def __post_init__(self) -> None:
        check_bounds(self, _DATA_BOUNDS, "data")
        if not self.root:
            raise ValueError("--data.root takes a folder for the prepared data sets, not nothing")
        _check_names("extra", self.extra_sets, self.extra)
        _check_names("apart", self.apart_sets, self.apart)

    @property
    def has_statements(self) -> bool:
        """Whether methods have their statement trees."""
        return self.statements or self.profile == "jcg"

    @property
    def variant(self) -> str:
        """What the folder of the prepared data ends in: each choice of fields has its own."""
        return "-jcg" if self.profile == "jcg" else "-statements" * self.statements

    @property
    def extra_sets(self) -> tuple[tuple[str, str], ...]:
        """The data sets of ``extra`` with their paths, "" where none is given."""
        return named_sets(self.extra)

    @property
    def apart_sets(self) -> tuple[tuple[str, str], ...]:
        """The data sets of ``apart`` with their paths, "" where none is given."""
        return named_sets(self.apart)


_DATA_BOUNDS: Final = {
    "limit": COUNT,
    "min_query_words": whole(1, 1000),
    "min_method_lines": whole(1, 10_000),
    "near_duplicate": real(0, 1, above=True),
    "valid_share": real(0, 0.5, above=True, below=True),
    "test_share": real(0, 0.5, above=True, below=True),
    "split_seed": SEED,
    "processes": WORKERS,
}


def _check_names(flag: str, sets: tuple[tuple[str, str], ...], typed: str) -> None:
    if not all(name for name, _ in sets):
        raise ValueError(f"--data.{flag} takes comma-separated DATASET or DATASET:PATH, not {typed!r}")


@dataclass(frozen=True, slots=True)
class WordsConfig:
    """Vocabularies and lengths: what of the prepared words a model reads."""

    min_count: int = 2
    """Rarest word, by its count in the training split, that gets a vector of its own."""
    query_size: int = 30_000
    """Largest query vocabulary, in words."""
    code_size: int = 60_000
    """Largest code vocabulary, in words; name, tokens and api share one, as in GALM's eq. 5."""
    joint: bool = False
    """One vocabulary for queries and code, of ``code_size`` words by their counts in both."""
    unknown_buckets: int = 1
    """Ids for words outside the vocabulary; 1: a single UNK. More: by a hash of the word, the same on both sides."""
    api: Literal["as_is", "lower", "split"] = "as_is"
    """API words as written, lower-cased, or split like identifiers."""
    stem: bool = False
    """Reduce query, name, token and API words to their English stems (Snowball), as the BM25 control does."""
    query_length: int = 30
    name_length: int = 6
    tokens_length: int = 40
    api_length: int = 30
    ast_length: int = 20
    statements_length: int = 20
    """Longest list of words of each field that a model reads (the TabCS release's for CodeSearchNet; 95 % of the
    published Java-GitHub methods have at most 19 statement trees)."""

    def __post_init__(self) -> None:
        check_bounds(self, _WORDS_BOUNDS, "words")


_WORDS_BOUNDS: Final = {
    "min_count": whole(1, 1_000_000),
    "query_size": whole(1, 10_000_000),
    "code_size": whole(1, 10_000_000),
    "unknown_buckets": whole(1, MOST_BUCKETS),
    **dict.fromkeys((f"{field}_length" for field in WORD_FIELDS), LENGTH),
}
