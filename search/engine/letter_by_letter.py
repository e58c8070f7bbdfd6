"""How much of a question a text has letter by letter, as code has a message, whatever was put in at placeholders."""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Final

FEWEST: Final = 3
"""Words of a run, at least."""
_COMPARED: Final = 4000
"""Characters of a text that are read."""
_PUT_IN: Final = 80
"""Characters that may stand in the text for words that a program put in."""
_DIGIT: Final = re.compile(r"\d")
_PLACEHOLDER: Final = re.compile(r"[^\w\s]|\d")


def share_as_typed(typed: Sequence[str], text: str) -> float:
    """The share of a question's words in the longest run of them that a text has; 0 if these are less than FEWEST.

    Words with digits may be what a program put in: they count for nothing, and stand for a placeholder.

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
        while end < len(typed) and _has(text, typed[begin : end + 1]):
            end += 1
        longest = max(longest, sum(plain[begin:end]))
    return longest / sum(plain) if longest >= FEWEST else 0.0


def _has(text: str, run: Sequence[str]) -> bool:
    """Whether a text has the words of a run, with placeholders in the place of those with digits."""
    parts = [" ".join(own) for plain, own in groupby(run, lambda word: _DIGIT.search(word) is None) if plain]
    place = text.find(parts[0]) if parts else 0
    while place >= 0 and parts:
        end = place + len(parts[0])
        for part in parts[1:]:
            then = text.find(part, end, end + _PUT_IN + len(part))
            if then < 0 or not _PLACEHOLDER.search(text, end, then):
                break
            end = then + len(part)
        else:
            return True
        place = text.find(parts[0], place + 1)
    return not parts
