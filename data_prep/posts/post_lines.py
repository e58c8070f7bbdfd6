"""Rows of a dump that are kept, as JSON lines: the slow part of reading one, done in several processes.

:mod:`data_prep.posts.read_dump` decides which rows are kept; here their HTML becomes text, code and errors (lxml, which
reads broken HTML as browsers do).
"""

import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple

from lxml import etree

from data_prep.posts.blocks import snippets_of
from data_prep.posts.config import ErrorRule
from data_prep.posts.records import Row, author_of, licence_of

_BLOCKS: Final = re.compile(r"<(?=/?(?:p|li|ul|ol|pre|br|div|h\d|tr|blockquote|hr|dd|dt)\b)", re.IGNORECASE)
"""Starts of tags that end a line of text."""
_BLANK_LINES: Final = re.compile(r"\n\s*\n+")


class KeptPost(NamedTuple):
    """A row that is kept: a question, or the accepted answer of one."""

    row: Row
    question: int  # its id
    tags: tuple[str, ...] = ()  # of a question
    answer: int | None = None  # its id; None: a question
    accepted: int | None = None  # of a question: the id of its accepted answer


class CodeElement(NamedTuple):
    """A ``code`` element of a post."""

    text: str
    block: bool  # inside ``pre``; otherwise part of a sentence


class PostText(NamedTuple):
    """A post without its markup."""

    text: str  # including code
    prose: str  # without blocks of code
    codes: tuple[CodeElement, ...]  # in document order


@dataclass(frozen=True, slots=True)
class Reading:
    """What the JSON lines of a site depend on, beside its rows."""

    site: str
    question_url: str  # with {id}
    licence: str  # "": of each post by its date
    error_rule: ErrorRule
    inline: bool
    min_chars: int


@dataclass(frozen=True, slots=True)
class PostBatch:
    """Posts that one process reads at once."""

    reading: Reading
    posts: tuple[KeptPost, ...]


def post_lines(batch: PostBatch) -> tuple[bytes, bytes]:
    """The JSON lines of the questions, and those of the answers, of a batch, in its order, each compressed by gzip.

    A question has the fields of :class:`data_prep.posts.records.Post` that it has itself; an answer has the id of its
    question, its text and its attribution. Lines are ASCII, so that lone surrogates cannot break them.
    """
    questions = [_line(_question(post, batch.reading)) for post in batch.posts if post.answer is None]
    answers = [_line(_answer(post, batch.reading)) for post in batch.posts if post.answer is not None]
    return _packed(questions), _packed(answers)


def _packed(lines: Sequence[str]) -> bytes:
    """A gzip file, or nothing; such files one after the other are one of all lines."""
    return gzip.compress("".join(lines).encode("ascii"), compresslevel=1, mtime=0) if lines else b""


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=True) + "\n"


def _question(post: KeptPost, reading: Reading) -> dict[str, Any]:
    row = post.row
    body = read_html(row.get("Body", ""))
    snippets = snippets_of(_blocks(body, reading), reading.error_rule)
    return {
        "site": reading.site,
        "id": post.question,
        "title": row.get("Title", ""),
        "tags": post.tags,
        "body": row.get("Body", ""),
        "text": body.text,
        "prose": body.prose,
        "code": snippets.code,
        "error": snippets.error,
        "keyword": snippets.keywords,
        "accepted_answer_id": post.accepted,
        "creation_date": row.get("CreationDate", ""),
        "question_by": _attribution(post, reading),
    }


def _answer(post: KeptPost, reading: Reading) -> dict[str, Any]:
    text = read_html(post.row.get("Body", "")).text
    return {"site": reading.site, "question": post.question, "text": text, "answer_by": _attribution(post, reading)}


def _blocks(post: PostText, reading: Reading) -> list[str]:
    return [
        code.text
        for code in post.codes
        if (code.block or reading.inline) and len(code.text.strip()) >= reading.min_chars
    ]


def _attribution(post: KeptPost, reading: Reading) -> dict[str, str]:
    """The fields of an :class:`data_prep.posts.records.Attribution`."""
    url = reading.question_url.replace("{id}", str(post.question))
    url = f"{url}#{post.answer}" if url and post.answer and not reading.licence else url
    return {"author": author_of(post.row), "url": url, "licence": licence_of(post.row, reading.licence)}


def read_html(body: str) -> PostText:
    """The text and the code elements of a post; markup that is not closed or not known is ignored."""
    if "<" not in body and "&" not in body:
        return PostText(body.strip(), body.strip(), ())
    spaced = _BLOCKS.sub("\n<", body)
    root = _parsed(spaced)
    if root is None:  # nothing but a comment or white space
        return PostText("", "", ())
    codes = tuple(_codes(root))
    text = _tidy(_text(root))
    if "<pre" not in spaced:
        return PostText(text, text, codes)
    etree.strip_elements(root, "pre", with_tail=False)
    return PostText(text, _tidy(_text(root)), codes)


def _text(element: etree._Element) -> str:
    return str(etree.tostring(element, method="text", encoding="unicode", with_tail=False))


def _tidy(text: str) -> str:
    return _BLANK_LINES.sub("\n\n", text).strip()


def _parsed(html: str) -> etree._Element | None:
    try:
        return etree.fromstring(b"<div>" + html.encode("utf-8", "replace") + b"</div>", _parser())
    except etree.XMLSyntaxError:
        return None


@cache
def _parser() -> etree.HTMLParser:
    """One for all posts: to make it takes longer than to parse a post."""
    return etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)


def _codes(root: etree._Element) -> Iterator[CodeElement]:
    for element in root.iter("code"):
        around = [outer.tag for outer in element.iterancestors("code", "pre")]
        if "code" not in around:
            yield CodeElement(_text(element), bool(around))
