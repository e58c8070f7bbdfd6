"""C++: what C has, and methods, constructors and operators, inside of their class or outside; classes and templates."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from data_prep.languages.c import (
    CONDITIONS,
    LONG_NAME,
    MACROS,
    NO_TYPE,
    c_type,
    declarator,
    is_prototype,
    macro,
    made_by_macro,
)
from data_prep.languages.c import LANGUAGE as C
from data_prep.languages.easing import OPEN, Easing, Rule, eased, ended_calls, without, without_arguments, without_call
from data_prep.languages.identifiers import compiled_later
from data_prep.languages.language import Declaration, Quote, words
from data_prep.languages.nodes import above, kind_of, name_of, node_text, part_of
from data_prep.languages.route_chains import chained

if TYPE_CHECKING:
    from tree_sitter import Node

_OPERATOR: Final = compiled_later(rb"operator(?P<sign>\s*(?:\(\)|\[\]|[-+*/%^&|~!=<>,]{1,3}))(?=\s*\()")
_OF_CALL: Final = compiled_later(rb"(?:->\s*|\.|\breturn\s+|[;{}]\s*)\Z")
_OF_EXPRESSION: Final = compiled_later(rb"decltype(?<!\wdecltype)\s*\(")
_FAR: Final = 100
"""Bytes before an operator that tell what it is."""
_LAST_TYPE: Final = compiled_later(
    rb",\s*(?P<type>(?:const\s+)?(?:unsigned|int|bool|char|double|float|long|short|size_t)\b[\w\s*&]*)\Z"
)
_COMMA: Final = compiled_later(rb"->|<<|[()\[\]{}<>,]")
_PARAMETERS: Final = words("parameter_declaration parameter_list function_declarator abstract_function_declarator")
_TYPES: Final = words("class_specifier struct_specifier union_specifier")
_OUTSIDE: Final = words("template_declaration friend_declaration")


def _named_operators(easing: Easing) -> None:
    """``a.operator_ (b)`` of ``a.operator[](b)``."""
    text = easing.text
    for found in _OPERATOR.finditer(text):
        if _OF_CALL.search(text, max(0, found.start() - _FAR), found.start()):
            easing.put(found.start("sign"), b"_".ljust(len(found["sign"])))


def _joined_types(easing: Easing) -> None:
    """``decltype(f(a)+ g(b))`` of ``decltype(f(a), g(b))``."""
    text = easing.text
    for found in _OF_EXPRESSION.finditer(text):
        depth = 0
        for each in _COMMA.finditer(text, found.end(), max(found.end(), easing.closing(found.end() - 1))):
            if each[0] == b"," and not depth:
                easing.put(each.start(), b"+")
            depth += (each[0] in b"([{<") - (each[0] in b")]}>")


def _values_of_types(easing: Easing) -> None:
    """``THROWS_AS(f(), 0  )`` of ``THROWS_AS(f(), int)``, a macro that is given a type."""
    text = easing.text
    for _, end in [*easing.macros(LONG_NAME)]:
        opened = OPEN.match(text, end)
        last = easing.closing(opened.end() - 1) if opened else -1
        if last > 0 and (found := _LAST_TYPE.search(text, max(end, last - _FAR), last)):
            easing.put(found.start("type"), b"0".ljust(len(found["type"])))


_EASED: Final[tuple[Rule, ...]] = (
    *MACROS,
    _named_operators,
    _joined_types,
    _values_of_types,
    partial(
        without_arguments,
        rb"\n(?:[A-Z][A-Z0-9_]*|[ \t]+(?:[A-Z0-9]+_)*(?:TEST_CASE|SCENARIO)(?:_[A-Z_]+)?)[ \t]*\("
        rb"(?=\s*(?:\"|[\w:]+(?:<[^<>();{}]*>)?\s*,\s*\"))",
    ),
    partial(ended_calls, rb"\n[ \t]+[A-Z][A-Z0-9_]*[ \t]*\((?=\s*\")"),
    partial(ended_calls, rb"(?i)\n[ \t]+\w*(?:for_?each|forever)\w*[ \t]*\("),  # another call may be a constructor
    partial(ended_calls, rb"\n[ \t}]+(?:[A-Z][A-Z0-9_]*_)?(?:SECTION|CHECKED_IF|CHECKED_ELSE)[ \t]*\("),
    partial(without_call, rb"\n[ \t}]*", rb"\s*\{", rb"[A-Z][A-Z0-9_]*_(?:TRY|CATCH)(?:_[A-Z]+)?"),
    partial(without_call, rb"\n[ \t]*", rb"\s*;", rb"MOCK_(?:CONST_)?METHOD\w*", called=True),
    partial(
        without_call,
        rb"(?:[>*&](?:\s*const)?|" + NO_TYPE + rb"\w+)\s+[*&]*" + NO_TYPE + rb"\w+(?:\[\w*\])?\s+",
        rb"\s*[;=]",
        LONG_NAME,
        called=True,
    ),
    partial(
        without,
        (
            rb"(?m)\n[ \t]*([A-Z][A-Z0-9]*_[A-Z0-9_]+:)(?=[ \t]*$)",
            rb"(typename(?<!\wtypename)\s)(?=\s*[\w:]+(?:<[^<>;]*(?:<[^<>;]*>[^<>;]*)?>)?::\w+\s*[({])",
            rb"(=\s*\{[^{};]*\})(?=\s*[,)])",
            rb"\*(?:\s*const)?\s+(=\s*\w+)(?=\s*[,)])",
            rb"new(?<!\wnew)\s+(?:const\s+)?[\w:]+(?:<[^<>;]*>)?\s*(\*+)(?=\s*\[)",
            rb"[(,?:]\s*(throw\s)(?=\s*[\w:])",
            rb"[<,]\s*[A-Z][A-Z0-9_]*_IF\s*\((!+)",
            rb"\n((?:export[ \t]+)?module\b[\w.: \t]*;)",
            rb">\s*(\*)\s*=\s*nullptr",
            rb"(\((?<=[\w\s]\()\s*[\w:]+::\s*\*\s*\)\s*\([^();{}]*\)\s*(?:const\b\s*)?&{0,2})(?=\s*[,>])",
            rb"->(\*)(?=\s*\w)",
            rb"(->)(?=\*\s*\()",
            rb"using\s+(typename\s)",
            rb"=\s*[\w:]+\s*(\([*&]\)\s*\[[^\[\]]*\])(?=\s*[,>])",
            rb"\(\s*((?:\w+(?:<[^<>()]*>)?::)+)(?=\s*\*\s*(?:const\s*)?\w+\s*\)\s*\()",
            rb"typename(?<!\wtypename)\s+[A-Z][A-Z0-9_]*(\([^()]*\))(?=\s*\w+\s*;)",
            rb",\s*(typename\s|const\s)(?=\s*[\w:]+\s*&+\s*\)\s*;)",
            rb",\s*[\w:]+\s*((?:const\s*)?&+)(?=\s*\)\s*;)",
        ),
    ),
)


def _in_vexing_parse(parameters: "Node") -> "Node | None":
    """``lock`` of ``Guard held(lock(a));``, which is read as the declaration of a function."""
    parameter = around = parameters.parent
    while around is not None and around.type in _PARAMETERS:
        around = around.parent
    is_one = kind_of(around) == "declaration" and above(around, "compound_statement case_statement")
    return part_of(parameter, "type") if is_one else None


def _whole(node: "Node") -> "Node":
    """The declaration with the parameters of its template."""
    while node.parent is not None and node.parent.type in _OUTSIDE:
        node = node.parent
    return node


def _declaration(node: "Node") -> Declaration | None:
    if node.type == "preproc_function_def":
        return macro(node, LANGUAGE)
    named = declarator(node)
    if named is None or part_of(node, "body") is None:
        return None
    if not _type_around(node) and (made := made_by_macro(node, named)):
        return made
    return _named(node, named)


def _prototype(node: "Node") -> Declaration | None:
    named, typed = declarator(node), part_of(node, "type") is not None or bool(_type_around(node))
    is_one = typed and named is not None and (named.type == "operator_cast" or is_prototype(node))
    return _named(node, named) if is_one and named is not None else None


def _named(node: "Node", named: "Node") -> Declaration:
    if named.type == "operator_cast":
        return Declaration(f"operator {node_text(part_of(named, 'type'))}", _whole(node))
    owner: list[str] = []
    while named.type == "qualified_identifier" and (inner := part_of(named, "name")) is not None:
        scope = part_of(named, "scope")
        owner += [_plain(scope)] if scope is not None else []
        named = inner
    name = "".join(_plain(named).split()) if named.type == "operator_name" else _plain(named)
    inside = owner[-1] if owner else _type_around(node)
    return Declaration(name, _whole(node), ".".join(owner), "constructor" if inside and name == inside else "")


def _plain(named: "Node") -> str:
    """A name without the arguments of its template."""
    return name_of(named) if named.type.startswith("template_") else node_text(named)


def _type_around(node: "Node") -> str:
    owner = above(_whole(node), "field_declaration_list")
    return _scope_name(owner.parent) if owner is not None and owner.parent is not None else ""


def _scope_name(node: "Node") -> str:
    """The name of a class, without its template's arguments and what qualifies it."""
    named = part_of(node, "name")
    while kind_of(named) in ("template_type", "qualified_identifier"):
        named = part_of(named, "name")
    return node_text(named)


def _type_declaration(node: "Node") -> Declaration | None:
    """A type, or another name of one outside of functions."""
    if node.type in ("alias_declaration", "type_definition") and above(node, "compound_statement"):
        return None
    if node.type in ("alias_declaration", "concept_definition"):
        return Declaration(name_of(node), _whole(node))
    found = c_type(node)
    if found is None or node.type == "type_definition":
        return found
    return Declaration(_scope_name(node), _whole(node))


LANGUAGE: Final = replace(
    C,
    name="cpp",
    title="C++",
    editor_names=("cpp", "cuda-cpp"),
    suffixes=(".cpp", ".hpp", ".cc", ".cxx", ".hh", ".hxx"),
    other_suffixes=(".c++", ".h++", ".ipp", ".tpp", ".inl", ".ixx", ".cppm", ".cu", ".cuh", ".ino", ".C", ".H"),
    shared_suffixes=(".h",),
    is_shared=r"(?m)^\s*(?:class|namespace|template|using|public:|private:|protected:|export)\b|\b(?:std::|constexpr"
    r"|nullptr|virtual|noexcept|static_cast|operator\W)",
    interpreters=words("cling"),
    quotes=(Quote('R"(', lines=True, escapes=False), Quote('"'), Quote("'")),
    keywords=C.keywords
    | words(
        "alignas alignof and catch class co_await co_return co_yield concept consteval constexpr constinit const_cast "
        "decltype delete dynamic_cast explicit export final friend mutable namespace new noexcept not operator or "
        "override private protected public reinterpret_cast requires static_assert static_cast template this "
        "thread_local throw try typeid typename using virtual"
    ),
    typical=r"\b(?:std::|template ?<|namespace \w|constexpr|nullptr|auto[ &]|const \w+& |noexcept|static_cast)"
    r"|^\s*(?:[\w:<>*&~]+ )*[\w:~]+::[\w~]+\(|<<|^\s*public:|\bcase [\w:]+::\w+:",
    grammar="tree_sitter_cpp:language",
    eased=partial(eased, _EASED),
    handlers=words("lambda_expression"),
    handler=chained,
    types=_TYPES,
    other_types=words("enum_specifier type_definition alias_declaration concept_definition"),
    declaration=_declaration,
    type_declaration=_type_declaration,
    scope_name=_scope_name,
    signatures=words("declaration field_declaration"),
    signatures_in=CONDITIONS | _TYPES | words("namespace_definition template_declaration field_declaration_list"),
    signature=_prototype,
    identifiers=C.identifiers | words("namespace_identifier"),
    calls={
        "call_expression": "function",
        "new_expression": "type",
        "abstract_function_declarator": _in_vexing_parse,
    },
    members={
        **C.members,
        "qualified_identifier": ("scope", "name"),
        **dict.fromkeys(("template_function", "template_method", "template_type"), ("", "name")),
        "dependent_name": ("", "0"),
    },
    creations=words("new_expression"),
    self_names=words("this"),
    definitions=C.definitions | words("class_specifier alias_declaration concept_definition"),
    declaration_suffixes=(),
    colours={**C.colours, "auto": "keyword", "raw_string_literal": "string"},
)
