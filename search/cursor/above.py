"""The text above a cursor as words, cleaned and cut as the contexts that models were trained with.

Comments, docstrings and blank lines are removed by the parser of the language, which also reads text that is not
complete; of a word that occurs more than once the last occurrence counts. Nothing is left of a text that says nothing.
"""

from contextlib import suppress
from typing import Final

from data_prep.errors import UserError
from data_prep.pipeline.contexts import context_words
from data_prep.worker_pool import CALLS
from data_prep.worker_process import EndedByItemError
from search.files.languages import language_names

LONGEST: Final = 1 << 16
"""Characters of a text; more are the nearest of a longer one."""
WORDS: Final = 1000
"""Distinct words of it, the nearest."""


def words_above(text: str, language: str) -> tuple[str, ...]:
    """The distinct words of the identifiers of ``text``, lower-case, nearest last.

    Text that costs a parser too much is read without one: the words of comments count too.

    Args:
        text: from the start of a file, or from somewhere in it, to the line before the cursor.
        language: its language.

    Raises:
        UserError: there is no such language.
        ChildProcessError: no process could be started that parses.
    """
    if language not in language_names():
        raise UserError(f"there is no language {language!r}; there are {', '.join(language_names())}")
    text = nearest(text)
    with suppress(EndedByItemError):
        text = CALLS.call("data_prep.pipeline.extraction:plain_code", text, language)
    return context_words(text, WORDS)


def nearest(text: str) -> str:
    """The last LONGEST characters of ``text``, from the beginning of a line."""
    if len(text) <= LONGEST:
        return text
    end = text[-LONGEST:]
    return end[end.find("\n") + 1 :]
