"""Ablations of SnippeR's loop with the light encoder: ``bash run.sh ablate snipper_... --data.path=DUMP``.

Every variant is trained with three seeds; stages that variants have in common are trained once. Compared is the last
round on the ``full`` corpus, by the hits of each query in the top 10. The queries are those of the main test.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

SEEDS: Final = 3
BASE: Final = "snipper_light"
LAST_ROUND: Final = {
    "evaluate.stages": "last",
    "evaluate.fusion": "false",
    "evaluate.titles": "false",
    "evaluate.first_link": "false",
}


@dataclass(frozen=True, slots=True)
class PostsAblation:
    """Variants that answer one question."""

    question: str
    variants: Mapping[str, Mapping[str, str]]  # label -> options


ABLATIONS: Final[dict[str, PostsAblation]] = {
    "snipper_truncation": PostsAblation(
        "Is it better to cut the middle of a query than its end, and do longer queries help?",
        {
            "end is cut": {"model.truncation": "head"},
            "256 words": {"model.query_length": "256", "model.document_length": "256"},
            "64 words": {"model.query_length": "64"},
            "64 words, end is cut": {"model.query_length": "64", "model.truncation": "head"},
        },
    ),
    "snipper_pretraining": PostsAblation(
        "Does pre-training help, on clean duplicates or on noisy links?",
        {
            "none": {"loop.pretrain": "none"},
            "duplicates, half of the links held out": {"data.linked_share": "0.5"},
            "links": {"loop.pretrain": "linked", "data.linked_share": "0.5"},
            "duplicates and links": {"loop.pretrain": "both", "data.linked_share": "0.5"},
        },
    ),
    "snipper_start": PostsAblation(
        "Does an encoder that was tuned on docstrings begin better than random vectors? It needs bash run.sh prepare "
        "installed --data.language=python.",
        {"docstrings first": {"loop.docstrings": "data/installed-python"}},
    ),
    "snipper_negatives": PostsAblation(
        "How many documents are mined, and how many of them does a query get in a batch?",
        {
            "k = 10": {"loop.mined": "10"},
            "k = 100": {"loop.mined": "100"},
            "n = 3": {"loop.negatives": "3"},
        },
    ),
    "snipper_rounds": PostsAblation(
        "Do hard negatives and further rounds help?",
        {
            "1 round, no hard negatives": {"loop.rounds": "1"},
            "3 rounds": {"loop.rounds": "3"},
            "2 rounds, the second continues": {"loop.restart": "continue"},
        },
    ),
    "snipper_document": PostsAblation(
        "What should a document have?",
        {"no body in tests": {"evaluate.body": "false"}, "text of the body in training": {"loop.document": "prose"}},
    ),
    "snipper_query": PostsAblation(
        "Which part of the query finds the post? Queries that have none of it are left out.",
        {"code only": {"loop.parts": "code"}, "error only": {"loop.parts": "error"}},
    ),
    "snipper_encoders": PostsAblation(
        "Is one encoder for both sides better than two?",
        {"separate encoders": {"model.separate": "true"}, "vectors of 512": {"model.dim": "512"}},
    ),
}
"""Name -> ablation."""


def folder_name(label: str) -> str:
    """The name of the folder of a variant's results."""
    return re.sub(r"[^\w.-]+", "_", label)
