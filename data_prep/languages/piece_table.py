"""How likely each language is for a piece of code by its words and signs: a small table, which knows no whole grammar.

``pieces.json`` was learned from lines of open projects by ``python -m tests.piece_table fit``. It has a weight of each
of some words, pairs of signs and ends of lines for each language, and for what is of none, such as prose and JSON.
"""

import json
import re
from base64 import b85decode
from collections import Counter
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.array_types import Float

PLACE: Final = Path(__file__).with_name("pieces.json")
NONE: Final = ""
"""What is in no language."""
_PART: Final = re.compile(r"[^\W\d]\w*|[^\w\s]+")
_LONGEST_LINE: Final = 300
_LINES: Final = 100
Weights = Float[np.ndarray, "features languages"]


def features(text: str) -> Mapping[str, int]:
    """How often a text has each word, each sign and two of them in a row, and each start and end of a line."""
    found: Counter[str] = Counter()
    for line in text.splitlines()[:_LINES]:
        parts = _PART.findall(line[:_LONGEST_LINE])
        for part in parts:
            is_word = part[0] == "_" or part[0].isalpha()
            found.update((part,) if is_word else (*part, *map("".join, pairwise(part))))
        if parts:
            last = parts[-1]
            found.update((f"^{parts[0][:12]}", f"{last if last[0].isalpha() else last[-2:]}$"))
            found["\t"] += line.startswith("\t")
    return found


@cache
def _table() -> tuple[list[str], dict[str, int], Weights, Float[np.ndarray, " languages"]]:
    """The languages, the place of each feature, its weights, and the weights that each piece has."""
    saved = json.loads(PLACE.read_text(encoding="utf-8"))
    names: list[str] = saved["languages"]
    weights = np.frombuffer(b85decode(saved["weights"]), np.int8).reshape(-1, len(names)) * saved["unit"]
    return names, {feature: place for place, feature in enumerate(saved["features"])}, weights[1:], weights[0]


def probabilities(text: str) -> dict[str, float]:
    """Of each language that the table knows, and of :data:`NONE`; their sum is 1."""
    names, places, weights, scores = _table()
    known = [(places[each], count) for each, count in features(text).items() if each in places]
    if known:
        at, counts = zip(*known, strict=True)
        scores = scores + np.log1p(np.array(counts, np.float64)) @ weights[list(at)]
    odds = np.exp(scores - scores.max())
    return dict(zip(names, (odds / odds.sum()).tolist(), strict=True))
