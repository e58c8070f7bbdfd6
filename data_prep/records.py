"""The records that data preparation passes along: a method as found, and the pair made of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

CODE_FIELDS: Final = ("name", "tokens", "api", "ast", "statements")
"""Code fields of a method. In the papers: methodname, tokens, apiseq, sbt, staTree."""

STRUCTURE_FIELDS: Final = ("ast", "statements")
"""Those of the syntax tree: their words are none of a query's or of another field's."""

WORD_FIELDS: Final = ("query", *CODE_FIELDS)
"""All fields of a pair that are lists of words."""

UNKNOWN: Final = "<unk>"
"""Stands where a release has lost a word to its vocabulary; two of them are no shared word."""

SplitName = Literal["train", "valid", "test"]
SPLITS: Final[tuple[SplitName, ...]] = ("train", "valid", "test")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Where a :class:`JavaFile` comes from that holds one method of a file, wrapped in a class of one name."""

    split: SplitName  # official
    lines_before: int  # to add to line numbers; negative where the wrapping is longer


@dataclass(frozen=True, slots=True)
class JavaFile:
    """One Java source file as read from a folder or an archive; its bytes are untrusted."""

    origin: str  # what it came from, e.g. "jdk-17.0.21"
    path: str  # path inside the origin, "/"-separated
    data: bytes
    excerpt: Excerpt | None = None  # None: a whole file


@dataclass(frozen=True, slots=True)
class Method:
    """A method or constructor as it stands in its file; in an index of all code also a type."""

    origin: str
    path: str
    start_line: int  # 1-based, of the declaration without its Javadoc
    end_line: int  # 1-based, inclusive
    type_name: str  # enclosing type, inner types dotted: "Outer.Inner"
    name: str
    kind: Literal["method", "abstract", "constructor", "type"]
    source: str  # text of the declaration, annotations included, Javadoc excluded; of a type what is before its body
    javadoc: str  # raw comment with its delimiters, "" where there is none
    fields: Mapping[str, tuple[str, ...]]  # some of CODE_FIELDS -> words; the others are empty
    split: SplitName | None = None  # set where the origin gives official splits

    @property
    def dotted(self) -> str:
        """Its name with the types around it."""
        return f"{self.type_name}.{self.name}" if self.type_name else self.name


@dataclass(frozen=True, slots=True)
class Pair:
    """A method with the words of its query: what the store holds."""

    method: Method
    query_text: str  # the sentence a person reads
    query: tuple[str, ...]  # its words, lower-case

    def words(self, field: str) -> tuple[str, ...]:
        """The words of ``field``, one of WORD_FIELDS."""
        return self.query if field == "query" else self.method.fields.get(field, ())
