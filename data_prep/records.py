"""The records of data preparation: source files, methods, and pairs of a method and its query.

Those of which there are many, here and in other modules, are not frozen: a frozen one takes ten times as long to make.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

CODE_FIELDS: Final = ("name", "tokens", "api", "ast", "statements")
"""Code fields of a method. In the papers: methodname, tokens, apiseq, sbt, staTree."""

STRUCTURE_FIELDS: Final = ("ast", "statements")
"""Fields of the syntax tree, which share no words with queries or other fields."""

WORD_FIELDS: Final = ("query", *CODE_FIELDS)
"""All fields of a pair that are lists of words."""
CONTEXT_FIELD: Final = "context"
"""The field of ``Split.words`` that has the words of the contexts (:mod:`data_prep.pipeline.contexts`)."""

UNKNOWN: Final = "<unk>"
"""Replaces a word that is missing from a release's vocabulary; two occurrences are not the same word."""

SplitName = Literal["train", "valid", "test"]
SPLITS: Final[tuple[SplitName, ...]] = ("train", "valid", "test")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The source of a :class:`SourceFile` that contains a single method of a file, wrapped in a class."""

    split: SplitName  # official
    lines_before: int  # to add to line numbers; negative if the wrapper has more lines


LARGEST_SOURCE: Final = 4 << 20
"""Maximum size in bytes of a source file that the search reads, or that is parsed as Java; larger ones are tables."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One source file as read from a folder or an archive; its bytes are untrusted."""

    origin: str  # its source, e.g. "jdk-17.0.21"
    path: str  # path inside the origin, "/"-separated
    data: bytes
    excerpt: Excerpt | None = None  # None: a whole file


UnitKind = Literal["method", "abstract", "constructor", "type", "constant", "file", "test"]
"""What a unit of an index is.

method: also a function; constant: also a variable, outside of functions; test: one that a description names.
"""


@dataclass(slots=True, unsafe_hash=True)
class Method:
    """A method, function or constructor of a file; in an index of all code, also one of the other kinds."""

    origin: str
    path: str
    start_line: int  # 1-based, of the declaration without its documentation
    end_line: int  # 1-based, inclusive
    type_name: str  # enclosing type, inner types dotted: "Outer.Inner"
    name: str
    kind: UnitKind
    source: str  # declaration with annotations; of a type, its head or first lines; of a file, its start
    documentation: str  # its comment, in Java raw with its delimiters; "" if there is none
    fields: Mapping[str, tuple[str, ...]]  # some of CODE_FIELDS -> words; the others are empty
    split: SplitName | None = None  # set if the origin has official splits
    licence: str = ""  # SPDX, "" if it is not known

    @property
    def dotted(self) -> str:
        """Its name qualified by the enclosing types."""
        return f"{self.type_name}.{self.name}" if self.type_name else self.name


@dataclass(slots=True, unsafe_hash=True)
class Pair:
    """A method with its query, as stored."""

    method: Method
    query_text: str  # the sentence for display
    query: tuple[str, ...]  # its words, lower-case

    def words(self, field: str) -> tuple[str, ...]:
        """The words of ``field``, one of WORD_FIELDS."""
        return self.query if field == "query" else self.method.fields.get(field, ())
