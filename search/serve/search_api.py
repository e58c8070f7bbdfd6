"""The part of the JSON API that searches: questions, explanations, and what there is (docs/search-api.md)."""

import threading
import time
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from data_prep.errors import one_line, shown
from data_prep.languages.registry import language_called
from data_prep.traces.trace import trace_in
from search.cursor import LONGEST, words_above
from search.engine.certainty import Certainty
from search.engine.engine import Engine
from search.engine.filters import known_path
from search.engine.show import LEAST_AGREEMENT, LEAST_WEIGHT, copies_of, result
from search.engine.signals import Hit
from search.files.languages import language_names
from search.files.stamps import Stamp, stamp_of
from search.index.code_index import Index, text_at
from search.quality.questions import examples_of
from search.serve.hit_records import KEPT_FILES, Span, highlighted, prepare, previewed, word_spans
from search.serve.live_index import Opened
from search.serve.requests import (
    FEW,
    MOST_HITS,
    Turns,
    check_query,
    choice,
    json_answer,
    languages,
    number,
    parameters,
    pattern_in,
    posted_fields,
    short,
)

LARGEST: Final = 1 << 20
"""Maximum bytes of a question with a context: the longest of both, even if all is escaped, but not much more."""
USUAL: Final = 15
"""Hits of a question with a context, if the request does not say how many (Scotch)."""
_QUIET: Final = 0.2
"""Seconds after an answer in which another question is likely: what answers show is not read then."""
_IN_CONTEXT: Final = {"query": "", "context": "", "language": "", "top": USUAL}


class FileTexts:
    """The whole texts of files, which are kept as long as their files are not written to."""

    def __init__(self, root: Path | None) -> None:
        """``root``: the indexed folder; None: not known."""
        self._root, self._kept = root, dict[tuple[str, str], tuple[Stamp, str]]()
        self._changing = threading.Lock()  # rows are prepared in a thread beside the one that answers

    def __call__(self, index: Index, row: int) -> str:
        """As :data:`search.serve.hit_records.Read`."""
        root, file = index.source(index.file_number(row), self._root)
        path = f"{root}/{file.path}"
        stamp = stamp_of(path, "itself")
        if stamp == Stamp():
            return ""
        stamp_then, text = self._kept.get((path, file.blobs), (None, ""))
        if stamp_then == stamp:
            return text
        text = text_at(index, index.file_number(row), self._root)
        with self._changing:
            while len(self._kept) >= KEPT_FILES:
                del self._kept[next(iter(self._kept))]
            self._kept[path, file.blobs] = stamp, text
        return text


class SearchApi:
    """Questions, explanations, and what there is."""

    def __init__(self, turns: Turns, model: str, about: Mapping[str, Any], feedback: str, root: Path | None) -> None:
        """The API.

        Args:
            turns: the index.
            model: the name that is reported for the model.
            about: what else is reported of the server.
            feedback: address of a form for what users think of answers; "": there is none.
            root: the indexed folder; None: not known.
        """
        self._turns, self._model, self._about, self._root = turns, model, about, root
        self._read, self._prepared, self._answered = FileTexts(root), "", 0.0
        self._told_to_editors = {name: about[name] for name in about if name != "posts"}
        self._told_to_editors |= {"feedback_url": feedback} if feedback else {}
        self._exemplified: tuple[str, dict[str, Any]] = "", {}

    async def health(self, request: Request) -> Response:
        """What is served."""
        parameters(request, {})
        now = await self._turns.opened(request)
        self.prepare(now)
        told = {
            "status": "ok",
            "rows": now.head.rows,
            "files": now.head.files,
            "languages": dict(Counter(file.language for file in now.engine.index.files)),
            "model": self._model,
            **self._about,
            "unread": dict(now.engine.index.unread),
            "examples": self._examples(now),
            "index": now.name,
            "indexing": now.so_far,
            "trouble": self._turns.live.trouble,
        }
        return json_answer(told)

    def _examples(self, now: Opened) -> dict[str, Any]:
        """What may be asked of the index, made once for each."""
        if self._exemplified[0] != now.name:
            self._exemplified = now.name, examples_of(now.engine.index)
        return self._exemplified[1]

    async def languages(self, request: Request) -> Response:
        """How many files of each language there are."""
        parameters(request, {})
        return json_answer({"languages": (await self._turns.opened(request)).engine.languages})

    async def search(self, request: Request) -> Response:
        """The best hits for a question."""
        self._answered = time.monotonic()  # or about to be
        known = {"q": "", "top": "10", "path": "", "language": "", "by": "method", "regex": ""}
        known |= dict.fromkeys(("explain", "colours"), "false")
        asked = parameters(request, known)
        pattern = pattern_in(asked, self._root)
        if trace_in(asked["q"]) and not pattern:
            told = Certainty("none", why="it is a stack trace, which POST /api/code reads").record
            return json_answer({"query": asked["q"], "certainty": told, "results": [], "trace": True})
        if asked["q"].strip() or not pattern:
            check_query(asked["q"])
        top, explain = number(asked, "top", 1, MOST_HITS), _is_wanted(asked, "explain")
        by_file = choice(asked, "by", ("method", "file")) == "file"
        path, chosen, colours = short(asked, "path"), languages(asked), _is_wanted(asked, "colours")

        def answer(now: Opened) -> dict[str, Any]:
            started = time.perf_counter()
            inside = known_path(now.engine.index, path)
            hits = now.engine.search(
                asked["q"], top=top, path=inside, languages=chosen, by_file=by_file, pattern=pattern
            )
            certainty = now.engine.certainty(asked["q"], hits).record
            milliseconds = round(1000 * (time.perf_counter() - started), 2)
            results = [result(now.engine, asked["q"], hit, explain=explain) for hit in hits]
            words = now.engine.asked(asked["q"], alone=pattern is not None)[0]
            results = previewed(now.engine, words, results, self._read, coloured=colours, typed=asked["q"])
            self.prepare(now)
            return {"query": asked["q"], "milliseconds": milliseconds, "certainty": certainty, "results": results}

        return await self._turns.answer(request, answer, brief=pattern is None)

    def prepare(self, now: Opened) -> None:
        """Begin to read what answers show of an index, once for each, unless it is one of several users or large."""
        self._answered = time.monotonic()
        if self._prepared != now.name and "shared" not in self._about and now.head.rows <= FEW:
            self._prepared = now.name
            is_current = lambda: self._prepared == now.name  # noqa: E731
            is_quiet = lambda: time.monotonic() > self._answered + _QUIET  # noqa: E731
            work = partial(prepare, now.engine, self._read, is_current, is_quiet)
            threading.Thread(target=work, daemon=True, name="preparing").start()

    async def search_in_context(self, request: Request) -> Response:
        """The best functions for a question together with the text above a cursor, as an editor asks, of its language.

        A context that is too long is answered with status 413.
        """
        asked = await posted_fields(request, LARGEST, _IN_CONTEXT, ("query",))
        top, language = number(asked, "top", 1, MOST_HITS), language_called(asked["language"])
        if len(asked["context"]) > LONGEST:
            raise HTTPException(413, f"context has at most {LONGEST:,} characters, those nearest to the cursor")
        if language and language not in language_names():
            raise HTTPException(400, f"language takes one of {', '.join(language_names())}, not {shown(language)}")
        if asked["context"] and not language:
            raise HTTPException(400, "a context needs its language")
        check_query(asked["query"])
        known = {**asked, "top": top, "language": language}
        answer = lambda now: _in_context(now.engine, **known) | self._told_to_editors  # noqa: E731
        return await self._turns.answer(request, answer, brief=True)

    async def unit(self, request: Request) -> Response:
        """What is coloured in the source of a row."""
        asked = parameters(request, {"row": "", "index": ""})
        row = number(asked, "row", 0, 1 << 40)
        answer = lambda now: {"row": row, "kinds": coloured(now.engine.index, row)}  # noqa: E731
        return await self._turns.answer(request, answer, asked["index"], row)

    async def explain(self, request: Request) -> Response:
        """The alignment of a question with a row."""
        asked = parameters(request, {"q": "", "row": "", "index": ""})
        check_query(asked["q"])
        row = number(asked, "row", 0, 1 << 40)
        answer = lambda now: {"row": row, **_explanation(now.engine, asked["q"], row)}  # noqa: E731
        return await self._turns.answer(request, answer, asked["index"], row)


def _is_wanted(asked: Mapping[str, str], name: str) -> bool:
    return choice(asked, name, ("true", "false")) == "true"


def coloured(index: Index, row: int) -> list[Span]:
    """What is coloured in the source of a row; nothing of a file that no parser has read."""
    text = index.text(row)
    return highlighted(text.source, text.path) if index.file(row).parsed else []


def _explanation(engine: Engine, query: str, row: int) -> dict[str, Any]:
    """The full alignment of each query word with a row; without a model that aligns, the positions of equal words."""
    words = engine.asked(query, alone=True)[0]
    alignment = engine.reranker.alignment(words, row) if engine.reranker and words else None
    code = list(alignment.code) if alignment else []
    text = engine.index.text(row)
    return {
        "query": list(alignment.query if alignment else words),
        "code": code,
        "fields": list(alignment.fields) if alignment else [],
        "weights": alignment.weights.astype(float).round(5).tolist() if alignment else [],
        "agreement": alignment.agreement.astype(float).round(5).tolist() if alignment else [],
        "least_weight": LEAST_WEIGHT,
        "least_agreement": LEAST_AGREEMENT,
        "spans": word_spans(text.source, text.path, {*words, *code}) if engine.index.file(row).parsed else [],
        "kinds": coloured(engine.index, row),
    }


def _in_context(engine: Engine, query: str, context: str, language: str, top: int) -> dict[str, Any]:
    """The answer to a question with a context."""
    started = time.perf_counter()
    if language and language not in engine.languages:
        raise HTTPException(400, f"the index has no {language}, but {', '.join(engine.languages)}")
    words = words_above(context, language) if context else ()
    chosen = frozenset((language,)) if language else frozenset()
    hits = engine.search(query, top=top, languages=chosen, context=words)
    return {
        "language": language,
        "model": "context" if words else "base",
        "took_ms": round(1000 * (time.perf_counter() - started), 2),
        "certainty": engine.certainty(query, hits).record,
        "results": previewed(engine, engine.asked(query)[0], [_attributed(engine, hit) for hit in hits], typed=query),
    }


def _attributed(engine: Engine, hit: Hit) -> dict[str, Any]:
    """A hit with what an editor needs to show and to attribute it."""
    index, text = engine.index, engine.index.text(hit.row)
    repository = index.repository(hit.row)
    return {
        "rank": hit.rank,
        "row": hit.row,
        **({"repository": repository} if repository else {}),
        "identifier": index.names[hit.row],
        "code": text.source,
        "copies": copies_of(index, hit),
        "path": text.path,
        "start_line": text.start_line,
        "end_line": text.end_line,
        "url": index.url(hit.row, text),
        "license": one_line(index.file(hit.row).licence),
        "score": None if hit.near is None else round(min(1.0, max(0.0, hit.near)), 8),
        "ranking": round(hit.score, 6),
    }
