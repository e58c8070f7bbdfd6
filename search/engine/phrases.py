"""Where the text of files has a question's words in their order, whatever a program put in at its placeholders.

``Pelican pool limit of size 7 overflowed`` finds ``f"Pelican pool limit of size {n} overflowed"``. Words that say
nothing and numbers are left out; the others are looked for at the distance that they have in the question. Where the
question has a number, or words that are not there, the text may have up to PUT_IN words in place of these.

A passage weighs the sum of its words, each by how few files have it, times the square of its share of all words of the
question that files have: the others were put in. That is divided by the root of the number of files that have as much.
A passage has FEWEST words, or all of a shorter question. Outside of comments it weighs more, the more of the question
its lines have letter by letter, blanks too: so a message is told from names that have its words.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, dropwhile, islice
from typing import Final

import numpy as np

from data_prep.store.arrays import Bool, Int64
from search.engine.file_ranking import is_common
from search.engine.keyed_messages import Passage, is_given, keyed, of_entry
from search.engine.matching import FEWEST, FILE, LineOwners, among, linked, telling, tells
from search.engine.messages import AS_TYPED, HAS, NEGATED, may_be_message, quoting, verbatim, without_error
from search.engine.name_reading import NameReader
from search.engine.penalties import raised_first
from search.engine.question import asked_words, asks_for_tests
from search.engine.routes import ROUTE_WITH_VERB, with_handlers
from search.files.words import pieces, stems
from search.index.code_index import CONSTANT, UNIT_KINDS, WHOLE_FILE, Index
from search.retrieval.word_index import idf

LONGEST: Final = 64  # words of a question that are looked for
_UNIT: Final = 10.0
"""The weight of the words of a passage that counts as 1, in a project of _LARGE files or more; in others less."""
_LARGE: Final = 64
_GAP: Final = 0.3  # what a placeholder takes away, in mean weights of a word
_PASSAGES: Final = 40
_SHARE: Final = 1 / 3  # of a question, from which on a passage is read
_LEAST: Final = 0.01  # what a passage weighs that counts
_SMALL: Final = 0.1  # share of the best one's weight from which on a passage counts
_SELDOM: Final = 8  # files that may have all words of a question that has fewer than FEWEST
_MESSAGE: Final = 0.75  # share of a question from which on a passage may be the message that it quotes
_RAISED: Final = 1.5  # what a function weighs that names a message, over its place, which then weighs nothing
_TYPED: Final = 4.0  # what a passage weighs for a question without blanks, such as a route, over one of a sentence
_PARTS: Final = 10  # of a route, looked at
_VALUES: Final = (":", "{", "<", "[", "$")  # what begins those that stand for values
_READ: Final = 20_000  # places of words in quotes that are looked at
_CONSTANT: Final = re.compile(r"\b[A-Z][A-Z\d]+\b")  # a name of one word that may be looked for alone
_RAISING: Final = frozenset(("throw", "rais"))  # stems before a message which is not given to a name
_USES: Final = 5  # functions that may name a message
_VERBATIM: Final = 5.0  # what a question weighs that code has letter by letter; a part of it by the third power
_COMPARED: Final = 5  # passages that are read for this, the best ones
_ENDS: Final = (".", "!", ":")  # of a message, and of hardly a question


@dataclass(frozen=True, eq=False)
class Phrases:
    """Finds passages in the files of an index."""

    index: Index
    owners: LineOwners
    names: NameReader

    def rows(self, words: Sequence[str], *, comments: bool = True, typed: str = "") -> Mapping[int, float]:
        """The rows that have passages with words of a question, and what the best of each weighs.

        Args:
            words: of the question, in order.
            comments: whether comments are looked into.
            typed: the question.
        """
        return self._rows(tuple(words), comments, typed)

    @cached_property
    def _rows(self) -> Callable[[tuple[str, ...], bool, str], Mapping[int, float]]:
        return lru_cache(maxsize=16)(self._rows_of)  # asked for twice for an answer

    def _rows_of(self, words: Sequence[str], comments: bool, typed: str) -> Mapping[int, float]:
        plain = without_error(ROUTE_WITH_VERB.sub("", typed.strip()))
        is_literal = bool(plain) and not re.search(r"\s", plain)
        whole = words if plain == typed.strip() and "'" not in plain else asked_words(NEGATED.sub(" ", plain))
        words = [piece for word in whole for piece in pieces(word)]
        passages = self.passages(words, comments=comments)
        if is_literal and not passages and plain.startswith("/"):
            passages = self._of_route(plain.split("/")[1:_PARTS], comments=comments)
        as_typed = plain.lower().split()
        found, shares = self._weighed(passages, as_typed, is_literal=is_literal)
        sure = (row for row, weight in found.items() if weight >= AS_TYPED and not self.index.tests[row])
        more = quoting(self.index, self.owners, plain) if not is_literal and next(sure, None) is None else ()
        for each, row, share in more:
            if self._is_catalogue(each):
                passages = [*passages, each]
            else:
                found[row] = max(found.get(row, 0.0), _VERBATIM * share**3)
                shares[row] = max(shares.get(row, 0.0), share)
        if not asks_for_tests(words):
            found |= self._raised(found, shares, passages, plain)
        if "/" in typed:
            found = with_handlers(self.index, self.names, self.owners, typed.strip(), found)
        return found | self._of_message(passages, words, found)

    def _weighed(
        self, passages: Sequence[Passage], typed: Sequence[str], *, is_literal: bool
    ) -> tuple[dict[int, float], dict[int, float]]:
        """What the best passage of each row weighs, and the share of a question that the row has as typed."""
        found, shares = dict[int, float](), dict[int, float]()
        for place, each in enumerate(passages):
            row, read = self._row(each), place < _COMPARED and each.share > _SHARE and not each.commented
            if row >= 0 and not self._is_catalogue(each):
                share = verbatim(self.index, typed, each, row) if read else 0.0
                weight = each.weight * (_TYPED if is_literal else 1.0) + _VERBATIM * share**3
                found[row], shares[row] = max(found.get(row, 0.0), weight), max(shares.get(row, 0.0), share)
        return found, shares

    def _raised(
        self, found: Mapping[int, float], shares: Mapping[int, float], passages: Sequence[Passage], typed: str
    ) -> dict[int, float]:
        """What rows weigh instead, if tests have a question as typed: other code has it too, or it is no message."""
        tests = [row for row, share in shares.items() if share >= _MESSAGE and self.index.tests[row]]
        lower = typed.lower().split()
        others = chain(shares.items(), self._shares(passages, lower)) if tests else ()
        raising = {row: _VERBATIM * share**3 for row, share in others if share >= _MESSAGE and row not in tests}
        is_message = not tests or typed.endswith(_ENDS) or may_be_message(typed, lower)
        return raised_first(found, tests, raising, is_message=is_message)

    def _shares(self, passages: Sequence[Passage], typed: Sequence[str]) -> Iterator[tuple[int, float]]:
        """Rows that are no tests, and the share of a question's words that passages of theirs have as typed."""
        rows = ((self._row(each), each) for each in passages if each.share > _SHARE and not each.commented)
        others = ((row, each) for row, each in rows if row >= 0 and not self.index.tests[row])
        yield from ((row, verbatim(self.index, typed, each, row)) for row, each in islice(others, _COMPARED))

    def _is_catalogue(self, passage: Passage) -> bool:
        return self.index.files[passage.file].catalogue == "texts"

    def _in_catalogue(self, passage: Passage) -> bool:
        """The same, or whether it is in a source file that is one, outside of functions."""
        row = self._row(passage) if self.index.files[passage.file].catalogue else -1
        return row >= 0 and self.index.kinds[row] in (WHOLE_FILE, CONSTANT)

    def _of_message(
        self, passages: Sequence[Passage], words: Sequence[str], found: Mapping[int, float]
    ) -> dict[int, float]:
        """What else rows weigh if a passage is a message of some words, which is given to a name.

        That is a constant's, or a key in a catalogue, unless code has it letter by letter. ``found``: what rows weigh.
        """
        messages = [each for each in passages if each.share >= _MESSAGE]
        told = next(filter(self._in_catalogue, messages), None) if len(words) >= FEWEST else None
        code = (row for row, weight in found.items() if weight >= AS_TYPED and not self.index.file(row).catalogue)
        if told is not None and all(self.index.tests[row] for row in code):
            weight, line = _VERBATIM * (1 + told.share**3), self.index.whole.line(told.file, told.first)
            keys = keyed(self.index, told.file, line, self._naming)
            if keys or self._is_catalogue(told):
                return {self._row(told): weight, **dict.fromkeys(keys, _RAISED * weight)}
        best = max(passages, key=lambda each: each.weight, default=None)
        if best not in messages or len(words) <= FEWEST or best is None:
            return {}
        own = self._row(best)
        entry = {} if best.commented else of_entry(self.index, best, own, found.get(own, best.weight), self._naming)
        if entry:
            return entry
        raising = self._raising(best, own)
        return {**dict.fromkeys(raising, _RAISED * found.get(own, best.weight)), own: 0.0} if raising else {}

    def _of_route(self, parts: Sequence[str], *, comments: bool) -> list[Passage]:
        """The passages of the longest end of a route, or else start, that a file has: others may have the rest."""
        ends = (parts[first:] for first in range(1, len(parts)))
        starts = (parts[:last] for last in range(len(parts) - 1, 0, -1))
        told = (some for some in chain(ends, starts) if not all(each.startswith(_VALUES) for each in some))
        found = (self.passages(asked_words("/".join(some)), comments=comments) for some in told)
        return next(filter(None, found), [])

    def passages(self, words: Sequence[str], *, comments: bool = True) -> list[Passage]:
        """The best passages for the words of a question, best first."""
        told, commented = telling(self.index, words[:LONGEST], comments=comments)
        fewest = min(FEWEST, len(told))
        total = sum(each.weight for each in told)
        if not total or len(told) == 1 < sum(map(tells, words)) - 1:  # one word of several says nothing
            return []
        keys, chains = linked(told, _GAP * total / len(told))
        weights = chains.weights
        unit = self._unit
        least = (_LEAST * unit * total**2) ** (1 / 3) * (1 - 1e-9)  # of the weight, whose third power is compared
        kept = np.flatnonzero((chains.lengths >= fewest) & (weights >= least))
        if not len(kept):
            return []
        order = kept[(-weights[kept]).argsort(kind="stable")]
        files = keys[order] // FILE
        of_files = np.zeros(len(self.index.files))
        of_files[files[::-1]] = weights[order[::-1]]  # the best of each file, which is the last one that is written
        best = np.sort(of_files[of_files > 0]).tolist()
        found, begun = list[Passage](), set[tuple[int, int]]()
        order = self._looked_at(order, files)
        files = keys[order] // FILE
        ends = (keys[own] % FILE << 1 for own in (chains.firsts[order], order))
        is_said = commented[order] == 1
        is_said[:_COMPARED] |= commented[chains.firsts[order[:_COMPARED]]] == 1
        parts = (weights[order], files, *ends, is_said)
        for weight, file, first, last, is_comment in zip(*(each.tolist() for each in parts), strict=True):
            having = len(best) - bisect_left(best, 0.95 * weight)
            value = (weight / total) ** 2 * weight / unit / having**0.5
            least = max(_LEAST, _SMALL * found[0].weight if found else 0.0)
            if value < least or (len(told) < FEWEST and having > _SELDOM):
                break  # those that follow are worth less, and as many have as much
            if (file, first) not in begun:  # of those that begin at one place the best
                found.append(Passage(weight / total, value, file, first, last, is_comment))
            begun.add((file, first))
        return found

    def _looked_at(
        self, order: Int64[np.ndarray, " found"], files: Int64[np.ndarray, " found"]
    ) -> Int64[np.ndarray, " some"]:
        """The first of some passages, and of those in files that are no tests as many."""
        if len(order) <= _PASSAGES:
            return order
        rest = order[_PASSAGES:][~self._tests[files[_PASSAGES:]]]
        return np.concatenate([order[:_PASSAGES], rest[:_PASSAGES]])

    @cached_property
    def _unit(self) -> float:
        """The weight of the words of a passage that counts as 1 here."""
        rarest = idf(np.ones(1, np.int64), min(len(self.index.files), _LARGE)) / idf(np.ones(1, np.int64), _LARGE)
        return _UNIT * float(rarest[0])

    @cached_property
    def _tests(self) -> Bool[np.ndarray, " files"]:
        return np.array([file.test for file in self.index.files], np.bool_)

    def _row(self, passage: Passage) -> int:
        """The innermost row that a passage is in, or in the comment above it; -1: none."""
        return self.owners.at(passage.file, self.index.whole.line(passage.file, passage.last))

    def _raising(self, message: Passage, row: int) -> list[int]:
        """The functions that name a message, which is given to a name outside of functions."""
        if row < 0 or UNIT_KINDS[self.index.kinds[row]] not in ("file", "constant", "type"):
            return []
        text = self.index.text(row)
        named = [stem for word in asked_words(self.index.names[row].rpartition(".")[2]) for stem in stems(word)]
        whole, own = self.index.whole, int(message.file * FILE) + message.first // 2
        line, words = whole.line(message.file, message.first), whole.words_of(message.file)
        places = range(message.first // 2 - 1, max(-1, message.first // 2 - 7), -1)
        same = [words[each] for each in places if words.get(each) and whole.line(message.file, 2 * each) >= line - 1]
        same = same if is_given(self.index, message, row) else []
        same = [] if not _RAISING.isdisjoint(same) else same
        same = [*dropwhile(lambda stem: is_common(stem) or len(stem) < 2, same)]  # the message may begin so
        runs = [same[:length][::-1] for length in range(len(same), 1, -1)]  # one word says little
        constant: re.Match[str] | None = None
        runs = [named] if self.index.kinds[row] == CONSTANT and text.start_line == text.end_line else runs
        if UNIT_KINDS[self.index.kinds[row]] == "type":
            written = text.source.split("\n")[line - text.start_line :][:1]
            constant = _CONSTANT.search(written[0]) if written else None
            alone = same[:1] if constant or not written else []
            runs += [[*named, *same[:1]] if same else [], named if text.start_line == text.end_line else alone]
        named_as = constant[0] if constant else ""
        return next(filter(None, (self._naming(run, own, named_as * (len(run) == 1)) for run in runs)), [])

    def _naming(self, name: Sequence[str], own: int = 0, written: str = "") -> list[int]:
        """The functions elsewhere, but tests, that have the words of a name in a row; none if they are many.

        ``own``: the place of the message that is given to it, before which it stands too; ``written``: as there.
        """
        kinds = (WHOLE_FILE, CONSTANT, UNIT_KINDS.index("type"))
        found = self._running(name, comments=False, most=10 * _USES, but=own)
        rows = [row for row in found if self.index.kinds[row] not in kinds and not self.index.tests[row]]
        rows = [row for row in rows if written in self.index.text(row).source] if written else rows
        return rows if len(rows) <= _USES else []

    def quoted(self, text: str, *, comments: bool = True) -> Bool[np.ndarray, " rows"]:
        """Which rows have a text in quotes; if none has, those whose code has most of it around what was put in."""
        words = asked_words(text)
        if (found := self.having(words, comments=comments)).any() or len(words) < FEWEST:
            return found
        least = _VERBATIM * HAS**3
        found[[row for row, weight in self.rows(words, comments=False, typed=text).items() if weight >= least]] = True
        return found

    def having(self, words: Sequence[str], *, comments: bool = True) -> Bool[np.ndarray, " rows"]:
        """Which rows have all of ``words`` one after the other, in the text that no row inside of them has."""
        found = np.zeros(len(self.index), np.bool_)
        found[self._running([stem for word in words for stem in stems(word)], comments=comments, most=_READ)] = True
        return found

    def _running(self, run: Sequence[str], *, comments: bool, most: int, but: int = 0) -> list[int]:
        """The rows of the first places, at most so many and not shortly before ``but``, where stems are in a row."""
        keys = np.empty(0, np.int64)
        for number, stem in enumerate(run):
            files, places = self.index.whole.occurrences(stem)
            read = np.ones(len(places), np.bool_) if comments else places & 1 == 0
            own = files[read].astype(np.int64) * FILE + (places[read] >> 1) - number
            keys = keys[among(keys, own)] if number else own
        found, keys = set(), keys[(keys < but - len(run) - 1) | (keys >= but)]
        for key in keys[:most].tolist():
            place = int(key % FILE) << 1
            found.add(self._row(Passage(0.0, 0.0, int(key // FILE), place, place, False)))
        return sorted(found - {-1})
