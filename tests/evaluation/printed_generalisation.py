"""Results of the GenCodeSearchNet paper (Diera et al., GenBench 2023): tables 2, 3 and 5, and where they disagree."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from evaluation.benchmark import CSN

Measure = Literal["accuracy", "mrr"]


@dataclass(frozen=True, slots=True)
class Published:
    """A model's printed results; () if the paper has none. Order of subsets: the languages, AdvTest, CoSQA, R."""

    accuracies: tuple[float, ...]
    mrrs: tuple[float, ...]
    accuracy_by_type: tuple[float, ...]  # robustness, cross-lingual, domain, combined
    mrr_by_type: tuple[float, ...]

    def subsets(self, measure: Measure) -> Mapping[str, float]:
        """Subset -> value, from tables 2 and 5."""
        values = self.accuracies if measure == "accuracy" else self.mrrs
        return dict(zip((*CSN, "adv", "cosqa", "statcodesearch"), values, strict=False))

    def printed(self, measure: Measure, kind: str) -> float:
        """A cell of table 3."""
        values = self.accuracy_by_type if measure == "accuracy" else self.mrr_by_type
        return values[("robustness", "cross_lingual", "domain", "combined").index(kind)]


PUBLISHED: Final[Mapping[str, Published]] = {
    "RoBERTa, fine-tuned": Published(
        (0.9271, 0.9918, 0.8973, 0.9069, 0.9085, 0.8441, 0.9596, 0.8958),
        (0.1551, 0.0469, 0.0917, 0.1228, 0.1109, 0.3853, 0.0441, 0.0557),
        (0.9018, 0.9110, 0.8958, 0.9028),
        (0.2147, 0.0322, 0.0557, 0.1008),
    ),
    "CodeBERT, fine-tuned": Published(
        (0.8971, 0.9455, 0.8721, 0.9124, 0.9010, 0.8862, 0.9758, 0.9607),
        (0.1451, 0.0668, 0.0742, 0.0822, 0.0850, 0.4191, 0.1087, 0.0251),
        (0.9310, 0.9170, 0.9607, 0.9362),
        (0.2639, 0.0579, 0.0251, 0.1236),
    ),
    "CodeT5+, fine-tuned": Published(
        (0.8747, 0.9186, 0.8503, 0.8604, 0.8630, 0.9002, 0.9773, 0.9056),
        (0.1003, 0.0158, 0.0568, 0.0594, 0.0756, 0.2767, 0.0482, 0.0582),
        (0.9387, 0.8895, 0.9056, 0.9112),
        (0.1156, 0.0599, 0.0582, 0.0779),
    ),
    "CodeT5+, zero-shot": Published(
        (),
        (0.8398, 0.8467, 0.8000, 0.7939, 0.8185, 0.8547, 0.7972, 0.6311),
        (),
        (0.8259, 0.7254, 0.6311, 0.7274),
    ),
    "GPT-3.5, zero-shot": Published(
        (0.5870, 0.5950, 0.5641, 0.6130, 0.5819, 0.5687, 0.3282, 0.6271),
        (),
        (0.4485, 0.6076, 0.6271, 0.5610),
        (),
    ),
    "Ada-002, zero-shot": Published(
        (),
        (0.8942, 0.9093, 0.8684, 0.8761, 0.8782, 0.8264, 0.9439, 0.7945),
        (),
        (0.8851, 0.8398, 0.7945, 0.8398),
    ),
}
"""From table 5 for the languages, table 2 for the rest, table 3 for the types."""

RECOMPUTED_APART: Final[Mapping[tuple[str, Measure, str], float]] = {
    ("RoBERTa, fine-tuned", "mrr", "cross_lingual"): 0.0806,
    ("RoBERTa, fine-tuned", "mrr", "combined"): 0.1170,
    ("CodeBERT, fine-tuned", "accuracy", "cross_lingual"): 0.9332,
    ("CodeBERT, fine-tuned", "accuracy", "combined"): 0.9416,
    ("CodeBERT, fine-tuned", "mrr", "combined"): 0.1156,
    ("CodeT5+, fine-tuned", "mrr", "robustness"): 0.1625,
    ("CodeT5+, fine-tuned", "mrr", "combined"): 0.0935,
}
"""Cells of table 3 that do not follow from tables 2 and 5, with the values that do."""
