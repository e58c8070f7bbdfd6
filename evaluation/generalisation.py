"""GenCodeSearchNet results by type of generalisation, each a mean of means (Diera et al. 2023, tables 2 and 3).

The text leaves open how the means are taken; the definitions here follow from the printed numbers: six cells of table 3
fit no other definition. Nothing is rounded here; the paper truncates to four digits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

CSN: Final = ("ruby", "go", "php", "java", "javascript")
"""CodeSearchNet's languages except Python."""
EIGHT: Final = ("adv", "cosqa", *CSN, "statcodesearch")
"""The benchmark's test subsets."""


@dataclass(frozen=True, slots=True)
class ByType:
    """Means of one measure; None if a subset is missing."""

    csn: float | None
    """CodeSearchNet: mean of the five languages."""
    robustness: float | None
    """Mean of AdvTest and CoSQA."""
    cross_lingual: float | None
    """Mean of CodeSearchNet's mean and StatCodeSearch."""
    domain: float | None
    """StatCodeSearch."""
    combined: float | None
    """Mean of the three types: in total, StatCodeSearch has weight 1/2, AdvTest and CoSQA 1/6, each language 1/30."""
    eight: float | None
    """Mean of the eight subsets, which the paper does not print."""


def by_type(subsets: Mapping[str, float]) -> ByType:
    """The means over the values of :data:`EIGHT`; other names are ignored."""
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
