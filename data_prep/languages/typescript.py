"""TypeScript, with JSX in ``.tsx``: what JavaScript has, in classes with decorators and in namespaces too."""

import re
from dataclasses import replace
from typing import Final

from data_prep.languages.javascript import LANGUAGE as JAVASCRIPT
from data_prep.languages.language import words

_VARIANCE: Final = re.compile(rb"((?:[<,]|\*/)\s*+)(in(?:[ \t]+out)?|out)(?=\s+[A-Z_$][\w$]*\s*(?:extends\b|[=,>]))")
"""What says how a type depends on its parameter, which the grammar does not know: ``<in T, out U>``."""


def _without_variance(data: bytes) -> bytes:
    return _VARIANCE.sub(lambda found: found[1] + b" " * len(found[2]), data)


LANGUAGE: Final = replace(
    JAVASCRIPT,
    name="typescript",
    title="TypeScript",
    editor_names=("typescript", "typescriptreact"),
    suffixes=(".ts", ".tsx", ".mts", ".cts"),
    other_suffixes=(".vue", ".svelte", ".astro"),
    shared_suffixes=(),
    interpreters=words("ts-node ts-node-esm tsx deno bun"),
    keywords=JAVASCRIPT.keywords
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
    definitions=JAVASCRIPT.definitions | words("interface_declaration enum_declaration type_alias_declaration"),
    gathering_files=words("index.ts"),
    declaration_suffixes=(".d.ts", ".d.mts", ".d.cts"),
    built_folders=frozenset(),
    eased=_without_variance,
    traces="",  # they are those of JavaScript
)
