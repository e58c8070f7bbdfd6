"""Writes a bug tracker as the tables of a Stack Exchange dump, so that the ordinary pipeline reads it.

A tracker is JSON Lines with one ticket per line: ``id``, ``title``, ``body`` and ``best_answer`` (Markdown),
``duplicate_of`` (ids), and optionally ``tags``, ``created``, ``url``, ``author``. Fenced code becomes ``<pre><code>``,
code in backticks ``<code>``. A ticket is a question; its best answer, if it has one, the accepted answer; a duplicate a
link of type 3, and each line of a file of weak links (``query``, ``original``) a link of type 1.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import quoteattr

from data_prep.errors import UserError
from data_prep.files.json_text import json_lines
from data_prep.files.text_rows import LeftOut
from data_prep.files.writing import atomic_folder
from data_prep.posts.dump_files import SITE

_FENCE: Final = re.compile(r"^ {0,3}(?P<mark>`{3,}|~{3,})")
_INLINE: Final = re.compile(r"(?<!`)(`{1,2})(?!`)(?P<code>[^`\n]+)\1(?!`)")
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES: Final = {"\n": "&#xA;", "\r": "&#xD;", "\t": "&#x9;"}


def write_tracker(tickets: Path, links: Path | None, out: Path, site: Mapping[str, str]) -> dict[str, int]:
    """Write Posts.xml, PostLinks.xml and the site's description to ``out``, a folder that is replaced as a whole.

    Args:
        tickets: the tracker.
        links: weak links, if there are any.
        out: the folder.
        site: name, address of a question with {id}, and licence, as far as known.

    Returns:
        The number of questions, answers, links of both types, and lines that are left out since they are no JSON.

    Raises:
        UserError: a file is damaged, or an object of it is no ticket or link.
        OSError: a file cannot be read or written.
    """
    left_out: dict[str, str] = {}  # place -> reason; the tickets are read twice
    with atomic_folder(out) as folder:
        ids = (_whole(row, "id", f"{tickets}:{line}") for line, row in json_lines(tickets, left_out.__setitem__))
        largest = max(ids, default=0)
        with (folder / "Posts.xml").open("w", encoding="utf-8") as file:
            duplicates, counts = _write_posts(file, tickets, largest)
        weak = [] if links is None else [*_weak_links(links, left_out.__setitem__)]
        with (folder / "PostLinks.xml").open("w", encoding="utf-8") as file:
            pairs = [*((*pair, 3) for pair in duplicates), *((*pair, 1) for pair in weak)]
            _write_table(file, "postlinks", map(_link_row, range(1, len(pairs) + 1), pairs))
        (folder / SITE).write_text(json.dumps({name: text for name, text in site.items() if text}), encoding="utf-8")
    counts |= {"duplicate links": len(duplicates), "weak links": len(weak)}
    return counts | ({"lines left out, blank or no JSON": len(left_out)} if left_out else {})


def markdown_to_html(text: str) -> str:
    """Markdown as far as code is concerned: fences, code in backticks, paragraphs."""
    parts: list[str] = []
    prose: list[str] = []
    lines = iter(text.splitlines())
    for line in lines:
        if not (fence := _FENCE.match(line)):
            prose.append(line)
            continue
        parts += _paragraphs(prose)
        prose = []
        mark, code = fence["mark"], []
        for inner in lines:
            closing = inner.strip()
            if closing.startswith(mark) and not closing.strip(mark[0]):
                break
            code.append(inner)
        parts.append(f"<pre><code>{escape(chr(10).join(code), quote=False)}\n</code></pre>")
    return "\n\n".join([*parts, *_paragraphs(prose)])


def _paragraphs(lines: list[str]) -> list[str]:
    found = (part.strip() for part in re.split(r"\n\s*\n", "\n".join(lines)))
    return [f"<p>{_with_inline_code(part)}</p>" for part in found if part]


def _with_inline_code(text: str) -> str:
    parts, end = [], 0
    for found in _INLINE.finditer(text):
        parts += [escape(text[end : found.start()], quote=False), f"<code>{escape(found['code'], quote=False)}</code>"]
        end = found.end()
    return "".join([*parts, escape(text[end:], quote=False)])


def _write_posts(file: TextIOWrapper, tickets: Path, largest: int) -> tuple[list[tuple[int, int]], dict[str, int]]:
    duplicates: list[tuple[int, int]] = []
    counts = {"questions": 0, "answers": 0}

    def rows() -> Iterator[dict[str, Any]]:
        for line, ticket in json_lines(tickets, lambda *_: None):  # counted before
            where = f"{tickets}:{line}"
            number = _whole(ticket, "id", where)
            answer = _text(ticket, "best_answer", where)
            yield _question(ticket, number, largest + number if answer else None, where)
            counts["questions"] += 1
            if answer:
                yield _answer(ticket, number, largest + number, answer)
                counts["answers"] += 1
            of = ticket.get("duplicate_of") or []
            if not isinstance(of, list) or not all(type(each) is int for each in of):
                raise UserError(f"{where}: duplicate_of takes a list of ids, not {of!r:.40}")
            duplicates.extend((number, each) for each in of)

    _write_table(file, "posts", rows())
    return duplicates, counts


def _question(ticket: Mapping[str, Any], number: int, accepted: int | None, where: str) -> dict[str, Any]:
    tags = [str(tag).replace("|", " ") for tag in ticket.get("tags") or []]
    return {
        "Id": number,
        "PostTypeId": 1,
        "AcceptedAnswerId": accepted,
        "CreationDate": str(ticket.get("created") or "").removesuffix("Z"),
        "Body": markdown_to_html(_text(ticket, "body", where)),
        "OwnerDisplayName": ticket.get("author"),
        "Title": _text(ticket, "title", where),
        "Tags": f"|{'|'.join(tags)}|" if tags else None,
    }


def _answer(ticket: Mapping[str, Any], number: int, own: int, text: str) -> dict[str, Any]:
    return {
        "Id": own,
        "PostTypeId": 2,
        "ParentId": number,
        "CreationDate": str(ticket.get("created") or "").removesuffix("Z"),
        "Body": markdown_to_html(text),
    }


def _weak_links(path: Path, left_out: LeftOut) -> Iterator[tuple[int, int]]:
    for line, row in json_lines(path, left_out):
        yield _whole(row, "query", f"{path}:{line}"), _whole(row, "original", f"{path}:{line}")


def _link_row(number: int, link: tuple[int, int, int]) -> dict[str, Any]:
    source, target, kind = link
    return {"Id": number, "PostId": source, "RelatedPostId": target, "LinkTypeId": kind}


def _write_table(file: TextIOWrapper, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
    file.write(f'<?xml version="1.0" encoding="utf-8"?>\n<{table}>\n')
    for row in rows:
        shown = (f"{name}={_attribute(value)}" for name, value in row.items() if value is not None)
        file.write(f"  <row {' '.join(shown)} />\n")
    file.write(f"</{table}>\n")


def _attribute(value: object) -> str:
    return quoteattr(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", str(value)), _ESCAPES)


def _whole(row: Mapping[str, Any], name: str, where: str) -> int:
    number = row.get(name)
    if type(number) is not int or number < 1:
        raise UserError(f"{where}: {name} takes a whole number of 1 or more, not {number!r:.40}")
    return number


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    text = row.get(name)
    if text is not None and not isinstance(text, str):
        raise UserError(f"{where}: {name} takes a text, not {text!r:.40}")
    return text or ""
