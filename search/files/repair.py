"""Half-typed source made parseable: what is open is closed where the lines say that it ends.

A line that is indented less than one with an open bracket ends what was open. So does one that begins a declaration
beside it, or a closing bracket of an outer pair. Strings end with their lines. A head without a body gets one. Lines
stay as they are, and what is added is noted, to tell its places as ones in the file.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Final, NamedTuple

from data_prep.languages.identifiers import compiled_later
from data_prep.languages.language import Language

LARGEST: Final = 1 << 20  # bytes of the longest file that is repaired
_PAIRS: Final = {b"(": b")", b"[": b"]", b"{": b"}"}
_DEEPEST: Final = 50  # open brackets among which the pair of a closing one is looked for
_SEEN: Final = 300  # bytes of a line that tell what it begins
_DECLARES: Final = compiled_later(
    rb"@\w|/\*\*|(?:(?:export|default|public|private|protected|static|final|abstract|synchronized|async|declare"
    rb"|override|readonly)\s+)*(?:def|class|interface|enum|record|func|function|type|namespace|import|package)\b"
    rb"|(?:export|public|private|protected)\b|[\w.`]+\s*<-\s*function\b"
    rb"|(?:(?:pub(?:\([\w: ]+\))?|internal|open|inline|suspend|unsafe|extern|const|override|mut|sealed|data)\s+)*"
    rb"(?:fn|fun|impl|struct|trait|mod|protocol|extension|actor|object)[\s<]+\w"
    rb"|(?!(?:if|for|while|switch|catch|else|return|do|try|with|throw|new)\b)"
    rb"[\w$<>\[\], .?*]+\([^;{}]*\)[\w\s.,<>:|\[\]]*\{"
)
_OF_FUNCTION: Final = compiled_later(rb"[^(]*\([^{]*\{")
"""What begins a line whose braces are those of a function, not of a class or a namespace."""
_STATEMENT: Final = compiled_later(
    rb"(?:return|raise|throw|break|continue|import|try|const|let|var|def|del|pass|assert|elif|except|finally|package)\b"
)
"""What begins a line that is not inside of round or square brackets."""
_CODE: Final = compiled_later(rb"\n[ \t]*+[^*\s][^\n]*[;{}][ \t]*(?=\n)")
"""A line that comments hardly have."""
_OF_COLONS: Final = compiled_later(rb"@\w|(?:async\s+def|class|with|from\s+[\w.]+\s+import)\b")
"""The same in a language whose braces are no blocks."""
_HEAD: Final = re.compile(rb"(?:async\s+)?(?:if|elif|else|for|while|with|try|except|finally|def|class|switch|catch)\b")
"""What begins a statement that has a body."""


class Piece(NamedTuple):
    """What is added."""

    place: int  # in the file, in bytes
    text: bytes


class Repaired:
    """A file, and what is added to it."""

    def __init__(self, data: bytes, added: list[Piece], inside: Sequence[tuple[int, int]] = ()) -> None:
        """What is in the place of a file.

        Args:
            data: the file, in which something may be blank.
            added: in any order.
            inside: start and end of the strings and comments that have several lines.
        """
        self.plain, self.inside = data, inside
        self.added = sorted(added, key=lambda piece: piece.place)
        parts: list[bytes] = []
        place = 0
        for piece in self.added:
            parts += data[place : piece.place], piece.text
            place = piece.place
        self.text = b"".join((*parts, data[place:]))

    @cached_property
    def _sizes(self) -> list[int]:
        return [0, *accumulate(len(piece.text) for piece in self.added)]

    @cached_property
    def _starts(self) -> list[int]:
        return [piece.place + size for piece, size in zip(self.added, self._sizes, strict=False)]

    def place(self, offset: int) -> int:
        """Where in the file an offset in the repaired text is."""
        number = bisect_right(self._starts, offset)
        return max(self.added[number - 1].place, offset - self._sizes[number]) if number else offset


class _Open(NamedTuple):
    """An open bracket."""

    kind: bytes
    indent: int  # of its line
    of_function: bool  # whether it is that of a function's body


class _Line(NamedTuple):
    """A line that has code."""

    indent: int  # of the statement's first line
    bare: bytes  # its start, without the indentation
    end: int  # of its code
    has_colon: bool  # outside of brackets


def repaired(data: bytes, language: Language, typed: bytes = b"") -> Repaired:
    """The file with what is missing added, by the indents as ``typed``; nothing if it is longer than ``LARGEST``."""
    if len(data) > LARGEST:
        return Repaired(data, [])
    repair = _Repair(data, language, typed or data)
    added, blanked = repair.made(), bytearray(data)
    for place in repair.strays:
        blanked[place : place + 1] = b" "
    return Repaired(bytes(blanked), added, repair.inside)


@lru_cache
def _tokens(language: Language) -> re.Pattern[bytes]:
    """What a line is read by: comments, strings, regular expressions, brackets, colons."""
    marks = b"|".join(re.escape(quote.mark.encode()) for quote in language.quotes)
    parts = [rb"(?P<comment>(?:" + language.comment_mark.encode() + rb")[^\n]*)", rb"(?P<quote>" + marks + rb")"]
    if language.block_comment:
        parts.insert(0, rb"(?P<block>" + re.escape(language.block_comment[0].encode()) + rb")")
    if language.slash_expressions:
        parts.append(rb"(?P<slashes>(?<=[=(,:!&|?{;\[ ])/(?![*/ ])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/)")
    return re.compile(b"|".join((*parts, rb"(?P<open>[(\[{])|(?P<shut>[)\]}])|(?P<colon>:)|(?P<line>\n)")))


class _Repair:
    """The repair of one file, in one pass over its tokens."""

    def __init__(self, data: bytes, language: Language, typed: bytes) -> None:
        self._data, self._language, self._typed = data, language, typed
        self._open: list[_Open] = []
        self._added: list[Piece] = []
        self._before = _Line(0, b"", 0, has_colon=True)  # the line before that has code
        self._here = self._before
        self._hopeless: set[bytes] = set()  # what no more closes anything
        self.strays: list[int] = []  # where closing brackets are that close nothing
        self.inside: list[tuple[int, int]] = []  # start and end of what has several lines and no code
        self._marks: dict[bytes, list[int]] = {}  # where what ends a string is

    def made(self) -> list[Piece]:
        """What is to be added."""
        place = self._begin(0)
        while token := _tokens(self._language).search(self._data, place):
            kind, text, place = token.lastgroup, token[0], token.end()
            if kind == "line":
                self._end(token.start())
                place = self._begin(place)
            elif kind == "open":
                of_function = text == b"{" and bool(_OF_FUNCTION.match(self._here.bare))
                self._open.append(_Open(text, self._here.indent, of_function))
            elif kind == "shut":
                self._shut(text, token.start())
            elif kind == "colon":
                self._here = self._here._replace(has_colon=True)
            elif kind in ("quote", "block"):
                place = self._skipped(text, place, block=kind == "block")
            if kind not in ("line", "comment", "block"):
                self._here = self._here._replace(end=place)
        self._end(len(self._data))
        self._close(0)
        self._add_body(0)
        return self._added

    def _begin(self, place: int) -> int:
        """Begin a line: close what ends before it; where its code begins."""
        bare = self._data[place : place + _SEEN].partition(b"\n")[0]
        start, typed = bare.lstrip(), self._typed[place : place + len(bare)]
        indent = len(typed) - len(typed.lstrip())
        if not start or start.startswith(b"*") or re.match(self._language.comment_mark.encode(), start):
            self._here = _Line(indent, b"", 0, has_colon=False)
            return place + len(bare) - len(start)
        is_top = not indent and start[:1].isalpha() and self._language.body_mark == "="  # as in Haskell
        shuts, declares = start[:1] in b")]}", is_top or _DECLARES.match(start) is not None
        kept, colons = len(self._open), self._language.body_mark == ":"
        inside = b"([{" if colons else b"(["
        if _STATEMENT.match(start) or (colons and _OF_COLONS.match(start)):
            while kept and self._open[kept - 1].kind in inside:
                kept -= 1
        while kept and self._ends(self._open[kept - 1], indent, shuts=shuts, declares=declares):
            kept -= 1
        self._close(kept)
        if not self._open:
            self._add_body(indent)
        before, code = self._before, place + len(bare) - len(start)
        if declares and indent == before.indent and self._data[before.end - 1 : before.end] == b"=":
            self._added.append(Piece(before.end, b" 0"))  # a value that is not typed yet
        goes_on = not colons and indent > before.indent and self._data[before.end - 1 : before.end] not in b";{}"
        self._here = _Line(before.indent if goes_on else indent, start, code, has_colon=False)
        return code

    def _ends(self, open_: _Open, indent: int, *, shuts: bool, declares: bool) -> bool:
        if open_.indent > indent:
            return True
        nests = open_.kind == b"{" and not open_.of_function and (indent or not self._language.flat)
        return not shuts and declares and open_.indent == indent and not nests

    def _end(self, place: int) -> None:
        """End a line; what it is made of up to a comment is code."""
        if self._here.bare and self._here.end:
            code = len(self._data[self._here.end : place].split(self._language.line_comment.encode())[0].rstrip())
            self._before = self._here._replace(end=self._here.end + code)

    def _close(self, kept: int) -> None:
        """Close all but ``kept`` open brackets behind the last code."""
        self._add_closing(kept, self._before.end)

    def _add_closing(self, kept: int, place: int) -> None:
        kinds = [each.kind for each in self._open[kept:]][::-1]
        del self._open[kept:]
        if not kinds:
            return
        ending = b"" if not self._language.closing else b"{}" if _HEAD.match(self._before.bare) else b";"
        text = b""
        for kind in kinds:
            text += (ending if kind == b"{" and text and not text.endswith(b"}") else b"") + _PAIRS[kind]
        last = ending if not text.endswith(b"}") and place == self._before.end else b""
        self._added.append(Piece(place, text + last))

    def _is_stray(self, kind: bytes, place: int) -> bool:
        """Whether a closing bracket has no pair, or begins a line that is indented more than the block it would end."""
        if all(_PAIRS[each.kind] != kind for each in self._open[-_DEEPEST:]):
            return True
        block, start = self._open[-1], self._data.rfind(b"\n", 0, place) + 1
        deeper = kind == b"}" and block.of_function and block.indent < place - start < _SEEN
        return deeper and not self._data[start:place].strip()

    def _shut(self, kind: bytes, place: int) -> None:
        """Meet a closing bracket: what was opened inside of its pair, and not closed, ends before it."""
        if self._is_stray(kind, place):
            self.strays.append(place)
            return
        for number in range(len(self._open) - 1, max(-1, len(self._open) - 1 - _DEEPEST), -1):
            if _PAIRS[self._open[number].kind] == kind:
                code = self._data[:place].rstrip() if number + 1 < len(self._open) else b""
                self._add_closing(number + 1, len(code) - 1 if code.endswith(b";") else place)
                self._open.pop()
                return

    def _skipped(self, mark: bytes, place: int, *, block: bool) -> int:
        """The end of a string or comment that begins before ``place``; one that nothing closes ends with its line."""
        quote = next((each for each in self._language.quotes if each.mark.encode() == mark), None)
        end = (self._language.block_comment or ("", ""))[1].encode() if block else mark
        found = None
        if end not in self._hopeless:
            found = _closing(end, escapes=not block and (quote is None or quote.escapes)).match(self._data, place)
        line = self._data.find(b"\n", place)
        line = len(self._data) if line < 0 else line
        if found and found.end() <= line:
            return found.end()
        if not found:
            self._hopeless.add(end)
        elif (block or (quote is not None and quote.lines)) and not self._is_open(
            mark, place, found.end(), block=block
        ):
            self.inside.append((place, found.end()))
            return found.end()
        self._added.append(Piece(line, end))
        return line

    def _is_open(self, mark: bytes, place: int, end: int, *, block: bool) -> bool:
        """Whether what ends at ``end`` is another one than the string or comment that begins before ``place``.

        Of a comment another begins inside. Of strings one has no end in the rest of the file, and this one goes on over
        declarations that are not indented more.
        """
        if block:
            another = re.compile(rb"\n[ \t]*" + re.escape(mark)).search(self._data, place, end)
            return another is not None and _CODE.search(self._data, place, another.start()) is not None
        if mark not in self._marks:
            self._marks[mark] = [each.start() for each in re.finditer(re.escape(mark), self._data)]
        known = self._marks[mark]
        if (len(known) - bisect_left(known, place)) % 2:
            return False
        lines = (line for line in self._data[place:end].split(b"\n")[1:] if line.strip())
        return any(
            len(line) - len(line.lstrip()) <= self._here.indent
            and (_DECLARES.match(line.lstrip()[:_SEEN]) or _STATEMENT.match(line.lstrip()))
            for line in lines
        )

    def _add_body(self, indent: int) -> None:
        """Of Python, a body for a head whose next line of code is not below it, and the colon that it lacks."""
        before = self._before
        if self._language.body_mark != ":" or not _HEAD.match(before.bare):
            return
        ended = before.has_colon and self._data[before.end - 1 : before.end] != b":"
        text = (b"" if before.has_colon else b":") + (b" pass" if indent <= before.indent and not ended else b"")
        if text:
            self._added.append(Piece(before.end, text))


@lru_cache
def _closing(end: bytes, *, escapes: bool) -> re.Pattern[bytes]:
    """What is up to the end of a string or comment."""
    first = re.escape(end[:1])
    rest = rb"(?!" + re.escape(end) + rb")" + first if len(end) > 1 else rb"(?!)"
    plain = rb"[^" + first + rb"\\]" if escapes else rb"[^" + first + rb"]"
    inside = rb"(?:" + plain + rb"|" + (rb"\\." if escapes else rb"(?!)") + rb"|" + rest + rb")*+"
    return re.compile(inside + re.escape(end), re.DOTALL)
