"""C#: methods, constructors, operators, properties and indexers with code; types of all kinds; XML documentation."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from data_prep.languages.easing import Easing, eased, without
from data_prep.languages.identifiers import TESTS_IN_CAPITALS, compiled_later
from data_prep.languages.language import IN_TYPE, Declaration, Language, Quote, words
from data_prep.languages.nodes import kind_of, name_of, node_text, part_of, statements

if TYPE_CHECKING:
    from tree_sitter import Node

_SUMMARY: Final = compiled_later(r"(?s)<summary>(.*?)(?:</summary>|\Z)")
_REFERENCE: Final = compiled_later(
    r"<(?:see|seealso|paramref|typeparamref)\s+\w+=\"(?:[A-Z]:)?([^\"]*)\"\s*/?>(?:</\w+>)?"
)
_TAG: Final = compiled_later(r"</?(?:c|code|para|list|item|description|term|b|i|inheritdoc|remarks|value)\b[^<>]*>")
_POINTED: Final = compiled_later(rb"[;{}):]\s*\*(?P<cast>\([\w.]+\*\))(?P<open>\(?)")
_RESULT: Final = compiled_later(
    rb"[;{}):]\s*(?!(?:if|for|foreach|while|switch|using|lock|fixed|catch)\b)[\w.]+(?P<open>\()"
)
_GIVEN: Final = compiled_later(rb"\s*=(?![=>])")
_WORD: Final = compiled_later(rb"\w+")
_AROUND: Final = words("namespace_declaration class_declaration static_class struct_declaration")
_TYPES: Final = words("class_declaration struct_declaration interface_declaration record_declaration")
_OTHERS: Final = words(
    "destructor_declaration operator_declaration conversion_operator_declaration indexer_declaration"
)


def _plain_doc(doc: str) -> str:
    """The summary of an XML comment, without tags."""
    found = _SUMMARY.search(doc)
    text = _TAG.sub(" ", _REFERENCE.sub(r"\1", found[1] if found else doc))
    return "\n".join(line.strip() for line in text.strip().splitlines())


def _plain_targets(easing: Easing) -> None:
    """``*       p     = 1`` of ``*(int*)(p + 1) = 1``, and ``At    = 1`` of ``At(i) = 1``."""
    text = easing.text
    for found in _POINTED.finditer(text):
        end = easing.closing(found.start("open")) + 1
        easing.clear(*found.span("cast"))
        if end and (name := _WORD.search(text, found.end())) and name.start() == found.end():
            easing.clear(found.start("open"), found.end())
            easing.clear(name.end(), end)
    for found in _RESULT.finditer(text):
        end = easing.closing(found.start("open")) + 1
        if end and _GIVEN.match(text, end):
            easing.clear(found.start("open"), end)


def _body(node: "Node") -> "Node | None":
    return part_of(node, "body") or part_of(node, "accessors") or part_of(node, "value")


def _declaration(node: "Node") -> Declaration | None:
    """A member with code, by its name or ``~Store``, ``operator ==``, ``operator int``, ``this[]``."""
    if node.type in _OTHERS:
        name = _other_name(node)
    elif node.type == "property_declaration" and not _is_computed(node):
        return None
    else:
        name = name_of(node)
    kind = "constructor" if node.type == "constructor_declaration" else ""
    return Declaration(name, node, kind=kind) if _body(node) is not None else None


def _other_name(node: "Node") -> str:
    if node.type == "destructor_declaration":
        return f"~{name_of(node)}"
    if node.type == "indexer_declaration":
        return "this[]"
    return f"operator {node_text(part_of(node, 'operator') or part_of(node, 'type'))}"


def _is_computed(node: "Node") -> bool:
    """Whether a property has code: ``=> x``, or an accessor with a body."""
    accessors = part_of(node, "accessors")
    if accessors is None:
        return kind_of(part_of(node, "value")) == "arrow_expression_clause"
    return any(part_of(each, "body") is not None for each in accessors.named_children)


def _constants(root: "Node") -> Iterator[Declaration]:
    """Constants of top-level types, which have no others outside."""
    for each in statements(root, _AROUND):
        if each.type == "field_declaration":
            modifiers = node_text(part_of(each, "0")) + node_text(part_of(each, "1"))
            variables = each.named_children[-1].named_children[1:] if "const" in modifiers else ()
            yield from (Declaration(name_of(one), each) for one in variables)


LANGUAGE: Final = Language(
    name="csharp",
    title="C#",
    editor_names=("csharp", "razor"),
    suffixes=(".cs",),
    other_suffixes=(".csx",),
    interpreters=words("dotnet-script csi"),
    quotes=(Quote('"""', lines=True, escapes=False), Quote('@"', lines=True, escapes=False), Quote('"'), Quote("'")),
    keywords=words(
        "abstract as async await base bool break byte case catch char checked class const continue decimal default "
        "delegate do double dynamic else enum event explicit extern false finally fixed float for foreach get goto if "
        "implicit in init int interface internal is lock long nameof namespace new null object operator out override "
        "params partial private protected public readonly record ref return sbyte sealed set short sizeof stackalloc "
        "static string struct switch this throw true try typeof uint ulong unchecked unsafe ushort using value var "
        "virtual void volatile when where while with yield"
    ),
    typical=r"^\s*using [A-Z][\w.]*;|\bnamespace [A-Z]|\{ get;|\b(?:public|private|internal"
    r"|protected) (?:static |async |override "
    r"|readonly |sealed |virtual |unsafe )*[\w<>\[\],?.]+ [A-Z]\w*|\bvar \w+ = |\bstring\b|=> \w"
    r"|\bforeach \("
    r"|\b(?:ref|out) \w|\bis null\b|\bnameof\(|\bthrow new [A-Z]\w+Exception|^\s*\{ ?$",
    doubt=0.1,
    grammar="tree_sitter_c_sharp:language",
    pieces=(IN_TYPE,),
    eased=partial(
        eased,
        (
            _plain_targets,
            partial(
                without,
                (
                    rb"(\*)(?=\([\w.]+\*\))",
                    rb"[;{}):]\s*\*\w+(\+\+|--)(?=\s*=)",
                    rb"\b(ref\s)(?=\s*partial\s+struct\b)",
                ),
            ),
        ),
    ),
    functions=words(
        "method_declaration constructor_declaration property_declaration local_function_statement "
        "destructor_declaration operator_declaration conversion_operator_declaration indexer_declaration"
    ),
    types=_TYPES,
    other_types=words("enum_declaration delegate_declaration"),
    nested=False,
    declaration=_declaration,
    body=_body,
    constants=_constants,
    signatures=words("method_declaration"),
    signatures_in=_TYPES | words("namespace_declaration file_scoped_namespace_declaration declaration_list"),
    plain_doc=_plain_doc,
    identifiers=words("identifier"),
    calls={"invocation_expression": "function", "object_creation_expression": "type"},
    members={
        "member_access_expression": ("expression", "name"),
        "conditional_access_expression": ("condition", "1"),
        "member_binding_expression": ("", "name"),
        "generic_name": ("", "0"),
        "alias_qualified_name": ("alias", "name"),
        "qualified_name": ("qualifier", "name"),
        "postfix_unary_expression": ("", "0"),
    },
    creations=words("object_creation_expression"),
    self_names=words("this base"),
    definitions=words(
        "method_declaration class_declaration struct_declaration interface_declaration record_declaration "
        "enum_declaration property_declaration"
    ),
    test_words=words("test tests testing unittests specs benchmark benchmarks fixtures"),
    test_files=TESTS_IN_CAPITALS,
    common_names=words("ToString GetHashCode Equals Dispose"),
    built_folders=words("bin obj packages"),
    traces="data_prep.traces.compiled:CSHARP",
    colours={
        "predefined_type": "type",
        "implicit_type": "keyword",
        "boolean_literal": "keyword",
        "null_literal": "keyword",
        "attribute": "annotation",
        "modifier": "keyword",
    },
)
