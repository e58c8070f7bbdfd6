"""Hits as JSON (docs/search.md lists the fields), and the heads of declarations, which a terminal shows too."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from data_prep.errors import one_line
from data_prep.languages.registry import language_of
from search.engine.engine import Engine
from search.engine.signals import Alignment, Hit
from search.index.code_index import Index, IndexedFile

_LONGEST_LICENCE: Final = 200  # characters
LEAST_WEIGHT: Final = 0.05
"""Attention below which a code word is not shown."""
LEAST_AGREEMENT: Final = 0.3
"""Cosine of a query word and what it attended to below which it is shown as not aligned."""
_INSIDE: Final = r"(?:[^()\[\]\"']|\"(?:\\.|[^\"\\])*+\"|'(?:\\.|[^'\\\n])*+'|')*+"
_NESTED: Final = rf"{_INSIDE}(?:[(\[]{_INSIDE}(?:[(\[]{_INSIDE}[)\]]{_INSIDE})*+[)\]]{_INSIDE})*+"
_ANNOTATION: Final = re.compile(
    rf"\A(?:\s*+(?:@(?!interface\b)[\w.]+(?:\({_NESTED}\))?|#?\[{_NESTED}\](?=\s))(?:\s*+//[^\n]*+)*+)++\s*+"
)
_HEREDOC: Final = re.compile(r'""".*?"""', re.DOTALL)
_DEFINES: Final = re.compile(r"^[ \t]*def", re.MULTILINE)
"""What follows attributes without brackets, as those of Elixir."""
_TOKEN: Final = re.compile(r'"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])*\'?|`[^`]*`?|[()\[\]{};:\n]')
_TYPE_BEFORE: Final = re.compile(r"(?:\b(?:interface|struct)|[:|&<,])\s*\Z")
"""What is before a brace that begins a type, not a body."""
_NAME_BEFORE: Final = re.compile(
    r"\btype\s+\w+(?:\[.*\])?\s+(?:interface|struct)\s*\Z|\bconst\s+\w+\s*=\s*(?:\w+\s+)?struct\s*\Z", re.DOTALL
)
"""The same of a type that the declaration itself names."""
_GOES_ON: Final = re.compile(r"\s*(?:[>:|&,]|=>|extends\b|implements\b|where\b)")
_BEGINNING: Final = re.compile(r"\A[ \t]*(?::|=>)?[ \t]*\{?[ \t]*\n?")
"""What begins a body, and the end of its line."""
_FIRST_OF_LINES: Final = re.compile(r"([(\[])\s*\n\s*")
_LAST_OF_LINES: Final = re.compile(r",?[ \t]*+\n\s*([)\]])")
"""The ends of a list of parameters that has a line for each."""
_RETURNED: Final = re.compile(r"(?:[^(:=]|::)*+\Z")
"""What may stand on a line before that of a name: the type of what is returned."""
_NAME_BEHIND: Final = re.compile(r"[ \t]*[*&]*[\w:~<>]+ ?\(")
_LONGEST: Final = 4000  # characters that are looked at


def as_json(
    engine: Engine,
    query: str,
    hits: Sequence[Hit],
    seconds: float,
    *,
    explain: bool,
    more: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """One JSON object: query, milliseconds, certainty, results, and what there is ``more``."""
    results = [result(engine, query, hit, explain=explain) for hit in hits]
    certainty = engine.certainty(query, hits).record
    told = {
        "query": query,
        "milliseconds": round(1000 * seconds, 2),
        "certainty": certainty,
        "results": results,
        **more,
    }
    return json.dumps(told, indent=1).replace("\x7f", "\\u007f")  # the one control character that json does not escape


def result(engine: Engine, query: str, hit: Hit, *, explain: bool) -> dict[str, Any]:
    """A hit as the JSON interfaces return it."""
    index, text = engine.index, engine.index.text(hit.row)
    found: dict[str, Any] = {
        "rank": hit.rank,
        "row": hit.row,
        "path": text.path,
        "start_line": text.start_line,
        "end_line": text.end_line,
        "whole_file": index.is_whole_file(hit.row),
        "name": index.names[hit.row],
        "signature": signature(text.source, text.path),
        "documentation": text.query_text,
        "source": text.source,
        "score": round(hit.score, 6),
        "bm25": round(hit.lexical, 6),
        "model": None if hit.neural is None else round(hit.neural, 6),
        "vectors": None if hit.near is None else round(hit.near, 6),
        "file": round(hit.of_file, 6),
        "stage": hit.stage,
        "license": licence_of(index.file(hit.row)),
        "url": index.url(hit.row, text),
        "copies": copies_of(index, hit),
    }
    if repository := index.repository(hit.row):
        found["repository"] = repository
    if hit.match_line:
        found["match_line"] = hit.match_line
    if explain and (alignment := aligned(engine, query, hit)):
        found["alignment"] = explained(alignment)
    return found


def copies_of(index: Index, hit: Hit) -> list[dict[str, Any]]:
    """The places of what has the same text as a hit."""
    texts = map(index.text, hit.copies)
    return [{"path": each.path, "start_line": each.start_line, "end_line": each.end_line} for each in texts]


def licence_of(file: IndexedFile) -> str:
    """The licence of a file, for display."""
    licence = one_line(file.licence)
    return licence if len(licence) <= _LONGEST_LICENCE else f"{licence[: _LONGEST_LICENCE - 1]}…"


def aligned(engine: Engine, query: str, hit: Hit) -> Alignment | None:
    """The alignment of the query's words with a hit; None without a model that aligns words."""
    asked = engine.known_to_model(query) if engine.reranker else ()
    return engine.reranker.alignment(asked, hit.row) if engine.reranker and asked else None


def explained(alignment: Alignment) -> list[dict[str, Any]]:
    """For each query word the code words that it is aligned with, strongest first, equal ones merged."""
    rows = []
    for word, weights, agreement in zip(alignment.query, alignment.weights, alignment.agreement, strict=True):
        found: dict[tuple[str, str], float] = {}
        for code, field, weight in zip(alignment.code, alignment.fields, weights.tolist(), strict=True):
            found[code, field] = found.get((code, field), 0.0) + weight
        strongest = sorted(found.items(), key=lambda each: -each[1])
        shown = [(each, weight) for each, weight in strongest if weight >= LEAST_WEIGHT]
        words = [{"word": code, "field": field, "weight": round(weight, 4)} for (code, field), weight in shown]
        agrees = float(agreement) >= LEAST_AGREEMENT
        rows.append({"word": word, "agreement": round(float(agreement), 4), "aligned": words if agrees else []})
    return rows


@lru_cache(maxsize=2048)  # a hit of one question is often one of another
def signature(source: str, path: str) -> str:
    """A declaration up to its body, on one line, without leading annotations.

    Args:
        source: of the declaration.
        path: of its file, whose suffix says the language.
    """
    head = _head_of(_without_annotations(source, path), path)
    return " ".join(_LAST_OF_LINES.sub(r"\1", _FIRST_OF_LINES.sub(r"\1", head)).split())


def body(source: str, path: str) -> str:
    """What follows the head of a declaration, without the mark that begins it and the rest of that line, if empty.

    Args:
        source: of the declaration.
        path: of its file, whose suffix says the language.
    """
    text = _without_annotations(source, path)
    head = _head_of(text, path)
    return _BEGINNING.sub("", text[text.find(head) + len(head) :])


def _without_annotations(source: str, path: str) -> str:
    language = language_of(path)
    if language and not language.body_mark and source.startswith("@"):
        text = _HEREDOC.sub("", source)
        defined = _DEFINES.search(text)
        return text[defined.start() :] if defined else source
    found = _ANNOTATION.match(source)
    return source[found.end() :] if found else source


def _head_of(text: str, path: str) -> str:
    language = language_of(path)
    mark = language.body_mark if language else "{"
    if len(mark) > 1:
        return re.split(f"[{mark}]", text, maxsplit=1)[0]
    return _head(text[:_LONGEST], mark)


def _head(text: str, mark: str) -> str:
    """The text up to the first colon (Python) or brace outside of brackets, or to a line's end that ends it."""
    text, depth = _undecorated(text), 0
    for match in _TOKEN.finditer(text):
        token, start = match[0], match.start()
        if token == mark == "{" and not depth and _is_body(text[:start]):
            return text[:start]
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
        elif depth:
            continue
        elif token == ";" or token == mark or (token == "\n" and _ends(text, start, mark)):
            return text[:start]
    return text


def _is_body(before: str) -> bool:
    return _NAME_BEFORE.search(before) is not None or _TYPE_BEFORE.search(before) is None


def _ends(text: str, end: int, mark: str) -> bool:
    """Whether a declaration has begun before a line's end, and does not go on behind it."""
    return bool(text[:end].strip()) and not (mark and _goes_on(text, end))


def _goes_on(text: str, end: int) -> bool:
    before = text[:end].rstrip()
    if before.endswith(("<", ",", "=", "|", "&", "=>")) or _GOES_ON.match(text, end + 1):
        return True
    if before.startswith("template") and before.endswith(">"):
        return True
    return _RETURNED.match(before) is not None and _NAME_BEHIND.match(text, end + 1) is not None


def _undecorated(text: str) -> str:
    """Without decorators, whose arguments may have brackets of their own."""
    while found := re.match(r"\s*@[\w.]+", text):
        place, depth = found.end(), 0
        for match in re.finditer(r"[()]|\S", text[place:]):
            depth += {"(": 1, ")": -1}.get(match[0], 0)
            if match[0] == ")" and not depth:
                place += match.end()
                break
            if not depth:
                break
        text = text[place:]
    return text.lstrip()
