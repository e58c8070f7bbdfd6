"""Rows of a dump that are kept, as JSON lines: the slow part of reading one, done in several processes.

:mod:`data_prep.posts.read_dump` decides which rows are kept; here their HTML becomes text, code and errors.
"""

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from data_prep.posts.blocks import snippets_of
from data_prep.posts.config import ErrorRule
from data_prep.posts.html_text import PostText, read_html
from data_prep.posts.records import author_of, licence_of
from data_prep.posts.xml_rows import Row


class KeptPost(NamedTuple):
    """A row that is kept: a question, or the accepted answer of one."""

    row: Row
    question: int  # its id
    tags: tuple[str, ...] = ()  # of a question
    answer: int | None = None  # its id; None: a question
    accepted: int | None = None  # of a question: the id of its accepted answer


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
