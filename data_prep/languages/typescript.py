"""TypeScript, with JSX in ``.tsx``: what JavaScript has, in classes with decorators and in namespaces too."""

import re
from dataclasses import replace
from typing import Final

from data_prep.languages.javascript import LANGUAGE as JAVASCRIPT
from data_prep.languages.language import words

_UNKNOWN: Final = re.compile(
    rb"(?P<before>(?:[<,]|\*/)\s*+)(?P<variance>in(?:[ \t]+out)?|out)(?=\s+[A-Z_$][\w$]*\s*(?:extends\b|[=,>]))"
    rb"|(?P<all>\bexport\s+)type(?=\s*\*)|(?P<nameless>\bexport\s+default\s+)abstract(?=\s+class\s*(?:[{<]|extends\b))"
    rb"|(?P<each>\bfor(?:\s+await)?\s*\(\s*(?:await\s+)?)using(?=\s+[\w$]+\s+of\b)"
    rb"|\bimport\((?P<module>[ \t]*(?:\"[^\"\n]*\"|'[^'\n]*')[ \t]*\))(?=(?:\.\w+)*\.[A-Z]\w*\s*[<\[])"
)
"""What the grammar does not know: ``<in T, out U>``, ``export type *``, ``for (using a of b)``, ``import("a").B["c"]``,
and an abstract class without a name that is exported."""


def _in_its_words(found: re.Match[bytes]) -> bytes:
    """What is like it, as long, and known to the grammar."""
    if found["module"]:
        return re.sub(rb"\W", b"_", found[0])  # a name
    if found["each"] is not None:
        return found["each"] + b"const"
    before = found["before"] or found["all"] or found["nameless"]
    return before + b" " * (len(found[0]) - len(before))


def _eased(data: bytes) -> bytes:
    return _UNKNOWN.sub(_in_its_words, data)


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
    eased=_eased,
    traces="",  # they are those of JavaScript
)
