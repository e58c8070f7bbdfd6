"""Ablations of SnippeR's loop with the light encoder: ``bash run.sh ablate snipper_... --data.path=DUMP``.

Every variant is trained with three seeds; stages that variants have in common are trained once. Compared is the last
round on the ``full`` corpus, by the mean over seeds of each query's hits in the top 10.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from data_prep.files.atomic import write_atomically
from data_prep.files.named_paths import named_path
from evaluation.significance import compare, holm
from experiments.posts.config import resolve_plan
from experiments.posts.results import PostsResult
from experiments.posts.run import run_posts

SEEDS: Final = 3
BASE: Final = "snipper_light"
_LAST_ROUND: Final = {
    "evaluate.stages": "last",
    "evaluate.fusion": "false",
    "evaluate.titles": "false",
    "evaluate.first_link": "false",
}
_DEPTH: Final = 10


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


def run_ablation(name: str, typed: Mapping[str, str], command: str, say: Callable[[str], None]) -> str:
    """Train and test every variant; returns the page, which is also saved in the folder of the runs.

    Raises:
        ValueError: an option is unknown, or the data are not available.
        OSError: a file cannot be written.
    """
    ablation = ABLATIONS[name]
    out = named_path(resolve_plan(BASE, typed).loop.out) / "ablations"
    found: dict[str, list[PostsResult]] = {}
    for label, settings in {BASE: {}, **ablation.variants}.items():
        for seed in range(SEEDS):
            own = {"train.seed": str(seed), "evaluate.save": str(out / name / folder_name(label))}
            plan = resolve_plan(BASE, {**typed, **settings, **_LAST_ROUND, **own})
            say(f"{name}: {label}, seed {seed}")
            results = [each for each in run_posts(plan, command, say).results if each.pool == "full"]
            found.setdefault(label, []).append(results[-1])
    page = ablation_page(ablation.question, found)
    write_atomically(out / f"{name}.md", page)
    return f"{page}\n{out / f'{name}.md'}"


def folder_name(label: str) -> str:
    """The name of the folder of a variant's results."""
    return re.sub(r"[^\w.-]+", "_", label)


def ablation_page(question: str, found: Mapping[str, Sequence[PostsResult]]) -> str:
    """A table of all variants; the first is the one that the others are compared with."""
    base, *others = found
    same = [label for label in others if found[label][0].queries == found[base][0].queries]
    against = [compare(_hits(found[label]), _hits(found[base])) for label in same]
    adjusted = dict(zip(same, holm([each.p_value for each in against]), strict=True))
    differences = dict(zip(same, against, strict=True))
    lines = [
        question,
        "",
        f"| variant | queries | Recall@{_DEPTH}, mean of {len(found[base])} seeds | difference | p |",
    ]
    lines += ["|---|---:|---:|---:|---:|"]
    for label, results in found.items():
        recalls = [float(result.hits(_DEPTH).mean()) for result in results]
        spread = f" ± {np.std(recalls, ddof=1):.3f}" if len(recalls) > 1 else ""
        cells = f"| {label} | {len(results[0].ranks)} | {np.mean(recalls):.3f}{spread} |"
        if each := differences.get(label):
            cells += f" {each.mean:+.3f} ({each.low:+.3f} to {each.high:+.3f}) | {adjusted[label]:.3f} |"
        lines.append(cells if label in differences else f"{cells} | |")
    note = "Intervals: bootstrap over queries, of hits averaged over seeds; p: sign-flip test, adjusted by Holm."
    return "\n".join([*lines, "", note]) + "\n"


def _hits(results: Sequence[PostsResult]) -> np.ndarray:
    mean: np.ndarray = np.mean([result.hits(_DEPTH) for result in results], axis=0)
    return mean
