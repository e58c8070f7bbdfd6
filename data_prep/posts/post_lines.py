"""Rows of a dump that are kept, as JSON lines: the slow part of reading one, done in several processes.

:mod:`data_prep.posts.read_dump` decides which rows are kept; here their HTML becomes text, code and errors (lxml, which
reads broken HTML as browsers do).

SearchBySnippet (Sedykh et al., LREC-COLING 2024, arXiv 2305.11625) calls a block that contains "Error" a traceback and
takes the type of error from it by a regular expression, which it does not print.
"""

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from lxml import etree

from data_prep.posts.dump_files import Dump
from data_prep.posts.sets import ErrorRule, PostsConfig
from data_prep.traces.trace import read_trace
from data_prep.traces.written_out import without_colours

Row = Mapping[str, str]
"""A row of a table of a dump: attribute -> value; a NULL column is an absent attribute."""

_LICENCES: Final = (("2018-05-02", "CC BY-SA 4.0"), ("2011-04-08", "CC BY-SA 3.0"), ("", "CC BY-SA 2.5"))
"""Licences of Stack Exchange by the day from which they are valid, for dumps without ContentLicense."""
_HEADER: Final = "Traceback (most recent call last)"
_FRAME: Final = re.compile(r'^[^\S\n]*File "[^"\n]+", line \d+', re.MULTILINE)
_NAME: Final = r"[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit|Iteration)"
_KEYWORD: Final = re.compile(
    rf"(?:<(?:type|class) ')?(?:[A-Za-z_]\w*\.)*({_NAME})(?:'>)?[ \t]*(?::|$|Traceback \(most recent)"
)
"""A line that begins with the name of an exception: ``pkg.FooError: message``; ``<type 'exceptions.FooError'>: ...`` of
old Pythons; ``FooError          Traceback (most recent call last)`` of IPython."""
_WORD: Final = re.compile(r"\w*")
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


def post_lines(batch: tuple[Dump, PostsConfig, Sequence[KeptPost]]) -> tuple[bytes, bytes]:
    """The JSON lines of the questions, and those of the answers, of a batch, in its order, each compressed by gzip.

    A question has the fields of :class:`data_prep.posts.sets.Post` that it has itself; an answer has the id of its
    question, its text and its attribution. Lines are ASCII, so that lone surrogates cannot break them.
    """
    dump, config, posts = batch
    questions = [_question(post, dump, config) for post in posts if post.answer is None]
    answers = [_answer(post, dump) for post in posts if post.answer is not None]
    return _packed(questions), _packed(answers)


def _packed(records: Sequence[Mapping[str, Any]]) -> bytes:
    """A gzip file of a line for each record, or nothing; such files one after the other are one of all lines."""
    lines = "".join(json.dumps(record, ensure_ascii=True) + "\n" for record in records)
    return gzip.compress(lines.encode("ascii"), compresslevel=1, mtime=0) if records else b""


def _question(post: KeptPost, dump: Dump, config: PostsConfig) -> dict[str, Any]:
    row = post.row
    body = read_html(row.get("Body", ""))
    blocks = [code.text for code in body.codes if code.block or config.inline]
    blocks = [text for text in blocks if len(text.strip()) >= config.min_chars]
    return {
        "site": dump.site,
        "id": post.question,
        "title": row.get("Title", ""),
        "tags": post.tags,
        "body": row.get("Body", ""),
        "text": body.text,
        "prose": body.prose,
        **snippets_of(blocks, config.error_rule),
        "accepted_answer_id": post.accepted,
        "creation_date": row.get("CreationDate", ""),
        "question_by": _attribution(post, dump),
    }


def _answer(post: KeptPost, dump: Dump) -> dict[str, Any]:
    text = read_html(post.row.get("Body", "")).text
    return {"site": dump.site, "question": post.question, "text": text, "answer_by": _attribution(post, dump)}


def _attribution(post: KeptPost, dump: Dump) -> dict[str, str]:
    """The fields of an :class:`data_prep.posts.sets.Attribution`."""
    url = dump.question_url.replace("{id}", str(post.question))
    url = f"{url}#{post.answer}" if url and post.answer and not dump.licence else url
    return {"author": _author_of(post.row), "url": url, "licence": _licence_of(post.row, dump.licence)}


def _licence_of(row: Row, site_licence: str) -> str:
    """The licence of a post of a dump."""
    if stated := row.get("ContentLicense") or site_licence:
        return stated
    created = row.get("CreationDate", "")
    return next(name for day, name in _LICENCES if created >= day)


def _author_of(row: Row) -> str:
    """The author as a dump names them: a display name for deleted accounts, otherwise a number."""
    if name := row.get("OwnerDisplayName"):
        return name
    return f"user {row['OwnerUserId']}" if row.get("OwnerUserId") else "unknown"


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


def is_error(block: str, rule: ErrorRule) -> bool:
    """Whether a block is an error message rather than code."""
    if rule == "faithful":
        return "Error" in block
    if _HEADER in block or _FRAME.search(block):
        return True
    return bool(_KEYWORD.match(block.rstrip().rsplit("\n", 1)[-1]))


def error_type(block: str) -> str:
    """The exception that a traceback ends with, without its module; of chained ones the last; "" if there is none.

    Where no line begins with one, it is that of the stack trace in the block, without a log's prefixes.
    """
    block = without_colours(block)
    for line in reversed(block.split("\n")):
        if found := _KEYWORD.match(line):
            return found[1]
    trace = read_trace(block)
    errors = [each.error for each in trace.errors if each.error and each.relation != "grouped"] if trace else []
    if errors:
        return re.split(r"[.$]", errors[-1])[-1]
    at = block.rfind("Error")  # the last word that contains it
    if at < 0:
        return ""
    return _matched(block[:at][::-1])[::-1] + _matched(block[at:])


def _matched(text: str) -> str:
    """The characters of a word that ``text`` begins with."""
    found = _WORD.match(text)
    return found[0] if found else ""


def snippets_of(blocks: Iterable[str], rule: ErrorRule) -> dict[str, Any]:
    """``blocks`` of a post, in order, as its ``code`` and ``error``, each joined by newlines; blank ones are dropped.

    ``keyword`` has the types of error, one per traceback, without repetition.
    """
    code: list[str] = []
    errors: list[str] = []
    for block in blocks:
        if block.strip():
            kept = block.strip("\n")
            (errors if is_error(kept, rule) else code).append(kept)
    types = dict.fromkeys(filter(None, map(error_type, errors)))
    return {"code": "\n".join(code), "error": "\n".join(errors), "keyword": tuple(types)}
