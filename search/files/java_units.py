"""The units of a Java file: every method, constructor and named type, and the lambdas that handle something.

What cannot be parsed is found by the file as a whole.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tree_sitter import Node

from data_prep.config import DataConfig
from data_prep.languages.fields import LONGEST, distinct_words
from data_prep.languages.identifiers import query_words, split_identifier
from data_prep.languages.java.declarations import FoundMethod, LeftOut, ParsedFile, find_declarations, parse_text
from data_prep.languages.java.functions import word_fields
from data_prep.languages.java.rewritten import Rewritten, unescaped
from data_prep.languages.nodes import node_text
from data_prep.languages.parsing import MOST_FUNCTIONS
from data_prep.languages.registry import language
from data_prep.languages.text_names import handler
from data_prep.pipeline.filters import is_generated, reason_to_drop
from data_prep.pipeline.java_extraction import candidate_of, record
from data_prep.records import Method, Pair, SourceFile
from search.files.languages import Unit, Units, whole_file
from search.files.recovery import Declared, best_of, parseable
from search.files.words import file_words, folded

_NAMED: Final = frozenset(("identifier", "type_identifier"))
_MEMBERS: Final = frozenset((
    "method_declaration", "constructor_declaration", "field_declaration", "constant_declaration", "enum_constant",
    "annotation_type_element_declaration", "formal_parameters", "superclass", "super_interfaces", "extends_interfaces",
    "enum_body_declarations",
))  # fmt: skip
"""The parts of a type's declaration and body that its words are taken from."""
_INSIDE: Final = frozenset(("block", "constructor_body", "class_body", "modifiers"))


def read_java(file: SourceFile) -> Units:
    """Every method, constructor and named type of ``file``, documented or not.

    For a method without a body and for a type, the tokens are the words of the declarations, and there are no calls.
    ``ast`` and ``statements`` are left empty, since no ranker of the search reads them.

    Raises:
        ValueError: the file is too long to be parsed.
    """
    whole, java = unescaped(file.data), language("java")
    read = lambda text: parse_text(Rewritten(parseable(text)))  # noqa: E731
    parsed, fixed, told = best_of(whole.text, java, file.path, read, _declared_in)
    inner = fixed.place if fixed else int
    words = file_words(whole.text, [(inner(start), inner(end)) for start, end in parsed.comments()])
    parsed = replace(parsed, text=parsed.text.within(file.data, lambda offset: whole.place(inner(offset))))
    left_out = LeftOut(broken=parsed.lost)
    units = [*_units(file, parsed, left_out), *_handlers(file, parsed)]
    if told or not units:  # what is lost is found by the file
        units = [*whole_file(file, file.data, words), *units]
    told += filter(None, (left_out.not_parsed(), str(left_out)))
    return Units(units, "; ".join(told), words)


def _declared_in(parsed: ParsedFile, _: bytes) -> Declared:
    lines = [(each.start_line, each.end_line, "") for each in find_declarations(parsed) if each.name]
    return Declared(len(lines), lines)


def _units(file: SourceFile, parsed: ParsedFile, left_out: LeftOut) -> Iterator[Unit]:
    rules, generated = DataConfig(), is_generated(file.data, parsed.code_start)
    for found in find_declarations(parsed, left_out):
        if found.kind in ("type", "abstract"):
            method = _declared(file, found)
        elif found.name:
            method = record(file, found, {**word_fields(found), "ast": ()})
        else:
            continue
        candidate = candidate_of(file.path, found, generated=generated)
        pair = Pair(method, candidate.query_text, query_words(folded(candidate.query_text)))
        asks = found.kind == "method" and not found.node.has_error and reason_to_drop(candidate, rules) is None
        yield Unit(pair, asks)


def _handlers(file: SourceFile, parsed: ParsedFile) -> Iterator[Unit]:
    """The lambdas that are given to a call with a text, such as ``get("/orders", ctx -> ...)``."""
    for node in sorted(parsed.captures.get("lambda", ()), key=lambda each: each.start_byte)[:MOST_FUNCTIONS]:
        if declared := handler(node):
            whole = declared.whole
            found = FoundMethod(node, "method", None, "", declared.name, "", parsed.text)
            source = parsed.text.source(whole.start_byte, whole.end_byte).strip()
            method = record(file, found, {**word_fields(found), "ast": ()})
            first, last = parsed.text.lines(whole)
            yield Unit(Pair(replace(method, source=source, start_line=first, end_line=last), "", ()), asks=False)


def _declared(file: SourceFile, found: FoundMethod) -> Method:
    node, body = found.node, found.node.child_by_field_name("body")
    end = node.end_byte if body is None or found.kind != "type" else body.start_byte
    source = found.text.source(node.start_byte, end).strip()
    inside = body.named_children if body is not None else []
    members = [each for each in (*node.named_children, *inside) if each.type in _MEMBERS]
    if found.kind == "abstract":
        members = [each for name in ("type", "parameters") if (each := node.child_by_field_name(name)) is not None]
    tokens = distinct_words(dict.fromkeys(name for each in members for name in _names(each)))[:LONGEST]
    fields = {"name": split_identifier(found.name)[:LONGEST], "tokens": tokens, "api": ()}
    place = file.origin, file.path, found.start_line, found.end_line
    return Method(*place, found.type_name, found.name, found.kind, source, found.javadoc, fields)


def _names(node: Node) -> Iterator[str]:
    """The identifiers of a declaration, except those inside bodies."""
    todo = [node]
    while todo:
        each = todo.pop()
        if each.type in _NAMED:
            yield node_text(each)
        elif each.type not in _INSIDE:
            todo += reversed(each.named_children)
