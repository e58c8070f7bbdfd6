"""Numbers that SearchBySnippet and SnippeR publish (arXiv 2305.11625v2, LREC-COLING 2024), and their arithmetic.

They are measured on Stack Overflow with models and data that were not released: reference only.
"""

from collections.abc import Mapping
from typing import Final

COUNTS: Final[Mapping[str, int]] = {
    "questions": 948_749,
    "questions with code": 670_561,
    "questions with error": 478_992,
    "questions with code and error": 342_086,
    "questions with code or error": 807_467,
    "questions with best_answer": 337_797,
    "evaluation queries": 1_369,
}
PERCENTAGES: Final[Mapping[str, float]] = {
    "questions with code": 70.68,
    "questions with error": 50.49,
    "questions with code and error": 36.06,
    "questions with code or error": 85.11,
    "questions with best_answer": 35.60,
}
"""Of all questions, as printed."""
SIZES: Final[Mapping[str, tuple[float, float, float]]] = {
    "all posts": (1340.18, 1340.18, 100.0),
    "with code": (1630.62, 576.26, 35.34),
    "with error": (1981.50, 681.04, 34.37),
    "with code and error": (2223.89, 1366.80, 61.46),
    "with best_answer": (1297.66, 880.98, 67.89),
}
"""Subset -> total size, size of its fields, percentage as printed."""
RECALLS: Final[Mapping[str, tuple[float, float, float, float]]] = {
    "GraphCodeBERT": (0.001, 0.001, 0.002, 0.009),
    "CodeBERT": (0.001, 0.006, 0.010, 0.013),
    "SynCoBERT": (0.006, 0.010, 0.013, 0.020),
    "GraphCodeBERT + CodeSearchNet": (0.161, 0.221, 0.280, 0.367),
    "BM25": (0.311, 0.406, 0.474, 0.562),
    "SnippeR": (0.338, 0.451, 0.536, 0.657),
}
"""Recall@5, 10, 20, 50 on the 1,369 queries."""
CSN_SIZES: Final[Mapping[str, float]] = {"code": 755.59, "python code": 1060.22, "documentation": 209.87}
"""Mean characters of CodeSearchNet's fields."""
NCS_ANSWER: Final = 159.75
NCS_QUESTIONS: Final = 287
CSN_FUNCTIONS: Final = 2_070_536
"""Documented functions of CodeSearchNet."""

ERRORS: Final[Mapping[str, tuple[str, str]]] = {
    "CodeSearchNet's size in percent of the data set": ("200.18", f"{100 * CSN_FUNCTIONS / COUNTS['questions']:.2f}"),
    "NeuralCodeSearch's size in percent": ("< 0.01", f"{100 * NCS_QUESTIONS / COUNTS['questions']:.2f}"),
    "times that NeuralCodeSearch is smaller": ("3500", f"{COUNTS['questions'] / NCS_QUESTIONS:,.0f}"),
    "CodeSearchNet's code in percent of code and error": (
        "55.38",
        f"{100 * CSN_SIZES['code'] / SIZES['with code and error'][1]:.2f}",
    ),
    "NeuralCodeSearch's answer in percent of code and error": (
        "11.59",
        f"{100 * NCS_ANSWER / SIZES['with code and error'][1]:.2f}",
    ),
}
"""Quantity -> as printed, as computed from the paper's own numbers."""
