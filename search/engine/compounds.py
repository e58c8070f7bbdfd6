"""Compounds that have the words of a question, as those of German and Dutch, and names without signs between words.

``get user by name`` is ``getuserbyname``, *Adresse der Rechnung* is in ``rechnungsadresse``. One is looked for only if
no file has one of the words alone.
"""

import re
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import Final

from search.engine.file_ranking import is_common
from search.files.words import folded, stem_of

_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_MOST: Final = 8
"""Words of a question that has compounds."""
_SHORTEST: Final = 7
"""Letters of a compound."""
_COVERED: Final = 0.6
"""The share of its letters that the words have, others are in between or are of one more."""
_SPELT: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


class Compounds:
    """Finds the compounds of the files of an index."""

    def __init__(self, terms: Sequence[Sequence[str]], has: Callable[[str], bool]) -> None:
        """``terms``: the stems of the files; ``has``: whether a file has a stem."""
        self._terms, self._has = terms, has
        self.put_into = lru_cache(maxsize=16)(self._put_into)
        """A question with compounds in the place of their words, if no file has one of these alone."""

    def _put_into(self, text: str) -> str:
        words = [found[0] for found in _WORD.finditer(text)]
        if not 2 <= len(words) <= _MOST or re.search(r"[^\w\s,?!.-]|[\d_]", text):
            return text
        whole = "".join(text.split()).lower()
        if len(whole) >= _SHORTEST and whole.isalpha() and self._has(_stem(whole)):
            return whole if any(not self._has(_stem(word)) for word in words) else text
        roots = {word: _roots(word) for word in words if not is_common(stem_of(word.lower()))}
        for absent in [word for word in roots if not self._has(_stem(word))]:
            if absent in text and (best := self._best(absent, roots)):
                compound, parts = best
                text = re.sub(rf"\b{absent}\b", compound, text, count=1)
                linking = (word for word in re.findall(r"\b[^\W\d_]{1,3}\b", text) if not self._has(_stem(word)))
                rest = "|".join([*(part for part in parts if part != absent), *linking])
                text = re.sub(rf"\b(?:{rest})\b\s*", "", text).strip()
        return text

    def _best(self, absent: str, roots: dict[str, Sequence[str]]) -> tuple[str, list[str]] | None:
        """The compound that a word has most of with others, and its words."""
        found: list[tuple[float, str, list[str]]] = []
        for root in roots[absent]:
            for term in self._having(root):
                rest, parts = term.replace(root, "\0", 1), [absent]
                for word, others in roots.items():
                    own = next((each for each in others if each in rest), "") if word != absent else ""
                    if own:
                        rest, parts = rest.replace(own, "\0", 1), [*parts, word]
                share = 1 - len(rest.replace("\0", "")) / len(term)
                if len(parts) > 1 and share >= _COVERED:
                    found.append((share, term, parts))
        best = max(found, default=None)
        return (best[1], best[2]) if best else None

    def _having(self, root: str) -> list[str]:
        """The long terms that have some letters."""
        return re.findall(rf"(?<=\n)[^\n]*{re.escape(root)}[^\n]*", self._long) if root in self._long else []

    @cached_property
    def _long(self) -> str:
        """The long terms, one in each line."""
        long = (term for term in chain.from_iterable(self._terms) if len(term) >= _SHORTEST and term.isalpha())
        return "\n" + "\n".join(long)


def _stem(word: str) -> str:
    return stem_of(folded(word).lower())


def _roots(word: str) -> Sequence[str]:
    """What a word begins with in compounds, the longest first."""
    lower = word.lower()
    found = {
        lower,
        lower[: max(3, len(lower) - 1)],
        folded(lower),
        *(stem_of(each) for each in (lower, lower.translate(_SPELT), folded(lower))),
    }
    return sorted((each for each in found if len(each) >= 3), key=len, reverse=True)
