"""Answers to code as text for a terminal, and as JSON (docs/search.md lists the fields)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Any, Final

from data_prep.errors import one_line
from data_prep.traces.trace import TracedError
from experiments.terminal.console import BOLD, CYAN, DIM, GREEN, cut
from search.engine.engine import Engine
from search.engine.show import place_record, result
from search.engine.signals import Hit, Stage
from search.hits import View, found_line, hit_lines, scores_line
from search.index.frame_locator import Located
from search.snippets.answer import CodeAnswer
from search.snippets.code_search import CodeHit

_NAMED: Final = 3
"""Frames outside of the index that the text names for each error."""
_NO_WORD: Final = "none of its words is in a name, identifier, call or comment"
_OTHERS: Final = "only other files than those asked for may have some"


def as_record(engine: Engine, answer: CodeAnswer, seconds: float) -> dict[str, Any]:
    """The answer as the JSON interfaces return it."""
    found: dict[str, Any] = {"kind": answer.kind, "language": answer.language}
    if answer.row is not None:
        found["place"] = _place(engine, answer.row)
    if answer.trace:
        inside = sum(each.row is not None for each in answer.frames)
        found |= {"innermost": "last" if answer.trace.innermost_last else "first"}
        found |= {"frames": len(answer.frames), "frames_in_index": inside, "errors": [*_errors(engine, answer)]}
    if answer.unread:
        found["frames_not_read"] = answer.unread
    found["milliseconds"] = round(1000 * seconds, 2)
    return found | {"results": [code_result(engine, hit) for hit in answer.hits]}


def code_result(engine: Engine, hit: CodeHit) -> dict[str, Any]:
    """A hit as JSON: the fields of a question's hits, and its overlap and what copy it is."""
    stage: Stage = "copy" if hit.copy else "code"
    plain = Hit(hit.rank, hit.row, hit.score, hit.lexical, None, hit.near, 0.0, stage, hit.copies)
    return result(engine, "", plain, explain=False) | {"overlap": round(hit.overlap, 4), "copy": hit.copy}


def as_json(
    engine: Engine, answer: CodeAnswer, seconds: float, *, more: Mapping[str, Any] = MappingProxyType({})
) -> str:
    """One JSON object, with what there is ``more``."""
    return json.dumps({**as_record(engine, answer, seconds), **more}, indent=1).replace("\x7f", "\\u007f")


def as_text(view: View, answer: CodeAnswer, seconds: float, *, narrowed: bool = False) -> str:
    """The frames of a trace, or the unit of a place, then some lines per hit, in colour on a terminal.

    ``narrowed``: whether only some files were asked for.
    """
    lines = [*_question(view, answer)]
    if not answer.hits:
        lines.append(f"no code like it: {_OTHERS if narrowed else _NO_WORD}")
    for hit in answer.hits:
        about = [scores_line(view, hit.row, _scores(hit))] if view.explain else ()
        copy = {"exact": "  copy", "near": "  near copy", "": ""}[hit.copy]
        lines += ["", *hit_lines(view, hit.rank, hit.row, hit.copies, copy, about)]
    return "\n".join([*lines, *(["", found_line(view, len(answer.hits), seconds)] if view.explain else ())])


def _question(view: View, answer: CodeAnswer) -> Iterator[str]:
    if answer.left_out:
        yield f"of {answer.read + answer.left_out:,} characters the middle is left out; {answer.read:,} are read"
    if answer.unread:
        many = (
            "1 line looks like a frame and is"
            if answer.unread == 1
            else f"{answer.unread:,} lines look like frames and are"
        )
        yield f"{many} not read"
    if answer.row is not None:
        name = view.engine.index.names[answer.row]
        yield f"code like {view.paint(BOLD, name)}  {view.paint(CYAN, view.place(answer.row))}"
    elif answer.trace is None:
        yield f"code like the {one_line(answer.language)} code" if answer.language else "code like it"
    else:
        yield from _trace_lines(view, answer)
        yield "code like it"


def _trace_lines(view: View, answer: CodeAnswer) -> Iterator[str]:
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
        yield view.paint(BOLD, cut(_error_line(error), view.width))
        outside = [each for each in frames if each.row is None]
        for each, times in _merged([each for each in frames if each.row is not None]):
            yield from _frame_lines(view, each, times)
        if outside:
            named = ", ".join(_where(each) for each, _ in _merged(outside)[:_NAMED])
            more = len(_merged(outside)) - _NAMED
            yield view.paint(DIM, f"    not in the index: {named}{f' and {more} more' if more > 0 else ''}")


def _error_line(error: TracedError) -> str:
    relation = f"{error.relation}: " if error.relation else ""
    message = f": {error.message}" if error.message else ""
    return f"{relation}{error.error or 'error'}{message}"


def _frame_lines(view: View, located: Located, times: int) -> Iterator[str]:
    assert located.row is not None
    place, frame = _place(view.engine, located.row), located.frame
    where = view.place(located.row, frame.line) + (
        f" (now in lines {place['start_line']}-{place['end_line']})" if located.moved else ""
    )
    repeated = f"  {times} times" if times > 1 else ""
    yield f"    {view.paint(BOLD, place['name'])}  {view.paint(CYAN, where)}{repeated}"
    yield f"        {view.paint(GREEN, cut(frame.code or place['signature'], view.width - 8))}"


def _where(located: Located) -> str:
    frame = located.frame
    name = f" {frame.name}" if frame.name else ""
    several = f" (in which of {located.several:,} files is not certain)" if located.several else ""
    where = f"{frame.path}:{frame.line}{name}{several}" if frame.path else name.strip() or "a frame without a place"
    return one_line(where)


def _scores(hit: CodeHit) -> str:
    near = "" if hit.near is None else f", vectors {hit.near:.2f}"
    return f"{hit.score:.2f} (BM25 {hit.lexical:.1f}{near}, overlap {hit.overlap:.2f})"


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
    found: dict[str, Any] = {
        "path": frame.path,
        "line": frame.line,
        "name": frame.name,
        "code": _code_of(engine, located),
    }
    unit = None if located.row is None else _place(engine, located.row) | {"moved": located.moved}
    return found | {"unit": unit}


def _code_of(engine: Engine, located: Located) -> str:
    """The code that is printed with a frame, or else its line as it is in the index; "" if it is not known."""
    frame = located.frame
    if frame.code or located.row is None or located.moved:
        return frame.code
    text = engine.index.text(located.row)
    lines, place = text.source.split("\n"), frame.line - text.start_line
    return lines[place].strip() if 0 <= place < len(lines) else ""


def _by_error(answer: CodeAnswer) -> Iterator[tuple[TracedError, Sequence[Located]]]:
    start = 0
    for error in answer.trace.errors if answer.trace else ():
        yield error, answer.frames[start : start + len(error.frames)]
        start += len(error.frames)


def _merged(frames: Sequence[Located]) -> list[tuple[Located, int]]:
    """The frames, with the same one after another once, and how often."""
    return [(each, len([*same])) for each, same in groupby(frames)]


def _place(engine: Engine, row: int) -> dict[str, Any]:
    """A row by its place, as JSON."""
    return {"row": row, **place_record(engine.index, row), "url": engine.index.url(row)}
