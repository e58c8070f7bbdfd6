"""Splitting identifiers into words: camel case, snake case, acronyms and digits; and the words of a sentence.

Of what is computed from texts of any length, only the results for short ones are cached. Regular expressions may be
compiled when they are first used: a process imports many, and most need few of them.
"""

import re
from collections.abc import Callable
from functools import cache, lru_cache, wraps
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeVar

Result = TypeVar("Result")

if TYPE_CHECKING:
    compiled_later = re.compile
else:

    class compiled_later:  # noqa: N801 - it stands for re.compile
        """Has what a pattern has; functions of ``re`` do not take it, and no match has it as its ``re``."""

        def __init__(self, *given: Any) -> None:
            self._given = given

        def __getattr__(self, name: str) -> Any:
            found = getattr(re.compile(*self._given), name)
            setattr(self, name, found)  # by which it is found from now on
            return found


compiled: Final = cache(re.compile)
"""A pattern, when it is first needed, of expressions that are data: most texts need few of them."""


def kept_if_short(longest: int, most: int) -> Callable[[Callable[[str], Result]], Callable[[str], Result]]:
    """A decorator that keeps ``most`` results of a function, for texts of at most ``longest`` characters."""

    def decorate(function: Callable[[str], Result]) -> Callable[[str], Result]:
        kept = lru_cache(maxsize=most)(function)

        @wraps(function)
        def call(text: str) -> Result:
            return kept(text) if len(text) <= longest else function(text)

        return call

    return decorate


TESTS_IN_CAPITALS: Final = r"(?<=[A-Za-z\d/_])(?:Tests?|TestCase)|(?<=[a-z\d])IT"
"""What ends the names of files of tests in languages that write each word of a name with a capital: no ``Commit``."""
LONGEST_WORD: Final = 100
"""Characters of the longest run of letters and digits that a search reads: longer ones are data."""

_PARTS: Final = re.compile(
    r"[A-Z]{2,}s(?![a-z])"  # a plural acronym: IDs in userIDs
    r"|[A-Z]+(?![a-z])"  # an acronym: XML in XMLReader, ID in userID
    r"|[A-Z]?[a-z]+"  # a word
    r"|\d+"
)
_WORD: Final = re.compile(r"[^\W_](?:[\w]|['’](?=[^\W\d_]))*")


@kept_if_short(40, 1 << 16)
def split_identifier(identifier: str) -> tuple[str, ...]:
    """Lower-case words of an identifier: ``parseHTTP2Header_v1`` -> parse, http, 2, header, v, 1."""
    if identifier.isascii():
        return tuple(part.lower() for part in _PARTS.findall(identifier))
    outline = "".join(map(_outline, identifier))
    return tuple(identifier[part.start() : part.end()].lower() for part in _PARTS.finditer(outline))


def query_words(sentence: str) -> tuple[str, ...]:
    """Lower-case words of a sentence; identifiers are split like those of code: ``HashMap`` -> hash, map."""
    found: list[str] = _WORD.findall(sentence.replace("(s)", "s"))
    if "'" in sentence or "’" in sentence:
        found = [word.replace("’", "'").removesuffix("'s").replace("'", "") for word in found]
    return tuple(chain.from_iterable(map(split_identifier, found)))


def _outline(character: str) -> str:
    """The ASCII character that is split like ``character``: A for a capital, a for another letter."""
    if character.isascii():
        return character
    if character.isalpha():
        return "A" if character.isupper() else "a"
    return "0" if character.isdecimal() else "_"
