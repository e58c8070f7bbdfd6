"""What shows a hit at a glance: its head, and in a terminal the lines that match best.

A hit's source begins in the middle of its line, at the declaration; its other lines are indented as in the file. What
the first line has lost is made good here, so that the code stands as it does in its file.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Final

from data_prep.languages.registry import language_of
from search.engine.line_scores import KEPT, line_scores, word_places
from search.index.code_index import Index

READ: Final = 100_000
"""Characters of a source that are looked at."""
_STEP: Final = 4
"""Spaces that a block is indented by, where nothing else says it."""
_DECLARED: Final = re.compile(r"\s*(?:@|(?:async\s+def|def|class)\b)")
_CLOSING: Final = re.compile(r"\s*[)\]}]")
_HEAD_ENDS: Final = re.compile(r":\s*(?:#.*)?\Z")
_INSIDE: Final = r"(?:[^()\[\]\"']|\"(?:\\.|[^\"\\])*+\"|'(?:\\.|[^'\\\n])*+'|')*+"
_NESTED: Final = reduce(lambda inside, _: rf"{_INSIDE}(?:[(\[]{inside}[)\]]{_INSIDE})*+", range(4), _INSIDE)
"""What brackets have between them, with brackets of as many levels."""
_DIRECTIVE: Final = r"[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|else|endif|pragma)\b[^\n]*"
_LINE_OF_DIRECTIVE: Final = re.compile(rf"\n{_DIRECTIVE}(?=\n|\Z)")
_ANNOTATION: Final = re.compile(
    rf"\A(?:\s*+(?:@(?!interface\b)(?:\w+:)?[\w.]+(?:\({_NESTED}\))?|#?\[{_NESTED}\](?=\s)|{_DIRECTIVE})"
    r"(?:\s*+(?://[^\n]*+|/\*(?s:.*?)\*/))*+)++\s*+"
)
_HEREDOC: Final = re.compile(r'""".*?"""', re.DOTALL)
_DEFINES: Final = re.compile(r"^[ \t]*(?:def|@(?:macro)?callback\b)", re.MULTILINE)
"""What follows attributes without brackets, as those of Elixir."""
_OTHER_TOKENS: Final = r'"(?:\\.|[^"\\\n])*"?|`[^`]*`?|[()\[\]{};:\n]'
_TOKEN: Final = re.compile(rf"'(?:\\.|[^'\\\n])*'?|{_OTHER_TOKENS}")
_TOKEN_OF_CHARACTERS: Final = re.compile(rf"(?<!\w)'(?:\\[^'\n]+|[^'\\\n])'|{_OTHER_TOKENS}")
"""The same where ' is around one character alone, and else in a lifetime or a name."""
_TYPE_BEFORE: Final = re.compile(r"(?:\b(?:interface|struct|const|let|var)|[:|&<,])\s*\Z")
"""What is before a brace that begins a type or a list of names, not a body."""
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
_MACRO: Final = re.compile(r"\n[ \t]*[A-Z][A-Z0-9_]*(?:\([^()\n]*\))?\Z")
"""A line that is a macro, as for attributes."""
_NAME_BEHIND: Final = re.compile(r"[ \t]*[*&]*[\w:~<>]+ ?\(")
_LONGEST_HEAD: Final = 4000  # characters that are looked at


@lru_cache(maxsize=KEPT)
def indentation(source: str, path: str, name: str = "") -> int:
    """How many characters the first line of a source has lost: its lines but the first are indented by so many more.

    A closing bracket says it, or in Python the end of the head or the decorated declaration. Where nothing does, each
    enclosing type counts as one step.

    Args:
        source: of a declaration.
        path: of its file, whose suffix says the language.
        name: of the declaration, with the enclosing types.
    """
    first, *rest = [*filter(str.strip, source[:READ].split("\n"))] or [""]
    language = language_of(path)
    if not rest or language is None or first[:1].isspace():
        return 0
    if (language.closing or not _DECLARED.match(first)) and _closes(first, rest):
        return _depth(rest[-1])
    if language.closing:
        return min(_STEP * name.count("."), _depth(rest[0]))
    return _in_python(first, rest, name.count("."))


def _closes(first: str, rest: Sequence[str]) -> bool:
    """Whether the last line closes what the first begins; a source that is cut ends deeper in it."""
    deepest = _depth(rest[0]) - (not (first.startswith("@") or rest[0].lstrip()[0] in "{)]}"))
    return _CLOSING.match(rest[-1]) is not None and _depth(rest[-1]) <= deepest


def _in_python(first: str, rest: Sequence[str], types: int) -> int:
    """The same of a declaration that no bracket closes."""
    if first.startswith("@") and (declared := next(filter(_DECLARED.match, rest), "")):
        return _depth(declared)
    for place, line in enumerate((first, *rest[:-1])):
        if _HEAD_ENDS.search(line):
            if _CLOSING.match(line):
                return _depth(line)
            body = _depth(rest[place])
            usual = 1 if rest[place].startswith("\t") else _STEP
            return body - (usual if body >= usual * (types + 1) else body // (types + 1))
    return 0


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


@lru_cache(maxsize=KEPT)  # a hit of one question is often one of another
def signature(source: str, path: str) -> str:
    """A declaration up to its body, on one line, without leading annotations.

    Args:
        source: of the declaration.
        path: of its file, whose suffix says the language.
    """
    head = _head_of(_without_annotations(source, path), path)
    head = _LINE_OF_DIRECTIVE.sub("", head)
    if "\n" in head and (language := language_of(path)):  # on one line a comment would end before the next parameter
        head = _line_comments(language.line_comment).sub(lambda found: found["string"] or "", head)
    return " ".join(_LAST_OF_LINES.sub(r"\1", _FIRST_OF_LINES.sub(r"\1", head)).split())


@lru_cache
def _line_comments(mark: str) -> re.Pattern[str]:
    """What finds comments to the end of their lines, and strings, which may have their mark."""
    return re.compile(
        rf"(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`[^`]*`)|(?<![\w:]){re.escape(mark)}[^\n]*"
    )


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
    quotes = language is None or any(each.mark == "'" for each in language.quotes)
    return _head(text[:_LONGEST_HEAD], mark, _TOKEN if quotes else _TOKEN_OF_CHARACTERS)


def _head(text: str, mark: str, tokens: re.Pattern[str]) -> str:
    """The text up to the first colon (Python) or brace outside of brackets, or to a line's end that ends it."""
    text, depth = _undecorated(text), 0
    for match in tokens.finditer(text):
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
    if before.startswith("template") and (before.endswith(">") or _MACRO.search(before)):
        return True
    if _LINE_OF_DIRECTIVE.match(text, end) or re.fullmatch(_DIRECTIVE, before[before.rfind("\n") + 1 :]):
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


LINES: Final = 3
"""Lines that are shown of a hit."""
_LONGEST: Final = 4000
"""Characters of a line beside the best one in which a word of the question is looked for."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file."""

    number: int  # from 1
    text: str
    best: bool = False  # whether it matches best
    match: int = 0  # where in the text the first word of the question is; 0 if there is none


def unit_lines(index: Index, row: int, rarity: Mapping[str, float], matched: int = 0) -> list[Line]:
    """Lines of a function, type or constant around the one that matches best, without its head if it has a body.

    What is before the head, as attributes are, is shown if it matches better than the body.

    Args:
        index: of the row.
        row: the unit.
        rarity: stem of each word of the question -> how much it says (:func:`search.engine.line_scores.rarities`).
        matched: the number of the line, from 1 in the unit, that is the best whatever it says; 0: none.
    """
    text = index.text(row)
    own = text.source.split("\n")
    scores = line_scores(text.source, rarity, text.query_text)
    count = _body_lines(text.source, text.path)
    if 0 < matched <= len(own):
        scores[matched - 1] = 1.0 + max(scores)
    first = len(own) - count if count else 0
    before = len(own) - _without_annotations(text.source, text.path).count("\n") - 1
    if 0 < matched <= first or max(scores[:before], default=0.0) > max(scores[first:], default=0.0):
        first = 0
    if first == 0:
        other = next(filter(str.strip, own[1:]), "")
        own[0] = other[: indentation(text.source, text.path, index.names[row])] + own[0]
    return _around(own[first:], scores[first:], text.start_line + first, rarity)


def file_lines(lines: Sequence[str], first: int, rarity: Mapping[str, float], matched: int = 0) -> list[Line]:
    """Lines of a file around the one that matches best.

    Args:
        lines: of the file.
        first: the number of its first line; 0: not known.
        rarity: as of :func:`unit_lines`.
        matched: the number of the line that is the best whatever the question is; 0: none.
    """
    scores = line_scores("\n".join(lines), rarity)
    if 0 < matched <= len(lines):
        scores[matched - 1] = 1.0 + max(scores)
    return _around(lines, scores, first, rarity)


def _around(lines: Sequence[str], scores: Sequence[float], start: int, rarity: Mapping[str, float]) -> list[Line]:
    """The line that matches best, marked, and those beside it that say something."""
    sure = max(scores, default=0.0)
    shown = [place for place, line in enumerate(lines) if any(map(str.isalnum, line)) or scores[place] == sure > 0]
    best = max(shown, key=lambda place: (scores[place], -place), default=-1)
    if best < 0:
        return []
    first = max(0, min(shown.index(best) - LINES // 2, len(shown) - LINES))
    return [
        Line(
            start + place if start else 0,
            lines[place].rstrip(),
            place == best and scores[best] > 0,
            next((begun for begun, _ in word_places(lines[place][: READ if place == best else _LONGEST], rarity)), 0),
        )
        for place in shown[first : first + LINES]
    ]


def _body_lines(source: str, path: str) -> int:
    """The number of lines behind the head of a declaration; 0 if its body begins on the line of its head."""
    rest = body(source, path)
    before = source[: len(source) - len(rest)]
    return rest.count("\n") + 1 if rest.strip() and source.endswith(rest) and before.endswith("\n") else 0
