"""Bash and other shells of its kind: functions, and the variables of a script."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from data_prep.languages.language import Declaration, Language, Quote, name_of, node_text, part_of, words

if TYPE_CHECKING:
    from tree_sitter import Node

_FLOW: Final = words("return shift break continue exit true false :")


def _is_call(command: "Node") -> bool:
    """Whether a command is called by its name, which is no word of the language's own."""
    name = command.child_by_field_name("name")
    word = part_of(name, "0") if name is not None else None
    return word is not None and word.type == "word" and node_text(word) not in _FLOW


def _constants(root: "Node") -> Iterator[Declaration]:
    """Variables that a script sets in capitals outside of functions and bats' tests, without those that it changes."""
    in_test = False
    for each in root.named_children:
        if each.type == "command":
            in_test = node_text(part_of(each, "0")) == "@test" or (in_test and node_text(each) != "}")
        for one in () if in_test else each.named_children if each.type == "declaration_command" else (each,):
            is_set = one.type == "variable_assignment" and not node_text(one).startswith(f"{name_of(one)}+")
            if is_set and (name := name_of(one)).isupper() and name != "PATH":
                yield Declaration(name, each)


LANGUAGE: Final = Language(
    name="bash",
    title="Bash",
    other_names=("shell", "shellscript"),
    editor_names=("shellscript",),
    suffixes=(".sh",),
    other_suffixes=(".bash", ".zsh", ".ksh", ".bats"),
    interpreters=words("bash sh zsh ksh dash ash"),
    line_comment="#",
    block_comment=None,
    quotes=(Quote('"', lines=True), Quote("'", lines=True, escapes=False)),
    keywords=words(
        "if then else elif fi for while until do done case esac in function select time local return exit export "
        "readonly declare typeset unset shift set source eval exec trap true false echo printf test"
    ),
    typical=r"^\s*(?:fi|done|esac|then|do)\b|\$\{?[\w#@*]+|\[\[? .* \]\]?|^\s*(?:export|local|echo|printf"
    r"|set -|source|sudo|cd) |;; *$"
    r"|^#!.*sh\b|^\s*\w+\(\) *\{|; then\b|>&2|\|\| ",
    doubt=0.3,
    closing=r"(?:fi\b|done\b|esac\b|[\])}])",
    grammar="tree_sitter_bash:language",
    functions=words("function_definition"),
    nested=False,
    is_one=lambda node, mark: mark != "call" or _is_call(node),
    constants=_constants,
    identifiers=words("variable_name word"),
    calls={"command": "name"},
    members={"command_name": ("", "0")},
    definitions=words("function_definition"),
    test_words=words("test tests spec fixtures"),
    traces="data_prep.traces.scripts:BASH",
    colours={"variable_name": "type", "raw_string": "string", "test_operator": "keyword"},
)
