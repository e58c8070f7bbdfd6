"""JavaScript: every function with a body, named or not, methods and fields that are functions; JSDoc or comments."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from data_prep.languages.language import IN_TYPE, PIECE_TYPE, Declaration, Language, Quote, node_text, words

if TYPE_CHECKING:
    from tree_sitter import Node

_NAMED_BY: Final = {
    "variable_declarator": "name",
    "pair": "key",
    "field_definition": "property",
    "public_field_definition": "name",
    "assignment_expression": "left",
}
"""What a function may be the value of -> the field with its name."""
_AROUND: Final = words("lexical_declaration variable_declaration expression_statement export_statement")


def _declaration(node: "Node") -> Declaration | None:
    """The name of a function, by itself or by what it is assigned to, and the statement with both."""
    return None if node.child_by_field_name("body") is None else _type_declaration(node)


def _type_declaration(node: "Node") -> Declaration:
    """The same of a function or type, with or without a body."""
    named, whole, kind = node.child_by_field_name("name"), node, ""
    parent = node.parent
    if parent is not None and parent.type in _NAMED_BY:
        whole, named = parent, named or parent.child_by_field_name(_NAMED_BY[parent.type])
        kind = "method" if parent.type == "pair" else ""
    if node.type == "method_definition" and node_text(named) == "constructor":
        kind = "constructor"
    name, whole, owner = _name(named, whole)
    return Declaration(name, whole, owner, kind, _first(whole))


def _constants(root: "Node") -> Iterator[Declaration]:
    """The constants and variables of a module, without what is imported by ``require``."""
    for statement in root.named_children:
        declared = statement.child_by_field_name("declaration") if statement.type == "export_statement" else statement
        if declared is None or declared.type not in ("lexical_declaration", "variable_declaration"):
            continue
        for each in declared.named_children:
            named, value = (each.child_by_field_name(field) for field in ("name", "value"))
            if named is not None and named.type == "identifier" and value is not None and not _is_import(value):
                yield Declaration(node_text(named), _whole(each))


def _is_import(value: "Node") -> bool:
    """Whether a value is that of ``require``, or a member of it."""
    while value.type == "member_expression" and (inside := value.child_by_field_name("object")) is not None:
        value = inside
    return value.type == "call_expression" and node_text(value.child_by_field_name("function")) == "require"


def _name(named: "Node | None", inner: "Node") -> "tuple[str, Node, str]":
    """Name, whole declaration, and the type that the name is assigned to a member of."""
    owner = ""
    if named is not None and named.type == "member_expression":
        names = node_text(named).split(".")
        if names == ["module", "exports"]:
            return "", _whole(inner), ""
        if "prototype" in names[1:-1]:
            owner = names[names.index("prototype") - 1]
        elif len(names) == 2 and names[0][:1].isupper():
            owner = names[0]
        named = named.child_by_field_name("property")
    name = node_text(named).strip("'\"#`") if named is not None else ""
    return name if name.isidentifier() or name.replace("$", "_").isidentifier() else "", _whole(inner), owner


def _first(node: "Node") -> "Node":
    """The first of the decorators before a member of a class, else the member."""
    before = node.prev_named_sibling
    while before is not None and before.type == "decorator":
        node, before = before, before.prev_named_sibling
    return node


def _whole(node: "Node") -> "Node":
    """The statement around a declaration, if it has no other."""
    parent = node.parent
    while parent is not None and parent.type in _AROUND and parent.named_child_count == 1:
        node, parent = parent, parent.parent
    return node


def _is_minified(path: str) -> bool:
    """Whether a path is that of a bundle or a file without spaces."""
    name = path.rpartition("/")[2].lower()
    return any(part in name for part in (".min.", "-min.", ".bundle.", ".prod.", ".umd.", ".iife.", ".chunk."))


LANGUAGE: Final = Language(
    name="javascript",
    title="JavaScript",
    in_corpora=True,
    editor_names=("javascript", "javascriptreact"),
    suffixes=(".js", ".mjs", ".cjs", ".jsx"),
    other_suffixes=(".es6", ".jsm"),
    shared_suffixes=(".vue", ".svelte"),
    is_shared=r"(?is)\A(?!.*<script\b[^<>]{0,300}\blang\s*=\s*[\"']?ts)",
    interpreters=words("node nodejs iojs zx gjs qjs rhino jjs osascript"),
    quotes=(Quote("`", lines=True), Quote('"'), Quote("'")),
    slash_expressions=True,
    keywords=words(
        "async await break case catch class const continue debugger default delete do else enum export extends false "
        "finally for from function get if import in instanceof let new null of return set static super switch this "
        "throw true try typeof undefined var void while with yield"
    ),
    typical=r"\b(?:const|let|var|function|undefined)\b|=>|===|!==|`",
    grammar="tree_sitter_javascript:language",
    pieces=(("", ""), (f"{PIECE_TYPE} = ", ""), IN_TYPE),
    functions=words(
        "function_declaration function_expression generator_function generator_function_declaration arrow_function "
        "method_definition"
    ),
    cases=False,  # there are thousands, of made-up material, and they hide other code
    handlers=words("function_expression generator_function arrow_function method_definition"),
    types=words("class_declaration class"),
    comments=words("comment html_comment"),
    declaration=_declaration,
    type_declaration=_type_declaration,
    constants=_constants,
    identifiers=words(
        "identifier property_identifier private_property_identifier type_identifier shorthand_property_identifier "
        "shorthand_property_identifier_pattern"
    ),
    calls={"call_expression": "function", "new_expression": "constructor"},
    members={"member_expression": ("object", "property")},
    creations=words("new_expression"),
    self_names=words("this"),
    definitions=words(
        "function_declaration generator_function_declaration method_definition class_declaration variable_declarator"
    ),
    test_words=words("test tests testing spec specs mocks e2e fixtures"),
    common_names=words("toString toLocaleString valueOf"),
    gathering_files=words("index.js"),
    built_folders=words("dist build out bundles umd cjs esm es lib-cov"),
    sole_exports=(b"export default", b"module.exports"),
    is_minified=_is_minified,
    traces="data_prep.traces.javascript:JAVASCRIPT",
    colours={"undefined": "keyword", "decorator": "annotation"},
)
