"""How much of a question a text has letter by letter, as code has a message, whatever was put in at placeholders."""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Final

FEWEST: Final = 3
"""Words of a run, at least."""
_COMPARED: Final = 4000
"""Characters of a text that are read."""
_PUT_IN: Final = r".{0,80}?"
"""What may stand in the text for words that a program put in."""
_DIGIT: Final = re.compile(r"\d")


def share_as_typed(typed: Sequence[str], text: str) -> float:
    """The share of a question's words in the longest run of them that a text has; 0 if these are less than FEWEST.

    Words with digits may be what a program put in: they count for nothing, and stand for anything.

    Args:
        typed: the lower-case words, with what is between blanks beside them.
        text: in any case, without line breaks.
    """
    plain = [_DIGIT.search(word) is None for word in typed]
    text = text[:_COMPARED].lower()
    longest, end = FEWEST - 1, 0
    for begin in range(len(typed)):
        if sum(plain[begin:]) <= longest:
            break
        end = max(end, begin)
        while end < len(typed) and _run(typed[begin : end + 1]).search(text):
            end += 1
        longest = max(longest, sum(plain[begin:end]))
    return longest / sum(plain) if longest >= FEWEST else 0.0


def _run(words: Sequence[str]) -> re.Pattern[str]:
    parts = groupby(words, lambda word: _DIGIT.search(word) is None)
    return re.compile("".join(re.escape(" ".join(own)) if plain else _PUT_IN for plain, own in parts))
