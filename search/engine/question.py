"""The words of a question as it is typed."""

from collections.abc import Sequence
from typing import Final

from data_prep.errors import UserError
from data_prep.languages.identifiers import LONGEST_WORD, query_words

LONGEST_QUERY: Final = 2000
"""Maximum number of characters of a query."""
_TESTS: Final = frozenset(("test", "tests", "testing"))
"""Words by which a query asks for tests."""


def asks_for_tests(words: Sequence[str]) -> bool:
    """Whether the words of a query ask for tests."""
    return not _TESTS.isdisjoint(words)


def asked_words(text: str) -> tuple[str, ...]:
    """The words of a text, perhaps none; only the start of a long one, since stemmers keep what they have seen."""
    return tuple(word[:LONGEST_WORD] for word in query_words(text))


class QueryError(UserError):
    """A query that cannot be answered; the message says why."""


def words_of(query: str) -> tuple[str, ...]:
    """The words of a query.

    Raises:
        QueryError: it is empty, too long or has no words.
    """
    if len(query) > LONGEST_QUERY:
        raise QueryError(f"a query has at most {LONGEST_QUERY:,} characters, this one has {len(query):,}")
    words = asked_words(query)
    if not words:
        raise QueryError(f"expected a question in words or a name, got {query.strip()[:40]!r}")
    return words
