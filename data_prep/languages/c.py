"""C: functions with a body, macros with parameters, types and constants.

A macro before a declaration, which no grammar knows, is passed over. The helpers serve C++ too.
"""

import re
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

from data_prep.languages.easing import (
    OPEN,
    Easing,
    Rule,
    eased,
    ended_calls,
    near,
    without,
    without_arguments,
    without_call,
)
from data_prep.languages.identifiers import compiled_later
from data_prep.languages.language import Declaration, Language, ParsedSource, resolved, words
from data_prep.languages.nodes import above, inside, kind_of, name_of, names_in, node_text, part_of

if TYPE_CHECKING:
    from tree_sitter import Node

_NAME: Final = rb"(?:_*[A-Z][A-Z0-9_]*[A-Z0-9_]|[A-Z]\w*_[A-Z][A-Z0-9]*|__(?!\w+_TYPE__)\w+__)"
LONG_NAME: Final = rb"(?:_*[A-Z][A-Z0-9]*_[A-Z0-9_]+|[A-Z]\w*_[A-Z][A-Z0-9]*|__(?!\w+_TYPE__)\w+__)"
_OWN_TYPES: Final = rb"(?!(?:SIZE_T|SSIZE_T|LARGE_INTEGER|ULONG_PTR|DWORD_PTR|LONG_PTR|UINT_PTR)\b)"
_BEGINS: Final = (
    rb"(?:(?:static|inline|typedef|friend|explicit|virtual|extern(?:\s*\"+)?|\[\[\w+\]\]"
    rb"|template(?:\s*<[^<>;{}]*>)?)\s+)*"
)
"""What may begin a declaration."""
_KEYWORDS: Final = (
    rb"(?:static|inline|extern|constexpr|struct|class|enum|union|template|virtual|explicit|unsigned|signed|int|char"
    rb"|void|bool|long|short|size_t|typedef|auto|friend|float|double)\b"
)
_BEHIND: Final = rb"\n(?:[ \t]*(?:extern|virtual)\b|\w)[^;{}=]{0,500}?\)\s*(?:const\s*)?"
"""A declaration without a body."""
NO_TYPE: Final = (
    rb"\b(?!(?:static|inline|extern|const|volatile|constexpr|virtual|explicit|friend|typedef|struct|class|enum|union|new"
    rb"|return|else|do|case|goto|throw|typename|using|namespace|unsigned|signed|delete|public|private|protected)\b)"
)
CONDITIONS: Final = words("preproc_if preproc_ifdef preproc_else preproc_elif linkage_specification declaration_list")
_MACRO: Final = compiled_later(r"[A-Z][A-Z0-9]*_?[A-Z0-9_]*")
_MACRO_LINE: Final = compiled_later(r"(?m)^[ \t]*[A-Z][A-Z0-9_]*[ \t]*$")
_BRIEF: Final = compiled_later(r"(?m)^\s*[@\\](?:brief|short|details?)\s+")
_WRAPPED: Final = compiled_later(
    rb"\n" + _BEGINS + rb"(?P<name>\b" + _NAME + rb"\b[ \t]*\()"
    rb"(?=(?:[\w*&]+\s+)+[*&]*\w+\s*\(|[\w \t*:<>]+\)\s*[*&]*\w+\s*(?:\(|\[\]|;))"
)
_EXPORTED: Final = compiled_later(
    rb"(?m)^([ \t]*(?:typedef\s+)?(?:class|struct|union)[ \t]+)([A-Z][A-Z0-9]*_[A-Z0-9_]+|[A-Z]*(?:API|EXPORT))"
    rb"(?=[ \t]+\w+\s*(?:final\s*)?(?::[^:;{}()][^;{}()]*)?\{)"
)
_GOES_ON: Final = frozenset(map(bytes, zip(b",(=+-*/&|<?!^%[")))
_IS_PART: Final = frozenset(map(bytes, zip(b"{=+-/&|<>?.,)]:")))
"""What is before and behind a macro that is part of an expression or has a body."""
_LINE_END: Final = compiled_later(rb"[ \t]*(?:\n|\Z)")


def _unwrapped(easing: Easing) -> None:
    """``static int f(void) {`` of ``UNUSED(static int f(void)) {``, and ``int f(void)`` of ``API(int) f(void)``."""
    text = easing.text
    for found in _WRAPPED.finditer(text):
        end = easing.closing(found.end() - 1)
        behind = near(text, end + 1, 1)
        if end > 0 and (behind in (b"{", b";") or b"(" not in text[found.end() : end]):
            easing.clear(*found.span("name"))
            easing.clear(end, end + 1)


def _without_lines(easing: Easing) -> None:
    """Without macros alone in their lines, which are no part of an expression and have no body."""
    text = easing.text
    for start, name_end in [*easing.macros(_OWN_TYPES + _NAME)]:
        if text[text.rfind(b"\n", 0, start) : start].strip(b" \t") != b"\n":
            continue
        opened = OPEN.match(text, name_end)
        end = easing.closing(opened.end() - 1) + 1 if opened else name_end
        is_macro = bool(end) and (bool(opened) or b"_" in text[start:end]) and _LINE_END.match(text, end)
        if is_macro and near(text, start, -1) not in _GOES_ON and near(text, end, 1) not in _IS_PART:
            easing.clear(start, end)


MACROS: Final[tuple[Rule, ...]] = (
    partial(
        without,
        (rb"(__(?<!\w__)(?:ptr32|ptr64|stdcall|cdecl|fastcall|forceinline|restrict|extension__|inline|unaligned)\b)",),
    ),
    partial(without_call, b"", b"", rb"__declspec|__attribute(?:__)?"),
    partial(without_call, rb"\n", rb"[ \t]+" + _NAME + rb"\b[ \t]*\([\w \t*]+\)\s*[*&]*\w+", LONG_NAME),
    _unwrapped,
    _without_lines,
    *[partial(without_call, rb"\n[ \t]*" + _BEGINS + rb"(?:" + _NAME + rb"\s+)*", rb"\s+" + _KEYWORDS, _NAME)] * 2,
    partial(without_call, rb"[*&]\s*(?:const\s*)?", rb"\s*\w", rb"_*(?:[A-Z0-9]+_)*(?:RESTRICT|restrict)(?:__)?"),
    partial(
        without_call,
        rb"\n[ \t]*" + _BEGINS,
        rb"\s+(?:const\b|~|[\w:]+(?:<[^<>;{}()]*>)?(?:[ \t\n]+[*&]*|[*&]+[ \t]*)"
        rb"(?:operator\s*(?:[^\s\w(]+|\(\))|[\w:~]+)\s*[(=;\[{])",
        _OWN_TYPES + LONG_NAME,
    ),
    partial(without_call, NO_TYPE + rb"\w+(?:\s+[*&]*|[*&]+\s*)", rb"\s+[*&]*[\w:~]+\s*\(", _NAME),
    partial(without_call, NO_TYPE + rb"\w+[ \t]+", rb"\s*[=,}]", LONG_NAME, called=True),
    *[partial(without_call, _BEHIND, rb"\s*(?:[;{=]|__|[A-Z])", rb"__\w+|" + _NAME, after=b")t")] * 2,
    partial(without_call, rb"\)\s*(?:const\s*)?", rb"\s*\{", LONG_NAME),
    partial(without_arguments, rb"\n(?!\w*TEST)[A-Z][A-Z0-9_]*[ \t]*\(\s*\w+(?=\s*,)"),
    partial(without_call, rb"\(\s*", rb"\s*\*\s*\w+\s*\)\s*\(", _NAME),
    partial(without_call, rb"[({,=\"]\s*", rb"\s*\"", _NAME, called=True),
    partial(
        without_call, rb"\b(?:class|struct|union|enum)\s+", rb"\s+[\w:]+(?:\s*<[^<>{};]*>)?\s*(?:final\s*)?[:{]", _NAME
    ),
    partial(
        without,
        (
            rb"\"(?!\")(?<!operator \"\")(?<!operator\"\")\s+([A-Z_]\w{2,})(?=\s*[\",;)}])",
            rb"[(,]\s*((?:struct|union|enum)\s+)(?=\w+\s*\**\s*[,)])",
            rb",\s*(?:const\s+)?\w+\s*(\*+)(?=\s*\))",
        ),
    ),
)
"""Rules for macros, attributes and types that are given to macros."""


def parse(language: Language, data: bytes, path: str) -> ParsedSource:
    """What a file has. ``class API_EXPORT Pool {`` parses, but as a function, so the macro is passed over before.

    Raises:
        UserError: the file is too long.
    """
    text = _EXPORTED.sub(lambda found: found[1] + b" " * len(found[2]), data)
    return resolved("data_prep.languages.parsing:parse")(language, text, path)


def declarator(node: "Node") -> "Node | None":
    """What a declaration names: ``f`` of ``int *(*f(int a))(void)``; None if it names nothing."""
    return _declarators(node)[-1]


def is_prototype(node: "Node") -> bool:
    """Whether a declaration is that of a function: ``int f(void);``, not ``int (*f)(void);``."""
    return kind_of(_declarators(node)[-2]) == "function_declarator"


def _declarators(node: "Node") -> "list[Node | None]":
    """A declaration, those that are one in the other, and what is named."""
    found = [node, part_of(node, "declarator")]
    while kind_of(found[-1]).endswith("declarator"):
        found.append(part_of(found[-1], "declarator") or part_of(found[-1], "0"))
    return found


def made_by_macro(node: "Node", named: "Node | None") -> Declaration | None:
    """``open`` of ``SYSCALL_DEFINE3(open, ...) {``, the test ``Calc.adds`` of ``TEST(Calc, adds) {``; else None."""
    macro = node_text(named)
    if part_of(node, "type") or not _MACRO.fullmatch(macro):
        return None
    given = inside(part_of(node, "declarator", "parameters"))
    names = [node_text(each) for each in given if each.type != "comment"]
    is_test = "TEST" in macro
    owner = names[0] if is_test and len(names) == 2 else ""
    name = names[1] if owner else names[0] if names else ""
    return Declaration(name, node, owner, "test" * is_test) if re.fullmatch(r"\w+", name) else None


def macro(node: "Node", language: Language) -> Declaration:
    """A macro with parameters; its calls are those of its text as a body."""
    text = node_text(part_of(node, "value")).replace("\\\n", "\n")
    return Declaration(name_of(node), node, body=_read_body(text, language))


@lru_cache(maxsize=256)  # a broken file is read several times
def _read_body(text: str, language: Language) -> "Node":
    code = f"void f() {{\n{text}\n;}}".encode()
    parse = resolved("data_prep.languages.parsing:syntax_tree")
    body: Node = parse(language.grammar, code).root_node
    if body.has_error or _MACRO_LINE.search(text):
        body = parse(language.grammar, language.eased(code)).root_node
    return body


def _declaration(node: "Node") -> Declaration | None:
    if node.type == "preproc_function_def":
        return macro(node, LANGUAGE)
    named = declarator(node)
    if made := made_by_macro(node, named):
        return made
    return Declaration(node_text(named), node) if part_of(node, "body") is not None and named is not None else None


def _prototype(node: "Node") -> Declaration | None:
    return Declaration(node_text(declarator(node)), node) if part_of(node, "type") and is_prototype(node) else None


def c_type(node: "Node") -> Declaration | None:
    """A type with members, by its tag or the name that ``typedef`` gives it; another ``typedef`` too."""
    if node.type == "type_definition":
        return Declaration(node_text(declarator(node)), node)
    is_one = part_of(node, "body") and not above(node, "type_definition")
    return Declaration(name_of(node), node) if is_one else None


_NAMES: Final = words("identifier")
_AROUND: Final = words("pointer_declarator array_declarator")


def c_constants(root: "Node") -> Iterator[Declaration]:
    """Variables, but those that are defined elsewhere, and macros without parameters, outside of functions."""
    todo = [root]
    while todo:
        for each in todo.pop().named_children:
            if each.type in CONDITIONS or each.type == "namespace_definition":
                todo += [each if each.type in CONDITIONS else part_of(each, "body") or each]
            elif each.type == "preproc_def" and part_of(each, "value"):
                yield Declaration(name_of(each), each)
            elif each.type == "declaration":
                given = (one for one in each.named_children if one.type == "init_declarator")
                yield from (Declaration(node_text(declarator(one)), each) for one in given)
                if not each.has_error and node_text(part_of(each, "0")) != "extern":
                    others = each.children_by_field_name("declarator")
                    named = (name for one in others for name in names_in(one, _NAMES, _AROUND))
                    yield from (Declaration(name, each) for name in named)


LANGUAGE: Final = Language(
    name="c",
    title="C",
    editor_names=("c",),
    suffixes=(".c", ".h"),
    interpreters=words("tcc"),
    keywords=words(
        "auto bool break case char const continue default do double else enum extern false float for goto if inline "
        "int long register restrict return short signed sizeof static struct switch typedef union unsigned void "
        "volatile while NULL true nullptr size_t define include ifdef ifndef endif"
    ),
    typical=r"^\s*#\s*(?:include|define|if|else|endif|undef)\b|\b(?:struct \w+ ?\*|void ?\*|char ?\*|unsigned|\w+_t\b)"
    r"|\bNULL\b|\w->\w|\bsizeof\b|\breturn -?\w+;|\b[a-z]+(?:_[a-z0-9]+)+\(|[(, ]&\w+[,)]",
    grammar="tree_sitter_c:language",
    parser="data_prep.languages.c:parse",
    eased=partial(
        eased,
        (
            *MACROS,
            partial(ended_calls, rb"\n[ \t]+(?!(?:if|for|while|switch|catch|return|sizeof|else|do)\b|__)\w+[ \t]*\("),
        ),
    ),
    plain_doc=lambda doc: _BRIEF.sub("", doc),
    functions=words("function_definition preproc_function_def"),
    other_types=words("struct_specifier union_specifier enum_specifier type_definition"),
    nested=False,
    declaration=_declaration,
    type_declaration=c_type,
    body=lambda node: part_of(node, "body") or part_of(node, "value"),
    constants=c_constants,
    signatures=words("declaration"),
    signatures_in=CONDITIONS,
    signature=_prototype,
    identifiers=words("identifier field_identifier type_identifier"),
    calls={"call_expression": "function"},
    members={
        "field_expression": ("argument", "field"),
        "parenthesized_expression": ("", "0"),
        "pointer_expression": ("", "argument"),
    },
    definitions=words("struct_specifier union_specifier enum_specifier preproc_function_def preproc_def"),
    test_words=words("test tests testing unittest benchmark benchmarks fuzz"),
    declaration_suffixes=(".h",),
    built_folders=words("vendor third_party 3rdparty deps"),
    traces="data_prep.traces.compiled:C",
    colours={
        "primitive_type": "type",
        "system_lib_string": "string",
        "preproc_directive": "annotation",
        "sized_type_specifier": "type",
        "char_literal": "string",
        "number_literal": "number",
    },
)
