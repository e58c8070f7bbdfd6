"""Streaming reader of the tables of a Stack Exchange dump: ``<posts><row Id="1" .../> ... </posts>``.

The content is pushed in chunks, so that a file, a gzip stream and a .7z archive are read alike, and memory is bounded
by one row. The files are untrusted: document type declarations, and so entities, are refused, as are rows of absurd
size, and encodings that expat itself does not read, for which Python would look up a codec of any kind.
"""

from collections.abc import Callable, Mapping
from typing import Final
from xml.parsers import expat

from data_prep.errors import UserError

Row = Mapping[str, str]
"""Attribute -> value; a NULL column is an absent attribute."""

LONGEST_ROW: Final = 16 << 20
"""Most bytes of a row; the longest posts have about 100 KB."""
_ENCODINGS: Final = ("utf-8", "utf-16", "iso-8859-1", "us-ascii")


class RowParser:
    """Parses one table; ``on_row`` is called with the attributes of each row."""

    def __init__(self, name: str, table: str, on_row: Callable[[Row], None]) -> None:
        """``name``: the file, for messages; ``table``: the root element, such as ``posts``."""
        self._name, self._table, self._on_row = name, table, on_row
        self._fed, self._row_end, self._depth, self.rows = 0, 0, 0, 0
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.XmlDeclHandler = self._check_encoding
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._parser.EntityDeclHandler = self._refuse_doctype

    def feed(self, chunk: bytes) -> None:
        """Parse the next bytes.

        Raises:
            UserError: they are not such a table; the message names the file and the rows read so far.
        """
        self._fed += len(chunk)
        self._parse(chunk, last=False)
        if self._fed - self._row_end > LONGEST_ROW + len(chunk):
            raise UserError(f"{self._name} is refused: a row has more than {LONGEST_ROW >> 20} MiB")

    def close(self) -> None:
        """End of the content.

        Raises:
            UserError: the table is not complete.
        """
        self._parse(b"", last=True)

    def _parse(self, chunk: bytes, *, last: bool) -> None:
        try:
            self._parser.Parse(chunk, last)
        except expat.ExpatError as error:
            what = expat.errors.messages.get(error.code, "not XML")
            if last or what in _EARLY:
                raise UserError(
                    f"{self._name} ends early, after {self.rows:,} rows ({what}): get it again, whole"
                ) from error
            raise UserError(
                f"{self._name} is no UTF-8 XML: {what} in line {error.lineno:,}, after {self.rows:,} rows: get it again"
            ) from error

    def _start(self, element: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        expected = self._table if self._depth == 1 else "row"
        if self._depth > 2 or element.lower() != expected:
            raise UserError(f"{self._name}: expected <{expected}>, got <{element:.40}> after {self.rows:,} rows")
        if self._depth == 2:
            self.rows += 1
            self._row_end = self._parser.CurrentByteIndex
            self._on_row(attributes)

    def _end(self, _element: str) -> None:
        self._depth -= 1

    def _check_encoding(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding and encoding.lower() not in _ENCODINGS:
            expected = f"expected the encoding {', '.join(_ENCODINGS)}"
            raise UserError(f"{self._name} is refused: {expected}, got {encoding!r:.40}: convert it")

    def _refuse_doctype(self, *_parts: object) -> None:
        raise UserError(f"{self._name} is refused: it declares entities or a document type, which no dump does")


_EARLY: Final = ("no element found", "unclosed token")
