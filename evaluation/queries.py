"""Statistics of test queries: their numbers of words, and how many of these also occur in their method.

They are saved beside the results, so that ranks can be analysed by kind of query without the data.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import Stemmer
from jaxtyping import Float, Int

from data_prep.errors import UserError
from data_prep.languages.identifiers import split_identifier
from data_prep.records import UNKNOWN
from data_prep.store.prepared_data import Split, words_sha256
from evaluation.comparison import Pool
from evaluation.provenance import without_paths


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryFacts:
    """Numbers of each query of a split, in its order."""

    dataset: str
    origin: str  # e.g. "jdk-17.0.21"
    fingerprint: str  # of the words of the split, as in results
    split: str
    words: Sequence[int]  # of the query
    distinct: Sequence[int]  # stems of the query; words that a release has lost are none
    shared: Sequence[int]  # of these stems, those that stand in its method too
    files: Sequence[int]  # a number for the file of its method; where files are not known one for each query

    def __post_init__(self) -> None:
        if not len(self.words) == len(self.distinct) == len(self.shared) == len(self.files) > 0:
            raise UserError("the facts of queries are four lists of the same length, of one query or more")
        rows = zip(self.shared, self.distinct, self.words, strict=True)
        if not all(0 <= shared <= distinct <= words for shared, distinct, words in rows):
            raise UserError("a query shares at most its distinct words with its method, and has at most its words")

    @property
    def lengths(self) -> Int[np.ndarray, " queries"]:
        """Number of words of each query."""
        return np.asarray(self.words)

    @property
    def overlap(self) -> Float[np.ndarray, " queries"]:
        """Fraction of each query's distinct stems that also occur in its method; 0 for a query without words."""
        return np.asarray(self.shared) / np.maximum(1, self.distinct)

    def fits(self, pool: Pool) -> bool:
        """Whether these are the queries of ``pool``."""
        return (self.fingerprint, len(self.words)) == (pool.fingerprint, pool.size)


def query_facts(split: Split, *, dataset: str, origin: str) -> QueryFacts:
    """The facts of the queries of ``split``, with words read as in BM25: stemmed, and API words split.

    Raises:
        UserError: the split has no pairs.
    """
    stem = Stemmer.Stemmer("english").stemWord
    rows = range(len(split))
    asked = [_stems(split, ("query",), row, stem) for row in rows]
    return QueryFacts(
        dataset=dataset,
        origin=without_paths(origin),
        fingerprint=words_sha256(split),
        split=split.name,
        words=split.words["query"].lengths.tolist(),
        distinct=[len(stems) for stems in asked],
        shared=[len(asked[row] & _stems(split, ("name", "tokens", "api"), row, stem)) for row in rows],
        files=_files(split),
    )


def _files(split: Split) -> list[int]:
    """A number for each row, the same for methods of one file; a release that names no files has one path for all."""
    texts = [split.text(row) for row in range(len(split))]
    numbers: dict[tuple[str, str], int] = {}
    found = [numbers.setdefault((text.origin, text.path), len(numbers)) for text in texts]
    return found if len(numbers) > 1 else [*range(len(split))]


def _stems(split: Split, fields: Sequence[str], row: int, stem: Callable[[str], str]) -> set[str]:
    words = ((field, word) for field in fields for word in split.word_list(field, row) if word != UNKNOWN)
    return {stem(part) for field, word in words for part in (split_identifier(word) if field == "api" else (word,))}
