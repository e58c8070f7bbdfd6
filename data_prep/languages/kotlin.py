"""Kotlin: functions, constructors and properties with code, of objects and as extensions too; types and constants.

The grammar does not know bodies of interfaces and objects: they are read as classes.
"""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from data_prep.languages.easing import Easing, compared_call, eased, near, without
from data_prep.languages.identifiers import TESTS_IN_CAPITALS, compiled_later
from data_prep.languages.language import Declaration, Language, Quote, words
from data_prep.languages.nodes import kind_of, name_of, names_in, node_text, part_of

if TYPE_CHECKING:
    from tree_sitter import Node

_UNKNOWN: Final = compiled_later(
    rb"(?m)^([ \t]*(?:(?:public|private|internal|protected|sealed|expect|actual|external|data|inner"
    rb"|@\w+(?:\([^()\n]*\))?)"
    rb"[ \t]+)*)(fun[ \t]+interface|interface|object)(?=[ \t]+[A-Za-z_`])"
)
_SOFT: Final = compiled_later(
    rb"(?m)(?:^|[{;(]|->)[ \t]*(abstract|crossinline|dynamic|external|final|infix|inline|internal|lateinit|noinline"
    rb"|open|override|private|protected|public|sealed|suspend|tailrec|vararg)(?=[ \t]*(?:[-+*/]?=(?!=)|\.\w|\[))"
)
_CONSTRUCTOR: Final = compiled_later(
    rb"\bclass[ \t]+\w+(?:\s*<[^{}();]{0,500}>)?(?P<between>\s*\n\s*(?:@\w+(?:\([^()\n]*\))?\s+)*"
    rb"(?:(?:actual|expect|internal|private|protected|public)\s+)*constructor[ \t]*\()"
)
_CALL: Final = compiled_later(
    rb"(?m)^[ \t]*(?P<blank>[ \t])(?:get[ \t]*(?:\{|\([ \t]*[^\s)])|set[ \t]*\((?!\s*\w+\s*(?::[^()\n]*)?\)\s*[{=]))"
)
"""What is no accessor of the property in the line before."""
_AT_END: Final = compiled_later(rb"\$(?=\w+\"{3}\Z)")
_LAST: Final = compiled_later(rb"(?m)[^\s{;,>]( )\}")
_BODIES: Final = words("function_body class_body enum_class_body block")
_TYPES: Final = words("class_declaration object_declaration companion_object")
_ACCESSORS: Final = words("getter setter property_delegate")


def _as_classes(easing: Easing) -> None:
    """Interfaces and objects are read as classes."""
    for found in _UNKNOWN.finditer(easing.text):
        easing.put(found.start(2), b"class".ljust(len(found[2])))


def _plain_strings(easing: Easing) -> None:
    """Texts without quotes inside of three quotes, and without places of ``$`` where two begin one."""
    for start, end in easing.strings:
        text = bytes(easing.data[start:end])
        bare = text.lstrip(b"$")
        if bare != text:
            text = b" " * (len(text) - len(bare)) + bare.replace(b"$", b"_")
        if bare[:3] == b'"""' and len(bare) > 5:
            place = len(text) - len(bare) + 3
            text = text[:place] + text[place:-3].replace(b'"', b"'") + text[-3:]
            text = _AT_END.sub(b"_", text)
        easing.data[start:end] = text


def _near_constructors(easing: Easing) -> None:
    """Line breaks between a class and its constructor are put behind what opens its parameters."""
    for found in _CONSTRUCTOR.finditer(easing.text):
        lines = found["between"].count(b"\n")
        easing.put(found.start("between"), (b"(" + b"\n" * lines).rjust(len(found["between"])))


def _soft_names(easing: Easing) -> None:
    """``_pen = true`` of ``open = true``: a modifier that is a name."""
    for found in _SOFT.finditer(easing.text):
        easing.put(found.start(1), b"_")


def _ended_values(easing: Easing) -> None:
    """``{ val a = 1;}`` of ``{ val a = 1 }``, and ``;get(1)`` behind a value, which is no accessor."""
    text = easing.text
    for found in _CALL.finditer(text):
        if near(text, found.start("blank"), -1) not in b"{;>":
            easing.put(found.start("blank"), b";")
    for found in _LAST.finditer(easing.text):
        easing.put(found.start(1), b";")


def _body(node: "Node") -> "Node | None":
    found = next((child for child in node.named_children if child.type in _BODIES), None)
    return node if found is None and node.type == "property_declaration" else found


def _declaration(node: "Node") -> Declaration | None:
    """A function with a body, by the type that it extends; a constructor; a property with code."""
    if node.type == "property_declaration":
        name = node_text(part_of(_declared(node), "0"))
        return Declaration(name, node, _receiver(node)) if _has_code(node) else None
    return _named(node) if _body(node) is not None else None


def _has_code(variable: "Node") -> bool:
    return any(child.type in _ACCESSORS for child in variable.named_children)


def _named(node: "Node") -> Declaration:
    if node.type == "secondary_constructor":
        return Declaration(name_of(node.parent and node.parent.parent), node, kind="constructor")
    return Declaration(name_of(node).strip("`"), node, _receiver(node))


def _receiver(node: "Node") -> str:
    """``List`` of ``fun <T> List<T>.second()``."""
    named = part_of(node, "name") or _declared(node)
    before = named.prev_named_sibling if named is not None else None
    while kind_of(before) in ("nullable_type", "parenthesized_type"):
        before = part_of(before, "0")
    if before is None or before.type != "user_type":
        return ""
    return ".".join(node_text(each) for each in before.named_children if each.type == "identifier")


def _declared(node: "Node") -> "Node | None":
    return next((child for child in node.named_children if child.type == "variable_declaration"), None)


def _type_declaration(node: "Node") -> Declaration | None:
    if node.type == "type_alias":
        return Declaration(node_text(part_of(node, "type") or part_of(node, "0")), node)
    return None if node.type == "companion_object" else Declaration(name_of(node).strip("`"), node)


_NAME: Final = words("identifier")
_AROUND: Final = words("multi_variable_declaration variable_declaration")


def _constants(root: "Node") -> Iterator[Declaration]:
    for each in root.named_children:
        if each.type == "property_declaration" and not _has_code(each):
            declared = (child for child in each.named_children if child.type in _AROUND)
            names = (name for child in declared for name in names_in(child, _NAME, _AROUND))
            yield from (Declaration(name, each) for name in names)


LANGUAGE: Final = Language(
    name="kotlin",
    title="Kotlin",
    editor_names=("kotlin",),
    suffixes=(".kt",),
    other_suffixes=(".kts",),
    interpreters=words("kotlin kotlinc kscript"),
    quotes=(Quote('"""', lines=True, escapes=False), Quote('"'), Quote("'")),
    keywords=words(
        "abstract actual annotation as break by catch class companion const constructor continue crossinline data do "
        "else enum expect external false final finally for fun get if import in infix init inline inner interface "
        "internal is it lateinit noinline null object open operator out override package private protected public "
        "reified return sealed set super suspend tailrec this throw true try typealias val var vararg when where while"
    ),
    typical=r"\bfun (?:<\w|[\w.]+\()|\bval \w+(?:: \w| =)|\b(?:data|sealed|open) class\b|\bcompanion object\b"
    r"|\bwhen ?\(|\?:"
    r"|\bsuspend\b|\?\.let\b|\{ it\b",
    doubt=0.25,
    grammar="tree_sitter_kotlin:language",
    eased=partial(
        eased,
        (
            _as_classes,
            _plain_strings,
            _near_constructors,
            _soft_names,
            partial(
                without,
                (
                    rb"(?m)^[ \t]*(context[ \t]*\([^()\n]*\))[ \t]*$",
                    rb"(?m)^[ \t]*(@\w+(?:\([^()\n]*\))?[ \t]+)(?=[sg]et\b)",
                    rb"\b(suspend)(?=[ \t]*[{(])",
                    rb"\b([A-Z]\w*(?:<[^<>\n]*>)?\.)(?=\([^()\n]*\)\s*->)",
                ),
            ),
            _ended_values,
        ),
    ),
    functions=words("function_declaration secondary_constructor property_declaration"),
    types=_TYPES,
    other_types=words("type_alias"),
    comments=words("line_comment block_comment"),
    before=words("annotated_expression"),  # which the grammar takes for a statement of its own in a file
    nested=False,
    declaration=_declaration,
    type_declaration=_type_declaration,
    body=_body,
    constants=_constants,
    signatures=words("function_declaration"),
    signatures_in=_TYPES | words("class_body enum_class_body"),
    signature=_named,
    identifiers=words("identifier"),
    calls={"call_expression": "0", "binary_expression": compared_call},
    members={"navigation_expression": ("0", "-1"), "unary_expression": ("", "argument")},
    self_names=words("this super"),
    definitions=words("function_declaration class_declaration object_declaration"),
    test_words=words("test tests testing unittest androidtest jvmtest commontest benchmark benchmarks fixtures"),
    test_files=TESTS_IN_CAPITALS,
    common_names=words("toString hashCode equals"),
    built_folders=words("build"),
    traces="data_prep.traces.java:JAVA",
    colours={
        "annotation": "annotation",
        "number_literal": "number",
        "user_type": "type",
        "character_literal": "string",
    },
)
