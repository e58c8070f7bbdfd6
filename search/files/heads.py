"""The head of a function that does not parse, with other parameters: what begins its block then does."""

from typing import Final

from data_prep.languages.identifiers import compiled_later

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
