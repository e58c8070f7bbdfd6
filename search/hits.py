"""Hits in a terminal: name, place, declaration, the comment's first sentence, and the lines that match best.

An answer may also be JSON, or a list of files or of places.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from data_prep.errors import UserError, one_line
from data_prep.files.access import named_path
from experiments.terminal import console
from experiments.terminal.console import BOLD, CYAN, DIM, GREEN, Paint, cut, line_width, painter
from search.engine.certainty import NEAREST, Certainty
from search.engine.engine import Engine
from search.engine.filters import Question
from search.engine.line_scores import rarities
from search.engine.messages import line_of
from search.engine.preview import Line, file_lines, signature, unit_lines
from search.engine.question import asked_words, parted
from search.engine.show import aligned, as_json, explained, licence_of
from search.engine.signals import Hit
from search.index.code_index import Index, rows_of_files, text_at
from search.options import RelatedOptions, SearchOptions

_SHOWN: Final = 3
"""Code words shown for a query word."""
_NAMED: Final = 5
"""Copies whose places are named."""
_UNSURE: Final = 3
"""Hits that are shown where nothing was found."""
_LONGEST: Final = 300
"""Cells of a line of a list of places."""
_KINDS: Final = 6
"""Kinds of files that are not read which are named."""


class Places:
    """The files of an index, seen from the current folder."""

    def __init__(self, index: Index, root: Path | None) -> None:
        """``root``: the indexed folder; None: not known, so that paths are those inside of it."""
        self._index, self._root = index, root

    def path(self, row: int) -> str:
        """The path of the file of a row."""
        root, file = self._index.source(self._index.file_number(row), self._root)
        return from_here(root / file.path) if root else file.path

    def text(self, row: int) -> str:
        """The text of the file of a row, if it is still the one that was indexed; else ""."""
        return text_at(self._index, self._index.file_number(row), self._root)


def from_here(path: Path) -> str:
    """An absolute path as it is shortest from the current folder: relative, or else absolute."""
    whole = str(path)
    try:
        relative = os.path.relpath(whole, named_path("."))
    except UserError:  # the current folder was deleted
        return whole
    return relative if not relative.startswith("../") or len(relative) < len(whole) else whole


@dataclass(frozen=True, slots=True)
class View:
    """How hits are shown."""

    engine: Engine
    places: Places
    rarity: Mapping[str, float]  # of the question's words
    paint: Paint
    width: int
    explain: bool
    matched: Mapping[int, int]  # row -> the line that a regular expression matches; 0: none
    asked: Question  # whose text a line may have

    @classmethod
    def of(
        cls,
        engine: Engine,
        question: str,
        root: Path | None,
        *,
        explain: bool = False,
        matched: Mapping[int, int] = MappingProxyType({}),
        quoted: bool = False,
    ) -> "View":
        """On this terminal or into a pipe.

        Args:
            engine: over the index.
            question: in words, without filters; "": there is none in words.
            root: the indexed folder; None: not known.
            explain: whether scores, licences and copies are shown too.
            matched: row -> the line that a regular expression matches, which is shown as the best one.
            quoted: whether the question is a text in quotes.
        """
        index = engine.index
        rarity = rarities(asked_words(question), index.lexical)
        asked = Question(question, quoted=quoted)
        return cls(engine, Places(index, root), rarity, painter(), line_width(), explain, matched, asked)

    def place(self, row: int, line: int = 0) -> str:
        """The path of a row from where one stands and a line: by default its first."""
        return f"{self.places.path(row)}:{line or self.engine.index.split.text(row).start_line}"

    def lines(self, row: int) -> list[Line]:
        """The lines of a row that match the question best."""
        index, matched = self.engine.index, self.matched.get(row, 0)
        whole = self.places.text(row) if matched or index.is_whole_file(row) else ""
        told, asked = index.text(row), self.asked
        text = whole or told.source
        having = matched or line_of(text, asked.text, quoted=asked.quoted, sentence=told.query_text)
        if not index.is_whole_file(row) and not (whole and matched):
            return unit_lines(index, row, self.rarity, 0 if matched else having)
        return file_lines(text.split("\n"), int(bool(whole)), self.rarity, having)  # without it behind its licence


def hit_lines(view: View, rank: int, row: int, copies: Sequence[int], note: str, about: Iterable[str]) -> Iterator[str]:
    """The lines of one hit.

    Args:
        view: how it is shown.
        rank: from 1.
        row: of the index.
        copies: rows with the same text.
        note: what stands behind its place.
        about: lines that explain it.
    """
    index, paint, width = view.engine.index, view.paint, view.width - 4
    text, code, whole = index.split.text(row), view.lines(row), index.is_whole_file(row)
    at_best = whole or view.matched.get(row)
    number = next((line.number for line in code if line.best), 0) if at_best else text.start_line
    name = cut(index.names[row], width)
    repository = index.repository(row)
    where = f"{paint(CYAN, view.place(row, number))}{paint(DIM, f'  {repository}') if repository else ''}"
    yield f"{rank:>2}  {paint(BOLD, name)}  {where}{note}"
    what = (
        f"the whole file, {text.end_line:,} line{'s' * (text.end_line > 1)}"
        if whole
        else signature(text.source, text.path)
    )
    yield f"    {paint(DIM if whole else GREEN, cut(what, width))}"
    if text.query_text:
        yield f"    {cut(text.query_text, width)}"
    yield from _code_lines(code, paint, width)
    if copies:
        yield f"    {_copies(view, copies)}"
    yield from (f"    {line}" for line in about)


def as_text(view: View, question: str, hits: Sequence[Hit], sure: Certainty, seconds: float) -> str:
    """How certain the answer is, and some lines per hit, in colour on a terminal."""
    lines = [view.paint(BOLD, sure.line)]
    if sure.level != "strong" and (told := unread_line(view.engine.index)):
        lines.append(view.paint(DIM, told))
    if sure.level == "none" and hits:
        if NEAREST not in sure.line:
            lines.append(f"{NEAREST}, which need not answer it:")
        hits = hits[:_UNSURE]
    for hit in hits:
        about = _about(view, question, hit) if view.explain else ()
        lines += ["", *hit_lines(view, hit.rank, hit.row, hit.copies, "", about)]
    if view.explain:
        lines += ["", found_line(view, len(hits), seconds)]
    return "\n".join(lines)


def as_files(view: View, rows: Iterable[int]) -> str:
    """The path of each file once, best first, one on a line."""
    return "\n".join(dict.fromkeys(one_line(view.places.path(row)) for row in rows))


def as_vimgrep(view: View, rows: Iterable[int]) -> str:
    """``path:line:column:text`` of each hit, as editors read it into a list of places."""
    return "\n".join(_vimgrep_line(view, row) for row in rows)


def found_line(view: View, count: int, seconds: float) -> str:
    """How many hits there are, of how much, and how long it took."""
    index = view.engine.index
    return view.paint(DIM, f"{count:,} of {rows_of_files(len(index), len(index.files))}, {1000 * seconds:.0f} ms")


def unread_line(index: Index) -> str:
    """What of the folder is not read, by kind; "" if there is nothing, or it is not known."""
    from search.files.unread import in_words  # which no sure answer says

    told = in_words(index.unread, _KINDS)
    return f"not read: {told}" if told else ""


def scores_line(view: View, row: int, scores: str) -> str:
    """The scores of a hit, the licence of its file, and the address of its lines."""
    licence = licence_of(view.engine.index.file(row)) or "licence not known"
    return view.paint(DIM, "  ".join([scores, licence, *filter(None, [view.engine.index.url(row)])]))


def _code_lines(code: Sequence[Line], paint: Paint, width: int) -> Iterator[str]:
    digits = max((len(str(line.number)) for line in code), default=1)
    for line in code:
        number = f"{line.number or '':>{digits}}"
        shown = cut(line.text, width - digits - 5, line.match)
        yield f"    {paint(GREEN, f'> {number}') if line.best else paint(DIM, f'  {number}')} | {shown}".rstrip()


def _copies(view: View, copies: Sequence[int]) -> str:
    total = f"and {len(copies):,} {'copy' if len(copies) == 1 else 'copies'}"
    if not view.explain:
        return total
    named = ", ".join(view.paint(CYAN, view.place(row)) for row in copies[:_NAMED])
    return f"{total}: {named}{', ...' if len(copies) > _NAMED else ''}"


def _about(view: View, question: str, hit: Hit) -> Iterator[str]:
    """Why a hit has its rank."""
    parts = (("model", hit.neural), ("vectors", hit.near))
    others = "".join(f", {name} {score:.2f}" for name, score in parts if score is not None)
    yield scores_line(view, hit.row, f"{hit.score:.2f} by {hit.stage} (BM25 {hit.lexical:.1f}{others})")
    alignment = aligned(view.engine, question, hit)
    for row in explained(alignment) if alignment else ():
        yield f"  {_word(row, view.paint)}"


def _word(row: dict[str, Any], paint: Paint) -> str:
    """What a word of the question is aligned with."""
    words = ", ".join(
        f"{one_line(each['word'])} {each['weight']:.2f} ({each['field']})" for each in row["aligned"][:_SHOWN]
    )
    return f"{one_line(row['word']):>16} -> {words or paint(DIM, 'no alignment')}"


def _vimgrep_line(view: View, row: int) -> str:
    index = view.engine.index
    text, whole = index.split.text(row), view.places.text(row).split("\n")
    number, matched = text.start_line, view.matched.get(row, 0)
    if matched or index.is_whole_file(row):
        number = matched or next((line.number for line in view.lines(row) if line.best), 1)
    line = whole[number - 1] if number <= len(whole) else ""
    shown = line.strip() if matched or index.is_whole_file(row) else signature(text.source, text.path)
    column = len(line) - len(line.lstrip()) + 1
    return f"{one_line(view.places.path(row))}:{number}:{column}:{cut(shown, _LONGEST)}"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question in words."""

    engine: Engine
    question: str  # as typed
    hits: Sequence[Hit]
    sure: Certainty
    seconds: float
    root: Path | None  # the indexed folder; None: not known
    more: Mapping[str, Any] | None = None  # what JSON says besides


def show_answer(answer: Answer, options: SearchOptions) -> None:
    """Print an answer to a question in words."""
    engine, hits, sure = answer.engine, answer.hits, answer.sure
    if options.json:
        console.show(
            as_json(engine, answer.question, hits, answer.seconds, explain=options.explain, more=answer.more or {})
        )
        return
    asked = parted(answer.question, engine.index, alone=bool(options.regex))
    question = asked.text
    matched = {hit.row: hit.match_line for hit in hits}
    view = View.of(engine, question, answer.root, explain=options.explain, matched=matched, quoted=asked.quoted)
    if options.files or options.vimgrep:
        if sure.level != "strong":
            console.complain(sure.line)
        show_list(view, [hit.row for hit in hits] if sure.level != "none" else [], options)
    else:
        console.show(as_text(view, question, hits, sure, answer.seconds), painted=True)


def show_list(view: View, rows: Sequence[int], options: SearchOptions | RelatedOptions) -> None:
    """Print the files or the places of some rows, and nothing if there are none."""
    if rows:
        console.show((as_files if options.files else as_vimgrep)(view, rows))
