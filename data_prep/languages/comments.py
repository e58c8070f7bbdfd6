"""Documentation as plain text: comments without their marks, and the first sentence of it.

The marks are those that CodeSearchNet's function parser removes (``/**``, ``*``, ``*/``, ``//``), a docstring's quotes
and its indentation; the summary is its rule too: the text before the first blank line, else before the first tag.
"""

import inspect
import re
from typing import Final

from data_prep.languages.java.javadoc import first_sentence as first_of_javadoc

_STRING: Final = re.compile(r"(?s)[a-zA-Z]{0,2}(\"\"\"|'''|\"|')(.*)\1\s*")
_MARGIN: Final = re.compile(r"(?m)^[ \t]*\*+ ?")
_DIRECTIVE: Final = re.compile(
    r"(?m)^(?:go:|nolint|lint:|export \w+$|eslint|tslint|@ts-|prettier-|istanbul |c8 |jshint|jslint|global |\+build).*$"
)
_SECTION: Final = re.compile(
    r"(?m)^[ \t]*(?:@[A-Za-z]|:(?:param|type|return|returns|rtype|raise|raises|arg|keyword|ivar|cvar)\b|>>>"
    r"|\.\. [\w-]+::|(?:Args|Arguments|Parameters|Returns?|Raises|Yields?|Examples?|Notes?|Attributes|See Also"
    r"|References|Usage|Keyword Args)\s*:?[ \t]*$)"
)
_ROLE: Final = re.compile(r":(?:[a-z]+:)?[a-z]+:`[~!]?([^`<]+?)(?:\s*<[^`]*>)?`")
_LITERAL: Final = re.compile(r"``(.+?)``", re.DOTALL)
_LINK: Final = re.compile(r"`([^`<]+?)\s*<[^`>]*>`_+")
_BANNER: Final = re.compile(r"(?m)^[\W_]*$\n?")
_MARK: Final = re.compile(r"\s*\|\w+\|\s*")
"""A paragraph that is replaced by another text, in Sphinx."""
_CALL_LINE: Final = re.compile(r"[\w.]+\([^)]*\)(?: ?->.*)?$")
"""A first line that is the function's signature, as in numpy."""


def plain_comment(raw: str, line: str = "//", block: tuple[str, str] | None = ("/*", "*/")) -> str:
    """A comment or docstring without its marks, line by line, without commands to tools.

    Args:
        raw: as it is in the source.
        line: what begins a line comment; "": such comments keep their marks.
        block: what begins and ends a block comment; None: there are none.
    """
    if found := _STRING.fullmatch(raw):
        return inspect.cleandoc(found[2]).strip()
    text = raw.replace("\r\n", "\n")
    if block and (found := re.fullmatch(rf"(?s){re.escape(block[0])}\**(.*?){re.escape(block[1])}\s*", text)):
        text = _MARGIN.sub("", found[1])
    elif line:
        text = re.sub(rf"(?m)^[ \t]*{re.escape(line)}{re.escape(line[-1])}*!? ?", "", text)
    return _DIRECTIVE.sub("", inspect.cleandoc(text)).strip()


def summary(doc: str) -> str:
    """The paragraphs of ``doc`` before its first tag or section, up to the first blank line; "" if it begins so."""
    tag = _SECTION.search(doc)
    text = (doc[: tag.start()] if tag else doc).strip()
    paragraphs = [
        each for each in re.split(r"\n[ \t]*\n", text) if re.search(r"\w", each) and not _MARK.fullmatch(each)
    ]
    if len(paragraphs) > 1 and _CALL_LINE.fullmatch(paragraphs[0].strip()):
        return paragraphs[1]
    return paragraphs[0] if paragraphs else ""


def first_sentence(doc: str) -> str:
    """The first sentence of documentation, without markup, on one line; "" if it has none before its tags."""
    text = _BANNER.sub("", summary(doc))
    text = _LITERAL.sub(r"{@code \1}", _LINK.sub(r"\1", _ROLE.sub(r"\1", text)))
    return first_of_javadoc(text)
