"""What models of texts read: the source of a code and the sentence of a query, or else the words of its fields.

Some data sets come as lists of words, without the sources. Their codes are then the words of name, tokens and API, in
that order, and a query without a sentence is its words. Light to import: no torch.
"""

from dataclasses import replace
from typing import Final

from data_prep.records import UNKNOWN
from data_prep.store.split import PairText, Split

CODE_WORDS: Final = ("name", "tokens", "api")
"""The fields whose words replace a missing source, in their order; those of the syntax tree are no text."""


def text_read(split: Split, row: int) -> PairText:
    """The text of a pair as a model reads it; an empty side has no words either."""
    return with_words(split.text(row), split, row)


def with_words(text: PairText, split: Split, row: int) -> PairText:
    """The text ``text`` of a pair, with its words for a side that is empty.

    Words are taken as they are stored, without ``UNKNOWN``, which stands for different words.
    """
    source = text.source if text.source.strip() else _words(split, CODE_WORDS, row)
    query = text.query_text if text.query_text.strip() else _words(split, ("query",), row)
    return text if (source, query) == (text.source, text.query_text) else replace(text, source=source, query_text=query)


def texts_read(split: Split) -> list[PairText]:
    """:func:`text_read` of all pairs, in order."""
    return [text_read(split, row) for row in range(len(split))]


def _words(split: Split, fields: tuple[str, ...], row: int) -> str:
    return " ".join(word for field in fields for word in split.word_list(field, row) if word != UNKNOWN)
