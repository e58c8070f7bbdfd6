"""Messages that stand in a catalogue, such as ``messages.properties`` or ``en.json``, whose keys code has."""

from collections.abc import Callable, Sequence
from itertools import dropwhile
from typing import Final

from data_prep.languages.language import words
from search.files.words import path_stems, stem_of
from search.index.code_index import Index

_OF_FORMS: Final = (
    "value preserve space xml string name data msgstr msgid plural item quantity source target type text id"
)
_FORMAT: Final = frozenset(map(stem_of, words(_OF_FORMS)))
"""What the form of a catalogue has around a key."""
_LONGEST: Final = 16
"""Words of a key, or of a text that is one."""
_ABOVE: Final = 100
"""Lines above a message that may have the keys around it."""
_OF_KEY: Final = 4
"""Words of such a line, at most."""
_APART: Final = (".po", ".resx", ".xlf")
"""The ends of catalogues that have a key in a line of its own, one or _BEFORE lines above its message."""
_BEFORE: Final = 2
_PARTS: Final = frozenset(map(stem_of, words("problem resolution summary message title detail description text label")))
"""Keys of what an entry has, which is called by the key above it."""
_INNER: Final = frozenset(map(stem_of, words("state string en localizations variations plural one other")))
"""How lines between a key and its message begin in ``.xcstrings``; in Android's plurals by ``item``."""


def keyed(index: Index, file: int, line: int, naming: Callable[[Sequence[str]], list[int]]) -> list[int]:
    """The rows that have the key of a message.

    Args:
        index: of the rows.
        file: the catalogue.
        line: of the message.
        naming: gives the rows that have some stems one after the other; none if these are many.
    """
    found: dict[int, list[str]] = {}
    for number, stem in sorted(index.whole.words_of(file).items()):
        found.setdefault(index.whole.line(file, 2 * number), []).append(stem)
    path, written = index.files[file].path, found.get(line, [])
    own = _bare(written)[:_LONGEST]
    for length in range(len(own), 1, -1):
        if rows := naming(own[:length]):
            return rows
    above = [found[each] for each in range(line - 1, max(0, line - _ABOVE), -1) if each in found]
    between = _INNER if path.endswith(".xcstrings") else frozenset({"item"} & {*written[:1]})
    above = [*dropwhile(lambda key: key[0] in between, above)]
    for key in above[: 1 if between else _BEFORE] if between or path.endswith(_APART) else ():
        if rows := naming(_bare(_bare(key)[::-1])[::-1]):
            return rows
    heads = [*(key for key in above if len(key) <= _OF_KEY), path_stems(path)[0]]
    if rows := next(filter(None, (naming([*key, *own[:1]]) for key in heads)), []):
        return rows
    is_part = not _PARTS.isdisjoint(own[:1])
    return next(filter(None, (naming(key) for key in heads[:1] if len(key) > 1)), []) if is_part else naming(own[:1])


def _bare(key: Sequence[str]) -> list[str]:
    return [*dropwhile(_FORMAT.__contains__, key)]
