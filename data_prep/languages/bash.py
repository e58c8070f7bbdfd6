"""Bash and other shells of its kind: functions, the tests of bats, and the variables of a script."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from data_prep.languages.identifiers import compiled_later
from data_prep.languages.language import Declaration, Language, ParsedSource, Quote, resolved, words
from data_prep.languages.nodes import kind_of, name_of, node_text, part_of
from data_prep.languages.text_names import test_name

if TYPE_CHECKING:
    from tree_sitter import Node

_FLOW: Final = words("return shift break continue exit true false : then else elif fi do done esac")
_SEVERAL: Final = words("declaration_command variable_assignments")
_AT: Final = "@test"
_TEST: Final = compiled_later(rb"(?m)^(?P<indent>[ \t]*)@test[ \t]+(?P<name>\S(?:[^\n]*[^ \t\n])?)[ \t]+\{")
_VALUE: Final = rb"\w+=(?:[^\s\"'`();&|<>]|\"[^\"\n`]*\"|'[^'\n]*')*"
_ASSIGNED: Final = compiled_later(rb"(?m)^[ \t]*" + _VALUE + rb"(?:[ \t]+" + _VALUE + rb")+(?=[ \t]*$)")
"""A line of several assignments, which the grammar takes for the start of a command that the next line goes on with."""
_NEXT: Final = compiled_later(rb"(" + _VALUE + rb")[ \t](?=[ \t]*\w+=)")
_OF_SHELL: Final = b" \t\"'$`\\(){}<>|&;#*?!~=[]"
_UNSEEN: Final = bytes(range(1, 9)) + bytes(range(14, 14 + len(_OF_SHELL) - 8))
_HIDDEN: Final = bytes.maketrans(_OF_SHELL, _UNSEEN)
_SHOWN: Final = dict(zip(_UNSEEN, map(chr, _OF_SHELL), strict=True))


def _is_call(command: "Node") -> bool:
    """Whether a command is called by its name, which is no word of the language's own."""
    word = part_of(command, "name", "0")
    return kind_of(word) == "word" and node_text(word) not in _FLOW


def parse(language: Language, data: bytes, path: str) -> ParsedSource:
    """The functions of a script, and the tests of bats, which are no words of the shell: as functions, they are read.

    Raises:
        UserError: the file is too long.
    """
    text = _ASSIGNED.sub(lambda line: _NEXT.sub(rb"\1;", line[0]), data)
    return resolved("data_prep.languages.parsing:parse")(language, _TEST.sub(_as_function, text), path)


def _as_function(test: re.Match[bytes]) -> bytes:
    """``@test"adds_two"()  {`` of ``@test "adds two" {``, with other characters for those that are in no name."""
    name = f"{_AT}".encode() + test["name"].translate(_HIDDEN)
    return test["indent"] + (name + b"()").ljust(len(test[0]) - len(test["indent"]) - 1) + b"{"


def _declaration(node: "Node") -> Declaration:
    """A function, or a test by its description, or by the comment ``#@test`` that makes it one."""
    name, body = name_of(node), part_of(node, "body")
    if name.startswith(_AT):
        return Declaration(test_name(name.removeprefix(_AT).translate(_SHOWN)), node, kind="test")
    first = body.child(1) if body is not None else None
    return Declaration(name, node, kind="test" * node_text(first).startswith(("#@test", "# @test")))


def _constants(root: "Node") -> Iterator[Declaration]:
    """Variables that a script sets in capitals outside of functions, without those that it changes."""
    for each in root.named_children:
        for one in each.named_children if each.type in _SEVERAL else (each,):
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
    stray="(command (subshell (compound_statement) @stray))",  # of ``name( {``
    grammar="tree_sitter_bash:language",
    parser="data_prep.languages.bash:parse",
    functions=words("function_definition"),
    nested=False,
    is_one=lambda node, mark: mark != "call" or _is_call(node),
    declaration=_declaration,
    constants=_constants,
    identifiers=words("variable_name word"),
    calls={"command": "name"},
    members={"command_name": ("", "0")},
    definitions=words("function_definition"),
    test_words=words("test tests spec fixtures"),
    test_files=r"(?=\.bats$)",
    traces="data_prep.traces.scripts:BASH",
    colours={"variable_name": "type", "raw_string": "string", "test_operator": "keyword"},
)
