"""TypeScript, with JSX in ``.tsx``: what JavaScript has, in classes with decorators and in namespaces too."""

from typing import Final

import tree_sitter_typescript
from tree_sitter import Language

from data_prep.languages.javascript import (
    COMMENTS,
    COMMON_NAMES,
    FIELDS,
    FUNCTIONS,
    KEYWORDS,
    TEST_WORDS,
    constants,
    declaration,
    is_minified,
    type_declaration,
)
from data_prep.languages.source_language import ParsedSource, SourceLanguage, reserved
from data_prep.languages.syntax import Syntax, parse

_TYPES: Final = frozenset(("class_declaration", "abstract_class_declaration", "class", "internal_module", "module"))


_OTHER_TYPES: Final = frozenset(("interface_declaration", "type_alias_declaration", "enum_declaration"))


def _syntax(language: object) -> Syntax:
    return Syntax(
        language=Language(language),
        functions=FUNCTIONS,
        types=_TYPES,
        comments=COMMENTS,
        declaration=declaration,
        other_types=_OTHER_TYPES,
        type_declaration=type_declaration,
        constants=constants,
        fields=FIELDS,
        nested=True,
    )


_PLAIN: Final = _syntax(tree_sitter_typescript.language_typescript())
_WITH_JSX: Final = _syntax(tree_sitter_typescript.language_tsx())


def _parse(data: bytes, path: str) -> ParsedSource:
    return parse(_WITH_JSX if path.endswith(".tsx") else _PLAIN, data)


LANGUAGE: Final = SourceLanguage(
    name="typescript",
    suffixes=(".ts", ".tsx", ".mts", ".cts"),
    grammar="tree-sitter-typescript",
    parse=_parse,
    keywords=KEYWORDS
    | reserved(
        "abstract any as asserts bigint boolean declare implements interface is keyof module namespace never number "
        "object override private protected public readonly satisfies string symbol type unknown"
    ),
    test_words=TEST_WORDS,
    common_names=COMMON_NAMES,
    is_minified=is_minified,
)
