"""Other spellings of a question's words, as names of files and folders have them.

- what does a thing is called after it: *parse* is also ``parser``, *routes* ``router``;
- neighbours written as one: *thread pool* is ``threadpool``, *URL-encoded* ``urlencoded``;
- their initials: *file system* is ``fs``, *server-sent events* ``sse``;
- short forms: *configuration* is ``config``, *context* ``ctx``.

Names alone are read so: in texts such words mean other things too often.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from search.files.file_words import stem_of

_DOERS: Final = ("er", "or")
_DOUBLED: Final = frozenset("bdgmnprt")
"""Letters that are written twice before an ending, as in *logger*."""
_VOWELS: Final = frozenset("aeiou")
_SHORTEST: Final = 3
"""Letters of a short form, at least, and of what an ending is taken from."""
_LONG: Final = 5
"""Letters of a word that has short forms, at least."""
_INITIALS: Final = (2, 3, 4)
"""Words that are written by their initials."""


class Spellings:
    """Finds other spellings among the words of names."""

    def __init__(self, known: Collection[str]) -> None:
        """``known``: the stems of names."""
        self._known = frozenset(known)
        self._without_vowels = [stem for stem in known if len(stem) >= _SHORTEST and _VOWELS.isdisjoint(stem)]

    def of(self, asked: Mapping[str, str]) -> dict[str, set[str]]:
        """The stems of a question -> other stems that names have for them.

        Args:
            asked: the words of the question, in order, with their stems.
        """
        stems = {word: stem for word, stem in asked.items() if word.isascii()}
        found = {stem: {*family(stem), *self._short_forms(word, stem)} for word, stem in stems.items()}
        words = [*stems]
        for length in _INITIALS:
            for run in zip(*(words[first:] for first in range(length)), strict=False):
                spelt = {"".join(word[0] for word in run)}
                if length == 2:
                    spelt.add(stem_of("".join(run)))
                for word in run:
                    found[stems[word]] |= spelt
        wanted = self._known.difference(asked.values())
        return {stem: own for stem, every in found.items() if (own := every & wanted)}

    def _short_forms(self, word: str, stem: str) -> Iterator[str]:
        """Beginnings of a word, and some of its letters without vowels, the first among them."""
        if len(word) >= _LONG:
            yield from (word[:end] for end in range(_SHORTEST, len(stem)))
            for each in self._without_vowels:
                if each[0] == word[0] and len(each) < len(stem):
                    rest = iter(word)
                    if all(letter in rest for letter in each):
                        yield each


def family(stem: str) -> set[str]:
    """The stems of what is done and of what does it: ``pars`` and ``parser``, ``rout`` and ``router``."""
    root = stem
    if len(root) >= _LONG and root.endswith(_DOERS):
        root = _single(root[:-2])
    root = root.removesuffix("e") if len(root) > _SHORTEST else root
    if not root.isascii() or len(root) < _SHORTEST:
        return set()
    doubled = [root + root[-1]] if root[-1] in _DOUBLED else []
    return {root, f"{root}e", *(begin + end for begin in (root, *doubled) for end in _DOERS), *doubled} - {stem}


def _single(root: str) -> str:
    """``logg`` is ``log``."""
    doubled = len(root) > _SHORTEST and root[-1] == root[-2] and root[-1] in _DOUBLED
    return root[:-1] if doubled else root
