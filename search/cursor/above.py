"""The text above a cursor as words, cleaned and cut as the contexts that models were trained with.

Comments, docstrings and blank lines are removed by the parser of the language, which also reads text that is not
complete; of a word that occurs more than once the last occurrence counts. Nothing is left of a text that says nothing.
"""

from typing import Final

from data_prep.corpus.contexts import context_words
from data_prep.corpus.extraction import disjoint
from data_prep.corpus.records import CorpusFile
from data_prep.languages.registry import language as language_named

LONGEST: Final = 1 << 16
"""Characters of a text; more are the nearest of a longer one."""
WORDS: Final = 1000
"""Distinct words of it, the nearest."""


def words_above(text: str, language: str) -> tuple[str, ...]:
    """The distinct words of the identifiers of ``text``, lower-case, nearest last.

    Args:
        text: from the start of a file, or from somewhere in it, to the line before the cursor.
        language: its language.

    Raises:
        ValueError: there is no such language.
    """
    return context_words(cleaned(nearest(text), language), WORDS)


def nearest(text: str) -> str:
    """The last LONGEST characters of ``text``, from the beginning of a line."""
    if len(text) <= LONGEST:
        return text
    end = text[-LONGEST:]
    return end[end.find("\n") + 1 :]


def cleaned(text: str, language: str) -> str:
    """``text`` without comments, docstrings and blank lines, as :meth:`CorpusFile.context` has it.

    Raises:
        ValueError: there is no such language.
    """
    found = language_named(language)
    data = text.encode("utf-8", "replace").replace(b"\r\n", b"\n")
    parsed = found.parse(data, f"above{found.suffixes[0]}")
    file = CorpusFile("", language, "", data, disjoint(parsed.comments), ())
    return file.stripped(0, len(data)).decode("utf-8", "replace")
