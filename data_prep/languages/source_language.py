"""What a language is to the extraction of functions: a module has one ``SourceLanguage``, the registry one line.

A function is found with its documentation, which is a comment before it or a docstring inside, and the comments of its
file, so that code and context can be shown without them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node


@dataclass(frozen=True, slots=True)
class FoundFunction:
    """A function, method or constructor with a body in a parsed file; offsets are in bytes."""

    name: str  # "" if it has none
    type_name: str  # enclosing types, dotted; "" if there is none
    kind: str  # function, method or constructor; of what is in ``ParsedSource.types``: type, in ``constants``: constant
    start: int  # of the declaration with decorators and annotations, without the comment before it
    end: int
    start_line: int  # 1-based
    end_line: int  # 1-based, inclusive
    doc: str  # documentation as plain lines without comment marks, "" if there is none
    query: str  # its first sentence
    docstring: tuple[int, int] | None  # where the documentation is, if it is inside the function
    is_stub: bool  # whether it only passes, raises or is otherwise empty by the language's rule
    annotations: Sequence[str]
    fields: Callable[[], Mapping[str, tuple[str, ...]]]  # the code fields, taken when they are needed

    @property
    def dotted(self) -> str:
        """The name qualified by the enclosing types."""
        return f"{self.type_name}.{self.name}" if self.type_name and self.name else self.name


@dataclass(frozen=True, slots=True)
class ParsedSource:
    """The functions and comments of a file."""

    functions: Sequence[FoundFunction]
    comments: Sequence[tuple[int, int]]  # start and end of comments and docstrings in bytes, ascending, disjoint
    code_start: int  # offset of the first node that is no comment
    left_out: int  # functions that contain broken text, or that are nested too deeply or too often
    types: Callable[[], Sequence[FoundFunction]] = tuple
    """Its named types in source order, found when they are needed; their fields have the words of the declarations."""
    inner: Callable[[], Sequence[FoundFunction]] = tuple
    """Functions inside of others that the language's rule for pairs leaves out of ``functions``, in the same way."""
    constants: Callable[[], Sequence[FoundFunction]] = tuple
    """Names that are given a value outside of functions and types, constants or variables, in the same way."""


@dataclass(frozen=True, slots=True)
class SourceLanguage:
    """How the functions of a language are found."""

    name: str  # lower-case, as in --data.language
    suffixes: tuple[str, ...]
    grammar: str  # the distribution with its grammar, whose version is part of prepared data
    parse: Callable[[bytes, str], ParsedSource]  # of a file's content and its path
    keywords: frozenset[str]  # reserved words, which are no identifiers
    test_words: frozenset[str]  # words of a path, split like an identifier, that mark tests
    common_names: frozenset[str]  # names of functions that every type has
    is_minified: Callable[[str], bool] = lambda _: False
    """Whether a path is that of a file that a program made shorter."""


def reserved(words: str) -> frozenset[str]:
    """The keywords in a line."""
    return frozenset(words.split())


@dataclass(frozen=True, slots=True)
class Declaration:
    """What surrounds the node of a function."""

    name: str
    whole: Node  # with what belongs to the declaration: decorators, the name that it is assigned to
    owner: str = ""  # the type that the declaration itself names, as in Go
    kind: str = ""  # empty: method inside of a type, else function
    first: Node | None = None  # what belongs to it before ``whole``: its first decorator
