"""What a question says of names of files and folders: the paths in it, and other spellings of its words.

``lib/pool/impl.py``, ``impl.py``, ``pool/impl`` and ``pool.impl`` are files, and ``lib/pool`` is a folder. A path that
does not exist is near to those with the same parts in another order, with the same name in other folders, or with a
name that is nearly the same.

Other spellings of a word are looked for in names alone: in texts such words mean other things too often.

- what does a thing is called after it: *parse* is also ``parser``, *routes* ``router``, *divide* ``division``;
- neighbours written as one: *thread pool* is ``threadpool``, *URL-encoded* ``urlencoded``, *memory map* ``mmap``;
- their initials: *file system* is ``fs``, *server-sent events* ``sse``;
- short forms: *configuration* is ``config``, *context* ``ctx``;
- a part of what is written as one: *policies* is in ``selectionpolicies``, *retry* in ``autoretry``.
"""

import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import compress
from pathlib import Path
from typing import Final

from search.engine.near_words import MOST, NearNames, with_near_suffix
from search.files.words import family, stem_of
from search.index.code_index import Index

GATHERING: Final = frozenset(("__init__", "index", "mod", "lib", "main", "init"))
"""Names of files that stand for their folder."""
_BEFORE: Final = "\"'`([{<"
_BEHIND: Final = "\"'`)]}>,;:.!?"
"""What may stand around a path in a sentence."""
_WORD: Final = re.compile(r"[^\s\"'`,|]*[./\\][^\s\"'`,|]*")
_WRITTEN: Final = re.compile(r"[\w.@][\w.@+-]*(?:[/\\][\w.@+-]+)+")
"""What a path looks like: no pattern (``src/*.py``), no template (``{name}/x.py``), no call."""
_LINE: Final = re.compile(r"(?::\d[\d:-]*|#L\d[-L\d]*)\Z")
_PATH: Final = re.compile(r"[^\s:]*[./][^\s:]*")
_MODULE: Final = re.compile(r"[a-z_][a-z\d_]*(?:\.[a-z_][a-z\d_]*)+")
"""What may be a module."""
_ELSEWHERE: Final = re.compile(r"[/~$]|\.\./|\w+:|(?:[\w-]+\.)+(?:com|org|net|io|dev)/")
"""What begins a path on some machine, or a link, of which the end alone may be a path of the index."""
_EXACT, _STEM, _FOLDER = 3, 2, 1
"""How a file fits: its path ends so, or does so without its suffix, or it gathers a folder whose path ends so."""


@dataclass(frozen=True, slots=True)
class Mentioned:
    """The paths among other words of a question."""

    rest: str  # the question with blanks in the place of those that exist
    files: frozenset[int] = frozenset()  # those of paths
    others: frozenset[int] = frozenset()  # those of names of files, of modules and of folders
    unknown: Sequence[str] = ()  # paths of files that do not exist

    @property
    def words(self) -> str:
        """The question without them."""
        return reduce(lambda text, path: text.replace(path, " "), self.unknown, self.rest)


STUBS: Final = (".pyi", ".d.ts", ".d.mts", ".d.cts")
"""The ends of files that only declare what others define."""


class PathReader:
    """Reads paths by those of an index; case does not matter."""

    def __init__(self, index: Index) -> None:
        """``index``: of the files."""
        self._index = index
        self.folder: Path | None = None
        """The indexed folder; None: not known."""
        self.here: Path | None = None
        """The folder that ``./`` and ``../`` begin in; None: none."""
        self.mentioned = lru_cache(maxsize=16)(self._mentioned)
        """The paths in a question that has other words too."""

    def files(self, typed: str) -> dict[int, float]:
        """How well files fit: their paths end in a typed one, with a suffix or without, or they gather its folder."""
        fits = {place: float(fit) for place, fit in self._typed(typed).items()}
        for place in fits:
            path = self._paths[place]
            gathers = path.rpartition("/")[2].split(".")[0] in GATHERING
            own = 0.5 * (not self._index.files[place].test) - 0.4 * (place in self._index.old)
            fits[place] += own + 0.3 * gathers - 0.2 * path.endswith(STUBS) - 0.01 * path.count("/")
        return {place: fit for place, fit in fits.items() if fit > max(fits.values()) - 1}

    def is_file(self, typed: str) -> bool:
        """Whether the path of a file ends so."""
        return _EXACT in self._typed(typed).values()

    def _typed(self, typed: str) -> Mapping[int, int]:
        """How the files fit that a path means, which may begin above the indexed folder, here or on another machine."""
        if found := self._from_above(typed) or self._fits(_plain(typed)):
            return found
        is_file = _ELSEWHERE.match(typed) and self.ends_as_file(typed.replace(" ", "_"))
        parts = _plain(typed).split("/") if is_file else []
        return next(filter(None, (self._fits("/".join(parts[first:])) for first in range(1, len(parts) - 1))), {})

    def _from_above(self, typed: str) -> Mapping[int, int]:
        """The file of a path that begins above the indexed folder."""
        rooted = typed.startswith(("/", ".", "~", "file:"))
        if not (self.folder and ("/" in typed or "\\" in typed)) or (not rooted and self._fits(_plain(typed))):
            return {}
        from search.engine.asked_places import path_inside

        wanted = f"/{path_inside(typed, self.folder, self.here).lower()}"
        files = (place for place, path in enumerate(self._paths) if path == wanted)
        return {place: _EXACT for place in files if self._index.files[place].units}

    def _fits(self, wanted: str) -> Mapping[int, int]:
        """How the files fit that do."""
        found: dict[int, int] = {}
        for place, path in enumerate(self._paths) if _PATH.fullmatch(wanted) else self._spaced:
            fit = _EXACT * path.endswith(f"/{wanted}")
            if not fit and "/" in wanted:
                folder, _, name = path.rpartition("/")
                is_stem = f"{folder}/{name.split('.')[0]}".endswith(f"/{wanted}")
                fit = _STEM * is_stem or _FOLDER * folder.endswith(f"/{wanted}")
            if fit and self._index.files[place].units:
                found[place] = fit
        return found

    def near(self, typed: str) -> list[str]:
        """The paths of the files, at most MOST, that are nearest to one that does not exist, the nearest first."""
        *folders, name = _plain(typed).split("/")
        stem, found = name.split(".")[0], []
        is_there = any(path.endswith(f"/{name}") for path in self._paths)
        named = {each.lower(): number for number, each in enumerate(() if is_there else self._near_names.near(name))}
        for place, path in enumerate(self._paths):
            *above, last = path[1:].split("/")
            parts = {*above, last.split(".")[0]}
            shared = len(parts.intersection(folders))
            if folders and stem in parts and shared == len({*folders}):
                is_other = last != name and last.split(".")[0] == stem  # of another language
                found.append((2 * is_other, 0, len(parts), place))
            elif last == name or last in named:
                found.append((1, named.get(last, -1), len(parts) - 2 * shared, place))
        found = sorted(each for each in found if self._index.files[each[-1]].units)
        return [self._index.files[place].path for how, *_, place in found[:MOST] if how == found[0][0]]

    def misspelt(self, typed: str) -> list[str]:
        """As :meth:`near` of what has the suffix of a file; of another name the files called so but for the suffix."""
        if self.ends_as_file(typed):
            return self.near(typed)
        places = with_near_suffix(_plain(typed), self._paths) if "." in typed else []
        return [self._index.files[place].path for place in places[:MOST]]

    def near_files(self, typed: str) -> dict[int, float]:
        """How well the files fit that are called nearly so (:meth:`misspelt`)."""
        found = {path: -float(rank) for rank, path in enumerate(self.misspelt(typed))}
        return {place: found[file.path] for place, file in enumerate(self._index.files) if file.path in found}

    def ends_as_file(self, typed: str) -> bool:
        """Whether it is a path or name of a file, by its suffix, which others have."""
        return not re.search(r"\s", typed) and "." in typed and typed.rpartition(".")[2].lower() in self._suffixes

    def _mentioned(self, query: str) -> Mentioned:
        rest, files, others, unknown = list(query), set[int](), set[int](), list[str]()
        meant = lru_cache(maxsize=None)(self._meant)  # a word may be there many times
        for word in _WORD.finditer(query):
            if word[0] == query.strip("\"'` \t\n"):
                continue
            typed = _LINE.sub("", word[0].lstrip(_BEFORE).rstrip(_BEHIND))
            found, is_path = meant(typed)
            (files if is_path else others).update(found)
            if found:
                rest[word.start() : word.end()] = " " * len(word[0])
            elif self._is_missing(typed):
                unknown.append(typed)
        return Mentioned("".join(rest), frozenset(files), frozenset(others), unknown)

    def _is_missing(self, typed: str) -> bool:
        """Whether what is no path of the index is written as one: ``Next.js/Node.js`` are two names."""
        *folders, name = _plain(typed).split("/")
        is_path = _WRITTEN.fullmatch(typed) and not _ELSEWHERE.match(typed)
        return bool(folders and is_path and self.ends_as_file(name) and not any(map(self.ends_as_file, folders)))

    def _meant(self, typed: str) -> tuple[Sequence[int], bool]:
        """The files that a word means, and whether it is a path of theirs, and no name, module or folder."""
        if own := self._from_above(typed):
            return [*own], True
        wanted, is_elsewhere, is_file = _plain(typed), _ELSEWHERE.match(typed) is not None, self.ends_as_file(typed)
        if not is_file and _MODULE.fullmatch(typed):
            wanted = wanted.replace(".", "/")
        parts = wanted.split("/")
        for first in range(len(parts) - 1 if is_elsewhere else 1) if len(parts) > 1 or is_file else ():
            fits = self._fits("/".join(parts[first:]))
            if found := [place for place, fit in fits.items() if fit >= _STEM]:
                return found, "/" in _plain(typed) and not is_elsewhere
        is_folder = not is_elsewhere and (len(parts) > 1 or typed.endswith(("/", "\\")))
        return [place for place, path in enumerate(self._paths) if f"/{wanted}/" in path] if is_folder else [], False

    @cached_property
    def _spaced(self) -> Sequence[tuple[int, str]]:
        return [(place, path) for place, path in enumerate(self._paths) if " " in path]

    @cached_property
    def _paths(self) -> Sequence[str]:
        """In lower case, with a slash in front."""
        return [f"/{file.path.lower()}" for file in self._index.files]

    @cached_property
    def _suffixes(self) -> frozenset[str]:
        names = (path.rpartition("/")[2] for path in self._paths)
        return frozenset(name.rpartition(".")[2] for name in names if "." in name)

    @cached_property
    def _near_names(self) -> NearNames:
        return NearNames(file.path.rpartition("/")[2] for file in self._index.files)


def _plain(typed: str) -> str:
    return typed.lower().replace("\\", "/").removeprefix("./").strip("/")


_VOWELS: Final = frozenset("aeiou")
_SHORTEST: Final = 3
"""Letters of a short form, at least, and of what an ending is taken from."""
_LONG: Final = 5  # letters of a word that has short forms, at least
_INITIALS: Final = (2, 3, 4)  # words that are written by their initials
_PART: Final = 0.7  # what a part of a name counts, of what another spelling of the whole does
_LONG_PART: Final = 4  # letters of a part that is asked for, at least; of the other part _SHORTEST
_RUN: Final = re.compile(rf"[A-Z]?[a-z]{{{_SHORTEST + _LONG_PART - 1},}}")


def _as_one(word: str, other: str, stem: str) -> Iterator[str]:
    """What two neighbours are written as in one: both, or the begin of the first and the stem of the other."""
    yield stem_of(word + other)
    if min(len(word), len(stem)) >= _SHORTEST:
        yield from (word[:end] + stem for end in range(1, len(word)))


class Spellings:
    """Finds other spellings among the words of names."""

    def __init__(self, known: Collection[str], paths: Sequence[str] = (), common: Container[str] = ()) -> None:
        """Other spellings in the files of an index.

        Args:
            known: the stems of names.
            paths: of the files, for names that are two words.
            common: stems that several files have, for these words.
        """
        self._known, self._paths, self._common = frozenset(known), paths, common
        self._without_vowels = [stem for stem in known if len(stem) >= _SHORTEST and _VOWELS.isdisjoint(stem)]
        self._alone = lru_cache(maxsize=4096)(self._of_word)  # other questions have the same words

    def of(self, asked: Mapping[str, str]) -> dict[str, dict[str, float]]:
        """The stems of a question -> other stems that names have for them, and what each counts, at most 1.

        Args:
            asked: the words of the question, in order, with their stems.
        """
        stems = {word: stem for word, stem in asked.items() if word.isascii()}
        found = {stem: {**self._alone(word, stem)} for word, stem in stems.items()}
        words, initials = [*stems], "".join(word[0] for word in stems)
        for length in _INITIALS:
            for first in range(len(words) - length + 1):
                spelt = {initials[first : first + length]}
                if length == 2:
                    spelt.update(_as_one(words[first], words[first + 1], stems[words[first + 1]]))
                if not spelt.isdisjoint(self._known):
                    for word in words[first : first + length]:
                        found[stems[word]] |= dict.fromkeys(spelt, 1.0)
        known, own = self._known, {*asked.values()}
        kept = {
            stem: {other: share for other, share in every.items() if other in known and other not in own}
            for stem, every in found.items()
        }
        return {stem: every for stem, every in kept.items() if every}

    def _of_word(self, word: str, stem: str) -> Mapping[str, float]:
        """The other spellings of one word."""
        parts = dict.fromkeys(self._wholes.get(stem, ()), _PART)
        return {**parts, **dict.fromkeys((*family(stem), *self._short_forms(word, stem)), 1.0)}

    @cached_property
    def _wholes(self) -> Mapping[str, set[str]]:
        """A stem -> those of names that are two words written as one, of which it is one."""
        found: dict[str, set[str]] = {}
        for name in {run.lower() for run in _RUN.findall("\n".join(self._paths))}:
            whole = stem_of(name)
            for end in range(_SHORTEST, len(name) - _SHORTEST + 1):
                parts = stem_of(name[:end]), stem_of(name[end:])
                if whole not in parts and all(part in self._common for part in parts):
                    long = (end >= _LONG_PART, len(name) - end >= _LONG_PART)
                    for part in compress(parts, long):
                        found.setdefault(part, set()).add(whole)
        return found

    def _short_forms(self, word: str, stem: str) -> Iterator[str]:
        """Beginnings of a word, and some of its letters without vowels, the first among them."""
        if len(word) >= _LONG:
            yield from (word[:end] for end in range(_SHORTEST, len(stem)))
            for each in self._without_vowels:
                if each[0] == word[0] and len(each) < len(stem):
                    rest = iter(word)
                    if all(letter in rest for letter in each):
                        yield each
