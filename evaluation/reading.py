"""How a data set's test split is read: which rows are queries, and what each of them is ranked among."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from jaxtyping import Int64

from data_prep.errors import UserError
from data_prep.store.prepared_data import PreparedData, Split


@dataclass(frozen=True, slots=True)
class TestReading:
    """Of a test split, from the manifest of its data set; by default each row is a query over all rows."""

    __test__ = False  # pytest: no tests in here

    candidates_without_query: bool = False
    """Whether rows with an empty query are candidates only."""
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
            case {"group": int(group), **rest} if not rest and group > 1:
                return cls(group=group)
            case {**none} if not none:
                return cls()
        raise UserError(f"the manifest states a test_reading that is not known: {stated!r:.60}")

    def queries(self, split: Split) -> Int64[np.ndarray, " queries"]:
        """The rows of ``split`` that are queries."""
        rows = np.arange(len(split), dtype=np.int64)
        return rows[split.words["query"].lengths > 0] if self.candidates_without_query else rows

    def groups(self, size: int) -> Int64[np.ndarray, "groups group"]:
        """The rows of each group of a split of ``size`` rows; one of all if there are too few."""
        group = min(self.group, size)
        rows = np.random.RandomState(_SEED).permutation(size)[: size // group * group]
        return np.sort(rows.reshape(-1, group), axis=1).astype(np.int64)


WHOLE: Final = TestReading()
_SEED: Final = 0
"""CodeSearchNet's; its groups are others, since they also depend on the order of the rows."""


def asked(data: PreparedData) -> Split:
    """The test pairs of ``data``, without candidates that are no query."""
    split, reading = data.splits["test"], TestReading.of(data.manifest)
    return split.take(reading.queries(split)) if reading.candidates_without_query else split
