"""The head of a function that does not parse, with other parameters: what begins its block then does."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from data_prep.languages.identifiers import compiled_later
from search.files.repair import Piece, Repaired

_HEAD: Final = compiled_later(rb"\s*(?:(?:async\s+)?def|class)\s+\w+")
_NAMED_HEAD: Final = compiled_later(
    rb"(?P<head>\s*(?:[\w@:&*<>.\[\]]+\s+){0,9}[\w.:?!]+(?:\s*=)?)\s*(?:\(.*?)?(?P<opens>\s*(?:=>?\s*)?\{|\s+do)\s*$"
)
"""The head of a function, up to its parameters, and what begins its block."""
_STATEMENTS: Final = compiled_later(
    rb"(?:^|\s)(?:if|else|elsif|elif|for|while|switch|match|catch|try|do|return|with|new|class|struct|enum|interface|trait"
    rb"|impl|module|namespace|defmodule|object|extension|protocol|(?:def\w*|func?|fun|function))\s*$|^\s*(?:if|for|while"
    rb"|return|class|struct|enum|interface|trait|impl|module|namespace|defmodule|object|extension|protocol)\b"
)
"""What is no head of a function, or has no name."""
_PARAMETERS: Final = (b"()", b"", b"() void")
"""What stands for the parameters of a function; Zig has the type of what it returns behind them."""
_ONE_LINE: Final = compiled_later(
    rb"(?P<head>\s*(?:[\w@:&*<>.\[\]]+\s+){0,9}[\w.:?!]+(?:(?<=\w\s)\s*=(?:\s*(?:async|function)\b)*)?)"
    rb"(?P<rest>\s*[({].*?)(?P<blank>\s*)$"
)
"""A function that is wholly in a line, up to its parameters, and the rest."""
_BODIES: Final = compiled_later(rb"(?:=>?\s*)?\{|\bdo\b(?=.*\bend\b)|(?<=\s)[\w}](?=.*\bend$)|(?<=\s)end$")
"""What may begin the body of such a function."""
_MOST_BODIES: Final = 6


def short_heads(line: bytes, *, colon: bool) -> list[tuple[bytes, bytes]]:
    """What begins a block in place of a line that does not parse: what is kept of it, and what is added, in turn."""
    if colon and (found := _HEAD.match(line)):
        return [(found[0], b"():")]
    if colon:
        return [(line[: len(line) - len(line.lstrip())], b"if 1:")]
    found = _NAMED_HEAD.match(line)
    if found is None or _STATEMENTS.search(found["head"]):
        return [(b"", b"")]
    return [*((found["head"], parameters + found["opens"]) for parameters in _PARAMETERS), (b"", b"")]


def with_other_head(
    lines: Sequence[bytes],
    indents: Sequence[int | None],
    waits: Callable[[bytes], bool],
    fits: Callable[[Sequence[bytes]], bool],
) -> Repaired | None:
    """A function without blocks, one line of which is its broken head, or all of it, with a head that parses.

    Args:
        lines: of the function.
        indents: of each; None for one that begins nothing. If they are several, it has blocks.
        waits: whether a line belongs to what is behind it, as a comment does.
        fits: whether lines parse in their place.
    """
    own = [number for number, each in enumerate(indents) if each is not None]
    if len({indents[number] for number in own}) > 1:
        return None
    number = next((number for number in own if not waits(lines[number].lstrip())), len(lines))
    before, others = b"".join(line + b"\n" for line in lines[:number]), lines[number + 1 :]
    for head in lines[number : number + 1]:
        for plain, added in (*_short(head), *_in_one_line(head)):
            pieces = [Piece(len(before) + each.place, each.text) for each in added]
            fixed = Repaired(before + b"\n".join((plain, *others)), pieces)
            if fits([fixed.text]):
                return fixed
    return None


def _short(line: bytes) -> Iterator[tuple[bytes, list[Piece]]]:
    """A line that only begins a block with each of its other heads, as long as it was, and what is added to it."""
    for kept, text in short_heads(line, colon=False):
        if kept:
            yield kept + b" " * (len(line) - len(kept)), [Piece(len(kept), text)]


def _in_one_line(line: bytes) -> Iterator[tuple[bytes, list[Piece]]]:
    """A line that is a whole function: with its body, or else with an empty one."""
    found = _ONE_LINE.match(line)
    if found is None or _STATEMENTS.search(found["head"]):
        return
    head, end = found.end("head"), found.start("blank")
    some = _PARAMETERS if b" " in found["head"].strip() else _PARAMETERS[:1]  # one word and a block may be a call
    bodies = [each.start() for each in _BODIES.finditer(line, head)][:_MOST_BODIES]
    for place in bodies:
        for parameters in some:
            yield line[:head] + b" " * (place - head) + line[place:], [Piece(head, parameters)]
    if b"{" in found["rest"]:
        for parameters in some:
            yield line[:head] + b" " * (len(line) - head), [Piece(head, parameters), Piece(end, b"{ }")]
