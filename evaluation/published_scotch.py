"""Numbers that Scotch publishes (Dahal et al., DL4C at ICLR 2022), and their arithmetic.

They are measured on its own test set, which is not split by repository as far as the paper says, in pools of 5,000 of
which the last is smaller, ties against the query; NDCG on its own annotations, in a variant that it does not name.
"""

from collections.abc import Mapping
from typing import Final

LANGUAGES: Final = ("python", "javascript", "java", "go")
MRR: Final[Mapping[str, tuple[float, ...]]] = {
    "CodeBERT": (0.8828, 0.7673, 0.8872, 0.9079),
    "CodeBERT + context": (0.9535, 0.9069, 0.9726, 0.9716),
}
"""In the order of LANGUAGES."""
MRR_MEANS: Final[Mapping[str, tuple[float, float]]] = {
    "CodeBERT": (0.8613, 0.9168),
    "CodeBERT + context": (0.9511, 0.9739),
}
"""The mean over languages, truncated, and pools of all languages mixed."""
NDCG: Final[Mapping[str, tuple[float, ...]]] = {
    "CodeBERT": (0.8537, 0.6898, 0.7542, 0.8977),
    "CodeBERT + context": (0.8374, 0.6283, 0.8107, 0.8463),
}
NDCG_MEANS: Final[Mapping[str, float]] = {"CodeBERT": 0.7988, "CodeBERT + context": 0.7807}
ANNOTATIONS: Final[Mapping[str, tuple[int, int, int, int]]] = {
    "python": (31, 57, 53, 89),
    "javascript": (136, 44, 19, 49),
    "java": (39, 104, 64, 35),
    "go": (20, 82, 101, 34),
}
"""Annotations with relevance 0, 1, 2 and 3."""
STUDY: Final[Mapping[str, tuple[float, float, float]]] = {
    "java": (20.45, 9.09, 70.45),
    "javascript": (57.49, 10.0, 32.5),
    "go": (22.44, 8.16, 69.38),
    "python": (13.04, 17.39, 69.56),
}
"""Percent of queries where the model with context wins, loses, ties."""
