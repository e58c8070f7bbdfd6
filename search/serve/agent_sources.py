"""Sources as coding agents get them: all of a unit, what fits of it, and how room is shared among several."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from search.index.code_index import Index, text_at

_ESCAPED: Final = re.compile("[\x7f-\x9f]")
"""Control characters that json does not escape, some of which begin a terminal's sequences."""
LEAST: Final = 200
"""Bytes of a source that are worth to be shown."""
_ABOVE: Final = 3
"""Lines that are shown above the one that is asked for, if not all fits."""
_AS_FIELD: Final = len(',"source":,"whole":false')


def as_text(answer: Any) -> str:
    """An answer, or a part of it, as it is sent."""
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    return _ESCAPED.sub(lambda each: f"\\u{ord(each[0]):04x}", text)


def size_of(answer: Any) -> int:
    """The bytes that it takes in UTF-8: a letter of three is about as much to a model as three of one."""
    return len(as_text(answer).encode("utf-8", "surrogatepass"))


def cut(source: str, most: int) -> str:
    """A source that takes at most ``most`` bytes as JSON, at whole lines if that leaves most of it."""
    if len(source) <= most and size_of(source) <= most:
        return source
    part = source[: max(0, most - 2)]
    while part and (over := size_of(part) - most) > 0:
        part = part[: -max(1, over // 6)]  # a character takes at most six
    end = part.rfind("\n") + 1
    return part[:end] if 2 * end >= len(part) else part


def cut_at(source: str, line: int, most: int) -> tuple[str, int]:
    """What takes at most ``most`` bytes of a source, and how many of its lines are left out before it.

    None are, unless the line at the place ``line``, from 0, would not be shown.
    """
    part = cut(source, most)
    if part == source or line < part.count("\n"):
        return part, 0
    before = max(0, min(line, source.count("\n")) - _ABOVE)
    rest = source.split("\n", before)[-1]
    return cut(rest, most), before


def shares(needs: Sequence[int], room: int) -> list[int]:
    """How much of ``room`` each of several gets: no more than it needs, and the first ones most of what is not enough.

    The one of rank r gets a share of 1 / (r + 1), and what others do not need in the same proportion.
    """
    weights = [1 / (rank + 1) for rank in range(1, len(needs) + 1)]
    given, hungry = [0] * len(needs), {*range(len(needs))}
    while hungry:
        level = max(0, room) / sum(weights[each] for each in hungry)
        full = {each for each in hungry if needs[each] <= level * weights[each]}
        for each in full or hungry:
            given[each] = needs[each] if full else int(level * weights[each] + 1e-6)
        room -= sum(given[each] for each in full)
        hungry = hungry - full if full else set()
    return given


def add_sources(entries: Sequence[dict[str, Any]], hits: Sequence[Mapping[str, Any]], room: int) -> None:
    """Give ``entries``, the first ones of ``hits``, as much of their sources as ``room``, in bytes, has for them."""
    needs = [size_of(hit["source"]) + _AS_FIELD if hit.get("source") else 0 for hit in hits[: len(entries)]]
    given = shares(needs, room)
    while needs and given[-1] < min(needs[-1], LEAST):
        needs.pop()
        given = shares(needs, room)
    for entry, hit, share in zip(entries, hits, given, strict=False):
        if share and (part := cut(hit["source"], share - _AS_FIELD)):
            entry |= {"source": part, "whole": part == hit["source"] and hit.get("whole", True)}


def is_cut(source: str, start_line: int, end_line: int) -> bool:
    """Whether a source is its first lines alone, which is what an index has of long types and files."""
    return source.count("\n") < end_line - start_line


def source_of(index: Index, row: int, root: Path) -> tuple[str, bool]:
    """All of a row's source, read from its file in ``root`` where the index has only a part; and whether it is all."""
    text = index.split.text(row)
    if not is_cut(text.source, text.start_line, text.end_line):
        return text.source, True
    lines = text_at(index, index.file_number(row), root).removesuffix("\n").split("\n")
    first, *rest = lines[text.start_line - 1 : text.end_line] or [""]
    begins = 0 if index.is_whole_file(row) else first.find(text.source.partition("\n")[0])
    whole = "\n".join([first[begins:], *rest])
    return (whole, True) if begins >= 0 and len(whole) > len(text.source) else (text.source, False)
