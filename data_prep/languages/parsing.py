"""Functions and comments of a file by tree-sitter, for languages that describe theirs by the kinds of nodes."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import chain, islice
from pkgutil import resolve_name
from typing import Final

from tree_sitter import Language as Grammar
from tree_sitter import Parser, Query, QueryCursor

from data_prep.errors import UserError
from data_prep.languages.comments import first_sentence, plain_comment
from data_prep.languages.fields import (
    Comments,
    bodiless,
    code_fields,
    docstring_of,
    first_part,
    last_line,
    merged,
    type_fields,
    types_around,
    without_comments,
)
from data_prep.languages.language import Declaration, FoundFunction, Language, ParsedSource
from data_prep.languages.nodes import is_docstring, node_text
from data_prep.languages.own_tree import Node, Tree, captures_of_broken
from data_prep.languages.text_names import cases, handler

LARGEST_FILE: Final = 2 << 20
"""Maximum size of a parsed file in bytes; larger ones are data or made by programs."""
MOST_DEEP: Final = 16
"""Maximum nesting of functions and types; the JDK's maximum is 8. Each level is stored and read again."""
MOST_READ: Final = 4
"""Maximum times that a file's text is read, since nested functions are read repeatedly; in the JDK at most 2."""
MOST_FUNCTIONS: Final = 20_000
"""Maximum functions of a file, in Java declarations; the JDK's maximum is 900."""
_NESTED: Final = ("function", "type", "other", "case")
_Placed = tuple[Node, str, list[str], bool, int]
"""A function or type, its mark, the types around it, whether a function is, and its depth."""
LONGEST_NAME: Final = 1000
"""Maximum characters of a name with the enclosing types."""

_HASHES: Final = re.compile(r"(?m)^#+:? ?")


@lru_cache
def loaded_grammar(place: str) -> Grammar:
    """The grammar that "module:function" gives."""
    return Grammar(resolve_name(place)())


def is_own(grammar: str) -> bool:
    """Whether a grammar is a function of this program, which makes the tree itself."""
    return grammar.startswith(f"{__package__}.")


def syntax_tree(grammar: str, data: bytes) -> Tree:
    """The tree of a text by the grammar "module:function". Kotlin's never ends at some texts without a line end."""
    if is_own(grammar):
        return resolve_name(grammar)(data)
    return Parser(loaded_grammar(grammar)).parse(data + b"\n" * ("kotlin" in grammar and not data.endswith(b"\n")))


def _marks(language: Language) -> tuple[tuple[str, frozenset[str]], ...]:
    return (
        ("function", language.functions), ("type", language.types), ("other", language.other_types),
        ("comment", language.comments), ("handler", language.handlers - language.functions),
        ("doc", language.documentation),
    )  # fmt: skip


@lru_cache
def _query(language: Language, grammar: str) -> Query:
    """Captures the nodes of interest in one pass, in C."""
    listed = ((mark, " ".join(f"({kind})" for kind in sorted(kinds))) for mark, kinds in _marks(language) if kinds)
    lines = [f"[{kinds}] @{mark}" for mark, kinds in listed]
    lines += ["(expression_statement . (string) .) @doc"] * language.docstrings
    return Query(loaded_grammar(grammar), "\n".join(lines))


def _mark_of(language: Language) -> Callable[[Node], str]:
    """The same for one node, and the nodes of errors."""
    marks = {kind: mark for mark, kinds in reversed(_marks(language)) for kind in kinds}

    def mark_of(node: Node) -> str:
        if node.has_error and (node.is_missing or node.is_error):
            return "error"
        mark = marks.get(node.type)
        return mark if mark and node.is_named else "doc" if language.docstrings and is_docstring(node) else ""

    return mark_of


def parse(language: Language, data: bytes, path: str, *, whole: bool = False) -> ParsedSource:
    """The functions of a file, in source order; those that contain broken text are left out.

    Raises:
        UserError: the file is longer than ``LARGEST_FILE``, or ``whole`` and it does not parse.
    """
    if len(data) > LARGEST_FILE:
        raise UserError(f"longer than {LARGEST_FILE >> 20} MiB")
    tree = syntax_tree(language.grammar_of(path), data)
    if not tree.root_node.has_error:
        return _parsed(language, tree, data, path)
    eased = language.eased(data)
    other = syntax_tree(language.grammar_of(path), eased) if eased != data else tree
    if whole and other.root_node.has_error:
        raise UserError("does not parse")
    found = [_parsed(language, tree, data, path)]
    found += [_parsed(language, other, eased, path, data)] if eased != data else []
    return max(found, key=lambda each: (len(each.functions), -each.left_out, not each.broken_line))


def _parsed(language: Language, tree: Tree, data: bytes, path: str, full: bytes = b"") -> ParsedSource:
    """``full``: what ``data`` has blanks in; nothing: it has none."""
    grammar, root = language.grammar_of(path), tree.root_node
    query = None if is_own(grammar) else QueryCursor(_query(language, grammar)).captures
    captures = query(root) if query and not root.has_error else captures_of_broken(tree, _mark_of(language), query)
    comments = Comments(data, captures.get("comment", []), language.block_comment)
    found, left_out = _functions(language, data, nested := [*_nested(language, captures)], comments, inner=False)
    first = next((child.start_byte for child in root.named_children if child.type not in language.comments), len(data))
    docs = (node for node in captures.get("doc", ()) if language.is_one(node, "doc"))
    spans = sorted({(node.start_byte, node.end_byte) for node in (*comments.nodes, *docs)})
    by_text = language.handler is not None or not language.handlers
    calls_of_tests = cache(lambda text: [*cases(root, text, routes=by_text)] if language.cases else [])

    def tests(text: bytes = b"", *, damaged: bool = False) -> list[FoundFunction]:
        """The tests, as far as they are nested and as many as functions may be; ``text``: what names them, as long."""
        calls = calls_of_tests(text or full or data)
        named = {node.id: declared for node, declared in calls}
        placed = [*_nested(language, {**captures, "case": [node for node, _ in calls]})] if calls else []
        return _functions(language, data, placed, comments, inner=False, damaged=damaged, tests=named)[0]

    def damaged() -> list[FoundFunction]:
        own = _functions(language, data, nested, comments, inner=False, damaged=True)[0]
        return [*own, *tests(damaged=True)]

    return ParsedSource(
        found,
        spans,
        first,
        left_out,
        types=cache(lambda: _types(language, data, nested, comments)),
        inner=cache(lambda: _functions(language, data, nested, comments, inner=True)[0]),
        constants=cache(lambda: _constants(language, data, root, comments)),
        handlers=cache(lambda: _handlers(language, data, captures, comments)),
        cases=tests,
        damaged=cache(lambda: damaged() if root.has_error else []),
        broken_line=line_of(captures.get("error", ())) if root.has_error else stray_line(language, tree),
    )


def stray_line(language: Language, tree: Tree) -> int:
    """The first line of what the grammar takes and the language does not, from 1; 0: there is none."""
    found = language.stray and QueryCursor(_stray(language)).captures(tree.root_node).get("stray")
    return line_of(found) if found else 0


@lru_cache
def _stray(language: Language) -> Query:
    return Query(loaded_grammar(language.grammar), language.stray)


def line_of(errors: Sequence[Node]) -> int:
    """The first line of what does not parse, from 1."""
    return min((node.start_point[0] + 1 for node in errors), default=1)


def _functions(
    language: Language,
    data: bytes,
    nested: Sequence[_Placed],
    comments: Comments,
    *,
    inner: bool,
    damaged: bool = False,
    tests: Mapping[int, Declaration] | None = None,
) -> tuple[list[FoundFunction], int]:
    """The functions, or with ``inner`` those inside of others that are none of them, and how many are left out.

    ``damaged``: in place of the others, those that contain broken text. ``tests``: in place of all, these captured
    cases, by the identities of their nodes.
    """
    wanted = "function" if tests is None else "case"
    found: list[FoundFunction] = []
    left_out = to_read = 0
    for node, mark, types, is_nested, depth in nested:
        if mark != wanted or (is_nested and tests is None and not language.nested) != inner:
            continue
        declared = language.declaration(node) if tests is None else tests[node.id]
        if declared is None:
            continue
        type_name = ".".join(filter(None, (*types, declared.owner)))
        whole = declared.whole
        to_read += whole.end_byte - whole.start_byte
        fits = depth <= MOST_DEEP and len(found) < MOST_FUNCTIONS and to_read <= MOST_READ * len(data)
        if node.has_error != damaged or not fits or len(type_name) + len(declared.name) >= LONGEST_NAME:
            left_out += 1
            continue
        found.append(_found(language, data, node, declared, type_name, comments))
    return found, left_out


def _types(language: Language, data: bytes, nested: Sequence[_Placed], comments: Comments) -> list[FoundFunction]:
    """The named types, as far as they are nested and as many as functions may be."""
    found: list[FoundFunction] = []
    for node, mark, types, _, depth in nested:
        if mark == "function" or depth > MOST_DEEP or len(found) >= MOST_FUNCTIONS:
            continue
        declared = language.type_declaration(node)
        if declared is None or not declared.name or sum(map(len, (*types, declared.name))) + len(types) >= LONGEST_NAME:
            continue
        found.append(_found(language, data, node, replace(declared, kind="type"), ".".join(types), comments))
    return found


def _constants(language: Language, data: bytes, root: Node, comments: Comments) -> list[FoundFunction]:
    """Constants, and what has no body: the first of each name, and all with documentation; as many as functions."""
    found: dict[tuple[str, str, str], FoundFunction] = {}
    for each in islice(chain(language.constants(root), bodiless(language, root)), MOST_FUNCTIONS):
        owner = ".".join(filter(None, (types_around(language, each.whole), each.owner)))
        if each.name.strip("_") and len(each.name) + len(owner) < LONGEST_NAME:
            one = _found(language, data, each.whole, replace(each, kind=each.kind or "constant"), owner, comments)
            found.setdefault((owner, each.name, one.doc * (each.kind == "abstract")), one)
    return [*found.values()]


def _handlers(
    language: Language, data: bytes, captures: Mapping[str, Sequence[Node]], comments: Comments
) -> list[FoundFunction]:
    """The handlers in source order, as far as functions may be many and long."""
    found: list[FoundFunction] = []
    to_read = 0
    for node in sorted((*captures.get("handler", ()), *captures.get("function", ())), key=lambda each: each.start_byte):
        declared = (language.handler or handler)(node) if node.type in language.handlers else None
        if declared is None:
            continue
        to_read += declared.whole.end_byte - declared.whole.start_byte
        if len(found) >= MOST_FUNCTIONS or to_read > MOST_READ * len(data):
            break
        found.append(_found(language, data, node, declared, "", comments))
    return found


def _nested(language: Language, captures: Mapping[str, Sequence[Node]]) -> Iterator[_Placed]:
    """Each function and type in source order."""
    marks = [(node, mark) for mark in _NESTED for node in captures.get(mark, ())]
    marks = [(node, mark) for node, mark in marks if mark == "case" or language.is_one(node, mark)]
    marks.sort(key=lambda mark: (mark[0].start_byte, -mark[0].end_byte))
    around: list[tuple[int, str | None]] = []  # end, name of a type or None for a function
    for node, kind in marks:
        while around and around[-1][0] <= node.start_byte:
            around.pop()
        names = [name for _, name in around if name]
        yield node, kind, names, any(name is None for _, name in around), len(around)
        if kind != "other":
            around.append((node.end_byte, language.scope_name(node) if kind == "type" else None))


def _found(
    language: Language, data: bytes, node: Node, declared: Declaration, type_name: str, comments: Comments
) -> FoundFunction:
    whole = declared.whole
    first = first_part(declared, language.before if declared.kind not in ("handler", "test") else frozenset())
    inside = docstring_of(language, node) if language.docstrings and declared.kind != "constant" else None
    raw = node_text(text) if (text := inside or declared.doc) is not None else comments.before(first.start_byte)
    raw = _HASHES.sub("", raw) if declared.kind == "constant" else raw
    doc = plain_comment(raw, "" if language.docstrings else language.line_comment, language.block_comment)
    doc = language.plain_doc(doc) if doc else ""
    body = declared.body or (whole if declared.kind == "constant" else language.body(node))
    parts = [(declared.body or whole, body, inside), *((each, language.body(each), None) for each in declared.more)]
    last = declared.more[-1] if declared.more else whole
    if comments.are_last_of(last):
        last = without_comments(last, first.start_point[1], language.comments)

    def fields() -> Mapping[str, tuple[str, ...]]:
        if declared.kind in ("type", "abstract"):
            return type_fields(declared.name, parts[0], language)
        found = [code_fields(declared.name, type_name, each, language) for each in parts]
        return found[0] if len(found) == 1 else {**merged(found), "name": found[0]["name"]}

    return FoundFunction(
        name=declared.name,
        type_name=type_name,
        kind=declared.kind or ("method" if type_name else "function"),
        start=first.start_byte,
        end=last.end_byte,
        start_line=first.start_point[0] + 1,
        end_line=last_line(data, last),
        doc=doc,
        query=first_sentence(doc) if doc else "",
        docstring=None if inside is None else (inside.start_byte, inside.end_byte),
        is_stub=body is None or language.is_stub(body),
        annotations=(),
        fields=fields,
    )
