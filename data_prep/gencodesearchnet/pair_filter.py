"""Which comment-code pairs are about statistics: StatCodeSearch's second stage, a language model's answer by comment.

The model is any callable that answers a prompt; it is prompted zero-shot, once per comment (Diera et al. 2023, section
4.1). An ambiguous answer counts as no class.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from data_prep.gencodesearchnet.r_pairs import RPair

CLASSES: Final = ("Statistical Test", "Statistical Modeling", "Data Variable", "Visualization")
NO_CLASS: Final = "No Relevant Class"
UNREADABLE: Final = "unreadable answer"

_PROMPT: Final = """\
You read a comment from an R script of a research project. Decide what the code below the comment is for.

Classes:
- Statistical Test: a hypothesis test is run, or its assumptions are checked.
- Statistical Modeling: a statistical model is specified, fitted, compared or summarised.
- Data Variable: data or variables are loaded, made, recoded, selected or described.
- Visualization: a plot, figure or table for the eye is made.
- No Relevant Class: none of these, or the comment does not tell.

Comment: {comment}

Answer with the name of exactly one class and nothing else."""
_ANY_NAME: Final = "|".join(name.replace(" ", r"[\s_]+") for name in (*CLASSES, NO_CLASS))
_NAMES: Final = re.compile(rf"(?<![\w-])(?:{_ANY_NAME})(?![\w-])", re.IGNORECASE)
_BY_WORDS: Final = {name.lower(): name for name in (*CLASSES, NO_CLASS)}
_DOUBTS: Final = re.compile(
    r"\b(?:not|no|nor|neither|none|never|cannot|unless|or|rather|instead|except)\b|n['’]t\b", re.IGNORECASE
)


@runtime_checkable
class Classifier(Protocol):
    """A language model: a callable that answers a prompt."""

    def __call__(self, prompt: str) -> str: ...


@dataclass(frozen=True, slots=True)
class ClassifiedPair:
    """A pair and the class of its comment."""

    pair: RPair
    label: str  # one of CLASSES


@dataclass(frozen=True, slots=True)
class Filtered:
    """The pairs that passed the filter, and the number of each answer."""

    kept: tuple[ClassifiedPair, ...]
    counts: Counter[str]  # class, NO_CLASS or UNREADABLE -> pairs


def category_prompt(comment: str) -> str:
    """The prompt for a comment, which is put on one line."""
    return _PROMPT.format(comment=" ".join(comment.split()))


def read_answer(answer: str) -> str:
    """The class that an answer names, NO_CLASS, or UNREADABLE.

    Case, quotes, punctuation and a sentence around the name are ignored, if exactly one class is named and nothing in
    the sentence negates or qualifies it.
    """
    named = {_BY_WORDS[re.sub(r"[\s_]+", " ", found).lower()] for found in _NAMES.findall(answer)}
    if len(named) != 1 or _DOUBTS.search(_NAMES.sub("", answer)):
        return UNREADABLE
    return named.pop()


def filter_pairs(pairs: Iterable[RPair], classifier: Classifier) -> Filtered:
    """Keep the pairs whose comment is of one of CLASSES; repeated comments are prompted only once."""
    labels: dict[str, str] = {}
    kept: list[ClassifiedPair] = []
    counts: Counter[str] = Counter(dict.fromkeys((*CLASSES, NO_CLASS, UNREADABLE), 0))
    for pair in pairs:
        if pair.comment not in labels:
            labels[pair.comment] = read_answer(classifier(category_prompt(pair.comment)))
        label = labels[pair.comment]
        counts[label] += 1
        if label in CLASSES:
            kept.append(ClassifiedPair(pair, label))
    return Filtered(tuple(kept), counts)
