"""The words of a question, and the rows that its names (``JsonReader.nextName``, ``Foo#bar()``) are of."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from data_prep.errors import UserError
from data_prep.languages.identifiers import LONGEST_WORD, kept_if_short, query_words
from search.engine.settings import RankingSettings
from search.files.file_words import folded

LONGEST_QUERY: Final = 2000
"""Maximum number of characters of a query."""
_TESTS: Final = frozenset(("test", "tests", "testing"))
"""Words by which a query asks for tests."""
_SYMBOL: Final = re.compile(r"[A-Za-z_$][\w$]*(?:[.#][A-Za-z_$][\w$]*)*")
_NAMED: Final = re.compile(r"[a-z\d][A-Z]|[A-Z][a-z\d]+[A-Z]|[\w$][._#$][\w$]")
"""What distinguishes an identifier from a word: a capital inside, a dot, an underscore."""
_WHOLE: Final = re.compile(
    r"(?:func\s*\(\s*(?:\w+\s+)?\*?(?P<owner>\w+)(?:\[[^\[\]]*\])?\s*\)\s*)?"
    r"(?:(?:async\s+)?(?:def|func|fn|fun|function|class|struct|interface|trait|enum|new)\s+(?=\S+\Z))?"
    r"(?:@|::|\.|#)?(?P<name>(?![^\W_]+/)[^\W\d][\w$]*(?:(?:\.|#|::|->|\\)[^\W\d][\w$]*)*(?:[?!'](?=\Z|\(|/))?)(?:!?\([^()]*\)|/\d)?[;:]?"
)
"""A question that is one name, as people write it."""
_POINTED: Final = re.compile(r"(?<![\w)\]])\(\*?(\w+)(?:\[[^\[\]()]*\])?\)(?=\.\w)")
_TYPED: Final = re.compile(r"(?<=\w)(?:::)?<[\w\s,.:*&?<>\[\]]*>(?=\.|::|#|->|\(|\Z)")
"""The types that a type or function is given."""


def dotted_name(text: str) -> str:
    """A question that is one name, with dots before its parts; "" if it is none.

    ``Type#method``, ``Type::method()``, ``func (t *Type) method``, ``(*Type).method``, ``Type<T>.method`` and
    ``Type->method`` are all ``Type.method``.
    """
    found = _WHOLE.fullmatch(_TYPED.sub("", _POINTED.sub(r"\1", text.strip())))
    if not found:
        return ""
    name = re.sub(r"#|::|->|\\", ".", found["name"])
    return f"{found['owner']}.{name}" if found["owner"] else name


def asks_for_tests(words: Sequence[str]) -> bool:
    """Whether the words of a query ask for tests."""
    return not _TESTS.isdisjoint(words)


@kept_if_short(LONGEST_QUERY, 256)  # one question's are needed a dozen times
def asked_words(text: str) -> tuple[str, ...]:
    """The words of a text, perhaps none; only the start of a long one, since stemmers keep what they have seen."""
    return tuple(word[:LONGEST_WORD] for word in query_words(folded(text)))


def read_by_models(words: Sequence[str]) -> float:
    """The share of the words of a query that a model may know: those of the alphabet that code is written in."""
    return sum(map(str.isascii, words)) / len(words) if words else 1.0


def is_named(symbol: str) -> bool:
    """Whether it is an identifier rather than a word."""
    return _NAMED.search(symbol) is not None


def symbols(query: str) -> list[str]:
    """The identifiers in a query, and the single word that it consists of."""
    whole = query.strip().rstrip("()")
    return [symbol for symbol in _SYMBOL.findall(query) if symbol == whole or is_named(symbol)]


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


@dataclass(frozen=True, slots=True)
class Spelt:
    """The rows that a query names, and the rest of the query."""

    own: Mapping[int, float] = field(default_factory=dict)  # rows that are named -> what that adds to their scores
    inside: Mapping[int, float] = field(default_factory=dict)  # the same for the members of types that are named
    rest: str = ""  # the query without the names of types among other words

    def gain(self, row: int) -> float:
        """What is added to the score of ``row``."""
        return max(self.own.get(row, 0.0), self.inside.get(row, 0.0))


class Names:
    """The names of the rows of an index, by their last parts."""

    def __init__(self, names: Sequence[str]) -> None:
        """``names``: of each row, with the enclosing types, separated by dots."""
        self._names = names

    def spelt(self, query: str, ranking: RankingSettings) -> Spelt:
        """What ``query`` names: by any identifier in it, or by the single word that it consists of."""
        whole = query.strip().rstrip("()")
        own: dict[int, float] = {}
        inside: dict[int, float] = {}
        rest = list(query)
        for match in _SYMBOL.finditer(query):
            symbol = match.group()
            if symbol == whole or _NAMED.search(symbol):
                dotted = symbol.replace("#", ".")
                dotted = self._known(dotted)
                members = [*_ending(dotted, self._by_owner, self._owners)]
                inside |= dict.fromkeys(members, ranking.mention_boost)
                if members and symbol != whole:
                    rest[match.start() : match.end()] = " " * len(symbol)
                    continue
                gain = ranking.exact_name_boost if symbol == whole else ranking.mention_boost
                for row in _ending(dotted, self._by_last, self._names):
                    exact = f".{self._names[row]}".endswith(f".{dotted}")
                    own[row] = max(own.get(row, 0.0), gain * (1.0 + 0.01 * exact))
        return Spelt(own, inside, "".join(rest))

    def _known(self, dotted: str) -> str:
        """A name without the packages before it, if only so something has it: ``httpx.Client.send``, ``Client.send``.

        Two parts remain at least: a last part alone could be anything's.
        """
        rest = dotted
        while rest.count(".") >= 1:
            tables = (self._by_last, self._names), (self._by_owner, self._owners)
            if any(next(_ending(rest, *table), None) is not None for table in tables):
                return rest
            if rest.count(".") < 2:
                break
            rest = rest.partition(".")[2]
        return dotted

    @cached_property
    def _owners(self) -> Sequence[str]:
        return [name.rpartition(".")[0] for name in self._names]

    @cached_property
    def _by_last(self) -> Mapping[str, Sequence[int]]:
        return _by_last(self._names)

    @cached_property
    def _by_owner(self) -> Mapping[str, Sequence[int]]:
        return _by_last(self._owners)


def _ending(symbol: str, by_last: Mapping[str, Sequence[int]], names: Sequence[str]) -> Iterator[int]:
    """Rows whose dotted name ends with ``symbol``, ignoring case."""
    lower = f".{symbol.lower()}"
    for row in by_last.get(lower.rpartition(".")[2], ()):
        if f".{names[row].lower()}".endswith(lower):
            yield row


def _by_last(names: Sequence[str]) -> Mapping[str, Sequence[int]]:
    """The last part of each name, in lower case -> rows."""
    found: dict[str, list[int]] = {}
    for row, name in enumerate(map(str.lower, names)):
        last = name[name.rfind(".") + 1 :]
        if last in found:
            found[last].append(row)
        else:
            found[last] = [row]
    return found
