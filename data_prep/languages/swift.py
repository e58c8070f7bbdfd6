"""Swift: functions, initializers, subscripts and computed properties; types and protocols; global constants."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from data_prep.languages.easing import Easing, compared_call, eased
from data_prep.languages.identifiers import TESTS_IN_CAPITALS, compiled_later
from data_prep.languages.language import Declaration, Language, Quote, words
from data_prep.languages.nodes import name_of, names_in, node_text, part_of

if TYPE_CHECKING:
    from tree_sitter import Node

_NOTHING: Final = compiled_later(rb"(?:[(,=]|\?\?|\breturn)\s*(?P<value>\(\))(?!\s*(?:->|throws|rethrows|async|\{))")
_NAMES, _PATTERNS = words("simple_identifier"), words("pattern")
_NAMELESS: Final = {
    "init_declaration": "init",
    "deinit_declaration": "deinit",
    "subscript_declaration": "subscript",
}


def _named_nothing(easing: Easing) -> None:
    """``f([])`` of ``f(())``, a value that the grammar does not know."""
    for found in _NOTHING.finditer(easing.text):
        easing.put(found.start("value"), b"[]")


def _body(node: "Node") -> "Node | None":
    found = part_of(node, "body") or part_of(node, "computed_value")
    return part_of(node, "-1") if found is None and node.type == "subscript_declaration" else found


def _declaration(node: "Node") -> Declaration | None:
    return _stated(node) if _body(node) is not None else None


def _stated(node: "Node") -> Declaration:
    name = _NAMELESS.get(node.type) or _named(node)
    return Declaration(name, node, kind="constructor" if name == "init" else "")


def _named(node: "Node") -> str:
    return node_text(part_of(node, "name", "bound_identifier") or part_of(node, "name"))


def _type_declaration(node: "Node") -> Declaration | None:
    """A type; an extension only qualifies what is inside."""
    is_extension = node_text(part_of(node, "declaration_kind")) == "extension"
    return None if is_extension else Declaration(name_of(node), node)


def _scope_name(node: "Node") -> str:
    """``Array`` of ``extension Array<Int>``."""
    return name_of(node).partition("<")[0]


def _called(call: "Node") -> "Node | None":
    """What is called: nothing of ``table[key]`` and ``defer {}``, ``g`` of ``a + g(b)``, which the grammar joins."""
    called, given = part_of(call, "0"), part_of(call, "-1", "0")
    while (right := part_of(called, "rhs")) is not None:
        called = right
    is_element = given is not None and given.child_count and given.children[0].type == "["
    return None if is_element or node_text(called) == "defer" else called


def _constants(root: "Node") -> Iterator[Declaration]:
    for each in root.named_children:
        if each.type == "property_declaration" and part_of(each, "computed_value") is None:
            for named in each.children_by_field_name("name"):
                yield from (Declaration(name, each) for name in names_in(named, _NAMES, _PATTERNS))


LANGUAGE: Final = Language(
    name="swift",
    title="Swift",
    editor_names=("swift",),
    suffixes=(".swift",),
    interpreters=words("swift"),
    quotes=(Quote('"""', lines=True), Quote('"')),
    keywords=words(
        "actor any as associatedtype async await break case catch class continue convenience default defer deinit "
        "didSet do else enum extension fallthrough false fileprivate final for func get guard if import in indirect "
        "init inout internal is lazy let mutating nil nonisolated nonmutating open operator optional override private "
        "protocol public repeat required rethrows return self Self set some static struct subscript super switch throw "
        "throws true try typealias unowned var weak where while willSet"
    ),
    typical=r"\bfunc \w+.*(?:\{|->)|\blet \w+(?:: [\w\[\]?]+)? = |\bguard\b|\bif let\b|\bextension [A-Z]"
    r"|\bself[.?]|\binit\("
    r"|@\w+ (?:var|func|class|struct)|\w+: \[?[A-Z]\w*\]?[?!]|\btry (?:await|\w)|^\s*(?:switch|if"
    r"|for) [^(]*\{$|\bcase \.\w",
    grammar="tree_sitter_swift:language",
    eased=partial(eased, (_named_nothing,)),
    functions=words(
        "function_declaration init_declaration deinit_declaration subscript_declaration property_declaration"
    ),
    types=words("class_declaration protocol_declaration"),
    other_types=words("typealias_declaration"),
    comments=words("comment multiline_comment"),
    nested=False,
    declaration=_declaration,
    type_declaration=_type_declaration,
    scope_name=_scope_name,
    body=_body,
    constants=_constants,
    signatures=words("protocol_function_declaration protocol_property_declaration init_declaration"),
    signatures_in=words("protocol_declaration protocol_body"),
    signature=_stated,
    identifiers=words("simple_identifier type_identifier"),
    calls={
        "call_expression": _called,
        "constructor_expression": "constructed_type",
        "comparison_expression": compared_call,
    },
    members={
        "navigation_expression": ("target", "suffix"),
        "navigation_suffix": ("", "suffix"),
        "user_type": ("", "0"),
        **dict.fromkeys(("prefix_expression", "postfix_expression"), ("", "target")),
    },
    self_names=words("self super Self"),
    definitions=words("function_declaration class_declaration protocol_declaration"),
    test_words=words("test tests testing benchmark benchmarks fixtures"),
    test_files=TESTS_IN_CAPITALS,
    common_names=words("hash encode init"),
    gathering_files=words("Package.swift"),
    traces="data_prep.traces.compiled:SWIFT",
    colours={
        "attribute": "annotation",
        "boolean_literal": "keyword",
        "line_str_text": "string",
        "multi_line_str_text": "string",
        "self_expression": "keyword",
    },
)
