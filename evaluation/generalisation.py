"""GenCodeSearchNet's numbers by type of generalisation, each a mean of means (Diera et al. 2023, tables 2 and 3).

Which mean is which follows from the printed numbers, since the text leaves it open: six of table 3's cells fit no other
reading. Nothing is rounded here; the paper cuts to four digits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

CSN: Final = ("ruby", "go", "php", "java", "javascript")
"""CodeSearchNet's languages, Python apart."""
EIGHT: Final = ("adv", "cosqa", *CSN, "statcodesearch")
"""The benchmark's test subsets."""


@dataclass(frozen=True, slots=True)
class ByType:
    """Means of one measure; None where a subset of it is missing."""

    csn: float | None
    """CodeSearchNet: the five languages, each a fifth."""
    robustness: float | None
    """AdvTest and CoSQA, each a half."""
    cross_lingual: float | None
    """CodeSearchNet's mean and StatCodeSearch, each a half."""
    domain: float | None
    """StatCodeSearch."""
    combined: float | None
    """The three types, each a third: in all StatCodeSearch a half, AdvTest and CoSQA a sixth, a language 1/30."""
    eight: float | None
    """The eight subsets, each an eighth, which the paper does not print."""


def by_type(subsets: Mapping[str, float]) -> ByType:
    """The means over the values of :data:`EIGHT`; other names are passed over."""
    csn = _mean([subsets.get(name) for name in CSN])
    adv, cosqa, statistics = (subsets.get(name) for name in ("adv", "cosqa", "statcodesearch"))
    robustness, cross_lingual = _mean([adv, cosqa]), _mean([csn, statistics])
    return ByType(
        csn=csn,
        robustness=robustness,
        cross_lingual=cross_lingual,
        domain=statistics,
        combined=_mean([robustness, cross_lingual, statistics]),
        eight=_mean([subsets.get(name) for name in EIGHT]),
    )


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None
