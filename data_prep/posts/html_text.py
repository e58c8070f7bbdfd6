"""The HTML of a post as plain text, and its code elements (lxml, which reads broken HTML as browsers do)."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from lxml import etree

_BLOCKS: Final = re.compile(r"<(?=/?(?:p|li|ul|ol|pre|br|div|h\d|tr|blockquote|hr|dd|dt)\b)", re.IGNORECASE)
"""Starts of tags that end a line of text."""
_BLANK_LINES: Final = re.compile(r"\n\s*\n+")


class CodeElement(NamedTuple):
    """A ``code`` element of a post."""

    text: str
    block: bool  # inside ``pre``; otherwise part of a sentence


class PostText(NamedTuple):
    """A post without its markup."""

    text: str  # including code
    prose: str  # without blocks of code
    codes: tuple[CodeElement, ...]  # in document order


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
