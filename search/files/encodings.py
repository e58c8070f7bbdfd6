"""The text of a source file, in whatever encoding it is: by its byte order mark, its declaration, or else its bytes.

What is no UTF-8 is read as what its bytes are most likely in: the encodings of Western, Cyrillic and East Asian text
that were in use before UTF-8. Nothing is lost by a wrong guess but letters outside of ASCII.
"""

import codecs
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from data_prep.errors import UserError
from data_prep.languages.identifiers import compiled_later

_MARKS: Final = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
"""Byte order marks; those of UTF-32 before those of UTF-16, with which they begin."""
_DECLARED: Final = compiled_later(rb"\A(?:[^\n]*\n)?[^\n]{0,200}?(?:coding|charset)[:=][ \t]*[\"']?([-\w.]{2,40})")
_SAFE: Final = compiled_later(
    r"(?:latin|iso)[-_]?(?:8859[-_])?\d{1,2}(?:[-_]\d{1,2})?|(?:windows[-_]?|cp)\d{3,4}|koi8[-_][rut]|mac[-_]?\w{3,8}"
    r"|(?:shift|s)[-_]?jis(?:[-_]\w{1,8})?|euc[-_]?(?:jp|kr|cn)|gb(?:k|2312|18030)|big5(?:[-_]?hkscs)?",
    re.IGNORECASE,
)
"""Encodings that a file may declare; other codecs of Python are no encodings of text, or are found without it."""
_SAMPLE: Final = 8 << 10
"""Bytes from which it is seen that a file is binary, or in UTF-16 without a mark."""
_BINARY: Final = f"binary: a NUL byte in its first {_SAMPLE >> 10} KiB"
_NULS: Final = compiled_later(rb"\0+")
_APART: Final = 16
"""Bytes of text for each run of NUL bytes in it, at least."""
_GUESSED: Final = 64 << 10
"""Bytes above ASCII, with what is between them, from which an encoding is guessed."""
_ASCII: Final = 0.2
"""The share of ASCII in sources of UTF-16 or UTF-32 without a mark."""
_NO_TEXT: Final = compiled_later(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ue000-\uf8ff\ufff0-\uffff]")
"""Characters that no source has, but other data read as text."""
_HIGH: Final = compiled_later(rb"[\x80-\xff](?:[\x00-\x7f]?[\x80-\xff])*[\x40-\x7e]?")
_ABOVE_ASCII: Final = compiled_later(r"[^\x00-\x7f]+")
_RUN: Final = compiled_later(rb"[\x80-\xff]+")
_CYRILLIC: Final = "абвгдежзийклмнопрстуфхцчшщъыьэюяёєіїґў"
_COMMON: Final = {
    "cp1251": _CYRILLIC,
    "koi8_r": _CYRILLIC,
    "koi8_u": _CYRILLIC,
    "cp866": _CYRILLIC,
    "iso8859_5": _CYRILLIC,
    "cp1253": "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώ",
}
"""Letters by which a text in an encoding of one byte is known, in scripts whose words have no ASCII letters: a wrong
one makes capitals or signs of them."""
_WEST: Final = (
    "äöüß", "éèêàâçîïôûùœë", "áéíóúñü¿¡ç", "ãõçáéíóúâêôà", "àèéìòù", "åäöæøé", "áðéíóúýþæö", "éëïóöü"
)  # fmt: skip
_EAST: Final = ("áčďéěíňóřšťúůýžľĺŕäô", "ąćęłńóśźż", "áéíóöőúüű", "ăâîşţșț", "čćđšž")
_LATIN: Final = {
    "cp1252": (*_WEST, ""),
    "cp1250": _EAST,
    "iso8859_2": _EAST,
    "cp1254": ("çğıöşüâî",),
    "mac_roman": _WEST,
    "cp850": _WEST,
}
"""Encodings of one byte -> the letters above ASCII of each language; of a file hardly more than one has any."""
_SIGNS: Final = frozenset("’“”„–—…€©®°«»·§µ±²³×")
_CAPITAL: Final = 0.6
"""How much a capital says."""
_ESCAPES: Final = compiled_later(rb"\x1b\$[@B]")
"""What begins Japanese letters in ISO-2022-JP, whose bytes are ASCII."""
_OF_TWO_BYTES: Final = ("euc_kr", "gb18030", "shift_jis", "euc_jp", "big5")  # of equally likely ones the first


class Text(NamedTuple):
    """A file as UTF-8."""

    data: bytes  # without a byte order mark
    encoding: str  # what it was in; "": UTF-8, which ASCII is too


_CONTROLS: Final = compiled_later(r"[\x01-\x07\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\ufffd]|\x00+")
"""What no text has; a terminal's sequences are none of it, and runs of NUL bytes, as logs have them, are hardly any."""
_MOST_CONTROLS: Final = 0.05
"""Their share of a text, at most."""


def is_text(text: str) -> bool:
    """Whether what was decoded, in whatever way, seems to be text."""
    return len(_CONTROLS.findall(text)) <= _MOST_CONTROLS * len(text.replace("\0", ""))


def text_of(data: bytes) -> Text:
    """A file as UTF-8; bytes that its encoding does not have are replaced, and carriage returns that alone end lines.

    Raises:
        UserError: it is binary.
    """
    found = _text_of(data)
    alone = b"\r" in found.data and b"\n" not in found.data
    return found._replace(data=found.data.replace(b"\r", b"\n")) if alone else found


def _text_of(data: bytes) -> Text:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], encoding)
    if b"\0" in data:
        wide = _without_mark(data[:_SAMPLE]) if b"\0" in data[:_SAMPLE] else ""
        if wide or not _has_stray_nuls(data[:_SAMPLE]):
            return _decoded(data, wide)
        found = _text_of(data.replace(b"\0", b" "))
        return found._replace(encoding=found.encoding or "utf-8 with NUL bytes")
    if data.isascii():
        return _decoded(data, "iso2022_jp") if _ESCAPES.search(data) else Text(data, "")
    return _of_bytes(data)


def _has_stray_nuls(head: bytes) -> bool:
    """Whether the start of a file is text but for a few NUL bytes, or runs of them as a lost block of a disk has."""
    runs = _NULS.findall(head)
    rest = head.replace(b"\0", b"")
    return len(rest) >= _APART * len(runs) and not _NO_TEXT.search(rest.decode("utf-8", "ignore"))


def _of_bytes(data: bytes) -> Text:
    """A file without a mark, whose characters may have any number of bytes."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        if len(data) - error.start < 4 and error.reason == "unexpected end of data":
            return Text(data, "")  # cut off inside of a character
        if _is_mostly_utf_8(data):
            return Text(data.decode("utf-8", "replace").encode(), "utf-8 with errors")
        return _decoded(data, _declared(data) or _guessed(data))
    return Text(data, "")


def _is_mostly_utf_8(data: bytes) -> bool:
    """Whether a few bytes alone are no UTF-8: in other encodings hardly any character looks like one of it."""
    text = data.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    return sum(map(len, _ABOVE_ASCII.findall(text))) - bad > 2 * bad


def _decoded(data: bytes, encoding: str) -> Text:
    if not encoding:
        raise UserError(_BINARY)
    if encoding == "utf-8":
        return Text(data, "")
    text = data.decode(encoding, "replace").removeprefix("\ufeff").encode("utf-8", "replace")
    if encoding.startswith("utf") and b"\0" in text[:_SAMPLE]:
        raise UserError(_BINARY)
    return Text(text, encoding.replace("_", "-").replace("cp125", "windows-125"))


def _without_mark(head: bytes) -> str:
    """The encoding of two or four bytes a character in which the start of a file is plain text; "" if none is."""
    for encoding in ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"):
        width = 4 if "32" in encoding else 2
        try:
            text = head[: len(head) // width * width].decode(encoding)
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data":  # cut off inside of a character
                continue
            text = head[: error.start].decode(encoding)
        ascii_ones = sum(map(str.isascii, text))
        if len(text) > 1 and ascii_ones > _ASCII * len(text) and not _NO_TEXT.search(text):
            return encoding
    return ""


def _declared(data: bytes) -> str:
    """The encoding that one of the first two lines declares, as Python and editors have it; "" if none is known."""
    found = _DECLARED.match(data[:1000])
    name = found[1].decode("ascii", "replace") if found else ""
    try:
        return codecs.lookup(name).name if _SAFE.fullmatch(name) else ""
    except LookupError:
        return ""


def _guessed(data: bytes) -> str:
    """The likeliest encoding of a file that is no UTF-8: that in which most letters are common ones."""
    parts = _HIGH.findall(data)
    sample = b"\n".join(parts)[:_GUESSED].rpartition(b"\n")[0] or b"\n".join(parts)[:_GUESSED]
    best, most = "latin-1", 0.0
    for encoding in (*_LATIN, *_COMMON, *_OF_TWO_BYTES):
        if (share := _likelihood(sample, encoding)) > most:
            best, most = encoding, share
    return best


def _likelihood(sample: bytes, encoding: str) -> float:
    """The share of the letters above ASCII that are common ones in text of an encoding; 0 if it does not decode."""
    try:
        letters = [letter for letter in sample.decode(encoding) if not letter.isascii()]
    except UnicodeDecodeError:
        return 0.0
    if encoding in _LATIN:
        return max(_share(letters, language) for language in _LATIN[encoding]) * (1.0 - 0.5 * _in_words(sample))
    if encoding in _COMMON:
        share = sum(letter in _COMMON[encoding] for letter in letters) / max(1, len(letters))
        return share * (0.5 + 0.5 * _in_words(sample))
    # each character of two bytes is evidence twice; a rare one is none
    return sum(_is_common(letter, encoding) for letter in letters) / max(1, len(letters)) * _paired(sample)


def _share(letters: Sequence[str], language: str) -> float:
    """How many of the letters a language has; signs are of all."""
    counts = Counter(letters)
    small = sum(count for letter, count in counts.items() if letter in language or letter in _SIGNS)
    capitals = sum(count for letter, count in counts.items() if letter not in language and letter.lower() in language)
    return (small + _CAPITAL * capitals) / max(1, len(letters))


def _in_words(sample: bytes) -> float:
    """The share of bytes above ASCII that are in runs of three or more, which Western words hardly have."""
    runs = _RUN.findall(sample)
    return sum(len(run) for run in runs if len(run) > 2) / max(1, sum(map(len, runs)))


def _is_common(letter: str, encoding: str) -> bool:
    """Whether a character is one that most text in an encoding of East Asia consists of."""
    code = ord(letter)
    if encoding == "euc_kr":
        return 0xAC00 <= code <= 0xD7A3
    if encoding in ("shift_jis", "euc_jp"):
        return 0x3040 <= code <= 0x30FF or (0x4E00 <= code <= 0x9FFF and letter.encode(encoding, "replace")[0] < 0xD0)
    if encoding == "gb18030":  # the first part of GB 2312 has the common characters
        own = letter.encode("gb18030")
        return len(own) == 2 and ((0xB0 <= own[0] <= 0xD7 and own[1] >= 0xA1) or own[0] in (0xA1, 0xA3))
    own = letter.encode("big5", "replace")
    return len(own) == 2 and 0xA4 <= own[0] <= 0xC6


def _paired(sample: bytes) -> float:
    """The share of bytes above ASCII beside another one: nearly all in East Asian text, few in Western text."""
    high = [place for place, byte in enumerate(sample) if byte >= 0x80]
    beside = sum(after - before == 1 for before, after in pairwise(high))
    return min(1.0, 1.2 * beside / max(1, len(high) - 1))
