"""A question: its words, the rows that its names (``JsonReader.nextName``) are of, and the settings of the ranking.

Light to import, for the help: no numpy.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from data_prep.errors import UserError, check_bounds, real, whole
from data_prep.languages.identifiers import LONGEST_WORD, kept_if_short, query_words
from search.files.words import folded

if TYPE_CHECKING:
    from search.engine.filters import Question
    from search.engine.signals import Retriever
    from search.index.code_index import Index

WORD_VECTORS: Final = 0.1
TEXT_VECTORS: Final = 0.3
"""Weights of vectors, by what makes them; the latter was chosen on projects that docs/pretrained.md does not report."""

_ADDED: Final = real(0, 1_000_000)
_BOUNDS: Final = {
    "shortlist": whole(1, 1_000_000),
    "read_all_below": whole(0, 1_000_000_000),
    "weight": real(0, 1),
    **dict.fromkeys(
        (
            *("test", "constant", "old", "deprecated", "depth", "whole", "file", "files", "phrases"),
            *("phrases_of_file", "beside", "context", "exact_name_boost", "mention_boost", "made"),
        ),
        _ADDED,
    ),
    "comments": whole(0, 1000),
}


@dataclass(frozen=True, slots=True)
class RankingSettings:
    """How hits are ranked; chosen on validation data (docs/search.md)."""

    shortlist: int = 200
    """Rows that the model scores per query, the best by BM25."""
    read_all_below: int = 1000
    """Size of an index up to which the model scores all of it."""
    weight: float = 0.72
    """Weight of the model's score; the rest is BM25's. Both are standardised."""
    vector_weight: float | None = None
    """Weight of the vectors' cosine, also standardised, which is added to these two if an index has vectors; what it
    has above 0.1 is taken from them. By default 0.1, or 0.3 if a text encoder made the vectors."""
    test: float = 1.0
    """Subtracted from the score of code of tests, unless the query asks for tests."""
    constant: float = 1.5
    """Subtracted from the score of constants, which functions mostly answer better, except where they are named."""
    old: float = 5.0
    """Subtracted from the score of what is of an older generation, or a translation (search/files/generations.py)."""
    deprecated: float = 2.0
    """The same of declarations that are marked as deprecated."""
    made: float = 2.0
    """The same of types and constructors where the question says what a function does, as *reads a line* does."""
    depth: float = 0.3
    """Subtracted for each folder with more than one entry that a file is in: what is central is mostly near the top."""
    whole: float = 0.5
    """The score of a file as a whole, to which that of the file is added."""
    file: float = 0.1
    """Share of the best other score in the same file that is added, if that is above 0 and a model is used."""
    files: float = 2.0
    """Weight of the score of the whole file (search/engine/file_ranking.py), which is added to that of a row."""
    phrases: float = 2.0
    """Weight of the question's words in their order (search/engine/phrases.py) in a row."""
    phrases_of_file: float = 2.0
    """The same of the best place in the row's file."""
    beside: float = 0.6
    """Subtracted from the score of a row for each better one of its file, so that hits are of several files."""
    context: float = 0.1
    """Weight of BM25 over the rarest words above the cursor, from 0 to 1, which is added if there are any."""
    exact_name_boost: float = 100.0
    """Added to the score of what has the whole query as its name."""
    mention_boost: float = 5.0
    """Added to what a query names among other words: members of a type, methods, what a file or folder has. For the
    path of a file it is exact_name_boost."""
    comments: int = 3
    """How many times each word of a comment counts in BM25, if comments are searched."""

    def __post_init__(self) -> None:
        check_bounds(self, _BOUNDS if self.vector_weight is None else {**_BOUNDS, "vector_weight": real(0, 1)})

    def weight_of(self, vectors: "Retriever | None") -> float:
        """The weight of the cosine of some vectors."""
        if self.vector_weight is not None:
            return self.vector_weight
        return TEXT_VECTORS if vectors and vectors.reads_text else WORD_VECTORS


LONGEST_QUERY: Final = 2000  # maximum number of characters of a query
_TESTS: Final = frozenset(("test", "tests", "testing"))  # words by which a query asks for tests
_SYMBOL: Final = re.compile(r"[A-Za-z_$][\w$]*(?:(?:[.#]|::)[A-Za-z_$][\w$]*)*")
_NAMED: Final = re.compile(r"[a-z\d][A-Z]|[A-Z][a-z\d]+[A-Z]|[A-Z]{2}[a-z]{2}|[\w$](?:[._#$]|::)[\w$]")
"""What distinguishes an identifier from a word: a capital inside, as in ``IOUtils`` too, a dot, an underscore."""
_WHOLE: Final = re.compile(
    r"(?:func\s*\(\s*(?:\w+\s+)?\*?(?P<owner>\w+)(?:\[[^\[\]]*\])?\s*\)\s*)?"
    r"(?:(?:async\s+)?(?:def|func|fn|fun|function|class|struct|interface|trait|enum|new)\s+(?=\S+\Z))?"
    r"(?:@|::|\.|#|\\)?(?P<name>(?!(?![a-z]+/\d\Z)[^\W_]+/)[^\W\d][\w$]*(?:(?:\.|#|::|->|\\)[^\W\d][\w$]*)*(?:[?!'](?=\Z|\(|/))?)(?:!?\([^()]*\)|/\d)?[;:]?"
)
"""A question that is one name, as people write it."""
_POINTED: Final = re.compile(r"(?<![\w)\]])\(\*?(\w+)(?:\[[^\[\]()]*\])?\)(?=\.\w)")
_INNER: Final = re.compile(r"(?<=[A-Z]\w)\$(?=[A-Z])|(?<=[a-z\d])\$(?=[A-Z]\w*[a-z])|(?<=\w)\$(?=[a-z]\w*[a-z(])")
"""What is before a class inside of another one as Java's virtual machine prints it, and before a member in R."""
_RECEIVER: Final = re.compile(
    r"\A(?:<&?([\w:]+)[^\n]*? as [^\n]*>(?=::)|\$(?=(?!this)\w+(?:->|::))"
    r"|(?:\$?this|self|cls|super\(\)|super|Self|parent|static)(?:\.|->|::|\$))"
)
_TYPED: Final = re.compile(r"(?<=\w)(?:::)?<[\w\s,.:*&?<>\[\]]*>(?=\.|::|#|->|\(|\Z)")
"""The types that a type or function is given."""


def dotted_name(text: str) -> str:
    """A question that is one name, with dots before its parts; "" if it is none.

    ``Type#method``, ``Type::method()``, ``func (t *Type) method``, ``(*Type).method``, ``Type<T>.method`` and
    ``Type->method`` are all ``Type.method``, and so are ``$type->method()`` and ``<Type as Trait>::method``.
    """
    plain = _INNER.sub(".", _RECEIVER.sub(r"\1", text.strip()))
    found = _WHOLE.fullmatch(_TYPED.sub("", _POINTED.sub(r"\1", plain)))
    if not found:
        return ""
    name = re.sub(r"#|::|->|\\", ".", found["name"])
    return f"{found['owner']}.{name}" if found["owner"] else name


_PRINTED: Final = re.compile(  # what a printed line has
    r"[\x1b␛{\[]|\^\[|\d\d:\d\d|\d\d[-/]\d\d|[\w)\]]: |:\w+:|R!|(?:^|\s)\w+=\S|[A-Z] +[|-]"
)


def asks_for_tests(words: Sequence[str]) -> bool:
    """Whether the words of a query ask for tests."""
    return not _TESTS.isdisjoint(words)


@kept_if_short(LONGEST_QUERY, 256)  # one question's are needed a dozen times
def asked_words(text: str) -> tuple[str, ...]:
    """The words of a text, perhaps none; only the start of a long one, since stemmers keep what they have seen."""
    return tuple(word[:LONGEST_WORD] for word in query_words(folded(text)))


def parted(typed: str, index: "Index", *, alone: bool = False) -> "Question":
    """As :func:`search.engine.filters.read_question`, without what was printed around a message; most have neither."""
    from search.engine.filters import Question, read_question

    typed = typed if typed.isascii() else unicodedata.normalize("NFC", typed)  # accents may stand apart
    found = read_question(typed, index, alone=alone) if ":" in typed or '"' in typed else Question(typed)
    if found.quoted or not _PRINTED.search(found.text):
        return found
    from search.engine.printed import message_in

    return replace(found, text=message_in(found.text))


def read_by_models(words: Sequence[str], model: object) -> float:
    """The share of the words of a query that a model may know: those of the alphabet that code is written in.

    It is less where its vocabulary lacks more than half of them, and 0 at three quarters: the rest would be chance.
    """
    knows = getattr(model, "knows", str.isascii)
    shares = [sum(map(test, words)) / len(words) for test in (str.isascii, knows)] if words else [1.0, 1.0]
    return float(min(shares[0], max(0.0, 4 * shares[1] - 1)))


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
            if symbol == whole or is_named(symbol):
                dotted = self._known(symbol.replace("#", ".").replace("::", "."))
                called = [*_ending(dotted, self._by_last, self._names)]
                members = [*_ending(dotted, self._by_owner, self._owners)]
                inside |= dict.fromkeys(self._current(members, called, query), ranking.mention_boost)
                if members and symbol != whole:
                    rest[match.start() : match.end()] = " " * len(symbol)
                    continue
                gain = ranking.exact_name_boost if symbol == whole else ranking.mention_boost
                for row in called if symbol == whole else self._current(called, called, query):
                    exact = f".{self._names[row]}".endswith(f".{dotted}")
                    own[row] = max(own.get(row, 0.0), gain * (1.0 + 0.01 * exact))
        return Spelt(own, inside, "".join(rest))

    def _current(self, rows: Sequence[int], called: Sequence[int], query: str) -> Sequence[int]:  # noqa: ARG002
        """Those of ``rows`` that a question means, if something that is ``called`` as it says is not old."""
        return rows

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
    """Rows whose dotted name ends with ``symbol``, ignoring case and what marks the last part as internal."""
    owner, _, last = f".{symbol.lower()}".rpartition(".")
    for row in by_last.get(unmarked(last), ()):
        if not owner or f".{names[row].lower()}".rpartition(".")[0].endswith(owner):
            yield row


def unmarked(name: str) -> str:
    """A name without the signs in front that mark it as internal: ``_parse``, ``$ZodType``, ``__init__``."""
    return name.lstrip("_$")


def _by_last(names: Sequence[str]) -> Mapping[str, Sequence[int]]:
    """The last part of each name, in lower case and :func:`unmarked` -> rows."""
    found: dict[str, list[int]] = {}
    for row, name in enumerate(map(str.lower, names)):
        last = unmarked(name[name.rfind(".") + 1 :])
        if last in found:
            found[last].append(row)
        else:
            found[last] = [row]
    return found
