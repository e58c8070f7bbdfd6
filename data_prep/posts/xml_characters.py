"""Bytes of an XML file without the characters that XML forbids, so that one of them does not refuse a whole dump.

Left out are control characters, halves of surrogate pairs, U+FFFE and U+FFFF, whether they stand there or are named by
a reference (``&#11;``, ``&#xD800;``), and bytes that are no UTF-8. This happens before the parser, which refuses what
it refuses of any other file.
"""

import codecs
import re
from collections.abc import Callable
from typing import Final

_CONTROLS: Final = bytes({*range(32)} - {*b"\t\n\r"})
_ALLOWED: Final = (*b"\t\n\r",), range(0x20, 0xD800), range(0xE000, 0xFFFE), range(0x10000, 0x110000)
_NO_CHARACTERS: Final = re.compile("[\ud800-\udfff\ufffe\uffff]")
_REFERENCE: Final = re.compile(rb"&#(?!x[9AD];)(?:x([0-9A-Fa-f]+)|([0-9]+));")
"""A reference to a character by its number, but for those that end the lines of posts, the most frequent ones."""
_LATIN: Final = re.compile(rb"<\?xml[^>]*\sencoding\s*=\s*[\"']iso-8859-1[\"']", re.IGNORECASE)
_HEAD: Final = 256  # bytes that have the declaration
_LONGEST_REFERENCE: Final = 99  # bytes
_MOST_DIGITS: Final = 7
_Decode = Callable[[bytes, str, bool], tuple[str, int]]


class AllowedCharacters:
    """Makes UTF-8 of the chunks of a file in UTF-8, UTF-16 or ISO 8859-1; counts what it leaves out."""

    def __init__(self) -> None:
        self.left_out = 0
        self._waiting, self._reference = b"", b""
        self._coding: tuple[_Decode, str] | None = None

    def of(self, chunk: bytes, *, last: bool = False) -> bytes:
        """The next bytes for the parser, perhaps without the end of ``chunk``, which may need what follows it."""
        data = self._waiting + chunk
        if self._coding is None:
            if not last and len(data) < _HEAD and b">" not in data:
                self._waiting = data
                return b""
            self._coding = _coding_of(data)
        decode, errors = self._coding
        text, used = decode(data, errors, False)
        self._waiting = data[used:]
        self.left_out += last and bool(self._waiting)  # half a character
        return self._without_references(self._encoded(text), last)

    def _encoded(self, text: str) -> bytes:
        try:
            data = text.encode()
        except UnicodeEncodeError:
            data = b""
        if (text and not data) or "\ufffe" in text or "\uffff" in text:
            text, found = _NO_CHARACTERS.subn("", text)
            self.left_out += found
            data = text.encode()
        kept = data.translate(None, _CONTROLS)
        self.left_out += len(data) - len(kept)
        return kept

    def _without_references(self, data: bytes, last: bool) -> bytes:
        data = self._reference + data
        start = data.rfind(b"&", -_LONGEST_REFERENCE)
        end = len(data) if last or start < 0 or b";" in data[start:] else start
        self._reference = data[end:]
        return _REFERENCE.sub(self._if_allowed, data[:end])

    def _if_allowed(self, reference: re.Match[bytes]) -> bytes:
        digits = (reference[1] or reference[2]).lstrip(b"0") or b"0"
        number = int(digits, 16 if reference[1] else 10) if len(digits) <= _MOST_DIGITS else -1
        if (
            number in (9, 10, 13)
            or 0x20 <= number < 0xD800
            or 0xE000 <= number < 0xFFFE
            or 0x10000 <= number < 0x110000
        ):
            return reference[0]
        self.left_out += 1
        return b""


def _coding_of(start: bytes) -> tuple[_Decode, str]:
    """How a file that begins like this is decoded, so that what is wrong becomes halves of surrogate pairs."""
    if start.startswith((codecs.BOM_UTF16_LE, b"<\0")):
        return codecs.utf_16_le_decode, "surrogatepass"
    if start.startswith((codecs.BOM_UTF16_BE, b"\0<")):
        return codecs.utf_16_be_decode, "surrogatepass"
    if _LATIN.match(start):
        return lambda data, errors, _final: codecs.latin_1_decode(data, errors), "strict"
    return codecs.utf_8_decode, "surrogateescape"
