"""What coding agents can ask: the tools of the MCP server, as plain functions over an index.

Answers are cut to a budget of tokens, of which four bytes of UTF-8 count as one. All texts are those of the indexed
code, which is not trusted: an agent should read them as data. What the docstrings say is what agents are told.
"""

from typing import Final, Literal

from data_prep.errors import UserError, one_line, shown
from data_prep.traces.trace import trace_in
from search.engine.asked_places import known_pattern, pattern_of, place_of
from search.engine.certainty import Certainty
from search.engine.engine import Engine
from search.engine.expressions import Pattern
from search.engine.question import LONGEST_QUERY
from search.engine.show import aligned, explained, result
from search.engine.signals import Hit
from search.engine.usages import USUAL, find_usages
from search.files.languages import LONGEST_PATTERN, chosen_languages
from search.index.frame_locator import FrameLocator
from search.serve.agent_answers import (
    NOTE,
    Record,
    first_of,
    hit_record,
    shortened,
    source_of,
    with_files,
    with_hits,
    with_source,
    with_words,
)
from search.serve.fresh_index import Current, FreshIndex
from search.serve.live_index import looking_again
from search.snippets.answer import CodeAnswer, Wanted, answer_place, answer_text, file_of, outside_of_units
from search.snippets.show import as_record
from search.usages import as_record as usages_record
from search.usages import certainty_of

BYTES: Final = 4
"""Bytes of UTF-8 that count as a token."""
BUDGET: Final = 4000
LIMITS: Final = {"top": (1, 50), "usages.top": (1, 1000), "line": (0, 1 << 31), "budget": (100, 100_000)}
"""The least and the most that an argument may be, of one tool alone behind its name."""
LENGTHS: Final = {
    "question": LONGEST_QUERY,
    "name": LONGEST_QUERY,
    "regex": LONGEST_QUERY,
    "snippet": 2 << 20,
    "path": 4096,
    "language": LONGEST_PATTERN,
}
"""The most characters that an argument may have; a pattern of paths may have fewer."""
_LONGEST: Final = 400
"""Characters of a trace's error."""


class AgentTools:
    """The tools; a wrong argument is a ValueError with one line."""

    def __init__(self, index: FreshIndex) -> None:
        """``index``: of the folder that is asked about."""
        self._index = index

    @looking_again
    def search(
        self,
        question: str = "",
        snippet: str = "",
        regex: str = "",
        top: int = 10,
        by: Literal["method", "file"] = "method",
        path: str = "",
        language: str = "",
        budget: int = BUDGET,
    ) -> Record:
        """Find code of this folder by what it does, by a name or an error message, or by code that it is like.

        Use it first, where you do not know the file or the words: "where do sessions expire", "retry with backoff",
        JsonReader.nextName. Give a question or a snippet, and not both. If the snippet is a stack trace, the answer
        also has the functions of this folder that it went through. With regex, alone or beside a question, hits are the
        functions, types and files whose own text matches. To list each line that does, use grep instead. Look at
        "certainty" first: "none" means that nothing was found, "weak" that perhaps nothing answers.

        Args:
            question: What is looked for, in a few English words, or an identifier, or an error message. Filters may
                stand in it: lang:go, path:src/, type:class (function, method, constant, test, file), test:no, -path:a.
            snippet: Instead of a question, code that hits shall be like, or a stack trace.
            regex: Regular expression (RE2) that the text of hits must match; (?i) ignores case; empty for all.
            top: How many hits.
            by: "method" for the best functions, methods and types; "file" for the best files, one hit each.
            path: Only files of this folder (src/), path (pool/impl.py) or pattern (src/*, *.py), which may be absolute;
                empty for all.
            language: Only these languages, such as python,go; empty for all.
            budget: Most tokens of the answer, of 4 bytes each. Sources are cut to it, and what is left out is
                counted.
        """
        _check(question=question, snippet=snippet, regex=regex, top=top, path=path, language=language, budget=budget)
        if not (snippet or regex) and (pasted := trace_in(question)):
            question, snippet = "", pasted
        if by not in ("method", "file"):
            raise UserError(f"by takes method or file, not {shown(by)}")
        if bool(question.strip() or regex) == bool(snippet.strip()):
            raise UserError(
                "expected a question, in words, as a name or by a regex, or a snippet of code, and not both"
            )
        pattern = Pattern(regex, self._index.root) if regex else None
        asked = question or snippet[:LONGEST_QUERY]
        now = self._index.current(f"{asked} {pattern_of(self._index.root, path)}")
        languages, path = _languages(now.engine, language), self._pattern(now, path)
        if snippet.strip():
            return self._of_code(now, answer_text(now.engine, snippet, Wanted(top, path, languages)), budget)
        hits = now.engine.search(
            question, top=top, path=path, languages=languages, by_file=by == "file", pattern=pattern
        )
        certainty = now.engine.certainty(question, hits)
        records = [self._record(now, result(now.engine, question, hit, explain=False)) for hit in hits]
        return with_hits(self._head(now, certainty), records, budget * BYTES)

    @looking_again
    def related(self, path: str, line: int = 0, top: int = 10, language: str = "", budget: int = BUDGET) -> Record:
        """Find code that is like the function, method, type or file at a place: copies of it first.

        Use it before you change code, to find the places that need the same change, and before you write code, to
        find a helper that exists.

        Args:
            path: The file: its absolute path, or relative to the folder; file:line is taken too.
            line: Any line of the code, from 1; 0 for the one in path.
            top: How many hits.
            language: Only these languages, such as python,go; empty for all.
            budget: Most tokens of the answer, of 4 bytes each. Sources are cut to it, and what is left out is
                counted.
        """
        _check(path=path, line=line, top=top, language=language, budget=budget)
        now = self._index.current(path)
        languages = _languages(now.engine, language)
        file, line = self._place(now, path, line)
        return self._of_code(now, answer_place(now.engine, file, line, Wanted(top, languages=languages)), budget)

    @looking_again
    def usages(self, name: str, top: int = USUAL, path: str = "", language: str = "", budget: int = BUDGET) -> Record:
        """List who calls or mentions a name: each line with its place and the function around it, by file, tests last.

        Use it before you change or remove a function, method, type or constant, and instead of grep for a name: strings
        and comments are not counted, and definitions are told apart. It goes by name and not by type: with Type.method
        or module.function, usages are left out that the text of their file tells to be another one's.

        Args:
            name: An identifier, Type.method or module.function. Filters may stand beside it: path:src/, lang:go,
                test:no.
            top: How many usages.
            path: Only files of this folder (src/), path (pool/impl.py) or pattern (src/*, *.py), which may be absolute;
                empty for all.
            language: Only these languages, such as python,go; empty for all.
            budget: Most tokens of the answer, of 4 bytes each; usages that do not fit are counted.
        """
        _check(**{"usages.top": top}, name=name, path=path, language=language, budget=budget)
        now = self._index.current(f"{name} {pattern_of(self._index.root, path)}")
        languages, root = _languages(now.engine, language), self._index.root
        found = find_usages(now.engine, name, root, path=self._pattern(now, path), languages=languages)
        told, head = usages_record(now.engine.index, found, top), self._head(now, certainty_of(found))
        told["narrowed"] = told.get("narrowed", {}).get("text", "")
        told["definitions"] = [
            {each: shortened(str(value)) if each == "signature" else value for each, value in one.items()}
            for one in told["definitions"]
        ]
        names = ("count", "calls", "file_count", "narrowed", "definitions")
        return with_files(
            head | {each: told[each] for each in names if told[each]}, told["files"], found.count, budget * BYTES
        )

    @looking_again
    def read_unit(self, path: str, line: int = 0, budget: int = BUDGET) -> Record:
        """Read the whole function, method, type or file at a place.

        Use it after search, where "whole" is false, instead of reading the whole file.

        Args:
            path: The file: its absolute path, or relative to the folder; file:line is taken too.
            line: Any line of the code, from 1; 0 for the one in path.
            budget: Most tokens of the answer, of 4 bytes each; of a longer source what is around the line.
        """
        _check(path=path, line=line, budget=budget)
        now = self._index.current(path)
        row, line = self._row(now, path, line)
        told = result(now.engine, "", Hit(1, row, 0.0, 0.0, None, None, 0.0, "name"), explain=False)
        entry = {name: value for name, value in self._record(now, told).items() if name not in ("rank", "source")}
        source, whole = source_of(now.engine.index, row, self._index.root)
        return with_source(self._head(now) | entry, source, budget * BYTES, line, whole=whole)

    @looking_again
    def explain(self, question: str, path: str, line: int = 0, budget: int = BUDGET) -> Record:
        """Say why a place has its rank for a question: its scores, and the code that each word aligns with.

        It finds nothing new: use it only to see why a hit of search is there, or why a place is not.

        Args:
            question: As asked before.
            path: The file: its absolute path, or relative to the folder; file:line is taken too.
            line: Any line of the code, from 1; 0 for the one in path.
            budget: Most tokens of the answer, of 4 bytes each; words that do not fit are counted.
        """
        _check(question=question, path=path, line=line, budget=budget)
        now = self._index.current(path)
        engine, row = now.engine, self._row(now, path, line)[0]
        hits = engine.search(question, top=len(engine.index))
        hit = next((each for each in hits if row in each.rows), None)
        found = self._head(now) | {"path": engine.index.split.text(row).path, "name": engine.index.names[row]}
        if hit is None:
            return with_words(found | {"rank": None}, [], budget * BYTES)
        alignment = aligned(engine, question, hit)
        told = result(engine, question, hit, explain=False)
        found |= {name: told[name] for name in ("rank", "score", "bm25", "model", "vectors", "file", "stage")}
        return with_words(found, explained(alignment) if alignment else [], budget * BYTES)

    def _head(self, now: Current, certainty: Certainty | None = None) -> Record:
        """What is said of each answer."""
        head: Record = {"note": NOTE}
        if certainty:
            head["certainty"] = certainty.record
            if not now.whole:
                head["certainty"]["text"] += " (of those indexed so far)"
        if notice := "; ".join(filter(None, (now.notice, self._index.trouble))):
            head["notice"] = notice
        return head | {"folder": one_line(str(self._index.root))}

    def _record(self, now: Current, told: Record) -> Record:
        return hit_record(told, changed=self._index.has_changed(now.engine.index.file(told["row"])))

    def _row(self, now: Current, path: str, line: int) -> tuple[int, int]:
        file, line = self._place(now, path, line)
        number = file_of(now.engine.index, file)
        row = FrameLocator(now.engine.index).row_at(number, line)
        if row is None:
            raise UserError(outside_of_units(now.engine.index, number, line))
        return row, line

    def _pattern(self, now: Current, path: str) -> str:
        """A folder, path or pattern that files match, unless they may be in what is not read yet."""
        return known_pattern(now.engine.index, self._index.root, path, whole=now.whole)

    def _place(self, now: Current, path: str, line: int) -> tuple[str, int]:
        """The file and the line of a place; where there is none, it may be in a file that is not read yet."""
        try:
            return place_of(now.engine.index, self._index.root, path, line)
        except UserError as error:
            raise UserError(f"{error} ({now.notice})" if now.notice else str(error)) from None

    def _of_code(self, now: Current, answer: CodeAnswer, budget: int) -> Record:
        """An answer to code; the frames of a trace take at most half of the budget, the innermost ones are kept."""
        told, most = as_record(now.engine, answer, 0.0), budget * BYTES
        level: Literal["strong", "weak", "none"] = "weak" if answer.hits else "none"
        head = self._head(now, Certainty("strong" if answer.hits and answer.hits[0].copy else level))
        head |= {name: told[name] for name in ("kind", "language") if told[name]}
        if answer.unread:
            head["frames_not_read"] = answer.unread
        if "place" in told:
            head["place"] = _place(told["place"])
        if "errors" in told:
            inside = [_frame(frame) for error in told["errors"] for frame in error["frames"] if frame["unit"]]
            inside = inside if told["innermost"] == "first" else inside[::-1]
            names = ": ".join(filter(None, (told["errors"][-1]["error"], told["errors"][-1]["message"])))
            head |= {name: told[name] for name in ("frames", "frames_in_index")}
            head["error"] = shortened(names, min(_LONGEST, most // 8))
            head["innermost_frames"] = first_of(inside, most // 2)
        return with_hits(head, [self._record(now, each) for each in told["results"]], most)


def _frame(frame: Record) -> Record:
    """A frame that lies in the index."""
    moved = {"moved": True} if frame["unit"]["moved"] else {}
    return _place(frame["unit"]) | moved | {"line": frame["line"], "code": shortened(frame["code"])}


def _place(unit: Record) -> Record:
    """Where a unit is."""
    return {name: unit[name] for name in ("path", "start_line", "end_line")} | {"name": shortened(unit["name"])}


def _languages(engine: Engine, typed: str) -> frozenset[str]:
    languages = chosen_languages(typed)
    if languages and languages.isdisjoint(engine.languages):
        raise UserError(f"no file is in {', '.join(sorted(languages))}, but in {', '.join(engine.languages)}")
    return languages


def _check(**given: str | int) -> None:
    """Refuse an argument that is too long, too small or too large."""
    for name, value in given.items():
        if isinstance(value, str):
            if len(value) > LENGTHS[name]:
                raise UserError(f"{name} has at most {LENGTHS[name]:,} characters, not {len(value):,}")
        elif not LIMITS[name][0] <= value <= LIMITS[name][1]:
            least, most = LIMITS[name]
            raise UserError(
                f"{name.rpartition('.')[2]} takes a whole number from {least} to {most:,}, not {shown(value)}"
            )
