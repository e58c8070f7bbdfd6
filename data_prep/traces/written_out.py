"""The lines of a text as they were printed first: without colours, prefixes, and what JSON, strings and HTML escape.

A log may have a trace as a string of a JSON object, in one of its objects or in one per line, and such a string may be
in another one. It is written out where a line of it looks like a frame.

A prefix, of a collector of logs or of people, is what stands before such a line. The others of the trace have one of
the same shape: its words are the same, what begins with a digit, such as a time, may change. So no collector has to be
known: syslog, journald, docker compose, Kubernetes, GitHub Actions, npm, quotes, any logger. Lines of several services
that run beside each other are put together again, by the words of their prefixes.
"""

import html
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from os.path import commonprefix
from typing import Any, Final

_ESCAPES: Final = re.compile(r"\x1b\[[0-9;:?<=>]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\^_]")
"""Sequences that a terminal obeys: colours, links."""
_BARE_COLOURS: Final = re.compile(r"(?:\^\[|␛|\\e|\\033|\\x1b|\\u001b)?\[(?:\d{1,3}(?:;\d{1,3})*)?m", re.IGNORECASE)
"""Colours whose first character is lost or written out."""
_LEVELS: Final = 3
"""Strings in strings that are written out."""
_STRING: Final = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)(?:"|$)')
_ESCAPED: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ONE: Final = {"n": "\n", "t": "\t", "r": "", "b": "", "f": ""}
_MARKED_UP: Final = re.compile(r"<(?:pre|br|code|li|html)\b|&(?:quot|lt|gt|amp|nbsp|#\d+|#x[0-9a-f]+);", re.IGNORECASE)
_LINE_TAGS: Final = re.compile(
    r"<br\s*/?>|</?(?:pre|p|div|li|ul|ol|tr|td|table|h\d|title|html|failure|error|testcase|testsuites?|system-(?:out|err)|head|body|blockquote|textarea)\b[^<>]*>",
    re.IGNORECASE,
)
_TAGS: Final = re.compile(
    r"</?(?:code|span|a|b|i|em|strong|small|font|samp|kbd|tt|u|mark|button)\b[^<>]*>", re.IGNORECASE
)
_FENCE: Final = re.compile(r"\s*(?:>\s*)*(?:```|~~~)[\w ]*")


def as_shown(text: str) -> Iterator[str]:
    """A page as a browser shows it, if the text may be one, then the text itself."""
    if _MARKED_UP.search(text):
        yield html.unescape(_TAGS.sub("", _LINE_TAGS.sub("\n", text))).replace("\xa0", " ")
    yield text


def without_colours(text: str) -> str:
    """A text without what a terminal would obey, also where the first character of that is lost."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    return _BARE_COLOURS.sub("", text) if "m" in text and "[" in text else text


_OF_BUILD: Final = re.compile(r"^#\d{1,4} (?:\d{1,6}\.\d{1,3}(?: |$)|(?:ERROR|CANCELED)\b.*)", re.MULTILINE)
"""What Docker's builds print before a line, which else may be the number of a frame, and below the last one."""


def plain_lines(text: str, looks: Callable[[str], bool]) -> Iterator[str]:
    """The lines of a text without colours, and those of the strings in it that have frames.

    Args:
        text: any text.
        looks: whether a line looks like a frame.
    """
    lines: Sequence[str] = _OF_BUILD.sub("", without_colours(text)).splitlines()
    if text.lstrip()[:1] in ("{", "[") and len(lines) > 1:
        lines = _of_objects([text.strip()], looks) or lines
    for _ in range(_LEVELS):
        if (written := _of_objects(lines, looks)) is None:
            break
        lines = written
    for line in lines:
        if _FENCE.fullmatch(line):
            yield ""
        elif "\\n" in line:
            yield from _written_out(line, looks, _LEVELS)
        else:
            yield line


def _of_objects(lines: Sequence[str], looks: Callable[[str], bool]) -> list[str] | None:
    """The lines with each JSON object as the text of one field, that with most frames; None if none has any.

    Where an object has none, the field is one that has some in others: each object may be a line of a trace.
    """
    found = {place: _strings(line) for place, line in enumerate(lines) if '{"' in line or line[:1] in ("{", "[")}
    frames = {
        place: Counter({name: sum(map(looks, each.splitlines())) for name, each in strings.items() if len(each) > 9})
        for place, strings in found.items()
    }
    if not (total := _traced(frames.values())):
        return None
    written: list[str] = []
    for place, line in enumerate(lines):
        if strings := found.get(place, {}):
            own = frames[place]
            best = max(total, key=lambda name: (name in strings, own[name], total[name]))
            written += without_colours(strings.get(best, "")).splitlines() or [""]
        else:
            written.append(line)
    return written


def _traced(frames: Collection[Counter[str]]) -> Counter[str]:
    """The frames of each field that has some: not one that is a place in each object, if there are others."""
    total: Counter[str] = sum((+each for each in frames), Counter())
    places = {name for name in total if all(each.get(name, 1) == 1 for each in frames)}
    return Counter({name: total[name] for name in total if name not in places}) or total


def _strings(line: str) -> Mapping[str, str]:
    """The strings of a line that is a JSON object, by the names that lead to them; none, if it is no object."""
    try:
        value = json.loads(line[max(0, line.find('{"')) if line[:1] not in ("{", "[") else 0 :])
    except (ValueError, RecursionError):
        return {}
    todo: list[tuple[str, Any]] = [("", value)]
    strings: dict[str, str] = {}
    while todo:
        name, each = todo.pop()
        if isinstance(each, dict):
            if isinstance(each.get("frames"), list):
                strings[f"{name}.frames"] = "\n".join((_printed(each), strings.get(f"{name}.frames", "")))
            todo += [(f"{name}.{key}", inner) for key, inner in each.items() if len(name) < 100]
        elif isinstance(each, list) and all(isinstance(inner, str) for inner in each):
            strings[name] = "\n".join(each)
        elif isinstance(each, list):
            todo += [(name, inner) for inner in each if isinstance(inner, dict)]
        elif isinstance(each, str):
            strings[name] = f"{strings[name]}\n{each}" if name in strings else each
    return strings


def _printed(error: Mapping[str, Any]) -> str:
    """An error with its frames as fields, of structlog or Sentry, as Python prints it."""
    lines = ["Traceback (most recent call last):"]
    for each in error["frames"]:
        if isinstance(each, dict) and isinstance(path := each.get("abs_path") or each.get("filename"), str):
            name = each.get("function") or each.get("name") or "?"
            lines.append(f'  File "{path}", line {each.get("lineno", 0)}, in {name}')
            lines.append(f"    {each.get('context_line') or each.get('line') or ''}".rstrip())
    named, value = error.get("exc_type") or error.get("type") or "", error.get("exc_value") or error.get("value") or ""
    return "\n".join([*lines, f"{named}: {value}", *map(str, error.get("exc_notes") or ())])


def _written_out(line: str, looks: Callable[[str], bool], levels: int) -> list[str]:
    """The lines of the strings in a line that have frames, and what is between them; else the line."""
    written: list[str] = []
    end = 0
    for string in _STRING.finditer(line):
        if "\\n" in string[1] and (inner := _inner(string[1], looks, levels)):
            written += [line[end : string.start()], *inner, ""]
            end = string.end()
    if not written and (whole := _inner(line, looks, 1, quoted=False)):
        return whole
    return [*written, line[end:]]


def _inner(escaped: str, looks: Callable[[str], bool], levels: int, *, quoted: bool = True) -> list[str]:
    """The lines of a string as it stands between its quotes, if it has frames: without them not in its first line."""
    text = without_colours(_ESCAPED.sub(_unescaped, escaped))
    lines = text.split("\n")
    if len(lines) > 1 and any(map(looks, lines[1 - quoted :])):
        return lines
    if levels <= 1 or "\\n" not in text:
        return []
    inner = _written_out(text, looks, levels - 1)
    return inner if len(inner) > 1 else []


def _unescaped(found: re.Match[str]) -> str:
    sign = found[1]
    return chr(int(sign[1:], 16)) if len(sign) > 1 else _ONE.get(sign, sign)


_LONGEST: Final = 300
"""Characters of a prefix."""
_MOST: Final = 8
"""Prefixes of different shapes that are taken away."""
_SAMPLE: Final = 200
"""Lines by which it is seen whether all have a prefix of one shape."""
_NEARLY: Final = 0.95
"""The share of these that must have it."""
_PIECES: Final = re.compile(
    r"(?P<space>\s+)|(?P<exact>\[\d{1,3}\])|(?P<number>\d[\w.,:/+-]*)|(?P<word>[^\W\d][\w-]*)|(?P<other>.)"
)
_OWN: Final = re.compile(r"[\s|+│┃║╭─┌❯›→❱*-]*|\s*E|\s*\[errors\]: \[|\s*[\w$.<>]+\*")
"""What a trace itself has before a frame: margins of groups, marks."""
_NO_PREFIX: Final = re.compile(r"\s*[^\W\d]\w*|.*[/\\][\w.-]*|.*//[\w.-]*:")
"""A word, the start of a path, and that of an address before its port."""
_MARK: Final = re.compile(r"\s+[E>❯]\s*$|(?<=[|:\]])(?:\s+[|+])+\s*$|(?:\s*[│┃╭┌+][-─━]*)+\s*$")
"""The end of a prefix that is the trace's own."""
_NAMED: Final = re.compile(r"(?:^|(?<=\s))[\w.<>']+ {3,}$")
"""The error that is named before IPython's header."""
_NOTHING: Final = re.compile("")
"""The shape of no prefix."""


def without_prefixes(lines: Sequence[str], looks: re.Pattern[str]) -> list[str]:
    """Lines without their prefixes, those of one kind of prefix after those of another.

    Args:
        lines: of a text.
        looks: what a line with a frame has.
    """
    shapes, bare = _shapes(lines, looks)
    streams: dict[re.Pattern[str], list[str]] = {}
    last = _NOTHING
    for line in lines:
        if shape := next((each for each in shapes if each.match(line)), None):
            last = shape
        streams.setdefault(shape or (last if bare else _NOTHING), []).append(line)
    cut = [_cut(each, shape) for shape, each in streams.items()]
    return cut[0] if len(cut) == 1 else [line for each in cut for line in [*each, ""]]


def _cut(lines: Sequence[str], shape: re.Pattern[str]) -> list[str]:
    """Lines without a prefix, and those that had one without the space that all of these have in front."""
    ends = [found.end() if (found := shape.match(line)) else -1 for line in lines]
    behind = [line[end:] for line, end in zip(lines, ends, strict=True) if end >= 0 and line[end:].strip()]
    spaces = [line[: len(line) - len(line.lstrip())] for line in behind]
    margin = len(commonprefix(spaces))  # noqa: RUF071  (no paths)
    return [line if end < 0 else line[end + margin :] for line, end in zip(lines, ends, strict=True)]


def _shapes(lines: Sequence[str], looks: re.Pattern[str]) -> tuple[list[re.Pattern[str]], int]:
    """The shapes of the prefixes, the commonest first, and how many frames have none."""
    found: Counter[str] = Counter()
    bare = 0  # frames without a prefix
    for line in lines:
        if begins := looks.search(line):
            before = line[: begins.start()] if begins.start() <= _LONGEST else ""
            before = _NAMED.sub("", before) if begins[0].startswith("Traceback") else before
            prefix = _MARK.sub("", before).rstrip()
            if not prefix or _OWN.fullmatch(before):
                bare += 1
            elif not _NO_PREFIX.fullmatch(prefix):
                found[_shape(prefix, line[len(prefix) : len(prefix) + 1])] += 1
    if not bare and not found and (common := _common(lines, looks)):
        return [re.compile(common)], 0
    least = 2 if bare or len(found) > 1 else 1
    return [re.compile(shape) for shape, times in found.most_common(_MOST) if times >= least], bare


def _common(lines: Sequence[str], looks: re.Pattern[str]) -> str:
    """The longest shape that nearly all lines share before their frames; "" if there is none."""
    some = [line for line in lines if line.strip()][:_SAMPLE]
    for line in some[:3]:
        ends = [found.end() for found in _PIECES.finditer(line[:_LONGEST]) if not found["space"]]
        for end in reversed(ends):
            if line[end - 1] in "([{<" or _OWN.fullmatch(line[:end]) or _NO_PREFIX.fullmatch(line[:end]):
                continue
            shape = _shape(line[:end], line[end : end + 1])
            found = [(each, match) for each in some if (match := re.match(shape, each))]
            before = all(not (begins := looks.search(each)) or match.end() <= begins.start() for each, match in found)
            if len(found) >= max(3, _NEARLY * len(some)) and before:
                return shape
    return ""


def _shape(prefix: str, follows: str) -> str:
    """The regular expression of all prefixes of the same shape."""
    pieces = []
    for piece in _PIECES.finditer(prefix):
        kind = piece.lastgroup
        pieces.append(r"\s+" if kind == "space" else r"\d[\w.,:/+-]*" if kind == "number" else re.escape(piece[0]))
    return "".join(pieces) + (r"(?=\s|$)" if follows.isspace() else "")
