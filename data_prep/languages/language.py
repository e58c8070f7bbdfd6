"""What is known of a programming language: a module of this folder has one ``Language``, the registry one line.

It is all that the corpus, the search, its page and the editor's extension know of it. Light to import: a grammar is
loaded when something is parsed. A function is found with its documentation, which is a comment before it or a
docstring inside, and the comments of its file, so that code and context can be shown without them.
"""

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Final

from data_prep.languages.nodes import is_empty, name_of, part_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from data_prep.languages.nodes import Place

PIECE_TYPE: Final = "Piece__"
"""Stands for the type around a method that is without one."""
IN_TYPE: Final = (f"class {PIECE_TYPE} {{\n", "\n}")
resolved: Final = lru_cache(resolve_name)  # what "module:name" names


@dataclass(slots=True, unsafe_hash=True)
class Function:
    """A function, method or constructor with a body in a file; offsets are in bytes."""

    name: str  # "" if it has none
    type_name: str  # enclosing types, dotted; "" if there is none
    kind: str  # function, method, constructor or test; in ``ParsedSource.types``: type, in ``constants``: constant
    start: int  # of the declaration with decorators and annotations, without the comment before it
    end: int
    start_line: int  # 1-based
    end_line: int  # 1-based, inclusive
    doc: str  # documentation as plain lines without comment marks, "" if there is none
    query: str  # its first sentence
    docstring: tuple[int, int] | None  # where the documentation is, if it is inside the function
    annotations: Sequence[str]

    @property
    def dotted(self) -> str:
        """The name qualified by the enclosing types; "" if it has none."""
        return f"{self.type_name}.{self.name}" if self.type_name and self.name else self.name


@dataclass(slots=True, unsafe_hash=True)
class FoundFunction(Function):
    """A function in a parsed file."""

    is_stub: bool  # whether it only passes, raises or is otherwise empty by the language's rule
    fields: Callable[[], Mapping[str, tuple[str, ...]]]  # the code fields, taken when they are needed


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
    handlers: Callable[[], Sequence[FoundFunction]] = tuple
    """Functions that are given to a call with a text, named by both."""
    cases: Callable[[bytes], Sequence[FoundFunction]] = lambda _: ()
    """Tests that a call names by a text, of what is parsed, or of another as long (both: text_names.py)."""
    damaged: Callable[[], Sequence[FoundFunction]] = tuple
    """Functions that contain broken text, in the same way; a test after the function that it seems to be."""
    broken_line: int = 0  # the first line that does not parse, from 1; 0: all of the text does
    broken_lines: Sequence[int] = ()  # where others begin that are left out for broken text, beside ``damaged``


@dataclass(slots=True, unsafe_hash=True)
class Declaration:
    """What surrounds the node of a function."""

    name: str
    whole: "Node"  # with what belongs to the declaration: decorators, the name that it is assigned to
    owner: str = ""  # the type that the declaration itself names, as in Go
    kind: str = ""  # empty: method inside of a type, else function; test: by its description
    first: "Node | None" = None  # what belongs to it before ``whole``: its first decorator
    more: "Sequence[Node]" = ()  # its further clauses, in order
    doc: "Node | None" = None  # a string outside of its body that documents it
    body: "Node | None" = None  # which has its calls, if that is not the body of the node


def named(node: "Node") -> Declaration:
    """A declaration that has a field ``name``, and nothing around it."""
    return Declaration(name_of(node), node)


def words(text: str) -> frozenset[str]:
    """The words of a line, such as kinds of nodes."""
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Quote:
    """What opens and closes a string."""

    mark: str
    lines: bool = False  # whether it goes on in the next line; another one ends with its line, unless \ ends that
    escapes: bool = True  # whether a backslash protects the next character


@dataclass(frozen=True, kw_only=True, eq=False)
class Language:
    """A language. "Kinds" are those of its grammar's nodes."""

    # what it is called
    name: str  # lower-case, as in --data.language
    title: str  # as people write it
    other_names: tuple[str, ...] = ()  # that people type, beside its title and the suffixes of its files
    in_corpora: bool = False  # whether ``repositories`` and ``installed`` have it, and the pages of results
    editor_names: tuple[str, ...]  # its identifiers in VS Code
    suffixes: tuple[str, ...]  # of its files, the usual one first
    other_suffixes: tuple[str, ...] = ()  # of files that only the search reads
    shared_suffixes: tuple[str, ...] = ()  # of another language's files, which are its own where ``is_shared`` matches
    is_shared: str = r"(?!)"  # regular expression of what only this language has in such files
    interpreters: frozenset[str] = frozenset()  # programs that a script names in its first line, without versions
    file_names: frozenset[str] = frozenset()  # of files without a suffix, which only the search reads

    # its text
    line_comment: str = "//"
    other_comment: str = ""  # regular expression of what else begins one, as ``#`` does in PHP
    block_comment: tuple[str, str] | None = ("/*", "*/")
    quotes: tuple[Quote, ...] = (Quote('"'), Quote("'"))  # longer ones first
    slash_expressions: bool = False  # whether a slash may begin a regular expression
    keywords: frozenset[str]  # reserved words, which are no identifiers
    typical: str  # regular expression of what is typical of a line, for pieces that several parsers accept
    doubt: float = 0.0  # what speaks against a piece without typical lines: 0.15 for a grammar that accepts prose
    body_mark: str = "{"
    """What begins the body of a declaration; "": the line's end. Of several, the first of them."""
    closing: str = r"[\])}]"
    """Regular expression of what begins the last line of a declaration, as its first; "": nothing, as in Python."""
    filler: str = ""  # what stands in a block that has nothing, if that may not be empty
    stray: str = ""  # query whose @stray is an error that its grammar takes, such as an ``end`` too many for a name

    # its grammar
    grammar: str  # "module:function"; the module's distribution is named like it, if it is none of this folder
    grammars: Mapping[str, str] = field(default_factory=dict)  # suffix -> another one
    piece_grammar: str = ""  # another one, of pieces of a file
    pieces: Sequence[tuple[str, str]] = (("", ""),)  # what a function without its file is put between, in turn
    parser: str = "data_prep.languages.parsing:parse"  # (language, content, path) -> ParsedSource
    eased: Callable[[bytes], bytes] = bytes
    """A text of the same length, with blanks for what its grammar does not know, for one that does not parse."""

    # its declarations, for that parser
    functions: frozenset[str] = frozenset()  # kinds
    types: frozenset[str] = frozenset()  # kinds whose name qualifies those of functions inside
    other_types: frozenset[str] = frozenset()  # kinds of types whose name does not qualify them
    comments: frozenset[str] = frozenset(("comment",))  # kinds
    documentation: frozenset[str] = frozenset()  # kinds of what may be it and is no comment, as Elixir's attributes
    before: frozenset[str] = frozenset()  # kinds of what belongs to a declaration and is before it, as attributes
    nested: bool = True  # whether functions inside of functions are found too
    flat: bool = False  # whether what begins a line without an indent is inside of no braces
    cases: bool = True  # whether tests that a text names are units
    handlers: frozenset[str] = frozenset()  # kinds of function literals that may be given to a call with a text
    handler: "Callable[[Node], Declaration | None] | None" = None  # what one is; None: by the text (text_names.py)
    plain_doc: Callable[[str], str] = str  # documentation without the marks that only this language has
    docstrings: bool = False  # whether a string as a statement is documentation
    is_one: "Callable[[Node, str], bool]" = lambda _node, _mark: True
    """Whether a node of such a kind is one: a "function", "type", "other" type, "doc" (documentation), or "call"."""
    declaration: "Callable[[Node], Declaration | None]" = named
    """None: a function without a body, or not one of interest."""
    type_declaration: "Callable[[Node], Declaration | None]" = named
    """None: it only qualifies what is inside, or is not one of interest."""
    scope_name: "Callable[[Node], str]" = name_of  # by which a node of ``types`` qualifies what is inside
    body: "Callable[[Node], Node | None]" = lambda node: part_of(node, "body")  # of a function or type
    constants: "Callable[[Node], Iterable[Declaration]]" = lambda _: ()  # in a file's root
    signatures: frozenset[str] = frozenset()  # kinds of declarations without a body
    signatures_in: frozenset[str] = frozenset()  # kinds that these may be in, such as a class and its body
    signature: "Callable[[Node], Declaration | None]" = named  # what one of ``signatures`` declares
    is_stub: "Callable[[Node], bool]" = is_empty

    # its names and calls
    identifiers: frozenset[str]  # kinds
    calls: "Mapping[str, Place | tuple[Place, ...]]"
    """Kind -> the part (:func:`part_of`) that is called, or several; "": it is itself one of ``members``."""
    bare_calls: "Callable[[Node], Container[int]]" = lambda _: ()
    """The nodes in a declaration, by ``id``, that are calls by themselves: names without arguments in Ruby."""
    members: "Mapping[str, tuple[Place, Place]]"
    """Kind of a qualified name -> the parts with its qualifier, "" for none, and its name."""
    creations: frozenset[str] = frozenset()  # calls that create an object: the class's name is followed by "new"
    self_names: frozenset[str] = frozenset()  # names of the object or class itself
    definitions: frozenset[str]  # kinds with a name, which a piece of code defines

    # its files
    test_words: frozenset[str]  # words of a path, split like an identifier, that mark tests
    test_files: str = r"(?!)"  # regular expression of the end of a test's path, before the suffix, as it is written
    common_names: frozenset[str] = frozenset()  # names of functions that every type has
    gathering_files: frozenset[str] = frozenset()  # names of files that only gather others
    declaration_suffixes: tuple[str, ...] = ()  # of files that only declare what others define
    built_folders: frozenset[str] = frozenset()  # of what is made from the sources, in repositories
    sole_exports: tuple[bytes, ...] = ()  # what begins a function without a name that is all that a file exports
    is_minified: Callable[[str], bool] = lambda _: False
    """Whether a path is that of a file that a program made shorter."""

    # what the search does with it
    reader: str = "search.files.units:read_functions"  # finds the units of a file
    traces: str = ""  # the form of its stack traces (data_prep.traces.trace); "": none is read
    colours: Mapping[str, str] = field(default_factory=dict)  # kind -> what it is coloured as, beside the usual ones
    keyword_names: bool = False  # whether names that are keywords are coloured so: the grammar does not tell them apart
    capital_types: bool = True  # whether names in capitals are types, by custom

    def parse(self, data: bytes, path: str) -> ParsedSource:
        """The functions and comments of a file.

        Raises:
            UserError: the file is too long.
        """
        return resolved(self.parser)(self, data, path)

    def grammar_of(self, path: str) -> str:
        """The grammar of a file, as "module:function"."""
        return next((self.grammars[end] for end in self.grammars if path.endswith(end)), self.grammar)

    @property
    def comment_mark(self) -> str:
        """A regular expression of what begins a line comment."""
        return "|".join(filter(None, (re.escape(self.line_comment), self.other_comment)))

    @property
    def distribution(self) -> str:
        """The distribution with its grammar, whose version is part of prepared data; "" if it is of this program."""
        module = self.grammar.partition(":")[0]
        return "" if "." in module else module.replace("_", "-")
