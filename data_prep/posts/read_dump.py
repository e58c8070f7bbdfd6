"""Reads the tables of a dump: questions that are kept, their accepted answers, and the links between them.

Posts.xml is read once. Memory holds a few numbers per kept question, not the posts: these go to ``keep`` as they are
read. Only if an accepted answer stands before its question, as after a merge of questions, is
the file read a second time for the answers that are missing.

Tables are pushed in chunks, so that a file, a gzip stream and a .7z archive are read alike, and memory is bounded by
one row. The files are untrusted: document type declarations, and so entities, are refused, as are rows of absurd size,
and encodings other than those of :mod:`data_prep.posts.dump_files`, which leaves out what XML forbids.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

from data_prep.errors import UserError
from data_prep.posts.dump_files import AllowedCharacters, Dump
from data_prep.posts.post_lines import KeptPost, Row
from data_prep.posts.sets import PostsConfig

Keep = Callable[[KeptPost], None]
"""Takes a row that is kept."""

QUESTION: Final = "1"
ANSWER: Final = "2"
LINKED: Final = "1"
DUPLICATE: Final = "3"
_ENCODINGS: Final = ("utf-8", "utf-16", "iso-8859-1", "us-ascii")
LONGEST_ROW: Final = 16 << 20
"""Most bytes of a row; the longest posts have about 100 KB."""
_EARLY: Final = ("no element found", "unclosed token")
_LARGEST_ID: Final = 1 << 62
_BAD: Final = "bad characters left out"
_TAGS_COUNTED: Final = 200_000


@dataclass
class Found:
    """What was read of one site."""

    counts: Counter[str] = field(default_factory=Counter)
    accepted: dict[int, int] = field(default_factory=dict)  # accepted answer -> its question, of those not read yet
    kept: set[int] = field(default_factory=set)  # questions
    tags: Counter[str] = field(default_factory=Counter)


def read_posts(dump: Dump, config: PostsConfig, keep: Keep) -> Found:
    """Read Posts.xml.

    Args:
        dump: the files of a site.
        config: which questions are kept.
        keep: takes each question that is kept, and each accepted answer of one.

    Raises:
        UserError: the file is damaged or refused, or no question is kept; the message has the counts.
        OSError: it cannot be read.
    """
    reader = _PostsReader(dump, config, keep)
    reader.read(reader.row)
    found = reader.found
    if found.accepted and reader.out_of_order:
        reader.read(reader.late_answer)
    found.counts["accepted answers that are not in the dump"] = len(found.accepted)
    if not found.kept:
        raise UserError(_nothing_kept(dump, config, found))
    return found


class _PostsReader:
    def __init__(self, dump: Dump, config: PostsConfig, keep: Keep) -> None:
        self.dump, self.config, self.keep = dump, config, keep
        self.found, self.out_of_order, self._last = Found(), False, -1

    def read(self, on_row: Callable[[Row], None]) -> None:
        parser = RowParser(self.dump.posts.name, "posts", on_row)
        self.dump.posts.stream(parser.feed)
        parser.close()
        self.found.counts[_BAD] = parser.left_out

    def row(self, row: Row) -> None:
        counts, number = self.found.counts, _number(row, "Id")
        counts["rows"] += 1
        if number is None:
            counts["rows without an Id"] += 1
            return
        kind = row.get("PostTypeId")
        self.out_of_order |= number < self._last or (kind == ANSWER and (_number(row, "ParentId") or 0) > number)
        self._last = number
        if kind == QUESTION:
            self._question(number, row)
        elif kind == ANSWER:
            counts["answers"] += 1
            if number in self.found.accepted:
                self._accepted(number, row)

    def _question(self, number: int, row: Row) -> None:
        found, config = self.found, self.config
        found.counts["questions"] += 1
        tags = tags_of(row.get("Tags", ""))
        if not found.kept and len(found.tags) < _TAGS_COUNTED:  # they are named if nothing is kept
            found.tags.update(tags)
        if not config.has_tag(tags):
            found.counts["questions without the tag"] += 1
        elif not config.in_time(row.get("CreationDate", "")):
            found.counts["questions outside the time"] += 1
        elif number in found.kept:
            found.counts["questions with an Id seen before"] += 1
        else:
            found.kept.add(number)
            if accepted := _number(row, "AcceptedAnswerId"):
                found.accepted[accepted] = number
            self.keep(KeptPost(row, number, tags, None, accepted))

    def late_answer(self, row: Row) -> None:
        """A row of the second pass."""
        number = _number(row, "Id")
        if number in self.found.accepted and row.get("PostTypeId") == ANSWER:
            self._accepted(number, row)

    def _accepted(self, number: int, row: Row) -> None:
        question = self.found.accepted.pop(number)
        self.found.counts["accepted answers"] += 1
        self.keep(KeptPost(row, question, answer=number))


def read_links(dump: Dump, found: Found) -> dict[str, list[tuple[int, int]]]:
    """The links from kept questions, as ``duplicate`` and ``linked`` pairs of ids (from, to), without repetition.

    Raises:
        UserError: PostLinks.xml is damaged or refused.
        OSError: it cannot be read.
    """
    pairs: dict[str, dict[tuple[int, int], None]] = {DUPLICATE: {}, LINKED: {}}
    if dump.links is None:
        return {"duplicate": [], "linked": []}

    def on_row(row: Row) -> None:
        source, target = _number(row, "PostId"), _number(row, "RelatedPostId")
        kind = row.get("LinkTypeId")
        if source is None or target is None or kind not in pairs:
            found.counts["links of other kinds or without ids"] += 1
        elif source not in found.kept:
            found.counts["links from posts that are not kept"] += 1
        elif source == target:
            found.counts["links to themselves"] += 1
        else:
            found.counts["duplicate links to posts that are not kept"] += kind == DUPLICATE and target not in found.kept
            pairs[kind][source, target] = None

    parser = RowParser(dump.links.name, "postlinks", on_row)
    dump.links.stream(parser.feed)
    parser.close()
    found.counts[_BAD] += parser.left_out
    linked = [pair for pair in pairs[LINKED] if pair not in pairs[DUPLICATE]]
    return {"duplicate": list(pairs[DUPLICATE]), "linked": linked}


def tags_of(text: str) -> tuple[str, ...]:
    """The tags of a question: ``<a><b>`` of old dumps, ``|a|b|`` of recent ones."""
    inner = text.strip()
    if inner.startswith("<"):
        return tuple(part for part in inner.strip("<>").split("><") if part)
    return tuple(part for part in inner.split("|") if part)


def _number(row: Row, name: str) -> int | None:
    """A positive id; None if the attribute is absent or no such number."""
    text = row.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        return None
    return number if 0 < (number := int(text)) < _LARGEST_ID else None


def _nothing_kept(dump: Dump, config: PostsConfig, found: Found) -> str:
    counts = ", ".join(f"{name} {count:,}" for name, count in found.counts.items() if count) or "no rows"
    often = ", ".join(tag for tag, _ in found.tags.most_common(5))
    hint = f"; its most frequent tags: {often}" if often else ""
    wanted = f"--data.tag={config.tag} --data.since={config.since} --data.until={config.until}"
    return f"no question of {dump.posts.name} is kept by {wanted} ({counts}){hint}"


class RowParser:
    """Parses one table, ``<posts><row Id="1" .../> ... </posts>``, and passes on the attributes of each row."""

    def __init__(self, name: str, table: str, on_row: Callable[[Row], None]) -> None:
        """``name``: the file, for messages; ``table``: the root element, such as ``posts``."""
        self._name, self._table, self._on_row = name, table, on_row
        self._fed, self._row_end, self._depth, self.rows = 0, 0, 0, 0
        self._characters = AllowedCharacters()
        self._parser = expat.ParserCreate("utf-8")  # whatever is declared, it gets UTF-8
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
        chunk = self._characters.of(chunk)
        self._fed += len(chunk)
        self._parse(chunk, last=False)
        if self._fed - self._row_end > LONGEST_ROW + len(chunk):
            raise UserError(f"{self._name} is refused: a row has more than {LONGEST_ROW >> 20} MiB")

    def close(self) -> None:
        """End of the content.

        Raises:
            UserError: the table is not complete.
        """
        self._parse(self._characters.of(b"", last=True), last=False)
        self._parse(b"", last=True)

    @property
    def left_out(self) -> int:
        """Number of characters that were left out, since XML forbids them or they are none."""
        return self._characters.left_out

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
