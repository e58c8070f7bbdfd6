"""Finds the files of a Stack Exchange dump, and streams their bytes: plain XML, gzip, or .7z archives (py7zr).

Characters that XML forbids are left out, so that one of them does not refuse a whole dump: control characters, halves
of surrogate pairs, U+FFFE and U+FFFF, whether they stand there or are named by a reference (``&#11;``, ``&#xD800;``),
and bytes that are no UTF-8. This happens before the parser, which refuses what it refuses of any other file.
"""

import codecs
import gzip
import importlib
import os
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BufferedReader
from itertools import product
from pathlib import Path
from typing import Any, Final

from data_prep.errors import UserError
from data_prep.files.access import MAX_RATIO, RATIO_FROM, open_regular, read_whole
from data_prep.files.json_text import parse_json

Feed = Callable[[bytes], None]

SITE: Final = "site.json"
"""Optional file beside the tables: name, address of a question with {id}, and licence of a site that is not of Stack
Exchange."""
UNKNOWN_LICENCE: Final = "licence not known"
"""Of a described site whose description names none."""
_CHUNK: Final = 1 << 20
_ARCHIVE: Final = re.compile(r"(?P<site>.+?)(?:-(?P<table>Posts|PostLinks))?\.7z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a dump: a file, or a member of an archive."""

    path: Path
    member: str = ""  # of a .7z archive

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.path}:{self.member}" if self.member else str(self.path)

    def stream(self, feed: Feed) -> None:
        """Call ``feed`` with the bytes, chunk by chunk.

        Raises:
            UserError: the file is damaged, expands suspiciously, or needs a library that is not installed.
            OSError: it cannot be read.
        """
        if self.member:
            _stream_archive(self, feed)
            return
        with open_regular(self.path) as file:
            source: BufferedReader | gzip.GzipFile = file
            if file.peek(2).startswith(b"\x1f\x8b"):
                source, feed = gzip.GzipFile(fileobj=file), _Bound(self.name, os.fstat(file.fileno()).st_size, feed)
            try:
                for chunk in iter(lambda: source.read(_CHUNK), b""):
                    feed(chunk)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise UserError(f"{self.name} is damaged ({error}): get it again") from error


@dataclass(frozen=True, slots=True)
class Dump:
    """The tables of one site."""

    site: str
    posts: Table
    links: Table | None
    question_url: str  # with {id}
    licence: str  # "": each post by its date, as on Stack Exchange

    @property
    def files(self) -> list[Path]:
        """The files that are read."""
        return list(dict.fromkeys(table.path for table in (self.posts, self.links) if table))


def find_dump(path: Path) -> Dump:
    """The dump in a folder or archive.

    Raises:
        UserError: there is none, or a needed library is not installed.
    """
    if not path.exists():
        raise UserError(f"expected a dump in {path}, but nothing is there: name a folder with Posts.xml, or a .7z")
    site, tables = _tables(path)
    if "Posts" not in tables:
        raise UserError(f"expected Posts.xml, Posts.xml.gz or a .7z archive of it in {path}: it has none")
    described = _site_of(path if path.is_dir() else path.parent)
    own = described or {}
    name = own.get("site", site)
    url = own.get("question_url", f"https://{name}/questions/{{id}}" if "." in name else "")
    licence = own.get("licence", "" if described is None else UNKNOWN_LICENCE)
    return Dump(name, tables["Posts"], tables.get("PostLinks"), url, licence)


def _tables(path: Path) -> tuple[str, dict[str, Table]]:
    """The name of the site, and its tables; files of a folder come before archives in it."""
    site, tables = path.name, dict[str, Table]()
    for name, suffix in product(("Posts", "PostLinks"), (".xml", ".xml.gz")):
        if (file := path / f"{name}{suffix}").is_file():
            tables.setdefault(name, Table(file))
    if "Posts" in tables:
        return site, tables
    for archive in sorted(path.glob("*.7z")) if path.is_dir() else [path]:
        if found := _ARCHIVE.fullmatch(archive.name):
            new = dict(_members(archive))
            if new and tables and found["site"] != site:
                raise UserError(f"{path} has archives of several sites: name them one by one, separated by commas")
            site, tables = (found["site"] if new else site), tables | new
    return site, tables


def _site_of(folder: Path) -> dict[str, str] | None:
    """What the description says; None without one: the site is of Stack Exchange."""
    if not (folder / SITE).is_file():
        return None
    try:
        content = parse_json(read_whole(folder / SITE))
    except UserError as error:
        raise UserError(f"{folder / SITE} is no JSON ({error}): correct or remove it") from error
    if not isinstance(content, dict) or not all(isinstance(each, str) for each in content.values()):
        raise UserError(f"{folder / SITE} takes texts named site, question_url and licence: correct or remove it")
    return content


class _Bound:
    """Passes chunks on, and refuses decompression bombs."""

    def __init__(self, name: str, packed: int, feed: Feed) -> None:
        self._name, self._packed, self._feed, self._unpacked = name, packed, feed, 0

    def __call__(self, chunk: bytes) -> None:
        self._unpacked += len(chunk)
        if self._unpacked > max(RATIO_FROM, MAX_RATIO * self._packed):
            raise UserError(f"{self._name} is refused: it unpacks to more than {MAX_RATIO} times its size")
        self._feed(chunk)


def _library() -> Any:
    try:
        return importlib.import_module("py7zr")
    except ImportError as error:
        raise UserError(".7z archives need py7zr: bash run.sh install posts; or unpack them first") from error


def _members(archive: Path) -> Iterator[tuple[str, Table]]:
    library = _library()
    try:
        with open_regular(archive) as file, library.SevenZipFile(file) as opened:
            names = opened.getnames()
    except (library.exceptions.ArchiveError, EOFError, ValueError) as error:
        raise UserError(f"{archive} is no readable .7z archive ({error}): get it again") from error
    for member in names:
        if member in ("Posts.xml", "PostLinks.xml"):
            yield member.removesuffix(".xml"), Table(archive, member)


def _stream_archive(table: Table, feed: Feed) -> None:
    library = _library()
    sink = _Sink(_Bound(table.name, table.path.stat().st_size, feed))
    try:
        with open_regular(table.path) as file, library.SevenZipFile(file) as opened:
            opened.extract(targets=[table.member], factory=sink)
    except (library.exceptions.ArchiveError, EOFError) as error:
        raise UserError(f"{table.name} is damaged ({error}): get it again") from error


class _Sink:
    """What py7zr takes for a factory of output files, and for the file: bytes are passed on, nothing is stored."""

    def __init__(self, feed: Feed) -> None:
        self._feed, self._done = feed, 0

    def create(self, _name: str) -> "_Sink":
        return self

    def write(self, data: bytes | bytearray) -> int:
        self._done += len(data)
        self._feed(bytes(data))
        return len(data)

    def read(self, _size: int | None = None) -> bytes:
        return b""

    def seek(self, _offset: int, _whence: int = 0) -> int:
        return 0

    def flush(self) -> None:
        return

    def close(self) -> None:
        return

    def size(self) -> int:
        return self._done


_CONTROLS: Final = bytes({*range(32)} - {*b"\t\n\r"})
_NO_CHARACTERS: Final = re.compile("[\ud800-\udfff\ufffe\uffff]")
_REFERENCE: Final = re.compile(rb"&#(?!x[9AD];)(?:x([0-9A-Fa-f]+)|([0-9]+));")
"""A reference to a character by its number, but for those that end the lines of posts, the most frequent ones."""
_LATIN: Final = re.compile(rb"<\?xml[^>]*\sencoding\s*=\s*[\"']iso-8859-1[\"']", re.IGNORECASE)
_HEAD: Final = 256  # bytes that have the declaration
_LONGEST_REFERENCE: Final = 99  # bytes
_MOST_DIGITS: Final = 7


class AllowedCharacters:
    """Makes UTF-8 of the chunks of a file in UTF-8, UTF-16 or ISO 8859-1; counts what it leaves out."""

    def __init__(self) -> None:
        self.left_out = 0
        self._waiting, self._reference = b"", b""
        self._decoder: codecs.IncrementalDecoder | None = None

    def of(self, chunk: bytes, *, last: bool = False) -> bytes:
        """The next bytes for the parser, perhaps without the end of ``chunk``, which may need what follows it."""
        if self._decoder is None:
            chunk = self._waiting + chunk
            if not last and len(chunk) < _HEAD and b">" not in chunk:
                self._waiting = chunk
                return b""
            self._decoder = _decoder_of(chunk)
        text = self._decoder.decode(chunk)
        self.left_out += last and bool(self._decoder.getstate()[0])  # half a character
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


def _decoder_of(start: bytes) -> codecs.IncrementalDecoder:
    """What decodes a file that begins like this, so that what is wrong becomes halves of surrogate pairs."""
    if start.startswith((codecs.BOM_UTF16_LE, b"<\0")):
        return codecs.getincrementaldecoder("utf-16-le")("surrogatepass")
    if start.startswith((codecs.BOM_UTF16_BE, b"\0<")):
        return codecs.getincrementaldecoder("utf-16-be")("surrogatepass")
    coding, errors = ("latin-1", "strict") if _LATIN.match(start) else ("utf-8", "surrogateescape")
    return codecs.getincrementaldecoder(coding)(errors)
