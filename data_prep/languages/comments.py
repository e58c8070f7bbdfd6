"""Documentation as plain text: comments without their marks, and the first sentence of it, of Javadoc by its own rules.

The marks are those that CodeSearchNet's function parser removes (``/**``, ``*``, ``*/``, ``//``), a docstring's quotes
and its indentation; the summary is its rule too: the text before the first blank line, else before the first tag.
"""

import html
import inspect
import re
from typing import Final

from data_prep.languages.identifiers import compiled_later

_STRING: Final = compiled_later(r"(?s)[a-zA-Z]{0,2}(\"\"\"|'''|\"|')(.*)\1\s*")
_MARGIN: Final = compiled_later(r"(?m)^[ \t]*\*+ ?")
_DIRECTIVE: Final = compiled_later(
    r"(?m)^(?:go:|nolint|lint:|export \w+$|[et]slint|@ts-|prettier-|istanbul |c8 |js[hl]int|bats \w+=|\+build"
    r"|global [\w$]+(?:: ?\w+)?(?:, ?[\w$]+(?:: ?\w+)?)*$"
    r"|(?:shellcheck|rubocop|phpcs|luacheck|stylua|credo|swiftlint|swiftformat|ktlint|scalastyle|scalafmt|clang-format"
    r"|NOLINT\w*|noinspection|frozen_string_literal|typed|nocov|LCOV_EXCL_\w+|pragma: no cover):? ?\b|zig fmt:|~?\^).*$"
)
_SECTION: Final = compiled_later(
    r"(?m)^[ \t]*(?:@[A-Za-z]|:(?:param|type|return|returns|rtype|raise|raises|arg|keyword|ivar|cvar)\b|>>>"
    r"|\.\. [\w-]+::|(?:Args|Arguments|Parameters|Returns?|Raises|Yields?|Examples?|Notes?|Attributes|See Also"
    r"|References|Usage|Keyword Args)\s*:?[ \t]*$)"
)
_ROLE: Final = compiled_later(r":(?:[a-z]+:)?[a-z]+:`[~!]?([^`<]+?)(?:\s*<[^`]*>)?`")
_LITERAL: Final = compiled_later(r"``(.+?)``", re.DOTALL)
_LINK: Final = compiled_later(r"`([^`<]+?)\s*<[^`>]*>`_+")
_BANNER: Final = compiled_later(r"(?m)^[\W_]*$\n?")
_STARS: Final = compiled_later(r"(?<![\w*\\])(\*{1,3})(?=[^\s*])([^\n*]{1,300})(?<=[^\s\\])\1(?![\w*])")
"""What is emphasized."""
_TITLE: Final = compiled_later(r"(?m)^(?:#{1,6}|={1,6}) +")
"""What begins a heading in Markdown, RDoc and AsciiDoc."""
_MARK: Final = compiled_later(r"\s*\|\w+\|\s*")
"""A paragraph that is replaced by another text, in Sphinx."""
_CALL_LINE: Final = compiled_later(r"[\w.]+\([^)]*\)(?: ?->.*)?$")
"""A first line that is the function's signature, as in numpy."""

_JAVADOC_MARGIN: Final = compiled_later(r"^[ \t\f]*\*+", re.MULTILINE)
_MARKDOWN_MARGIN: Final = compiled_later(r"(?m)^[ \t\f]*/{3,} ?")
_CODE_SPAN: Final = compiled_later(r"(?<!`)(`{1,3})(?!`)([^\n]{1,500}?)(?<!`)\1(?!`)")
_REFERENCE: Final = compiled_later(r"(?<![\w\\\]])\[([^\[\]\n]{1,200})\](\([^()\n]{0,500}\)|\[[^\[\]\n]{0,200}\])?")
_EMPHASIS: Final = compiled_later(r"(?<![\w*\\])(\*{1,3}|_{1,3})(?=[^\s*_])([^\n]{1,300}?)(?<=[^\s\\])\1(?![\w*])")
_HEADING: Final = compiled_later(r"(?m)^[ \t]*#{1,6}[ \t]+|\\(?=[\[\]*_`#<])")
_BLOCK_TAG: Final = compiled_later(r"(?m)^[ \t]*@[A-Za-z][\w.-]*(?=\s|$)")
_RETURN: Final = compiled_later(r"(?m)^[ \t]*@return(?=\s|$)")
_INLINE_TAG: Final = compiled_later(r"\{@([A-Za-z][\w.-]*)")
_BRACE: Final = compiled_later("[{}]")
_NESTING: Final = 4
"""Maximum nesting of inline tags."""

_COMMENT: Final = compiled_later(r"<!--.*?(?:-->|$)", re.DOTALL)
_ATTRIBUTES: Final = r"(?:\s[^<>]*)?/?>"
_PARAGRAPH: Final = compiled_later(
    r"(?i)</?(?:p|ul|ol|li|dl|dt|dd|table|tr|td|th|pre|div|blockquote|hr|h[1-6]|center|caption|thead|tbody|section)"
    + _ATTRIBUTES
)
_SUPERSCRIPT: Final = compiled_later(r"<sup" + _ATTRIBUTES, re.IGNORECASE)
_BREAK: Final = compiled_later(r"<(?:br|img|wbr)" + _ATTRIBUTES, re.IGNORECASE)
_MARKUP: Final = compiled_later(
    r"(?i)</?(?:a|abbr|acronym|b|big|cite|code|del|dfn|em|font|i|ins|kbd|label|mark|nobr|q|s|samp|small|span|strike|strong"
    r"|sub|sup|tt|u|var|html|body|head)" + _ATTRIBUTES
)
_BLANK_LINE: Final = compiled_later(r"\n[ \t]*\n")

_HELD_PERIOD: Final = "\ue000"
"""Replaces a period inside code, which does not end a sentence."""
_PERIOD: Final = compiled_later(r"\.(?=\s|$)")
_ABBREVIATION: Final = compiled_later(
    r"(?i)(?:^|[\s(\[\"'/,;])(?:e\.?\s?g|i\.?\s?e|vs|cf|resp|approx|incl|viz|et\s+al|a\.k\.a|w\.r\.t|dr|mr|mrs|ms)\.$"
)
_BEFORE_NUMBER: Final = compiled_later(r"(?:^|[\s(\[])(?:nos?|figs?|sect?|ver|vol|pp?|ch)\.$", re.IGNORECASE)
_LIST_MARK: Final = compiled_later(r"\W*\d*\W*\.")


def plain_comment(raw: str, line: str = "//", block: tuple[str, str] | None = ("/*", "*/")) -> str:
    """A comment or docstring without its marks, line by line, without commands to tools.

    Args:
        raw: as it is in the source.
        line: what begins a line comment; "": such comments keep their marks.
        block: what begins and ends a block comment; None: there are none.
    """
    if not raw:
        return ""
    if found := _STRING.fullmatch(raw):
        return inspect.cleandoc(found[2]).strip()
    text = raw.replace("\r\n", "\n")
    if block and (found := re.fullmatch(rf"(?s){re.escape(block[0])}\**!?(.*?){re.escape(block[1])}\s*", text)):
        text = _MARGIN.sub("", found[1])
    elif line:
        text = re.sub(rf"(?m)^[ \t]*{re.escape(line)}{re.escape(line[-1])}*!? ?", "", text)
    return _DIRECTIVE.sub("", inspect.cleandoc(text)).strip()


def summary(doc: str) -> str:
    """The paragraphs of ``doc`` before its first tag or section, up to the first blank line; "" if it begins so."""
    text = _SECTION.split(doc, maxsplit=1)[0].strip()
    paragraphs = [
        each for each in re.split(r"\n[ \t]*\n", text) if re.search(r"\w", each) and not _MARK.fullmatch(each)
    ]
    if len(paragraphs) > 1 and _CALL_LINE.fullmatch(paragraphs[0].strip()):
        return paragraphs[1]
    return paragraphs[0] if paragraphs else ""


def first_sentence(doc: str) -> str:
    """The first sentence of documentation, without markup, on one line; "" if it has none before its tags."""
    if not doc:
        return ""
    text = _STARS.sub(r"\2", _TITLE.sub("", _BANNER.sub("", summary(doc))))
    text = _LITERAL.sub(r"{@code \1}", _LINK.sub(r"\1", _ROLE.sub(r"\1", text)))
    return javadoc_sentence(text)


def javadoc_sentence(comment: str) -> str:
    """The first sentence of a Javadoc comment, as plain text on one line; "" if it has no main description.

    The comment may have its delimiters or not. The description ends at the first block tag, so a comment that is only
    ``@return ...`` has none; the inline ``{@return the name}`` becomes "Returns the name." Inline tags, markup and
    entities are rendered. A sentence ends at a period before white space that is not part of an abbreviation or code,
    at an HTML paragraph or at a blank line.
    """
    body = _BLOCK_TAG.split(_body(comment), maxsplit=1)[0]
    plain = html.unescape(_without_markup(_resolved(body.strip(), 0)))
    return " ".join(_cut(plain).split()).replace(_HELD_PERIOD, ".").lstrip("*-;, ").rstrip(":,; ")


def returned(comment: str) -> str:
    """The first sentence of the ``@return`` tag of a Javadoc comment; "" if there is none."""
    body = _body(comment)
    tag = _RETURN.search(body)
    return javadoc_sentence(body[tag.end() :]) if tag else ""


def _body(comment: str) -> str:
    """A comment without its delimiters and leading asterisks."""
    body = comment.strip()
    if body.startswith("///"):
        return _without_markdown(_MARKDOWN_MARGIN.sub("", body.replace("\r", "")))
    body = body.removeprefix("/**").removesuffix("*/") if body.startswith("/**") else body
    return _JAVADOC_MARGIN.sub("", body.replace("\r\n", "\n").replace("\r", "\n"))


def _without_markdown(body: str) -> str:
    """A comment of Markdown (JEP 467) as one of HTML, its first paragraph at least."""
    spans: list[str] = []

    def held(match: re.Match[str]) -> str:
        spans.append(_held(html.escape(match[2].strip())))
        return f"\ue001{len(spans) - 1}\ue002"

    body = _CODE_SPAN.sub(held, body.replace("\ue001", ""))
    body = _REFERENCE.sub(lambda match: match[1] if match[2] else _held(reference_name(match[1])), body)
    body = _HEADING.sub("", _EMPHASIS.sub(r"\2", body))
    return re.sub("\ue001(\\d+)\ue002", lambda match: spans[int(match[1])], body)


def _resolved(body: str, depth: int) -> str:
    """``body`` with its inline tags rendered; their contents are protected from later steps."""
    parts: list[str] = []
    place = 0
    while (tag := _INLINE_TAG.search(body, place)) is not None:
        parts.append(body[place : tag.start()])
        end = _closing_brace(body, tag.start())
        parts.append(_reading(tag.group(1), body[tag.end() : end].strip(), depth))
        place = end + 1
    parts.append(body[place:])
    return "".join(parts)


def _closing_brace(body: str, start: int) -> int:
    """Index of the brace that closes the one at ``start``; the length of ``body`` if there is none."""
    depth = 0
    for brace in _BRACE.finditer(body, start):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return brace.start()
    return len(body)


def _reading(tag: str, content: str, depth: int) -> str:
    """An inline tag as rendered, in HTML."""
    if tag in ("code", "literal", "systemProperty"):
        return _held(html.escape(content))
    if tag in ("inheritDoc", "docRoot", "snippet", "value") and not content.startswith("#"):
        return ""
    if tag in ("link", "linkplain", "value", "extLink", "index"):
        target, label = _target_and_label(content)
        if label and tag != "index":
            return _resolved(label, depth + 1) if depth < _NESTING else label
        return _held(html.escape(target.strip('"') if tag in ("index", "extLink") else reference_name(target)))
    inner = _resolved(content, depth + 1) if depth < _NESTING else content
    return f"Returns {inner.rstrip('.')}. " if tag == "return" else inner


def _held(content: str) -> str:
    return content.replace(".", _HELD_PERIOD)


def _target_and_label(content: str) -> tuple[str, str]:
    """A link's target and its label, split at the first white space outside parentheses and angle brackets."""
    depth = 0
    for place, character in enumerate(content):
        depth += (character in "(<") - (character in ")>")
        if character.isspace() and depth <= 0:
            return content[:place], content[place:].strip()
    return content, ""


def reference_name(target: str) -> str:
    """A link to a program element as rendered: ``java.util.Map#get(Object)`` -> ``Map.get``."""
    path, _, member = target.partition("#")
    path = path.rpartition("/")[2].partition("<")[0]
    parts = path.split(".")
    first_type = next((place for place, part in enumerate(parts) if part[:1].isupper()), 0)
    return ".".join(part for part in (".".join(parts[first_type:]), member.partition("(")[0]) if part)


def _without_markup(body: str) -> str:
    """The first paragraph of ``body`` without HTML tags; entities remain, and unknown tags are text (``List<T>``)."""
    if "<" not in body:
        return body if body.strip() else ""
    paragraphs = (part for part in _PARAGRAPH.split(_COMMENT.sub(" ", body)) if _MARKUP.sub("", part).strip())
    first = next(paragraphs, "")
    return _MARKUP.sub("", _SUPERSCRIPT.sub("^", _BREAK.sub(" ", first)))


def _cut(plain: str) -> str:
    """The first sentence of plain text."""
    plain = _BLANK_LINE.split(plain.strip(), maxsplit=1)[0]
    for period in _PERIOD.finditer(plain):
        if _ends_sentence(plain[: period.end()], plain[period.end() :].lstrip()):
            return plain[: period.end()]
    return plain


def _ends_sentence(before: str, after: str) -> bool:
    """Whether the period that ``before`` ends with is a full stop."""
    if not after:
        return True
    if _ABBREVIATION.search(before[-12:]) or _LIST_MARK.fullmatch(before):
        return False
    if after.startswith(("e.", "g.")) and before.endswith((" i.", " e.", "(i.", "(e.")):
        return False
    if (after[0].isdigit() or after[0].islower()) and _BEFORE_NUMBER.search(before[-6:]):
        return False
    return not (after[0].islower() and before.endswith(("..", "etc.")))
