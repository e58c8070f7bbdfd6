"""Go: top-level functions and methods with a body, and the comments directly before them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from data_prep.languages.identifiers import compiled_later
from data_prep.languages.language import Declaration, Language, Quote, words
from data_prep.languages.nodes import above, kind_of, name_of, node_text, part_of

if TYPE_CHECKING:
    from tree_sitter import Node

_TYPED: Final = compiled_later(
    r"\[(?:[\[*]|[^\[\]]*,|(?:\w+\.)?[A-Z]\w*\]|(?:any|bool|byte|error|float\d+|rune|string|u?int\d*)\])[^\[]*\Z"
)
"""The end of what has type arguments, unlike an element of a table."""


def _declaration(node: "Node") -> Declaration | None:
    """None: written in assembly."""
    return Declaration(name_of(node), node, _receiver(node)) if part_of(node, "body") else None


def _type_declaration(node: "Node") -> Declaration:
    parent = above(node, "type_declaration")
    return Declaration(name_of(node), parent if parent and parent.named_child_count == 1 else node)


def _constants(root: "Node") -> Iterator[Declaration]:
    """The constants and variables of a package, by each of their names."""
    for declared in root.named_children:
        if declared.type in ("const_declaration", "var_declaration"):
            inside = [each for child in declared.named_children for each in (child, *child.named_children)]
            specs = [each for each in inside if each.type in ("const_spec", "var_spec")]
            for spec in specs:
                whole = declared if len(specs) == 1 else spec
                names = [each for each in spec.children_by_field_name("name") if each.is_named]
                yield from (Declaration(node_text(name), whole) for name in names)


def _signature(node: "Node") -> Declaration:
    """A method of an interface, or a function that is written in assembly."""
    around = node.parent.parent if node.type == "method_elem" and node.parent else None
    return Declaration(name_of(node), node, name_of(around) if around else _receiver(node))


def _receiver(node: "Node") -> str:
    """The type of a method's receiver: ``Server`` in ``func (s *Server[T]) Start()``."""
    kind = part_of(node, "receiver", "0", "type")
    while kind is not None and kind.type in ("pointer_type", "generic_type", "parenthesized_type"):
        kind = part_of(kind, "type") or part_of(kind, "0")
    return node_text(kind)


def _called(call: "Node") -> "Node | None":
    """What is called: ``slices.Map`` of ``slices.Map[string](x)``, nothing of ``handlers[key](x)``."""
    found = part_of(call, "function") or part_of(call, "type")
    if kind_of(found) not in ("index_expression", "generic_type"):
        return found
    return part_of(found, "0") if _TYPED.search(node_text(found)) else None


LANGUAGE: Final = Language(
    name="go",
    title="Go",
    in_corpora=True,
    editor_names=("go",),
    suffixes=(".go",),
    interpreters=words("go gorun yaegi"),
    quotes=(Quote("`", lines=True, escapes=False), Quote('"'), Quote("'")),
    keywords=words(
        "break case chan const continue default defer else fallthrough for func go goto if import interface map "
        "package range return select struct switch type var nil true false iota"
    ),
    typical=r":=|\bfunc\b|\berr != nil|\bdefer\b|\bchan\b|\bpackage\b",
    grammar="tree_sitter_go:language",
    functions=words("function_declaration method_declaration"),
    handlers=words("func_literal"),
    other_types=words("type_spec type_alias"),
    nested=False,
    flat=True,
    declaration=_declaration,
    type_declaration=_type_declaration,
    constants=_constants,
    signatures=words("method_elem function_declaration method_declaration"),
    signatures_in=words("type_declaration type_spec interface_type"),
    signature=_signature,
    identifiers=words("identifier field_identifier type_identifier package_identifier"),
    calls=dict.fromkeys(("call_expression", "type_conversion_expression"), _called),
    members={"selector_expression": ("operand", "field"), "qualified_type": ("package", "name")},
    definitions=words("function_declaration method_declaration type_spec"),
    test_words=words("test tests testing testdata testutil vendor"),
    gathering_files=words("doc.go"),
    traces="data_prep.traces.compiled:GO",
    colours={"iota": "keyword", "imaginary_literal": "number", "rune_literal": "string"},
    capital_types=False,  # the first letter says whether a name is exported
)
