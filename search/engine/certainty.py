"""How certain an answer is: whether the files have the question's words and names, and one place has them together."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from typing import Any, Final

import numpy as np

from data_prep.errors import one_line
from search.engine.evidence import LIMITS, Hits, Level, numbers_of
from search.engine.file_ranking import says_nothing, stemmed
from search.engine.filters import Question
from search.engine.matching import LineOwners, without_values
from search.engine.messages import AS_TYPED
from search.engine.name_reading import NameReader
from search.engine.near_words import SPELT, as_typed, in_known_forms, joined, with_umlauts
from search.engine.phrases import Phrases
from search.engine.question import RankingSettings, asked_words, dotted_name, is_named, symbols
from search.engine.written_names import is_written
from search.files.words import folded, pieces
from search.index.code_index import Index

_SHOWN: Final = 5  # words that a line names
_ALL: Final = 0.999  # the share of a question's words that is all of them, but for rounding
_MEETING: Final = 3  # pairs of letters from one that files have to the next: between these at most one is of neither
_ONE_WORD: Final = re.compile("[\u30a1-\u30ff]+")  # katakana, in which no letter is a word between two others
_WORDS: Final = re.compile(r"[\w\s.,()?!-]+")  # a question in words and names, without what messages have besides
_RANKING: Final = RankingSettings()
_HIDDEN: Final = "only other files than those asked for have it"
NEAREST: Final = "nearest by meaning"  # what hits are that need not answer
_WHY: Final[Mapping[Level, str]] = {
    "strong": "",
    "weak": "perhaps nothing here answers it",
    "none": f"no place has its words together; {NEAREST}",
}


@dataclass(frozen=True, slots=True)
class Certainty:
    """How certain an answer is."""

    level: Level
    absent: Sequence[str] = ()  # words of the question, as typed, that no file has
    nearest: Sequence[str] = ()  # names that exist, nearest to a name or word that does not
    name: str = ""  # the name that the question is or asks about, or a path in it, if nothing is called so
    misspelt: bool = False  # whether all that is not there is near to something that is
    why: str = ""  # what else makes it weak or none
    beyond: str = ""  # what was not looked into, and might answer; "" if the answer is strong
    numbers: Mapping[str, float] = field(default_factory=dict)  # what the level was found by; empty: by names alone

    @property
    def line(self) -> str:
        """One line that says it."""
        said = "nothing found" if self.level == "none" else f"{self.level} match"
        told = []
        if self.level == "strong" and self.absent and not self.name:
            said += f" without {shown_words(self.absent)}, which no file has"
        elif self.name:
            told.append(f"nothing is called {shown_words([self.name])}")
        elif self.absent:
            told.append(f"no file has {shown_words(self.absent)}")
        if self.nearest:
            told.append(f"nearest: {shown_words(self.nearest)}")
        if self.why:
            told.append(self.why)
        if self.beyond:
            told.append(self.beyond)
        return "; ".join([said, *told]) if "," in said else ": ".join(filter(None, (said, "; ".join(told))))

    @property
    def record(self) -> dict[str, Any]:
        """As the JSON interfaces return it."""
        return {"level": self.level, "absent": [*self.absent], "nearest": [*self.nearest], "text": self.line}


def shown_words(words: Sequence[str]) -> str:
    """The first of some words, in a line."""
    more = ", ..." if len(words) > _SHOWN else ""
    return ", ".join(one_line(word)[:60] for word in words[:_SHOWN]) + more


class Judge:
    """Says how certain answers are that an index gives."""

    def __init__(self, index: Index, names: NameReader, owners: LineOwners, phrases: Phrases) -> None:
        """``names``, ``owners`` and ``phrases``: of the rows of ``index``."""
        self._index, self._names, self._owners, self._phrases = index, names, owners, phrases
        self._absent = lru_cache(maxsize=16)(self._absent_of)  # each is asked for several times for an answer
        self._stems_in = lru_cache(maxsize=16)(self._stems_of)
        self._known = lru_cache(maxsize=16)(self._known_of)
        self._formed = lru_cache(maxsize=16)(self._form_of)
        self._surely_formed = lru_cache(maxsize=16)(lambda text: self._form_of(text, self._names.near_words.near))
        self._exists = lru_cache(maxsize=256)(self._has_name)

    def has(self, stem: str) -> bool:
        """Whether any file has a word, in code, comments or its path."""
        return bool(self._index.lexical.holders(stem) or len(self._index.whole.having(stem)))

    def absent(self, words: Sequence[str]) -> Sequence[str]:
        """Those of the words of a question that say what it is about, and that no file has."""
        return self._absent(tuple(words))

    def _absent_of(self, words: tuple[str, ...]) -> Sequence[str]:
        return tuple(word for word, stem in self._stems(words).items() if not self.has(stem))

    def _stems(self, words: Sequence[str]) -> Mapping[str, str]:
        """Those of :func:`stemmed`, without what is only where two words meet that are written without a blank."""
        return self._stems_in(tuple(words))

    def _stems_of(self, words: tuple[str, ...]) -> Mapping[str, str]:
        found = stemmed(words)
        for word in words:
            parts = [part for part in pieces(word) if part in found]
            known = [number for number, part in enumerate(parts) if self.has(found[part])] if len(parts) > 2 else []
            for first, then in pairwise(known):
                one_word = all(map(_ONE_WORD.fullmatch, parts[first + 1 : then]))
                if then - first <= (_MEETING - 1 if one_word else _MEETING):
                    found = {part: stem for part, stem in found.items() if part not in parts[first + 1 : then]}
        return found

    def telling(self, words: Sequence[str]) -> Sequence[str]:
        """The words of a question, without common ones where no file has any other, and without values of a message."""
        stems = stemmed(words := without_values(self._index, words))
        return words if any(map(self.has, stems.values())) else [*stems]

    def formed(self, asked: Question) -> Question:
        """A question with the forms of its words that files have, unless it is plain English.

        That is one without letters of another alphabet or with accents, of which a file has a word: what begins alike
        in English is mostly another word. A route has its words alone, without values (:mod:`search.engine.routes`).
        """
        text = self._formed(asked.text)
        return asked if text == asked.text else replace(asked, text=text)

    def _form_of(self, text: str, near: Callable[[str], Sequence[str]] | None = None) -> str:
        if route := self._route_in(text):
            return route
        asked = stemmed(asked_words(text)).values()
        if is_named(text) or (text.isascii() and (len(asked) == 1 or any(map(self.has, asked)))):
            return self._spelt(text)
        return in_known_forms(self._spelt(text), self._index.whole.term_lists, self.has, near)

    def _spelt(self, text: str) -> str:
        """A question with the umlauts that are typed as two letters, in forms that files have, and in compounds."""
        terms = self._index.whole.term_lists if SPELT.search(text) else ()
        is_known = not terms or any(map(self.has, stemmed(asked_words(text)).values()))
        text = with_umlauts(text, self.has, () if is_known else terms) if terms else text
        return self._compounds(text) if self.absent(asked_words(text)) else text

    @cached_property
    def _compounds(self) -> Callable[[str], str]:
        from search.engine.compounds import Compounds

        return Compounds(self._index.whole.term_lists, self.has).put_into

    def _route_in(self, text: str) -> str:
        """The route that a question is, unless it is the path of a file, or an address that is written in one."""
        if "/" not in text:
            return ""
        from search.engine.routes import route_in

        return route_in(text, self._names, self._phrases)

    def known(self, words: Sequence[str], model: object) -> Sequence[str]:
        """The words of a query that a model is asked with: those that a file has, or that it knows.

        All that it does not know are alike to it. Without the words that say what the query is about, it is asked none.
        """
        return self._known(tuple(words), model)

    def _known_of(self, words: tuple[str, ...], model: object) -> Sequence[str]:
        knows = getattr(model, "knows", None)  # isinstance with a protocol takes longer than the rest of it
        if knows is None:
            return words
        strange = {word for word in self.absent(words) if not knows(word)}
        return () if strange.issuperset(stemmed(words)) else [word for word in words if word not in strange]

    def certainty(self, query: str, hits: Hits, *, quoted: bool = False) -> Certainty:
        """How certain it is that ``hits``, the first for ``query``, answer it; ``quoted``: only what has its text."""
        typed, query = query, self._route_in(query) or (self._spelt if query.isascii() else self._surely_formed)(query)
        found = self._certainty(query, hits, typed)
        if found.level != "strong" and found.numbers and self._has_message(query, hits.rows[0]):
            found = replace(found, level="strong", name="", why="")
        if found.absent and found.level == "strong" and _ONE_WORD.fullmatch(query.strip()):
            found = replace(found, level="weak", why=_WHY["weak"])
        if quoted and not hits and not found.absent:
            found = Certainty("none", why="no place has these words one after the other")
        if unknown := self._names.paths.mentioned(query).unknown:
            near = chain(*map(self._names.paths.near, unknown), found.nearest)
            found = replace(found, name=unknown[0], nearest=list(dict.fromkeys(near))[:_SHOWN])
        if hits.pattern and hits and found.level == "none":  # what was asked for is there
            found = replace(found, level="weak", why=_WHY["weak"])
        if found.level == "strong":
            return found
        from search.files.unread import repositories_in_words

        return replace(found, beyond=repositories_in_words(self._index.repositories))

    def _has_message(self, query: str, row: int) -> bool:
        """Whether code of a row has most of the question letter by letter, whatever was put into it."""
        return self._phrases.rows(asked_words(query), typed=query).get(row, 0.0) >= AS_TYPED

    def _certainty(self, query: str, hits: Hits, typed: str) -> Certainty:
        words, whole = asked_words(query), query.strip().removesuffix("()")
        if hits.pattern and not (hits and words):
            return Certainty("strong") if hits else Certainty("none", why=f"nothing matches {hits.pattern!r}")
        is_path = self._names.paths.ends_as_file(whole) or bool(self._names.paths.misspelt(whole))
        stems, names = self._stems(words), [whole] if is_path else symbols(self._names.paths.mentioned(query).words)
        absent = joined([as_typed(word, typed) for word in lost]) if (lost := self.absent(words)) else []
        unknown = [name for name in names if not self._exists(name)]
        reading = self._names.read(query)
        is_there = reading is not None and not reading.is_near
        is_written = whole in names and whole not in unknown and not says_nothing(words)
        if is_there or is_written or self._names.paths.is_file(whole):
            beyond = reading.beyond if reading else ""
            return Certainty("none", why=beyond) if beyond else self._of_name(whole, [*stems.values()], hits)
        missing = reading.missing if reading else ""
        nearest, misspelt = self._nearest([missing] if missing else unknown, absent)
        if missing or is_path or (whole in unknown and (reading is not None or is_named(whole))):
            name = missing or (whole if whole in typed else typed.strip())
            return self._unknown_name(name, absent, nearest, misspelt, hits, [*stems.values()])
        if len(absent) == len(stems) or not hits:
            why = NEAREST if hits else "" if absent else _HIDDEN
            return Certainty("weak" if hits and misspelt else "none", absent, nearest, misspelt=misspelt, why=why)
        if says_nothing(words) and not self._names.called(query, _RANKING).own:
            return Certainty("weak", absent, nearest, why="it has only common words")
        terms = [*dict.fromkeys(stems.values())]
        numbers = numbers_of(self._index, terms, hits, absent=bool(absent))
        if not (numbers["words"] if len(terms) == 1 else LIMITS.level(numbers) == "strong"):
            also = self._owners.holding(hits.rows, terms)  # what the index has no text of, such as comments of Java
            numbers = numbers_of(self._index, terms, hits, absent=bool(absent), also=also)
        if len(terms) == 1:
            level: Level = "strong" if numbers["words"] else "weak"
            return Certainty(level, absent, nearest, why=_WHY[level])
        level = LIMITS.level(numbers, misspelt=misspelt)
        may_name = not misspelt and (level == "strong" or (level == "weak" and not absent))
        name = unknown[0] if unknown and may_name and _WORDS.fullmatch(query) else ""
        level, why = ("weak", "") if name else (level, _WHY[level])
        return Certainty(level, absent, nearest, name, misspelt, why, numbers=numbers)

    def _of_name(self, name: str, terms: Sequence[str], hits: Hits) -> Certainty:
        """Of a question that is the name of something: strong, unless only other files than those asked for have it."""
        hidden = not hits or self._is_hidden([*self._names.spelt(name, _RANKING).own], hits)
        hidden = hidden and not (hits and not is_named(name) and self._has_words(terms, hits))
        return Certainty("none", why=_HIDDEN) if hidden else Certainty("strong")

    def _unknown_name(
        self,
        name: str,
        absent: Sequence[str],
        nearest: Sequence[str],
        misspelt: bool,
        hits: Hits,
        terms: Sequence[str],
    ) -> Certainty:
        """Of a question that is a name which nothing has: weak if it may be misspelt, or a hit has all of its words."""
        together = bool(hits) and not absent and self._has_words(terms, hits)
        level: Level = "weak" if hits and (misspelt or together) else "none"
        return Certainty(level, absent, nearest, name, misspelt)

    def _has_words(self, terms: Sequence[str], hits: Hits) -> bool:
        """Whether a hit has all of the terms."""
        return numbers_of(self._index, terms, hits, absent=False)["words"] > _ALL

    def _is_hidden(self, named: Sequence[int], hits: Hits) -> bool:
        """Whether none of the rows that are ``named`` is a hit, nor is what a file among them has."""
        files = {self._index.file(row).path for row in named if self._index.is_whole_file(row)}
        return bool(named) and not any(
            hit.stage == "name" or self._index.file(row).path in files for hit in hits for row in hit.rows
        )

    def _has_name(self, name: str) -> bool:
        """Whether something is called so, or a row's text has it."""
        spelt = self._names.called(name, _RANKING)
        if spelt.own or spelt.inside or self._names.paths.is_file(name) or self._names.declaring(name):
            return True
        written, last = {name, dotted_name(name) or name}, name.replace("#", ".").rpartition(".")[2].lower()
        return (last == name.lower() and last in self._defined) or any(map(self._is_written, written))

    def _is_written(self, name: str) -> bool:
        """Whether a text has a name as it is written, ignoring case."""
        words = asked_words(name)
        running = np.flatnonzero(self._phrases.having(words)).tolist()
        return is_written(self._index, name, [*stemmed(words).values()], running, self._names.paths.folder)

    def _nearest(self, names: Sequence[str], absent: Sequence[str]) -> tuple[list[str], bool]:
        """What is nearest to ``names``, or else to words that are ``absent``; whether all these may be misspelt."""
        found = [self._names.near(name) for name in names]
        misspelt = any(found)
        if not misspelt:
            found = [self._names.near_words.near(folded(word)) for word in absent]
            misspelt = bool(found) and all(found)
        return list(dict.fromkeys(chain.from_iterable(found)))[:_SHOWN], misspelt

    @cached_property
    def _defined(self) -> frozenset[str]:
        return frozenset(chain.from_iterable(self._index.whole.names))
