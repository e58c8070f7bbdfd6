"""Sentences of README and docs, and which are too long to read at once."""

import re

MOST_WORDS = 20

_NO_PROSE = re.compile(r"```.*?```|^[|#!<].*?$|<!--.*?-->|^ {4}.*?$", re.DOTALL | re.MULTILINE)
_NEW_SENTENCE = re.compile(r"\n\n|\n *- |\n *\d+\. |(?<=[.:;?])\s|(?<=[.:;?]\*\*)\s")


def long_sentences(text: str) -> list[str]:
    """The sentences of a page with more than :data:`MOST_WORDS` words; a colon or semicolon ends one too."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", _NO_PROSE.sub("\n\n", text))
    sentences = [" ".join(each.split()).removeprefix("- ") for each in _NEW_SENTENCE.split(plain)]
    return [each for each in sentences if len(each.split()) > MOST_WORDS]
