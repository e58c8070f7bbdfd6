"""JavaScript: every function with a body, named or not, methods and fields that are functions; JSDoc or comments.

TypeScript, with JSX in ``.tsx``, has the same, in classes with decorators and in namespaces too.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from data_prep.languages.identifiers import compiled_later
from data_prep.languages.language import IN_TYPE, PIECE_TYPE, Declaration, Language, Quote, words
from data_prep.languages.nodes import above, kind_of, name_of, names_in, node_text, part_of

if TYPE_CHECKING:
    from tree_sitter import Node

_NAMES: Final = words("identifier shorthand_property_identifier_pattern")
_PATTERNS: Final = words("object_pattern array_pattern pair_pattern rest_pattern")
_NAMED_BY: Final = {
    "variable_declarator": "name",
    "pair": "key",
    "field_definition": "property",
    "public_field_definition": "name",
    "assignment_expression": "left",
}
"""What a function may be the value of -> the field with its name."""
_TAGS: Final = compiled_later(
    r"\A(?:\s*@(?:abstract|async|class|constructor|desc(?:ription)?|experimental|func(?:tion)?|internal|method|override"
    r"|private|protected|public|readonly|static|summary)\b(?:[ \t]+[\w.$]+(?=[ \t]*\n))?)+\s+(?=[^@\s])"
)
"""Tags that say nothing, before a description."""
_AROUND: Final = words("lexical_declaration variable_declaration expression_statement export_statement")
_SIGNATURES: Final = words("function_signature method_signature abstract_method_signature")
_HAVING: Final = _AROUND | words(
    "ambient_declaration statement_block module internal_module class_declaration abstract_class_declaration class_body"
)
"""What declarations without a value are in; members of interfaces belong to these."""


def _declaration(node: "Node") -> Declaration | None:
    """The name of a function, by itself or by what it is assigned to, and the statement with both."""
    return _type_declaration(node) if part_of(node, "body") else None


def _type_declaration(node: "Node") -> Declaration:
    """The same of a function or type, with or without a body."""
    named, whole, kind = part_of(node, "name"), node, ""
    parent = node.parent
    if parent is not None and parent.type in _NAMED_BY:
        assigned = part_of(parent, _NAMED_BY[parent.type])
        if named is None or (kind_of(assigned) == "member_expression" and _name(assigned, node)[0]):
            named = assigned
        whole, kind = parent, "method" if parent.type == "pair" else ""
    if node.type == "method_definition" and node_text(named) == "constructor":
        kind = "constructor"
    name, whole, owner = _name(named, whole)
    return Declaration(name, whole, owner, kind, _first(whole))


def _constants(root: "Node") -> Iterator[Declaration]:
    """The constants and variables of a module, without what is imported by ``require``."""
    for statement in root.named_children:
        declared = part_of(statement, "declaration") if statement.type == "export_statement" else statement
        if declared is None or declared.type not in ("lexical_declaration", "variable_declaration"):
            continue
        for each in declared.named_children:
            if not _is_import(part_of(each, "value")):
                names = names_in(part_of(each, "name"), _NAMES, _PATTERNS)
                yield from (Declaration(name, _whole(each)) for name in names)


def _with_signatures(root: "Node") -> Iterator[Declaration]:
    """The same, and what is declared without a value or body: of a module, of ``declare ...``, in classes."""
    yield from _constants(root)
    todo = [(child, False) for child in reversed(root.named_children)]
    while todo:
        node, ambient = todo.pop()
        named = part_of(node, "name")
        if node.type in _SIGNATURES and named is not None:
            kind = "method" if "method" in node.type else "function"
            kind = "constructor" if node_text(named) == "constructor" else kind
            yield Declaration(_name(named, node)[0], _stated(node), kind=kind)
        elif node.type == "variable_declarator" and ambient and part_of(node, "value") is None:
            yield Declaration(_name(named, node)[0], _stated(_whole(node)))
        elif node.type in _HAVING:
            ambient |= node.type == "ambient_declaration"
            todo += [(child, ambient) for child in reversed(node.named_children)]


def _scope_name(node: "Node") -> str:
    """The name of a class or namespace, and of ``declare module "legacy"``; "" if that is a path or a pattern."""
    name = name_of(node).strip("'\"")
    return name if name.replace("$", "_").replace("-", "_").replace(".", "_").isidentifier() else ""


def _stated(node: "Node") -> "Node":
    """A declaration with ``export declare`` before it."""
    while around := above(node, "ambient_declaration export_statement"):
        node = around
    return node


def _is_import(value: "Node | None") -> bool:
    """Whether a value is that of ``require``, or a member of it."""
    while kind_of(value) == "member_expression" and (inside := part_of(value, "object")):
        value = inside
    return kind_of(value) == "call_expression" and node_text(part_of(value, "function")) == "require"


def _name(named: "Node | None", inner: "Node") -> "tuple[str, Node, str]":
    """Name, whole declaration, and the type that the name is assigned to a member of."""
    owner = ""
    if kind_of(named) == "member_expression":
        names = node_text(named).split(".")
        if names == ["module", "exports"]:
            return "", _whole(inner), ""
        if "prototype" in names[1:-1]:
            owner = names[names.index("prototype") - 1]
        elif len(names) == 2 and names[0][:1].isupper():
            owner = names[0]
        named = part_of(named, "property")
    name = node_text(named).strip("'\"#`")
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
    plain_doc=lambda doc: _TAGS.sub("", doc),
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
    members={"member_expression": ("object", "property"), "non_null_expression": ("", "0")},
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
    traces="data_prep.traces.scripts:JAVASCRIPT",
    colours={"undefined": "keyword", "decorator": "annotation"},
)

_UNKNOWN: Final = compiled_later(
    rb"(?P<before>(?:[<,]|\*/)\s*+)(?P<variance>in(?:[ \t]+out)?|out)(?=\s+[A-Z_$][\w$]*\s*(?:extends\b|[=,>]))"
    rb"|(?P<all>\bexport\s+)type(?=\s*\*)|(?P<nameless>\bexport\s+default\s+)abstract(?=\s+class\s*(?:[{<]|extends\b))"
    rb"|(?P<each>\bfor(?:\s+await)?\s*\(\s*(?:await\s+)?)using(?=\s+[\w$]+\s+of\b)"
    rb"|\bimport\((?P<module>[ \t]*(?:\"[^\"\n]*\"|'[^'\n]*')[ \t]*\))(?=(?:\.\w+)*\.[A-Z]\w*\s*[<\[])"
    rb"|(?<=<)typeof import\((?P<typed>(?:\"[^\"\n]*\"|'[^'\n]*')\))(?=>\()"
)
"""What the grammar does not know: ``<in T, out U>``, ``export type *``, ``for (using a of b)``, ``import("a").B["c"]``,
``f<typeof import("a")>()``, and an abstract class without a name that is exported."""


def _in_its_words(found: re.Match[bytes]) -> bytes:
    """What is like it, as long, and known to the grammar."""
    if found["module"] or found["typed"]:
        return re.sub(rb"\W", b"_", found[0])  # a name
    if found["each"] is not None:
        return found["each"] + b"const"
    before = found["before"] or found["all"] or found["nameless"]
    return before + b" " * (len(found[0]) - len(before))


TYPESCRIPT: Final = replace(
    LANGUAGE,
    name="typescript",
    title="TypeScript",
    editor_names=("typescript", "typescriptreact"),
    suffixes=(".ts", ".tsx", ".mts", ".cts"),
    other_suffixes=(".vue", ".svelte", ".astro"),
    shared_suffixes=(),
    interpreters=words("ts-node ts-node-esm tsx deno bun"),
    keywords=LANGUAGE.keywords
    | words(
        "abstract any as asserts bigint boolean declare implements interface is keyof module namespace never number "
        "object override private protected public readonly satisfies string symbol type unknown"
    ),
    typical=r"\b(?:interface|type|readonly|as const|keyof|implements)\b"
    r"|\??:\s*(?:string|number|boolean|any|unknown|void)\b|\w<\w+>\(",
    grammar="tree_sitter_typescript:language_typescript",
    grammars={".tsx": "tree_sitter_typescript:language_tsx"},
    types=words("class_declaration abstract_class_declaration class internal_module module"),
    other_types=words("interface_declaration type_alias_declaration enum_declaration"),
    definitions=LANGUAGE.definitions | words("interface_declaration enum_declaration type_alias_declaration"),
    gathering_files=words("index.ts"),
    constants=_with_signatures,
    scope_name=_scope_name,
    declaration_suffixes=(".d.ts", ".d.mts", ".d.cts"),
    built_folders=frozenset(),
    eased=lambda data: _UNKNOWN.sub(_in_its_words, data),
    traces="",  # they are those of JavaScript
)
