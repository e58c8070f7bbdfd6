"""Answers to code as text for a terminal, and as JSON (docs/search.md lists the fields)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from data_prep.files.printable import one_line
from search.engine.engine import Engine
from search.engine.show import painter, result, signature
from search.engine.signals import Hit, Stage
from search.snippets.answer import CodeAnswer
from search.snippets.code_search import CodeHit
from search.traces.trace import Located, TracedError

_BOLD, _DIM, _GREEN, _CYAN = "1", "2", "32", "36"
_NAMED: Final = 3
"""Frames outside of the index that the text names for each error."""
_WIDTH: Final = 110


def as_record(engine: Engine, answer: CodeAnswer, seconds: float) -> dict[str, Any]:
    """The answer as the JSON interfaces return it."""
    found: dict[str, Any] = {"kind": answer.kind, "language": answer.language}
    if answer.row is not None:
        found["place"] = _place(engine, answer.row)
    if answer.trace:
        inside = sum(each.row is not None for each in answer.frames)
        found |= {"innermost": "last" if answer.trace.innermost_last else "first"}
        found |= {"frames": len(answer.frames), "frames_in_index": inside, "errors": [*_errors(engine, answer)]}
    found["milliseconds"] = round(1000 * seconds, 2)
    return found | {"results": [code_result(engine, hit) for hit in answer.hits]}


def code_result(engine: Engine, hit: CodeHit) -> dict[str, Any]:
    """A hit as JSON: the fields of a question's hits, and its overlap and what copy it is."""
    stage: Stage = "copy" if hit.copy else "code"
    plain = Hit(hit.rank, hit.row, hit.score, hit.lexical, None, hit.near, 0.0, stage)
    return result(engine, "", plain, explain=False) | {"overlap": round(hit.overlap, 4), "copy": hit.copy}


def as_json(
    engine: Engine, answer: CodeAnswer, seconds: float, *, more: Mapping[str, Any] = MappingProxyType({})
) -> str:
    """One JSON object, with what there is ``more``."""
    return json.dumps({**as_record(engine, answer, seconds), **more}, indent=1).replace("\x7f", "\\u007f")


def as_text(engine: Engine, answer: CodeAnswer, seconds: float) -> str:
    """The frames of a trace, or the unit of a place, then a paragraph per hit, in colour on a terminal."""
    paint = painter()
    lines = [*_question(engine, answer, paint)]
    if not answer.hits:
        lines.append("no code like it: none of its words is in a name, identifier, call or comment")
    for hit in answer.hits:
        lines += _hit_lines(engine, hit, paint)
    return "\n".join([*lines, paint(_DIM, f"{len(answer.hits)} of {len(engine.index):,} in {1000 * seconds:.0f} ms")])


def _question(engine: Engine, answer: CodeAnswer, paint: Any) -> Iterator[str]:
    if answer.left_out:
        yield f"of {answer.read + answer.left_out:,} characters the middle is left out; {answer.read:,} are read"
    if answer.row is not None:
        place = _place(engine, answer.row)
        where = f"{place['path']}:{place['start_line']}-{place['end_line']}"
        yield f"code like {paint(_BOLD, place['name'])}  {paint(_CYAN, where)}"
    elif answer.trace is None:
        yield f"code like the {one_line(answer.language)} code" if answer.language else "code like it"
    else:
        yield from _trace_lines(engine, answer, paint)
        yield "code like it"


def _trace_lines(engine: Engine, answer: CodeAnswer, paint: Any) -> Iterator[str]:
    assert answer.trace
    inside = sum(each.row is not None for each in answer.frames)
    end = "last" if answer.trace.innermost_last else "first"
    total = len(answer.frames)
    what = (
        f"{inside} of {total} frames {'is' if inside == 1 else 'are'} in the index"
        if inside
        else (f"none of the {total} frames is in the index" if total > 1 else "its frame is not in the index")
    )
    yield f"{answer.trace.language} trace: {what}; the innermost is the {end}"
    for error, frames in _by_error(answer):
        yield paint(_BOLD, _error_line(error))
        outside = [each for each in frames if each.row is None]
        for each, times in _merged([each for each in frames if each.row is not None]):
            yield from _frame_lines(engine, each, times, paint)
        if outside:
            named = ", ".join(_where(each) for each, _ in _merged(outside)[:_NAMED])
            more = len(_merged(outside)) - _NAMED
            yield paint(_DIM, f"    not in the index: {named}{f' and {more} more' if more > 0 else ''}")


def _error_line(error: TracedError) -> str:
    relation = f"{error.relation}: " if error.relation else ""
    message = f": {error.message}" if error.message else ""
    return f"{relation}{error.error or 'error'}{message}"[:_WIDTH]


def _frame_lines(engine: Engine, located: Located, times: int, paint: Any) -> Iterator[str]:
    assert located.row is not None
    place, frame = _place(engine, located.row), located.frame
    where = f"{place['path']}:{frame.line}" + (
        f" (now in lines {place['start_line']}-{place['end_line']})" if located.moved else ""
    )
    repeated = f"  {times} times" if times > 1 else ""
    yield f"    {paint(_BOLD, place['name'])}  {paint(_CYAN, where)}{repeated}"
    yield f"        {paint(_GREEN, (frame.code or place['signature'])[:_WIDTH])}"


def _where(located: Located) -> str:
    frame = located.frame
    name = f" {frame.name}" if frame.name else ""
    return one_line(f"{frame.path}:{frame.line}{name}" if frame.path else name.strip() or "a frame without a place")


def _hit_lines(engine: Engine, hit: CodeHit, paint: Any) -> Iterator[str]:
    found = code_result(engine, hit)
    where = f"{found['path']}:{found['start_line']}-{found['end_line']}"
    copy = {"exact": "  copy", "near": "  near copy", "": ""}[hit.copy]
    yield f"{hit.rank:>2}  {paint(_BOLD, found['name'])}  {paint(_CYAN, where)}{copy}"
    yield f"    {paint(_GREEN, found['signature'][:_WIDTH])}"
    if found["documentation"]:
        yield f"    {one_line(found['documentation'])[:_WIDTH]}"
    near = "" if hit.near is None else f", vectors {hit.near:.2f}"
    scores = f"{hit.score:.2f} (BM25 {hit.lexical:.1f}{near}, overlap {hit.overlap:.2f})"
    licence = found["license"] or "licence not known"
    yield paint(_DIM, "    " + "  ".join([scores, licence, *filter(None, [found["url"]])]))


def _errors(engine: Engine, answer: CodeAnswer) -> Iterator[dict[str, Any]]:
    for error, frames in _by_error(answer):
        yield {
            "error": error.error,
            "message": error.message,
            "relation": error.relation,
            "left_out": error.left_out,
            "frames": [_frame_record(engine, each) for each in frames],
        }


def _frame_record(engine: Engine, located: Located) -> dict[str, Any]:
    frame = located.frame
    found: dict[str, Any] = {"path": frame.path, "line": frame.line, "name": frame.name, "code": frame.code}
    unit = None if located.row is None else _place(engine, located.row) | {"moved": located.moved}
    return found | {"unit": unit}


def _by_error(answer: CodeAnswer) -> Iterator[tuple[TracedError, Sequence[Located]]]:
    start = 0
    for error in answer.trace.errors if answer.trace else ():
        yield error, answer.frames[start : start + len(error.frames)]
        start += len(error.frames)


def _merged(frames: Sequence[Located]) -> list[tuple[Located, int]]:
    """The frames, with the same one after another once, and how often."""
    found: list[tuple[Located, int]] = []
    for each in frames:
        if found and found[-1][0] == each:
            found[-1] = each, found[-1][1] + 1
        else:
            found.append((each, 1))
    return found


def _place(engine: Engine, row: int) -> dict[str, Any]:
    """A row by its place, as JSON."""
    index, text = engine.index, engine.index.split.text(row)
    return {
        "row": row,
        "path": text.path,
        "start_line": text.start_line,
        "end_line": text.end_line,
        "name": index.names[row],
        "signature": signature(text.source, text.path),
        "url": index.url(row),
    }
