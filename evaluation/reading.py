"""How a data set's test split is read: which rows are queries, what each is ranked among, and which codes it seeks.

And which queries a model was trained on: those of its training pairs, or of copies of them. Training leaves out the
pairs that are in the tests that it is told of. A test that comes later has to look for them, by the same rules, and
says its figures with and without them.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from jaxtyping import Bool, Float, Float64, Int, Int64

from data_prep.errors import UserError
from data_prep.pipeline.overlap import copies_in
from data_prep.store.prepared_data import PreparedData
from data_prep.store.split import Split
from evaluation.config import EvaluateConfig
from evaluation.metrics import Measures, exact

if TYPE_CHECKING:
    from evaluation.evaluator import Evaluation

_log = logging.getLogger(__name__)
_SEED: Final = 0
"""CodeSearchNet's; its groups are others, since they also depend on the order of the rows."""


@dataclass(frozen=True, slots=True)
class TestReading:
    """Of a test split, from the manifest of its data set; by default each row is a query over all rows."""

    __test__ = False  # pytest: no tests in here

    candidates_without_query: bool = False
    """Whether rows with an empty query are candidates only."""
    several: bool = False
    """Whether equal queries are one, which seeks the codes of all their rows, and equal codes are one candidate; rows
    with an empty query are candidates only."""
    grades: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Query -> path of a code -> how relevant people found it, from 0; with ``several``: it seeks those above 0."""
    group: int = 0
    """Rank each query among this many rows, itself included; 0: all. The rows are divided at random, with a fixed seed;
    the last ones that do not fill a group are left out, as in CodeSearchNet's evaluation (src/model_test.py)."""

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> "TestReading":
        """The reading that a manifest states.

        Raises:
            UserError: it states another.
        """
        stated = manifest.get("test_reading", {})
        match stated:
            case {"candidates_without_query": bool(only), **rest} if not rest:
                return cls(candidates_without_query=only)
            case {"several": True, **rest} if rest.keys() <= {"grades"}:
                return cls(candidates_without_query=True, several=True, grades=stated.get("grades", {}))
            case {"group": int(group), **rest} if not rest and group > 1:
                return cls(group=group)
            case {**none} if not none:
                return cls()
        raise UserError(f"the manifest states a test_reading that is not known: {stated!r:.60}")

    def queries(self, split: Split) -> Int64[np.ndarray, " queries"]:
        """The rows of ``split`` that are queries; of equal ones that are one, the first."""
        rows = np.arange(len(split), dtype=np.int64)
        rows = rows[split.words["query"].lengths > 0] if self.candidates_without_query else rows
        if not self.several:
            return rows
        first: dict[str, int] = {}
        for row in rows.tolist():
            first.setdefault(split.text(row).query_text, row)
        return np.array([*first.values()], np.int64)

    def groups(self, size: int) -> Int64[np.ndarray, "groups group"]:
        """The rows of each group of a split of ``size`` rows; one of all if there are too few."""
        group = min(self.group, size)
        rows = np.random.RandomState(_SEED).permutation(size)[: size // group * group]
        return np.sort(rows.reshape(-1, group), axis=1).astype(np.int64)

    def sought(self, pool: Split) -> "Sought | None":
        """The codes that the queries of ``pool`` seek; None: each seeks that of its row alone."""
        return Sought.of(pool, self.grades) if self.several else None

    def mean_ndcg(self, gained: Float64[np.ndarray, "queries one"]) -> float:
        """The mean over all graded queries, also those of which no relevant code is in the pool."""
        ideal = [gain_of(sorted(each.values(), reverse=True)) for each in self.grades.values()]
        return float(gained.sum() / sum(number > 0 for number in ideal))


WHOLE: Final = TestReading()


def pool_rows(size: int, config: EvaluateConfig) -> Int64[np.ndarray, " pool"]:
    """The rows of a split of ``size`` pairs that form the pool, in order."""
    if config.pool == 0 or config.pool >= size:
        if config.pool > size:
            _log.warning(
                "--evaluate.pool=%d is more than the %d available pairs: all of them are used", config.pool, size
            )
        return np.arange(size, dtype=np.int64)
    drawn = np.random.default_rng(config.pool_seed).choice(size, size=config.pool, replace=False)
    return np.sort(drawn).astype(np.int64)


def asked(data: PreparedData) -> Split:
    """The test pairs of ``data``, without candidates that are no query."""
    split = data.splits["test"]
    if not TestReading.of(data.manifest).candidates_without_query:
        return split
    return split.take(np.flatnonzero(split.words["query"].lengths > 0))


@dataclass(frozen=True, eq=False, slots=True)
class Graded:
    """The codes that people graded for a query."""

    rows: Int64[np.ndarray, " codes"]  # of the pool
    grades: Float64[np.ndarray, " codes"]
    ideal: float  # DCG of the best order of all graded codes, also those that are not in the pool

    @classmethod
    def of(cls, grades: Mapping[str, float], rows: Mapping[str, int]) -> "Graded":
        """Those of ``grades``, a path's, of which a row of the pool is known."""
        known = [(rows[path], grade) for path, grade in grades.items() if path in rows]
        places, values = np.array([row for row, _ in known], np.int64), np.array([grade for _, grade in known], float)
        return cls(places, values, gain_of(sorted(grades.values(), reverse=True)))

    def ndcg(self, scores: Float[np.ndarray, " pool"]) -> float:
        """By CodeSearchNet's script (src/relevanceeval.py): codes without a grade take no rank; ties count against."""
        order = np.lexsort((self.grades, -scores[self.rows]))
        return gain_of(self.grades[order].tolist()) / self.ideal if self.ideal else 0.0


def gain_of(grades: Sequence[float]) -> float:
    """DCG of grades in the order of their ranks: 2^grade - 1, discounted by log2(rank + 1)."""
    return float(sum((2**grade - 1) / np.log2(rank + 1) for rank, grade in enumerate(grades, 1)))


@dataclass(frozen=True, eq=False, slots=True)
class Sought:
    """The codes of a pool whose queries may seek several, and its candidates: the first row of each distinct code."""

    candidates: Bool[np.ndarray, " pool"]
    codes: Sequence[Int64[np.ndarray, " _"]]  # of each row of the pool: the candidates that its query seeks
    graded: Sequence["Graded"] = ()  # of each row of the pool, if people graded codes

    @classmethod
    def of(cls, pool: Split, grades: Mapping[str, Mapping[str, float]]) -> "Sought":
        """Those of ``pool``, whose equal queries are one, and whose equal codes are; ``grades``: of a TestReading."""
        texts = [pool.text(row) for row in range(len(pool))]
        first: dict[tuple[str, ...], int] = {}
        own = [first.setdefault(text.code_key, row) for row, text in enumerate(texts)]
        of_query: dict[str, dict[int, None]] = {}
        for code, text, words in zip(own, texts, pool.words["query"].lengths.tolist(), strict=True):
            if words:
                of_query.setdefault(text.query_text, {})[code] = None
        arrays = {text: np.array([*codes], np.int64) for text, codes in of_query.items()}
        nothing = np.zeros(0, np.int64)
        codes = [arrays.get(text.query_text, nothing) for text in texts]
        paths = {texts[row].path: row for row in sorted({*own}, reverse=True)}
        graded = [Graded.of(grades.get(text.query_text, {}), paths) for text in texts] if grades else ()
        return cls(np.array(own, np.int64) == np.arange(len(pool)), codes, graded)

    def gained(
        self, block: Float[np.ndarray, "block pool"], rows: Int[np.ndarray, " block"]
    ) -> Float64[np.ndarray, "block one"]:
        """The NDCG of each query among the codes that people graded for it, in one column; in none without grades."""
        if not self.graded:
            return np.zeros((len(rows), 0))
        found = [self.graded[row].ndcg(scores) for row, scores in zip(rows.tolist(), block, strict=True)]
        return np.array(found, np.float64).reshape(-1, 1)

    @property
    def most(self) -> int:
        """Codes that a query seeks at most."""
        return max(map(len, self.codes), default=0)

    def ranks(
        self, block: Float[np.ndarray, "block pool"], rows: Int[np.ndarray, " block"]
    ) -> tuple[Int64[np.ndarray, " block"], Int64[np.ndarray, " block"], Int64[np.ndarray, "block most"]]:
        """For each query, codes that score higher than its best sought one, others that tie with it, and all ranks.

        Ranks are those of the sought codes, ascending, with ties counted against them, 0 where there are fewer.
        """
        better, tied = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
        ranks = np.zeros((len(rows), self.most), np.int64)
        for place, (row, scores) in enumerate(zip(rows.tolist(), block, strict=True)):
            codes = self.codes[row]
            others = self.candidates.copy()
            others[codes] = False
            rest, own = np.sort(scores[others]), np.sort(scores[codes])[::-1]
            above = len(rest) - np.searchsorted(rest, own, side="right")
            at_least = len(rest) - np.searchsorted(rest, own, side="left")
            better[place], tied[place] = above[0], at_least[0] - above[0]
            ranks[place, : len(own)] = at_least + np.arange(1, len(own) + 1)
        return better, tied, ranks


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Test queries that the model was trained on, or on copies of their pairs."""

    exact: int  # whose name and tokens are those of a training pair
    near: int  # others, of whose tokens nearly all are
    by_query: int  # whose query is that of a training pair
    queries: Sequence[int]  # all of these, by their places among the ranks
    without: Measures  # the exact metrics of the others; {} if there are none


def seen_in(evaluation: "Evaluation", trained: Split) -> Seen:
    """The queries of a test that training on the pairs ``trained`` has seen, with the figures without them.

    Args:
        evaluation: the test.
        trained: the training pairs.
    """
    found = copies_in(evaluation.pool.take(evaluation.golds), trained)
    others = np.delete(evaluation.ranks, found.rows)
    return Seen(
        exact=len(found.exact),
        near=len(found.near),
        by_query=len(found.queries),
        queries=found.rows.tolist(),
        without=exact(others) if len(others) else {},
    )


def said_seen(seen: Seen, queries: int) -> str:
    """How many queries the model was trained on, with the MRR of the others, in a sentence.

    Args:
        seen: what was found.
        queries: number of queries of the test.
    """
    if not seen.queries:
        return "none of the queries is of a pair that it was trained on, or of a copy"
    without = f"MRR {seen.without['mrr']:.3f} without them" if seen.without else "no others are left"
    return (
        f"{len(seen.queries):,} of {queries:,} queries are of pairs that it was trained on ({seen.exact:,} exactly, "
        f"{seen.near:,} nearly, {seen.by_query:,} by their query): {without}"
    )
