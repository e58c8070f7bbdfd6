"""The head of a declaration: what is before its body, on one line; and its body."""

import re
from typing import Final

from data_prep.languages.registry import language_of

_ANNOTATION: Final = re.compile(r"\A(?:\s*@[\w.]+(?:\([^()]*\))?)+\s*(?!\w*\s*interface)")
_TOKEN: Final = re.compile(r'"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])*\'?|`[^`]*`?|[()\[\]{};:\n]')
_TYPE_BEFORE: Final = re.compile(r"(?:\b(?:interface|struct)|[:|&<,])\s*\Z")
"""What is before a brace that begins a type, not a body."""
_NAME_BEFORE: Final = re.compile(r"\btype\s+\w+(?:\[.*\])?\s+(?:interface|struct)\s*\Z", re.DOTALL)
"""The same of a type that the declaration itself names."""
_GOES_ON: Final = re.compile(r"\s*(?:[>:|&,]|=>|extends\b|implements\b|where\b)")
_BEGINNING: Final = re.compile(r"\A[ \t]*(?::|=>)?[ \t]*\{?[ \t]*\n?")
"""What begins a body, and the end of its line."""
_FIRST_OF_LINES: Final = re.compile(r"([(\[])\s*\n\s*")
_LAST_OF_LINES: Final = re.compile(r",?[ \t]*+\n\s*([)\]])")
"""The ends of a list of parameters that has a line for each."""
_LONGEST: Final = 4000  # characters that are looked at


def signature(source: str, path: str) -> str:
    """A declaration up to its body, on one line, without leading annotations.

    Args:
        source: of the declaration.
        path: of its file, whose suffix says the language.
    """
    head = _head_of(_ANNOTATION.sub("", source), path)
    return " ".join(_LAST_OF_LINES.sub(r"\1", _FIRST_OF_LINES.sub(r"\1", head)).split())


def body(source: str, path: str) -> str:
    """What follows the head of a declaration, without the mark that begins it and the rest of that line, if empty.

    Args:
        source: of the declaration.
        path: of its file, whose suffix says the language.
    """
    text = _ANNOTATION.sub("", source)
    head = _head_of(text, path)
    return _BEGINNING.sub("", text[text.find(head) + len(head) :])


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
    return text[:end].rstrip().endswith(("<", ",", "=", "|", "&", "=>")) or _GOES_ON.match(text, end + 1) is not None


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
