"""Parts of a context: its imports, the head of the type around the function, the nearest lines.

A context is text without comments, of any language of the corpus and perhaps broken, so parts are found by lines.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, get_args

Part = Literal["all", "imports", "type", "nearest", "heads"]
PARTS: Final[tuple[Part, ...]] = get_args(Part)
NEAREST: Final = 10
"""Lines of the part ``nearest``."""

_MODIFIERS: Final = r"(?:(?:export|default|abstract|public|private|protected|static|final|sealed|declare|data)\s+)*"
_TYPE: Final = re.compile(rf"\s*(?:@\w+\s+)*{_MODIFIERS}(?:class|interface|enum|record|struct|type|trait)\s+\w")
_IMPORT: Final = re.compile(r"\s*(?:import|from|package|export\s.*\bfrom|(?:const|let|var)\s.*=\s*require\s*\()(?!\w)")
_LONGEST_IMPORT: Final = 200
"""Lines of one import at most: a bracket that is never closed ends there."""


def part_of(text: str, part: Part) -> str:
    """A part of the context ``text``, as lines.

    ``imports``: import and package statements with all their lines. ``type``: the last line that declares a type.
    ``nearest``: the last :data:`NEAREST` lines. ``heads``: imports, then the type, then the nearest lines.
    """
    if part == "all":
        return text
    lines = text.splitlines()
    match part:
        case "imports":
            found: Sequence[str] = [*_imports(lines)]
        case "type":
            found = _type_head(lines)
        case "nearest":
            found = lines[-NEAREST:]
        case "heads":
            before, nearest = lines[:-NEAREST], lines[-NEAREST:]
            found = [*_imports(before), *_type_head(before), *nearest]
    return "".join(f"{line}\n" for line in found)


def _imports(lines: Sequence[str]) -> Iterator[str]:
    open_brackets, left = 0, 0
    for line in lines:
        if not left and not _IMPORT.match(line):
            continue
        yield line
        left = left or _LONGEST_IMPORT
        open_brackets += sum(line.count(each) for each in "({") - sum(line.count(each) for each in ")}")
        left -= 1
        if open_brackets <= 0 or not left:
            open_brackets, left = 0, 0


def _type_head(lines: Sequence[str]) -> Sequence[str]:
    return next(([line] for line in reversed(lines) if _TYPE.match(line)), [])
